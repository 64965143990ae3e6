#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs README.md's Python and compiles its C++.

The first Python block must print one line of three numbers for each message.  The second defines
box_in_source(), which must map a letterboxed picture's content back to the whole source.
"""
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()

BOX = """
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
pipeline = Gst.parse_launch(
    "videotestsrc num-buffers=1 ! video/x-raw,width=1280,height=720 ! cudaletterbox "
    "dialect=ultralytics ! video/x-raw,width=640,height=640 ! appsink name=sink")
pipeline.set_state(Gst.State.PLAYING)
sample = pipeline.get_by_name("sink").emit("pull-sample")
box = box_in_source(sample.get_buffer(), 0, 140, 640, 500)
pipeline.set_state(Gst.State.NULL)
assert [round(side, 6) for side in box] == [0, 0, 1280, 720], box
"""


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


def run_python(source):
    return subprocess.run([sys.executable, "-W", "ignore", "-c", source], cwd=ROOT, check=True,
                          text=True, timeout=120, stdout=subprocess.PIPE).stdout


def cpp_flags(source):
    """What a block needs to be compiled; nothing where its headers are not installed."""
    needs_cuda = "gst/cuda" in source
    module = "gstreamer-cuda-1.0" if needs_cuda else "gstreamer-1.0"
    found = subprocess.run(["pkg-config", "--cflags", module], check=False, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if not needs_cuda:
        found.check_returncode()
        return found.stdout
    nvcc = shutil.which("nvcc")
    if found.returncode or not nvcc or not Path("/usr/include/GL/gl.h").is_file():
        return None
    return f"{found.stdout} -isystem {Path(nvcc).resolve().parents[1] / 'include'}"


def check_cpp(source):
    flags = cpp_flags(source)
    if flags is None:
        print("a C++ block was not compiled: gstreamer-cuda-1.0, OpenGL or CUDA is missing")
        return
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
        file.write(source)
        file.flush()
        subprocess.run(["g++", "-std=c++17", "-Wall", "-Werror", "-fsyntax-only",
                        *shlex.split(flags), file.name], check=True)


def main():
    read_messages, map_box = blocks("python")
    lines = run_python(read_messages).splitlines()
    assert len(lines) > 10, lines
    assert all(re.fullmatch(r"[\d.]+ \d+ \d+", line) for line in lines), lines[:3]
    run_python(map_box + BOX)
    cpp = blocks("cpp")
    assert len(cpp) == 2, len(cpp)
    for block in cpp:
        check_cpp(block)
    print(f"{len(lines)} messages read, a box mapped back, the C++ compiles")


main()
