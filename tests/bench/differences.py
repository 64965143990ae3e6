#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the outputs of DeepStream's nvvideoconvert and of cudanormalize for the frames of a clip
in BT.709, with each other and with float64. Prints Markdown.

usage: differences.py CLIP FOLDER

FOLDER is for the frames. GStreamer must have nvv4l2decoder, nvvideoconvert and cudanormalize.
"""
import subprocess
import sys
from pathlib import Path

import exact
import numpy

WIDTH, HEIGHT = 1920, 1080
RGBA_ON_HOST = "nvvideoconvert ! video/x-raw,format=RGBA"
OURS = "cudanormalize dtype=uint8 layout=nhwc round=true"

# nvvideoconvert's filter, a side of the result (None: no resize), and our counterpart.
FILTERS = [
    ("RGBA without a resize, Nearest", 0, None, "method=nearest"),
    ("RGBA without a resize, Bilinear", 1, None, "method=bilinear"),
    ("Nearest", 0, 640, "method=nearest"),
    ("Bilinear", 1, 640, "method=bilinear"),
    ("Algo-1 (cubic)", 2, 640, "method=bilinear"),
    ("Algo-2 (super)", 3, 640, "antialias=true method=bilinear"),
    ("Bilinear", 1, 224, "method=bilinear"),
    ("Algo-1 (cubic)", 2, 224, "method=bilinear"),
    ("Algo-2 (super)", 3, 224, "antialias=true method=bilinear"),
]


class Clip:
    def __init__(self, path, folder):
        self._path = path
        self._out = folder / "frames"

    def frames(self, chain, dtype, *shape):
        """Returns all frames after the decoder and this chain, as an array of the shape (frames,
        *shape)."""
        line = (f"filesrc location={self._path} ! qtdemux ! h264parse ! nvv4l2decoder ! {chain} ! "
                f"filesink location={self._out}")
        done = subprocess.run(["gst-launch-1.0", "-q", *line.split()], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"gst-launch-1.0 {line}\n{done.stdout}")
        return numpy.fromfile(self._out, dtype).reshape(-1, *shape)

    def of_deepstream(self, method, side):
        """RGB of eight bits."""
        size = f",width={side},height={side}" if side else ""
        chain = (f"nvvideoconvert interpolation-method={method} ! "
                 f"video/x-raw(memory:NVMM),format=RGBA{size} ! {RGBA_ON_HOST}")
        return self.frames(chain, numpy.uint8, side or HEIGHT, side or WIDTH, 4)[..., :3]

    def of_ours(self, properties, side):
        chain = f"{OURS} {properties}" + (f" width={side} height={side}" if side else "")
        return self.frames(chain, numpy.uint8, side or HEIGHT, side or WIDTH, 3)

    def tensors(self, side):
        """RGB from 0 to 1."""
        chain = f"cudanormalize width={side} height={side}"
        return self.frames(chain, numpy.float32, 3, side, side).transpose(0, 2, 3, 1)

    def nv12(self):
        rows = HEIGHT * 3 // 2
        return self.frames("nvvideoconvert ! video/x-raw,format=NV12", numpy.uint8, rows, WIDTH)


def in_float64(nv12, side):
    """RGB from 0 to 255."""
    chroma = nv12[HEIGHT:].reshape(HEIGHT // 2, WIDTH // 2, 2)
    return exact.rgb(nv12[:HEIGHT], chroma[..., 0], chroma[..., 1], (side, side))


def compare_filters(clip):
    print(f"| `nvvideoconvert` | compared with `{OURS}` | mean | 99th percentile | greatest |")
    print("|---|---|---|---|---|")
    for name, method, side, properties in FILTERS:
        theirs, ours = clip.of_deepstream(method, side), clip.of_ours(properties, side)
        assert theirs.shape == ours.shape, (name, theirs.shape, ours.shape)
        counts = numpy.bincount(numpy.abs(theirs.astype(numpy.int16) - ours).ravel(), minlength=256)
        share = numpy.cumsum(counts) / counts.sum()
        mean = (counts * numpy.arange(256)).sum() / counts.sum()
        print(f"| {name}{f', to {side}×{side}' if side else ''} | "
              f"{f'`{properties}`' if properties else 'the same'} | {mean:.2f} | "
              f"{numpy.searchsorted(share, 0.99)} | {numpy.flatnonzero(counts)[-1]} |")


def compare_with_float64(clip, side):
    nv12 = clip.nv12()
    results = {
        f"cudanormalize, float32 of {side}×{side}": clip.tensors(side) * numpy.float64(255),
        f"nvvideoconvert, RGBA of {side}×{side}, Bilinear": clip.of_deepstream(1, side),
        f"nvvideoconvert, RGBA of {side}×{side}, Algo-1 (cubic)": clip.of_deepstream(2, side),
    }
    print("| result | mean difference from float64, levels of 255 | greatest |")
    print("|---|---|---|")
    for name, frames in results.items():
        assert len(frames) == len(nv12), (name, len(frames))
        mean = greatest = 0.0
        for frame, source in zip(frames, nv12):
            difference = numpy.abs(frame - in_float64(source, side))
            mean += difference.mean() / len(frames)
            greatest = max(greatest, difference.max())
        print(f"| {name} | {mean:.3g} | {greatest:.3g} |")


def main():
    clip = Clip(sys.argv[1], Path(sys.argv[2]))
    compare_filters(clip)
    print()
    compare_with_float64(clip, 640)


main()
