#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints a digest of the tensors of each launch line, which is given without its end, and how many there
are. Needs the package gst_cudatensor alone.

usage: decode.py LINE...            for example 'filesrc location=clip.mp4 ! decodebin'
       decode.py --since TIME LINE  only prints how long after TIME, in ns, the first tensor is there
"""
import ctypes
import hashlib
import sys
import time
from pathlib import Path

import gst_cudatensor

sys.path.insert(0, str(Path(__file__).parents[1] / "interop"))
import rawgst  # noqa: E402

END = "cudanormalize width=320 height=320 resize-mode=ultralytics ! other/tensors ! appsink name=sink sync=false"


def digest(line):
    """The number of tensors and the digest of their data and times."""
    made, count = hashlib.sha256(), 0
    for sample in rawgst.samples(f"{line} ! {END}"):
        tensor = gst_cudatensor.Tensor.from_sample(sample)
        assert tensor.shape == (1, 3, 320, 320) and tensor.device == "cpu"
        made.update(ctypes.string_at(tensor.data_ptr, tensor.nbytes))
        count += 1
    return count, made.hexdigest()


def main():
    since, lines = None, sys.argv[1:]
    if lines[0] == "--since":
        since, lines = int(lines[1]), lines[2:]
    for line in lines:
        if since:
            next(rawgst.samples(f"{line} ! {END}"))
            sys.exit(print(f"{(time.time_ns() - since) / 1e9:.1f} s"))
        count, made = digest(line)
        print(count, made, line)
        if count == 0:
            sys.exit(f"no tensors: {line}")


main()
