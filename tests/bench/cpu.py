#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times the CPU backend beside OpenCV on the same frames, in turn, in one process.

1920x1080 NV12 to a letterboxed 640x640 NCHW float32 tensor, with ImageNet's mean and standard
deviation.  OpenCV's chain is cvtColor, resize, copyMakeBorder and blobFromImage, which has no
standard deviation per channel and so does a little less.
"""
import argparse
import ctypes
import platform
import statistics
import time

import cv2
import numpy as np

WIDTH, HEIGHT, SIZE = 1920, 1080, 640
FRAMES = 8  # rotated, so that no source stays in the caches


class Ours:
    """Our operation on a number of threads, behind tests/bench/operations.cpp."""

    def __init__(self, module, threads):
        self.lib = ctypes.CDLL(module)
        self.lib.nv12_to_tensor_new.restype = ctypes.c_void_p
        self.lib.nv12_to_tensor_run.argtypes = [ctypes.c_void_p] * 3
        self.lib.nv12_to_tensor_free.argtypes = [ctypes.c_void_p]
        self.handle = self.lib.nv12_to_tensor_new(WIDTH, HEIGHT, SIZE, threads)
        if not self.handle:
            raise SystemExit("the operation could not be made")
        self.tensor = np.empty((1, 3, SIZE, SIZE), np.float32)

    def __call__(self, frame):
        self.lib.nv12_to_tensor_run(self.handle, frame.ctypes.data, self.tensor.ctypes.data)
        return self.tensor


def opencv(frame):
    picture = cv2.cvtColor(frame, cv2.COLOR_YUV2BGR_NV12)
    content = SIZE * HEIGHT // WIDTH
    top = (SIZE - content) // 2
    picture = cv2.resize(picture, (SIZE, content), interpolation=cv2.INTER_LINEAR)
    picture = cv2.copyMakeBorder(picture, top, SIZE - content - top, 0, 0, cv2.BORDER_CONSTANT,
                                 value=(114, 114, 114))
    return cv2.dnn.blobFromImage(picture, 1 / 255 / 0.226, mean=(123.7, 116.3, 103.5), swapRB=True)


def make_frames():
    """Smooth pictures with noise: the two chains must agree on what they show."""
    rng = np.random.default_rng(1)
    ramp = np.linspace(40, 200, WIDTH, dtype=np.float32)[None, :]
    frames = []
    for _ in range(FRAMES):
        luma = ramp + rng.integers(-8, 9, (HEIGHT, WIDTH))
        chroma = np.full((HEIGHT // 2, WIDTH), 120.0)
        frames.append(np.vstack([luma, chroma]).astype(np.uint8))
    return frames


def check_agreement(ours, frames):
    """Both make the same picture, up to OpenCV's BT.601 and its one standard deviation."""
    a = ours(frames[0])[0].mean(axis=0)[SIZE // 2]
    b = opencv(frames[0])[0].mean(axis=0)[SIZE // 2]
    if np.corrcoef(a, b)[0, 1] < 0.99:
        raise SystemExit("the two chains do not show the same picture")


def time_round(function, frames, calls):
    begin = time.perf_counter()
    for i in range(calls):
        function(frames[i % FRAMES])
    return (time.perf_counter() - begin) / calls * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", help="libbench-operations.so")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=40, help="frames in a round")
    args = parser.parse_args()

    frames = make_frames()
    check_agreement(Ours(args.module, 1), frames)
    print(f"{platform.machine()}, OpenCV {cv2.__version__}, {args.rounds} rounds of {args.calls} "
          "frames in turn; milliseconds a frame, median (minimum to maximum)")
    for threads in (1, 2):
        cv2.setNumThreads(threads)
        ours = Ours(args.module, threads)
        times = {"ours": [], "OpenCV": []}
        for _ in range(args.rounds):
            times["ours"].append(time_round(ours, frames, args.calls))
            times["OpenCV"].append(time_round(opencv, frames, args.calls))
        for name, values in times.items():
            print(f"{threads} thread{'s' if threads > 1 else ' '} {name:7}"
                  f"{statistics.median(values):8.3f} ({min(values):.3f} to {max(values):.3f})")
        ratios = [b / a for a, b in zip(times["ours"], times["OpenCV"])]
        print(f"          OpenCV / ours {statistics.median(ratios):.2f}")


main()
