#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the application deepstream of the build in $BUILD_DIR with decoders that need neither
DeepStream nor a GPU. Exits with status 77, which means "skipped", if there are none."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "frames"))
from trackmatrix import set_matrix  # noqa: E402

MEDIA = Path(__file__).resolve().parents[2] / "pipelines/media"
CLIP, VP8 = MEDIA / "pedestrians-1080p.mp4", MEDIA / "pedestrians.webm"
DEEPSTREAM = Path(os.environ.get("BUILD_DIR", "")) / "pipelines/deepstream/deepstream"
CLIP_FRAMES = 74
# The second one accepts H.264 only as a byte stream, as nvv4l2decoder does.
DECODERS = "avdec_h264", "openh264dec"
SLOT = re.compile(r"  slot (\d): source (\d), pts ([\d.]+) s, "
                  r"1920x1080 at 0,140 640x360 of 640x640, "
                  r"box 160\.0,230\.0-480\.0,410\.0 is 480\.0,270\.0-1440\.0,810\.0, "
                  r"center pixel ([-+][\d.]+)")


def expect(condition, what, text):
    if not condition:
        sys.exit(f"{what}:\n{text}")


def exists(element):
    return subprocess.run(["gst-inspect-1.0", "--exists", element], check=False).returncode == 0


def run(*arguments):
    return subprocess.run([DEEPSTREAM, *arguments], text=True, timeout=100, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def output(*arguments):
    done = run(*arguments)
    expect(done.returncode == 0, f"{arguments} exited with {done.returncode}",
           done.stdout + done.stderr)
    expect("CRITICAL" not in done.stderr, f"{arguments} misuse GStreamer", done.stderr)
    return done.stdout


def slots_are_described(decoder, batches, *arguments):
    text = output(CLIP, CLIP, f"--decoder={decoder}", *arguments)
    lines = text.splitlines()
    expect(lines[-1] == f"{batches} batches, {2 * batches} frames", "not all batches", text)
    expect(lines[0:-1:3] == [f"batch {i}" for i in range(batches)], "batches are missing", text)
    former = -1.0
    for pair in zip(lines[1:-1:3], lines[2:-1:3]):
        slots = [SLOT.fullmatch(line) for line in pair]
        expect(all(slots), "a slot is not as expected", "\n".join(pair))
        expect([slot.groups()[:2] for slot in slots] == [("0", "0"), ("1", "1")],
               "the slots are not those of the sources", "\n".join(pair))
        expect(slots[0].groups()[2:] == slots[1].groups()[2:], "the same frames differ",
               "\n".join(pair))
        expect(float(slots[0][3]) > former, "pts does not increase", text)
        former = float(slots[0][3])


def pictures_are_upright(decoder):
    """The second of two sources is to be turned by 90°, as of a phone."""
    with tempfile.TemporaryDirectory() as folder:
        turned = Path(shutil.copy(CLIP, folder))
        set_matrix(turned, (0, 1, -1, 0))
        text = output(CLIP, turned, f"--decoder={decoder}", "--batches=2")
    for place, slot in (("0,140 640x360", 0), ("140,0 360x640", 1)):
        expect(text.count(f"  slot {slot}: ") == 2, "slots are missing", text)
        expect(all(f"1920x1080 at {place} of 640x640" in line for line in text.splitlines()
                   if line.startswith(f"  slot {slot}: ")), f"slot {slot} is not as expected", text)


def settings_are_used():
    """The stream is VP8, which needs no parser."""
    text = output(VP8, "--decoder=vp8dec threads=1", "--tensor=width=32 height=16", "--batches=1")
    expect("768x576 at 0,0 32x16 of 32x16" in text, "--tensor is not used", text)


def errors_are_one_line(decoder):
    decode = f"--decoder={decoder}"
    for arguments, cause in (
            ([], "at least one"),
            ([CLIP, "--decoder=nodec"], '"nodec"'),
            ([CLIP, "--decoder=fakesink"], "fakesink is not a decoder"),
            ([CLIP, "--decoder=identity ! identity"], "more than one element"),
            ([CLIP, "--decoder=vorbisdec"], "the mux does not accept"),
            ([CLIP, "/no/such.mp4", decode], "'/no/such.mp4' does not exist"),
            ([VP8, decode], f"{decoder} does not decode video/x-vp8"),
            ([MEDIA / "README.md", decode], "README.md): "),
            ([CLIP, decode, "--batches=-1"], "--batches"),
            ([CLIP, decode, "--tensor=wdth=1"], "wdth"),
            ([CLIP, decode, "--tensor=width=64 height=64 dtype=uint8"], "float32"),
            *([] if exists("nvstreammux") else [([CLIP, decode, "--streammux"], '"nvstreammux"')]),
            *([] if exists("nvv4l2decoder") else [([CLIP], '"nvv4l2decoder"')])):
        done = run(*arguments)
        ours = [line for line in done.stderr.splitlines() if line.startswith("deepstream: ")]
        expect(done.returncode == 1 and len(ours) == 1 and cause in ours[0],
               f"{arguments}: no error that names '{cause}'", done.stderr)


def ends_each_time(decoder):
    """A demuxer may fail at any time while parsebin plugs it."""
    for _ in range(30):
        done = run(VP8, f"--decoder={decoder}")
        expect(done.returncode == 1 and "does not decode video/x-vp8" in done.stderr,
               "no error that names the format", done.stderr)


def names_refused_format():
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "gray16.png"
        subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=1", "!",
                        "video/x-raw,format=GRAY16_BE,width=64,height=48", "!", "pngenc", "!",
                        "filesink", f"location={picture}"], check=True, timeout=60)
        done = run(picture, "--decoder=pngdec")
        expect(done.returncode == 1 and "the mux does not accept video/x-raw, format=(string)GRAY16"
               in done.stderr, "the format is not named", done.stderr)


decoders = [each for each in DECODERS if exists(each)]
if not decoders or not exists("h264parse"):
    print("skipped: no decoder for H.264 is installed")
    sys.exit(77)
slots_are_described(decoders[0], CLIP_FRAMES)
for each in decoders:
    slots_are_described(each, 3, "--batches=3")
    pictures_are_upright(each)
settings_are_used()
errors_are_one_line(decoders[0])
ends_each_time(decoders[0])
names_refused_format()
print("deepstream describes the slots and names the causes of errors")
