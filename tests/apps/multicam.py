#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs multicam of the build in $BUILD_DIR: with files, and with a camera that dies and returns."""
import http.server
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

CLIP = Path(__file__).resolve().parents[2] / "pipelines/media/pedestrians.webm"
MULTICAM = Path(os.environ.get("BUILD_DIR", "")) / "pipelines/apps/multicam/multicam"
CLIP_FRAMES = 79


def expect(condition, what, text):
    if not condition:
        sys.exit(f"{what}:\n{text}")


def files_end():
    done = subprocess.run([MULTICAM, CLIP, CLIP, CLIP, "--tensor=width=64 height=48"], text=True,
                          timeout=120, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    expect(done.returncode == 0, f"exited with {done.returncode}", done.stdout)
    expect(f"\n{3 * CLIP_FRAMES} frames\n" in done.stdout, "not all frames", done.stdout)
    expect("lost" not in done.stdout, "a file was lost", done.stdout)
    values = re.findall(r"middle ([-+][\d.]+)", done.stdout)
    expect(len(set(values)) == 1, "the same frame has other values", done.stdout)


def errors_are_one_line():
    for arguments, cause in (([CLIP, "--tensor=wdth=1"], "wdth"), ([], "at least one"),
                             ([CLIP, "--tensor=width=64 height=64 mean=<1,2>"], "mean")):
        done = subprocess.run([MULTICAM, *arguments], text=True, timeout=120, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        ours = [line for line in done.stderr.splitlines() if line.startswith("multicam: ")]
        expect(done.returncode == 1 and len(ours) == 1 and cause in ours[0],
               f"{arguments}: no error that names '{cause}'", done.stderr)


class Camera(http.server.BaseHTTPRequestHandler):
    """Serves the clip as fast as a camera would. The first time it breaks off in the middle, and
    then nothing is served for a while."""
    died = None

    def do_GET(self):
        if Camera.died and time.monotonic() - Camera.died < 3:
            self.send_error(503)
            return
        data = CLIP.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "video/webm")
        self.end_headers()
        end = len(data) if Camera.died else len(data) // 2
        try:
            for at in range(0, end, 20000):
                self.wfile.write(data[at:min(at + 20000, end)])
                time.sleep(0.05)
        except (BrokenPipeError, ConnectionResetError):
            pass
        Camera.died = Camera.died or time.monotonic()

    def log_message(self, *_):
        pass


def camera_returns():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Camera)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    uri = f"http://127.0.0.1:{server.server_port}/camera.webm"
    multicam = subprocess.Popen([MULTICAM, CLIP, uri, "--loop", "--tensor=width=64 height=48"],
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    killer = threading.Timer(60, multicam.kill)
    killer.start()
    text, lost, back = "", False, False
    for line in multicam.stdout:
        text += line
        lost = lost or line.startswith("camera 1: lost")
        back = back or bool(lost and re.match(r"camera 1: [\d.]+ frames/s, ", line) and Camera.died
                            and time.monotonic() - Camera.died > 5)
        if back:
            break
    multicam.send_signal(signal.SIGINT)
    text += multicam.stdout.read()
    killer.cancel()
    expect(multicam.wait(30) == 0, f"exited with {multicam.returncode}", text)
    expect(lost and back, "the camera was not lost, or did not return", text)
    others = re.findall(r"camera 0: lost: (.*);", text)
    expect(set(others) <= {"it ended"}, "the other camera was lost, too", text)
    expect(re.search(r"^\d+ frames$", text, re.M), "no total", text)


files_end()
errors_are_one_line()
camera_returns()
print("multicam counts, names errors, and gets its camera back")
