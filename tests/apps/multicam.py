#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs multicam of the build in $BUILD_DIR with files, and with cameras that fail and return."""
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

CLIP = Path(__file__).resolve().parents[2] / "pipelines/media/pedestrians.webm"
SERVER = Path(__file__).with_name("rtspserver.py")
MULTICAM = Path(os.environ.get("BUILD_DIR", "")) / "pipelines/multicam/multicam"
CLIP_FRAMES = 79


def expect(condition, what, text):
    if not condition:
        sys.exit(f"{what}:\n{text}")


def has_rtsp():
    """Whether the elements and the server for H.264 over RTSP are installed."""
    wanted = ("x264enc", "avdec_h264", "rtspsrc")
    server = "import gi; gi.require_version('GstRtspServer', '1.0')"
    return all(subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0
               for command in [["gst-inspect-1.0", "--exists", name] for name in wanted] +
               [[sys.executable, "-c", server]])


def files_end():
    done = subprocess.run([MULTICAM, CLIP, CLIP, CLIP, "--tensor=width=64 height=48"], text=True,
                          timeout=120, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    expect(done.returncode == 0, f"exited with {done.returncode}", done.stdout)
    expect(f"\n{3 * CLIP_FRAMES} frames\n" in done.stdout, "not all frames", done.stdout)
    expect("lost" not in done.stdout, "a file was lost", done.stdout)
    values = re.findall(r"center pixel ([-+][\d.]+)", done.stdout)
    expect(len(set(values)) == 1, "the same frame has different values", done.stdout)


def errors_are_one_line():
    for arguments, cause in (([CLIP, "--tensor=wdth=1"], "wdth"), ([], "at least one"),
                             ([CLIP, "--tensor=width=64 height=64 mean=<1,2>"], "mean"),
                             ([CLIP, "--tensor=width=64 height=64 dtype=uint8"], "float32")):
        done = subprocess.run([MULTICAM, *arguments], text=True, timeout=120, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        ours = [line for line in done.stderr.splitlines() if line.startswith("multicam: ")]
        expect(done.returncode == 1 and len(ours) == 1 and cause in ours[0],
               f"{arguments}: no error that names '{cause}'", done.stderr)


class Camera(http.server.BaseHTTPRequestHandler):
    """Serves the clip about as fast as a camera. On the first request, /broken stops in the middle,
    and then fails for a while. On the first request, /silent sends nothing after the middle. /jpeg
    sends ten pictures of 20 kB per second without end."""
    broken = silent = None
    picture = b""

    def do_GET(self):
        kind = self.path.strip("/")
        if kind == "jpeg":
            self.send_pictures()
            return
        first = getattr(Camera, kind) is None
        if kind == "broken" and not first and time.monotonic() - Camera.broken < 3:
            self.send_error(503)
            return
        data = CLIP.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "video/webm")
        self.end_headers()
        try:
            for at in range(0, len(data) // 2 if first else len(data), 20000):
                self.wfile.write(data[at:at + 20000])
                time.sleep(0.05)
            if first:
                setattr(Camera, kind, time.monotonic())
            if first and kind == "silent":
                time.sleep(30)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def send_pictures(self):
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(self.picture)}\r\n\r\n"
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(head.encode() + self.picture + b"\r\n")
                time.sleep(0.1)

    def log_message(self, *_):
        pass


class Run:
    """Runs multicam with these cameras until stop() is called."""

    def __init__(self, *cameras):
        self._multicam = subprocess.Popen([MULTICAM, *cameras, "--tensor=width=64 height=48"],
                                          text=True, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT)
        self._killer = threading.Timer(60, self._multicam.kill)
        self._killer.start()
        self.text = ""

    def until(self, pattern):
        """Reads lines until one matches the pattern."""
        for line in self._multicam.stdout:
            self.text += line
            if re.match(pattern, line):
                return
        sys.exit(f"no line like '{pattern}':\n{self.text}")

    def stop(self):
        self._multicam.send_signal(signal.SIGINT)
        self.text += self._multicam.stdout.read()
        self._killer.cancel()
        expect(self._multicam.wait(30) == 0, f"exited with {self._multicam.returncode}", self.text)
        expect(re.search(r"^\d+ frames$", self.text, re.M), "no total", self.text)


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Camera)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def broken_camera_returns(server):
    run = Run(CLIP, server + "broken", "--loop")
    run.until(r"camera 1: lost: ")
    run.until(r"camera 1: [\d.]+ frames/s, .*old")
    run.stop()
    expect("camera 0: lost" not in run.text, "the other camera was lost, too", run.text)


def looped_files_are_not_lost():
    """They start again each time they end."""
    run = Run(CLIP, "--loop")
    for _ in range(2):
        run.until(r"camera 0: [\d.]+ frames/s, .*old")
    run.stop()
    frames = int(re.search(r"^(\d+) frames$", run.text, re.M)[1])
    expect(frames > CLIP_FRAMES, "the file was played only once", run.text)
    expect(not re.search("lost|ended", run.text), "the end of the file is reported", run.text)


def jpeg_over_http_arrives(server):
    """Frames arrive before a demuxer has searched megabytes of data for other streams."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "picture.jpg"
        subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=1", "pattern=snow", "!",
                        "video/x-raw,width=160,height=160", "!", "jpegenc", "!", "filesink",
                        f"location={file}"], check=True, timeout=60)
        Camera.picture = file.read_bytes()
    run = Run(server + "jpeg")
    run.until(r"camera 0: [\d.]+ frames/s, .*old")
    run.stop()
    expect("lost" not in run.text, "the camera was lost before the first frame", run.text)


def silent_camera_does_not_delay_others():
    """Uses RTSP, because its elements wait for late packets."""
    server = subprocess.Popen([sys.executable, SERVER], text=True, stdout=subprocess.PIPE)
    uri = f"rtsp://127.0.0.1:{int(server.stdout.readline())}/"
    try:
        run = Run(uri + "live", uri + "stall")
        run.until(r"camera 1: [\d.]+ frames/s, .*old")
        run.until(r"camera 1: lost: no frames")
        run.stop()
    finally:
        server.kill()
        server.wait()
    # Reports from the time in which the camera sends nothing and is not yet lost.
    ages = re.findall(r"camera 0: .* ([\d.]+) ms old.*\ncamera 1: 0\.0 frames/s\n", run.text)
    expect(ages and min(map(float, ages)) < 1500, "the other camera is late", run.text)


def silent_camera_is_reconnected(server):
    """A camera that waits for the silent one does not count as silent."""
    run = Run(server + "broken", server + "silent")
    run.until(r"camera 1: lost: no frames")
    run.until(r"camera 1: [\d.]+ frames/s, .*old")
    run.stop()
    expect("camera 0: lost: no frames" not in run.text, "the other camera was lost, too", run.text)


def continues_without_files(server):
    """One source is a file that has ended, the other a camera that is not available yet."""
    Camera.broken = time.monotonic() + 2  # not available for five seconds
    run = Run(CLIP, server + "broken")
    run.until(r"camera 0: .*, ended")
    run.until(r"camera 1: [\d.]+ frames/s, .*old")
    run.stop()


def other_formats_are_converted():
    with tempfile.TemporaryDirectory() as folder:
        video = Path(folder) / "yuy2.avi"
        subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=10", "!",
                        "video/x-raw,format=YUY2,width=64,height=48", "!", "avimux", "!",
                        "filesink", f"location={video}"], check=True, timeout=60)
        run = Run(video)
        run.until(r"camera 0: .*center pixel .*ended")
        run.stop()


files_end()
errors_are_one_line()
other_formats_are_converted()
uri = serve()
looped_files_are_not_lost()
jpeg_over_http_arrives(uri)
broken_camera_returns(uri)
silent_camera_is_reconnected(uri)
continues_without_files(uri)
if has_rtsp():
    silent_camera_does_not_delay_others()
print("multicam counts frames, reports errors and reconnects cameras")
