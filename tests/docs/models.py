#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the table of networks in docs/models.md: with the properties of a row, a picture has the
tensor of that row, and a black and a white picture have its values.
"""
import re
import sys
from pathlib import Path

import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
import gst_cudatensor
import numpy

PAGE = Path(__file__).resolve().parents[2] / "docs/models.md"


def networks():
    """name, properties, tensor, values of black, values of white"""
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 5 and "×" in cells[2]:
            yield cells


def picture_tensor(properties, pattern):
    """The tensor of a picture of 768x576, and the values in a pixel that is not padding in any row."""
    properties = re.sub(r"=(<[^>]*>)", r'="\1"', properties)
    pipeline = Gst.parse_launch(
        f"videotestsrc num-buffers=1 pattern={pattern} ! video/x-raw,format=RGB,width=768,height=576 "
        f"! cudanormalize {properties} ! other/tensors ! appsink name=sink")
    pipeline.set_state(Gst.State.PLAYING)
    tensor = gst_cudatensor.Tensor.from_sample(pipeline.get_by_name("sink").emit("pull-sample"))
    array = numpy.array(tensor)[0].astype(float)
    pipeline.set_state(Gst.State.NULL)
    channels_last = "layout=nhwc" in properties
    pixels = array if channels_last else array.transpose(1, 2, 0)
    return (f"{tensor.dtype} {'×'.join(map(str, tensor.shape))}",
            pixels[pixels.shape[0] // 2, pixels.shape[1] // 8])


def wrong(properties, tensor, black, white):
    for pattern, documented in {"black": black, "white": white}.items():
        made, values = picture_tensor(properties, pattern)
        if made != tensor:
            return f"the tensor is {made}"
        numbers = [float(number) for number in documented.split(",")]
        if not numpy.allclose(values, numbers, rtol=0, atol=1e-3 * max(1, abs(values).max() / 100)):
            return f"{pattern} is {values}"
    return None


def main():
    Gst.init(None)
    count = failed = 0
    for name, *row in networks():
        count += 1
        problem = wrong(*row)
        failed += problem is not None
        print(f"{'ok' if problem is None else 'not ok'} {count} - {name}"
              f"{'' if problem is None else ': ' + problem}")
    print(f"1..{count}")
    sys.exit(1 if failed or count == 0 else 0)


main()
