#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints how many frames each source has, and a digest of their tensors and timestamps. Needs only
the package gst_cudatensor.

usage: decode.py SOURCE...            files and URIs
       decode.py --since TIME SOURCE  only prints how long after TIME, in ns, the first tensor is there
"""
import ctypes
import hashlib
import sys
import time

from gst_cudatensor import Frames, FramesError

SIZE = 320


def frames(source):
    return Frames(source, batch=4, width=SIZE, height=SIZE, resize_mode="ultralytics", device="cpu",
                  timeout=60)


def digest(source):
    """Returns the number of frames and the digest."""
    made, count = hashlib.sha256(), 0
    with frames(source) as batches:
        for batch in batches:
            assert batch.shape[1:] == (3, SIZE, SIZE) and batch.device == "cpu"
            made.update(ctypes.string_at(batch.data_ptr, batch.nbytes))
            made.update(repr([slot.pts for slot in batch.slots]).encode())
            count += len(batch)
    return count, made.hexdigest()


def main():
    sources, failed = sys.argv[1:], False
    if sources[0] == "--since":
        next(iter(frames(sources[2])))
        sys.exit(print(f"{(time.time_ns() - int(sources[1])) / 1e9:.1f} s"))
    for source in sources:
        try:
            print(*digest(source), source, flush=True)
        except FramesError as error:
            failed = True
            print(f"{source}: {error}", file=sys.stderr)
    sys.exit(failed)


main()
