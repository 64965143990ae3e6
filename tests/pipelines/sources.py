#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the applications of the build in $BUILD_DIR with the sources that users have.

usage: sources.py formats | cameras
formats: files of common formats, also with sound and interlaced.
cameras: H.264 over RTSP from cameras that keep sending, fail, stop sending or change their size, and
JPEG over HTTP.
"""
import contextlib
import http.server
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BUILD_DIR", ""))
MULTICAM = BUILD / "pipelines/multicam/multicam"
SERVER = ROOT / "tests/apps/rtspserver.py"
sys.path.insert(0, str(ROOT / "pipelines/apps/textdetect"))
SKIPPED = 77
FRAMES = 20
VIDEO = (f"videotestsrc num-buffers={FRAMES} pattern=ball ! "
         "video/x-raw,format=I420,width=320,height=240,framerate=10/1")
# The elements after the pictures, by file name.
FORMATS = {
    "h264.mp4": "x264enc ! h264parse ! mp4mux",
    "h264-interlaced.mkv": "capssetter caps=video/x-raw,interlace-mode=interleaved ! x264enc "
                           "interlaced=true ! h264parse ! matroskamux",
    "gray8-interlaced.mkv": "videoconvert ! video/x-raw,format=GRAY8 ! capssetter "
                            "caps=video/x-raw,interlace-mode=interleaved ! matroskamux",
    "h264-sound.mkv": "x264enc ! h264parse ! mux. audiotestsrc num-buffers=90 ! vorbisenc ! mux. "
                      "matroskamux name=mux",
    "h265.mkv": "x265enc speed-preset=ultrafast ! h265parse ! matroskamux",
    "vp9.webm": "vp9enc deadline=1 cpu-used=8 ! webmmux",
    "av1.mkv": "av1enc cpu-used=8 usage-profile=realtime ! av1parse ! matroskamux",
    "mjpeg.avi": "jpegenc ! avimux",
    "mjpeg-422.avi": "videoconvert ! video/x-raw,format=Y42B ! jpegenc ! avimux",
    "h265-10bit.mkv": "videoconvert ! video/x-raw,format=I420_10LE ! x265enc "
                      "speed-preset=ultrafast ! h265parse ! matroskamux",
    "yuy2.mkv": "videoconvert ! video/x-raw,format=YUY2 ! matroskamux",
    "uyvy.mkv": "videoconvert ! video/x-raw,format=UYVY ! matroskamux",
}
# The decoders' formats, which the elements accept without a conversion.
DECODED = {"mjpeg-422.avi": "Y42B|I420", "h265-10bit.mkv": "I420_10LE|P010_10LE", "yuy2.mkv": "YUY2",
           "uyvy.mkv": "UYVY", "gray8-interlaced.mkv": "GRAY8"}


def exists(element):
    return subprocess.run(["gst-inspect-1.0", "--exists", element], check=False).returncode == 0


def skip(what):
    print(f"skipped: {what}")
    sys.exit(SKIPPED)


def run(program, *arguments, status=0):
    """Returns the output of the program, stdout before stderr."""
    done = subprocess.run([BUILD / "pipelines" / program, *map(str, arguments)], text=True,
                          timeout=120, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    text = done.stdout + done.stderr
    if done.returncode != status:
        sys.exit(f"{program} {arguments} exited with {done.returncode}:\n{text}")
    return text


def expect(text, *patterns):
    for pattern in patterns:
        if not re.search(pattern, text, re.M):
            sys.exit(f"no line like '{pattern}' in:\n{text}")


# Files

def encode(path):
    """Writes a file of FORMATS. Returns False if an element is not installed."""
    rest = FORMATS[path.name]
    missing = [e for e in re.findall(r"(\w+(?:enc|parse))\b", rest) if not exists(e)]
    if missing:
        print(f"{path.name}: skipped, {', '.join(missing)} is not installed")
        return False
    subprocess.run(f"gst-launch-1.0 -q {VIDEO} ! {rest} ! filesink location={path}", shell=True,
                   check=True, timeout=120)
    return True


def stream_of(source):
    """Plays a file in text-detect's stream, which does all processing of a frame except the
    network."""
    from stream import Stream, decoder_of
    return Stream(decoder_of(str(source)), lambda width, height: (64, 48), [0.0] * 3, [1.0] * 3,
                  timeout=60)


def count_frames(source, most):
    stream = stream_of(source)
    try:
        stream.start()
        count = 0
        for _ in stream:
            count += 1
            if count == most:
                break
        return count
    finally:
        stream.close()


def play_everywhere(path):
    expect(run("luminance", path), f"^{FRAMES} frames in ")
    expect(run("superresolution", path, "--output", path.with_suffix(".png")),
           "^uint8 tensor .* equals the frame")
    if (got := count_frames(path, FRAMES + 1)) != FRAMES:
        sys.exit(f"text-detect: {got} frames of {path.name}")


def formats(folder):
    played = []
    for name in FORMATS:
        path = folder / name
        if encode(path):
            play_everywhere(path)
            played.append(path)
    if MULTICAM.exists():
        text = run(MULTICAM, *played, "--tensor=width=64 height=48")
        expect(text, f"^{len(played) * FRAMES} frames$")
    for path in (path for path in played if path == played[0] or path.name in DECODED):
        expect(run("cameratotensor", path, "--output", folder / "sheet.png"),
               rf"^{FRAMES} frames, ", r"content +640×480 at \(0, 80\)",
               rf"^frame +320×240 ({DECODED.get(path.name, '.*')})$")
    print("played:", *(path.name for path in played))


# Cameras

def has_server():
    import gi
    try:
        gi.require_version("GstRtspServer", "1.0")
    except ValueError:
        return False
    return True


class Server:
    """Serves RTSP cameras in a separate process, which may be killed."""

    def __init__(self):
        self._process = subprocess.Popen([sys.executable, SERVER], text=True,
                                         stdout=subprocess.PIPE)
        self.uri = f"rtsp://viewer:geheim@127.0.0.1:{int(self._process.stdout.readline())}/"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()


def with_sheet(folder):
    sheet = folder / "sheet.png"
    sheet.unlink(missing_ok=True)
    return sheet


def dies(server, folder):
    """The results up to the failure are printed, and the error names the camera."""
    sheet = with_sheet(folder)
    text = run("cameratotensor", server.uri + "die?key=geheim", "--output", sheet, status=1)
    expect(text, r"^\d+ frames, ", r"content +640×480", rf"contact sheet: {sheet}",
           r"^cameratotensor: 'rtsp://127\.0\.0\.1:\d+/die': .*[Cc]ould not")
    if not sheet.exists() or "geheim" in text:
        sys.exit(f"no sheet, or a password is shown:\n{text}")


def stalls(server, folder):
    sheet = with_sheet(folder)
    text = run("cameratotensor", server.uri + "stall", "--timeout", "10", "--output", sheet,
               status=1)
    expect(text, r"^\d+ frames, ", rf"contact sheet: {sheet}",
           r"^cameratotensor: 'rtsp://127\.0\.0\.1:\d+/stall' has sent no frame for 10 s$")
    text = run("luminance", server.uri + "die", status=1)
    expect(text, r"^\d+ frames in ", r"^luminance: 'rtsp://127\.0\.0\.1:\d+/die': ")


def changes_size(server, folder):
    """The geometry of each size is printed once."""
    with subprocess.Popen([BUILD / "pipelines/cameratotensor", server.uri + "resize", "--output",
                           with_sheet(folder)], text=True, stdout=subprocess.PIPE) as process:
        killer = threading.Timer(100, process.kill)
        killer.start()
        text = ""
        for line in process.stdout:  # a line per second
            text += line
            frames = re.match(r" *(\d+) frames ", line)
            if frames and int(frames[1]) > 30:
                process.send_signal(signal.SIGINT)
                break
        text += process.stdout.read()
        killer.cancel()
    if process.returncode != 0:
        sys.exit(f"exited with {process.returncode}:\n{text}")
    first, second = re.findall(r"^frame .*?(?=\n\n)", text, re.M | re.S)
    expect(first, r"^frame +320×240 I420, first frame 0$", r"^content +640×480 at \(0, 80\)$")
    expect(second, r"^frame +160×160 I420, first frame \d+$", r"^content +640×640 at \(0, 0\)$",
           r"^matrix +4\.0+ ")


def goes_on(server, folder):
    expect(run("superresolution", server.uri + "live", "--output", folder / "picture.png"),
           "equals the frame in all")
    if count_frames(server.uri + "live", 5) != 5:
        sys.exit("text-detect: less than five frames")


class JpegCamera(http.server.BaseHTTPRequestHandler):
    """Sends JPEG like a camera: four pictures of 20 kB per second, without end."""
    picture = b""
    sent = 0

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                JpegCamera.sent += 1
                self.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n"
                                 % len(self.picture) + self.picture + b"\r\n")
                time.sleep(0.25)

    def log_message(self, *_):
        pass


def jpeg_over_http(folder):
    """The first frame arrives before a demuxer has searched megabytes for other streams."""
    file = folder / "picture.jpg"
    subprocess.run(f"gst-launch-1.0 -q videotestsrc num-buffers=1 pattern=snow ! video/x-raw,"
                   f"width=160,height=160 ! jpegenc ! filesink location={file}", shell=True,
                   check=True, timeout=60)
    JpegCamera.picture = file.read_bytes()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), JpegCamera)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    uri = f"http://127.0.0.1:{server.server_port}/"
    run("superresolution", uri, "--output", folder / "picture.png", "--timeout", "60")
    if count_frames(uri, 2) != 2:
        sys.exit("text-detect: less than two frames")
    if JpegCamera.sent > 60:
        sys.exit(f"{JpegCamera.sent} pictures were sent before the first was seen")


def cameras(folder):
    if exists("souphttpsrc"):
        jpeg_over_http(folder)
    missing = [e for e in ("x264enc", "avdec_h264", "rtspsrc") if not exists(e)]
    missing += [] if has_server() else ["gst-rtsp-server"]
    if missing:
        skip(f"{', '.join(missing)} is not installed")
    for check in goes_on, dies, stalls, changes_size:
        with Server() as server:
            check(server, folder)


def main():
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    Gst.init(None)
    with tempfile.TemporaryDirectory() as folder:
        {"formats": formats, "cameras": cameras}[sys.argv[1]](Path(folder))


main()
