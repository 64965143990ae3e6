#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times the decoders of the GStreamer in PATH on whole MP4 files of H.264, alone and before
cudanormalize, and prints Markdown. All streams of a row are in one process. Its start, with files
that end after a few frames, is measured as well and subtracted.

usage: decoders.py [--streams 1,8,16] [--decoder ELEMENT] [--rounds N] CLIP
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time

FEW = 8  # enough to create the decoder
NORMALIZE = ("! cudanormalize width=640 height=640 resize-mode=ultralytics dtype=float16 "
             "frames-per-tensor=64")


def run(line):
    """The elapsed time and the CPU time in seconds."""
    launch = shutil.which("gst-launch-1.0") or sys.exit("gst-launch-1.0 is not in PATH")
    begin = time.perf_counter()
    process = subprocess.Popen([launch, "-q", *line.split()])
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"gst-launch-1.0 {line}")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime


def chain(clip, rest):
    return f"filesrc location={clip} ! qtdemux ! h264parse ! {rest} ! fakesink sync=false"


def frames_of(clip):
    """Returns the number of the file's frames."""
    command = f"gst-launch-1.0 -v {chain(clip, 'identity')} silent=false"
    done = subprocess.run(command.split(), capture_output=True, text=True, check=True)
    return done.stdout.count("chain ")


def measure(clip, rest, streams, frames):
    """Returns frames per second, and µs of CPU time per frame."""
    started, started_cpu = run(" ".join([chain(clip, f"identity eos-after={FEW} ! {rest}")] * streams))
    elapsed, cpu = run(" ".join([chain(clip, rest)] * streams))
    frames = streams * (frames - FEW)
    return frames / (elapsed - started), (cpu - started_cpu) / frames * 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", default="1,8,16")
    parser.add_argument("--decoder", default="nvh264dec")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("clip")
    given = parser.parse_args()
    frames = frames_of(given.clip)
    print("| chain | streams | frames/s | CPU time per frame, µs |\n|---|---|---|---|")
    for streams in map(int, given.streams.split(",")):
        for rest in (given.decoder, f"{given.decoder} {NORMALIZE}"):
            rows = [measure(given.clip, rest, streams, frames) for _ in range(given.rounds)]
            rate, cpu = (statistics.median(values) for values in zip(*rows))
            name = given.decoder + (", cudanormalize" if "cudanormalize" in rest else "")
            print(f"| {name} | {streams} | {rate:.0f} | {cpu:.0f} |", flush=True)


main()
