#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the frames per second of a GPU's H.264 decoder, alone and followed by cudanormalize, in
turn."""
import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

REPEATS = 40  # of the clip
DECODE = "nvh264dec ! video/x-raw(memory:CUDAMemory)"
CHAINS = {
    "decoder": DECODE,
    "decoder and cudanormalize": f"{DECODE} ! cudanormalize backend=cuda width=640 height=640 "
                              "resize-mode=ultralytics ! other/tensors(memory:CUDAMemory)",
}


def launch(line, *options):
    done = subprocess.run(["gst-launch-1.0", *options, *line.split()], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"gst-launch-1.0 {line}\n{done.stdout}")
    return done.stdout


def make_stream(clip, path):
    """Writes the clip many times as a byte stream to `path`. Returns the number of frames."""
    once = path.with_suffix(".once")
    launch(f"filesrc location={clip} ! qtdemux ! h264parse ! "
           f"video/x-h264,stream-format=byte-stream,alignment=au ! filesink location={once}")
    path.write_bytes(once.read_bytes() * REPEATS)
    frames = launch(f"filesrc location={once} ! h264parse ! fakesink silent=false", "-v")
    return REPEATS * frames.count("chain ")


def seconds(stream, chain):
    text = launch(f"filesrc location={stream} ! h264parse ! {chain} ! fakesink sync=false")
    hours, minutes, rest = re.search(r"Execution ended after (\d+):(\d+):([\d.]+)", text).groups()
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clip", help="MP4 file with H.264")
    parser.add_argument("--rounds", type=int, default=7, help="number of rounds")
    args = parser.parse_args()

    rates = {name: [] for name in CHAINS}
    with tempfile.TemporaryDirectory() as folder:
        stream = Path(folder) / "stream.h264"
        frames = make_stream(args.clip, stream)
        for _ in range(args.rounds):
            for name, chain in CHAINS.items():
                rates[name].append(frames / seconds(stream, chain))
    print(f"Frames per second for {Path(args.clip).name}, {frames} frames, {args.rounds} rounds\n")
    print("| chain | median | minimum | maximum |\n|---|---|---|---|")
    for name, values in rates.items():
        numbers = statistics.median(values), min(values), max(values)
        print(f"| {name} |" + "".join(f" {number:.0f} |" for number in numbers))
    ratios = [b / a for a, b in zip(*rates.values())]
    print(f"\nRate with cudanormalize ÷ rate of the decoder alone: {statistics.median(ratios):.3f}")


main()
