#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times the CPU backend and other software on the same frames, in turn, in one process. Prints a
table, or writes it to its place in a document."""
import argparse
import ctypes
import datetime
import os
import pathlib
import statistics
import time

import cv2
import numpy as np

from cpuworks import ALONE, Works, nv12_of, read_video
from pillows import PILLOW, PILLOW_SIMD

BEGIN = "<!-- written by tests/bench/cpu.sh -->\n"
END = "<!-- end of the part written by tests/bench/cpu.sh -->\n"
HEAD = ("| operation | software | 1 thread, ms | ÷ ours | 2 threads, ms | ÷ ours | "
        "1 thread ÷ 2 threads |\n|---|---|---|---|---|---|---|\n")


def time_round(call, frames, calls):
    begin = time.perf_counter()
    for i in range(calls):
        call(frames[i % len(frames)])
    return (time.perf_counter() - begin) / calls * 1e3


def calls_in(call, frames, milliseconds):
    """The number of calls that fill a round."""
    once = min(time_round(call, frames, 1) for _ in range(3))
    return max(1, round(milliseconds / once))


def time_work(works, rounds, milliseconds):
    """The title of a work, and the times of each round by name and number of threads. The rounds
    take turns, and all use the same frames."""
    made = {threads: work() for threads, work in works.items()}
    frames = made[1][1]
    timed = [(name, threads, call) for threads, (_, _, calls) in made.items()
             for name, call in calls.items() if threads == 1 or name not in ALONE]
    counts, times = {}, {}
    for number in range(-1, rounds):
        for name, threads, call in timed:
            cv2.setNumThreads(threads)
            if number < 0:
                counts[name, threads] = calls_in(call, frames, milliseconds)
                times[name, threads] = []
            else:
                times[name, threads].append(time_round(call, frames, counts[name, threads]))
    return made[1][0], times


def cell(values):
    if values is None:
        return "–"
    return "{:.3f} ({:.3f} to {:.3f})".format(statistics.median(values), min(values), max(values))


def ratio(values, by):
    if values is None or by is None:
        return "–"
    return f"{statistics.median(a / b for a, b in zip(values, by)):.2f}"


def rows_of(title, times):
    text = ""
    for name in dict.fromkeys(name for name, _ in times):
        one, two = times[name, 1], times.get((name, 2))
        text += (f"| {title} | {'**ours**' if name == 'ours' else name} | {cell(one)} | "
                 f"{ratio(one, times['ours', 1])} | {cell(two)} | {ratio(two, times['ours', 2])} | "
                 f"{ratio(one, two)} |\n")
        title = ""
    return text


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown processor"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", help="the file libbench-operations.so")
    parser.add_argument("video", help="a video file of 1920x1080 pixels")
    parser.add_argument("--rounds", type=int, default=11, help="number of rounds")
    parser.add_argument("--milliseconds", type=float, default=40,
                        help="duration of a round")
    parser.add_argument("--frames", type=int, default=4,
                        help="number of frames of the video that take turns")
    parser.add_argument("--only", default="", help="run only works whose names contain this text")
    parser.add_argument("--commit", default="", help="commit to name in the document")
    parser.add_argument("--write", type=pathlib.Path, help="document to write the table to")
    args = parser.parse_args()
    if args.only and args.write:
        parser.error("--write needs all works: leave out --only")

    lib = ctypes.CDLL(args.module)
    bgr = read_video(args.video, args.frames)
    nv12 = [nv12_of(frame) for frame in bgr]
    by_threads = [Works(lib, bgr, nv12, threads).all() for threads in (1, 2)]
    simd = f", Pillow-SIMD {PILLOW_SIMD.__version__}" if PILLOW_SIMD else ""
    text = (f"{processor()}, {os.cpu_count()} cores; OpenCV {cv2.__version__}, NumPy {np.__version__}, "
            f"Pillow {PILLOW.__version__}{simd}; {args.commit}, {datetime.date.today()}.\n\n{HEAD}")
    for works in zip(*by_threads):
        if args.only in works[0].__name__:
            text += rows_of(*time_work(dict(zip((1, 2), works)), args.rounds, args.milliseconds))
    if args.write is None:
        print(text, end="")
        return
    before, rest = args.write.read_text().split(BEGIN)
    after = rest.split(END)[1]
    args.write.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


main()
