#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Maps boxes that GStreamer's own inference finds after cudaletterbox to the picture of the camera.

A picture with a rectangle in each color channel goes through `cudaletterbox ! onnxinference` and
the decoder of GStreamer's SSD detectors. The models of detectors.py look for the rectangles.
Their boxes, mapped back with the geometry meta, must match the rectangles of the picture to half a
pixel of the letterbox.
"""
import itertools
import sys
import tempfile
from pathlib import Path


def skip(why):
    print(f"ok 1 - onnxinference # SKIP {why}\n1..1")
    sys.exit(0)


try:
    from rectangles import (CHANNELS, PICTURES, boxes_of, detect, detector, is_installed,
                            rectangles_of)
    from detectors import write_detectors
    from gi.repository import Gst
except (ImportError, ValueError) as error:
    skip(error)

MODES = ("affine", "ultralytics", "top-left")
# The additional tolerance of an edge in pixels, by format: between two chroma samples it is a ramp.
BLUR = {"RGB": 0, "NV12": 1}


def geometry_of(buffer):
    """sx, tx, sy, ty from the letterbox back to the picture."""
    fields = buffer.get_custom_meta("GstCudaTensorGeometryMeta").get_structure()
    _, inverse = fields.get_array("inverse")
    return [inverse.get_nth(i) for i in (0, 2, 4, 5)]


def check(buffer, width, height, blur):
    """Returns the problem with the boxes of a picture, or None. `blur`: as in BLUR."""
    sx, tx, sy, ty = geometry_of(buffer)
    allowed = (sx / 2 + blur + 1e-6, sy / 2 + blur + 1e-6) * 2
    boxes = boxes_of(buffer)
    if sorted(boxes) != sorted(CHANNELS):
        return f"{width}x{height}: boxes of {sorted(boxes)}"
    for label, expected in zip(CHANNELS, rectangles_of(width, height)):
        x0, y0, x1, y1 = boxes[label]
        mapped = (sx * x0 + tx, sy * y0 + ty, sx * x1 + tx, sy * y1 + ty)
        if any(abs(m - e) > a for m, e, a in zip(mapped, expected, allowed)):
            return f"{width}x{height}: {label} {expected} was found at {mapped}"
    return None


def launch_line(source, mode, model):
    return (f"appsrc name=camera format=time ! videoconvert ! video/x-raw,format={source} ! "
            f"cudaletterbox resize-mode={mode} ! {detector(model)} ! "
            "appsink name=sink sync=false")


def wrong_with(source, model, mode):
    """A line for each picture with a wrong box, or for the error."""
    try:
        found = detect(launch_line(source, mode, model))
        lines = [check(b, *size, BLUR[source]) for b, size in zip(found, PICTURES)]
    except RuntimeError as error:
        lines = [str(error)]
    return [line for line in lines if line]


def main():
    Gst.init(None)
    if not is_installed():
        skip("onnxinference or a decoder for its output is not installed")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        cases = list(itertools.product(BLUR, write_detectors(Path(folder)), MODES))
        for number, (source, model, mode) in enumerate(cases, 1):
            wrong = wrong_with(source, model, mode)
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {number} - {source}, {model.stem}, {mode}")
            print(*(f"  {line}\n" for line in wrong), sep="", end="")
    print(f"1..{len(cases)}")
    return 1 if failed else 0


sys.exit(main())
