#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the scripts of pipelines/ with the build in $BUILD_DIR and checks their output.

usage: scripts.py SCRIPT
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "frames"))
from trackmatrix import set_matrix  # noqa: E402

PIPELINES = Path(__file__).resolve().parents[2] / "pipelines"


def run(script, *args, expect=0):
    done = subprocess.run([PIPELINES / script, *args], text=True, timeout=300, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/")
    if (done.returncode == 0) != (expect == 0):
        sys.exit(f"{script} {args} exited with {done.returncode}:\n{done.stdout}")
    return done.stdout


def expect_lines(text, *patterns):
    for pattern in patterns:
        if not re.search(pattern, text, re.M):
            sys.exit(f"no line like '{pattern}' in:\n{text}")


def read_png(path):
    """Returns the width, the height and the number of distinct values of unfiltered bytes."""
    data = path.read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        sys.exit(f"{path} is not a PNG")
    width, height = struct.unpack(">II", data[16:24])
    pixels, at = b"", 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            pixels += data[at + 8:at + 8 + length]
        at += 12 + length
    return width, height, len(set(zlib.decompress(pixels)))


def check_png(path, width=None, height=None):
    w, h, values = read_png(path)
    if (width or w, height or h) != (w, h) or values < 64:
        sys.exit(f"{path}: {w}x{h}, {values} values")


def turned_clip(folder):
    """Returns an MP4 file whose track is to be turned by 90° to the right, as of a phone."""
    path = Path(shutil.copy(PIPELINES / "media/pedestrians-1080p.mp4", folder / "turned.mp4"))
    set_matrix(path, (0, 1, -1, 0))
    return path


def turned_camera_to_tensor(folder):
    png = folder / "turned.png"
    text = run("camera-to-tensor.sh", str(turned_clip(folder)), str(png))
    # A picture of 1080×1920 fits by its height.
    expect_lines(text, r"^frame +1920×1080 ", r"content +360×640 at \(140, 0\)",
                 r"0\.000000 +-0\.333333 +500\.000", r"0\.333333 +0\.000000 +0\.000")
    check_png(png)


def means(picture, rows, columns):
    """The mean color of each part of a picture."""
    return np.array([[part.mean((0, 1)) for part in np.array_split(row, columns, 1)]
                     for row in np.array_split(picture.astype(float), rows)])


def phone_camera_to_tensor(folder):
    """The sheet shows the frame as it is stored, and the upright tensor."""
    clip, png = PIPELINES / "media/phone.mp4", folder / "phone.png"
    text = run("camera-to-tensor.sh", str(clip), str(png))
    expect_lines(text, r"^frame +576×324 ", r"content +360×640 at \(140, 0\)")
    stored = rgb_of(clip, "decodebin", 576, 324, folder)
    width, height, _ = read_png(png)
    sheet = rgb_of(png, "pngdec", width, height, folder)[92:572]
    # Within the outlines.
    for name, tile, expected in (("stored", sheet[4:-4, 32:877], stored[3:-3, 3:-3]),
                                 ("upright", sheet[4:-4, 1006:1268], np.rot90(stored, -1)[5:-5, 5:-5])):
        rows, columns = tile.shape[0] // 30, tile.shape[1] // 30
        difference = abs(means(tile, rows, columns) - means(expected, rows, columns)).mean()
        print(f"phone.mp4, {name}: {difference:.1f} levels")
        if difference > 4:
            sys.exit(f"phone.mp4: {difference} levels from the {name} frame")


def camera_to_tensor(folder):
    turned_camera_to_tensor(folder)
    phone_camera_to_tensor(folder)
    png = folder / "sheet.png"
    text = run("camera-to-tensor.sh", str(PIPELINES / "media/pedestrians.webm"), str(png))
    expect_lines(text, r"^79 frames, [\d.]+ frames/s", r"float32 1×3×640×640, NCHW, 4915200 bytes",
                 r"content +640×480 at \(0, 80\)", r"0\.833333 +0\.000000 +0\.000",
                 r"0\.000000 +0\.833333 +80\.000",
                 r"^ +0 +0\.0 s +0\.4[67]\d+ +0\.4[89]\d+ +0\.3[78]\d+$")
    check_png(png)
    text = run("camera-to-tensor.sh", "/no/such/file", str(png), expect=1)
    expect_lines(text, "/no/such/file")


def luminance(_):
    text = run("luminance.sh")
    bars = re.findall(r"^ *[\d.]+ s +│([ ▁▂▃▄▅▆▇█]+)│ +([\d.]+) +(\d+) +(\d+)", text, re.M)
    if len(bars) < 10 or not all(60 < float(mean) < 190 for _, mean, _, _ in bars):
        sys.exit(f"{len(bars)} histograms in:\n{text}")
    expect_lines(text, "^79 frames in 16 intervals")


def rgb_of(path, decoder, width, height, folder):
    """The first picture, height×width×3."""
    raw = folder / "rgb"
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={path}", "!", *decoder.split(), "!",
                    "videoconvert", "!", "identity", "eos-after=2", "!",
                    "video/x-raw,format=RGB", "!", "filesink", f"location={raw}"], check=True,
                   timeout=120)
    stride = -(-3 * width // 4) * 4  # GStreamer's rows begin at multiples of four bytes
    rows = np.fromfile(raw, np.uint8, stride * height).reshape(height, stride)
    return rows[:, :3 * width].reshape(height, width, 3)


def compare_panels(png, folder):
    """The panels show half the size, nearest-neighbor scaling and the whole frame."""
    frame = rgb_of(PIPELINES / "media/pedestrians.webm", "matroskademux ! vp8dec", 768, 576, folder)
    sheet = rgb_of(png, "pngdec", 2008, 1318, folder)[92:92 + 576]
    # Parts without the outline of the detail.
    small, nearest, result = sheet[200:288, 28:228], sheet[400:, 428:828], sheet[400:, 1212:1612]
    blocks = frame[:, :800].reshape(288, 2, 384, 2, 3).astype(int)
    half = (blocks.sum(axis=(1, 3)) + 2) // 4
    if not (result == frame[400:, :400]).all():
        sys.exit("the right panel is not the frame")
    if not (small == half[200:288, :200]).all():
        sys.exit("the left panel is not the frame at half its size")
    if not (nearest[::2, ::2] == half[200:, :200]).all() or (nearest == result).mean() > 0.5:
        sys.exit("the panel in the middle is not the left one enlarged")


def super_resolution(folder):
    png = folder / "picture.png"
    text = run("super-resolution.sh", str(PIPELINES / "media/pedestrians.webm"), str(png))
    expect_lines(text, "^float16 tensor .* equals the frame in all 1327104 bytes",
                 "^uint8 tensor .* equals the frame in all 1327104 bytes")
    check_png(png, 2008, 1318)
    compare_panels(png, folder)


def fixed_point(folder):
    png = folder / "crop.png"
    run("fixed-point.sh", str(PIPELINES / "media/pedestrians.webm"), str(png))
    check_png(png, 640, 480)


def main():
    checks = {"camera-to-tensor": camera_to_tensor, "luminance": luminance,
              "super-resolution": super_resolution, "fixed-point": fixed_point}
    if not os.environ.get("BUILD_DIR"):
        sys.exit("BUILD_DIR is not set")
    with tempfile.TemporaryDirectory() as folder:
        checks[sys.argv[1]](Path(folder))


main()
