#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times ways from files of H.264 to batches of tensors in Python, and prints Markdown.

The work: frames of 1080p, letterboxed to 640×640, float16 from 0 to 1, in batches of 64 on the GPU,
or on the CPU if there is none. Streams are read at the same time, each in its own thread. Every
measurement runs in its own process, after two batches that are not counted.

usage: frames.py [--streams 1,8,16] [--ways NAME,...] [--seconds N] CLIP
"""
import argparse
import contextlib
import importlib.util
import itertools
import json
import resource
import shutil
import subprocess
import sys
import threading
import time

from videoways import SIDE, WAYS, rows_of

WORKS = {"every frame": {}, "one a second": {"every": "1s"}, "16 of a file": {"count": 16}}


def used_gpu_memory():
    """Returns the used memory of the whole GPU in MiB; 0 if there is none."""
    if shutil.which("nvidia-smi") is None:
        return 0
    done = subprocess.run(["nvidia-smi", "--id=0", "--query-gpu=memory.used",
                           "--format=csv,noheader,nounits"], capture_output=True, text=True,
                          check=False)
    return int(done.stdout) if done.returncode == 0 else 0


class Counter:
    """Reads the clip repeatedly as one stream, until the time is up."""

    def __init__(self, way, work, path, seconds):
        self._arguments = way, work, path
        self._seconds = seconds
        self.frames = 0
        self.error = None
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        way, work, path = self._arguments
        try:
            end = time.perf_counter() + self._seconds
            while time.perf_counter() < end:
                for tensor in way(path, work):
                    self.frames += len(tensor)
        except BaseException as error:  # reported by the main thread
            self.error = error

    def start(self):
        self._thread.start()

    def join(self):
        self._thread.join()
        if self.error is not None:
            raise self.error


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def settle():
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def measure(way, work, streams, seconds, path):
    before = used_gpu_memory()
    with contextlib.closing(way(path, work)) as batches:
        for _ in itertools.islice(batches, 2):
            pass
    settle()
    counters = [Counter(way, work, path, seconds) for _ in range(streams)]
    cpu, begin = cpu_seconds(), time.perf_counter()
    for counter in counters:
        counter.start()
    for counter in counters:
        counter.join()
    settle()
    elapsed = time.perf_counter() - begin
    frames = sum(counter.frames for counter in counters)
    return {"rate": frames / elapsed, "cpu": (cpu_seconds() - cpu) / frames * 1e6,
            "host": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "gpu": used_gpu_memory() - before}


def greatest_difference(way, path):
    """Returns the first batch's difference from float64, in levels of 255."""
    import exact
    import gst_cudatensor
    import numpy

    tensor = next(iter(way(path, {}))).cpu().numpy().astype(numpy.float64) * 255
    greatest = 0.0
    with gst_cudatensor.Frames(path, batch=len(tensor), color="yuv", dtype="uint8",
                               device="cpu") as frames:
        decoded = numpy.asarray(next(iter(frames)))
    rows, top = rows_of(*decoded.shape[2:])
    for result, (luma, blue, red) in zip(tensor, decoded):
        expected = exact.rgb(luma, blue[::2, ::2], red[::2, ::2], (rows, SIDE))
        difference = result[:, top:top + rows].transpose(1, 2, 0) - expected
        greatest = max(greatest, float(numpy.abs(difference).max()))
    return greatest


def in_a_process(*arguments):
    """Returns the JSON that this program prints, or why it failed."""
    done = subprocess.run([sys.executable, __file__, *map(str, arguments)], capture_output=True,
                          text=True, check=False, timeout=300)
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        return {"why": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(lines[-1])


def is_installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is missing
        return False


def print_table(ways, streams, seconds, path):
    print("| work | streams | way | frames/s | CPU time per frame, µs | memory, MiB | GPU memory, MiB |")
    print("|---|---|---|---|---|---|---|")
    for work in WORKS:
        for count in streams:
            for way in ways:
                row = in_a_process("--one", way, "--work", work, "--streams", count, "--seconds",
                                   seconds, path)
                text = (f"{row['rate']:.0f} | {row['cpu']:.0f} | {row['host']:.0f} | {row['gpu']}"
                        if "rate" in row else f"{row['why']} | | |")
                print(f"| {work} | {count} | {way} | {text} |", flush=True)
    print("\n| way | greatest difference from float64, levels of 255 |\n|---|---|")
    for way in ways:
        row = in_a_process("--difference", way, path)
        print(f"| {way} | {row.get('why') or format(row['greatest'], '.3g')} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", default="1,8,16")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--work", default="every frame")
    parser.add_argument("--one")
    parser.add_argument("--difference")
    parser.add_argument("clip")
    given = parser.parse_args()
    if given.one:
        return print(json.dumps(measure(WAYS[given.one][0], WORKS[given.work], int(given.streams),
                                        given.seconds, given.clip)))
    if given.difference:
        return print(json.dumps({"greatest": greatest_difference(WAYS[given.difference][0],
                                                                 given.clip)}))
    ways = [way for way in given.ways.split(",") if is_installed(WAYS[way][1])]
    print_table(ways, [int(count) for count in given.streams.split(",")], given.seconds, given.clip)


main()
