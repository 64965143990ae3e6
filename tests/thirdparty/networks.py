#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the properties in docs/models.md with the preprocessing of the networks' own projects:
the largest difference for frames of a video must be the one on the page.

Antialiased tensors differ only by the rounding of floating-point numbers, and NV12 gives the same
bits as the RGB picture that cudaletterbox makes of it. CUDATENSOR_TEST_BACKEND is the elements'
backend.
"""
import sys

from references import need, report
need("networks")

import modelspage
from families import REFERENCES
from pictures import Picture, as_rgb, need_backend, tensor, video

FRAMES = (0, 20, 50)
# The tolerance of antialiased tensors: 2**-20 of the range.
ROUNDING = 255 / 2**20


def case(properties, reference, documented):
    largest = 0.0
    for frame in FRAMES:
        picture = video("pedestrians.webm", "RGB", frame)
        ours, theirs = tensor(picture, properties), reference(as_rgb(picture))
        largest = max(largest, modelspage.levels(properties, ours, theirs))
    if "antialias=true" in properties and "color=gray" not in properties:
        assert largest <= ROUNDING, f"{largest:.2g} is more than rounding"
        decoded = video("pedestrians.webm", "NV12", FRAMES[-1])
        converted = Picture.of_pixels(as_rgb(decoded))
        assert (tensor(decoded, properties) == tensor(converted, properties)).all(), "from NV12"
    assert round(largest, 4) <= documented <= 2 * largest + 1e-5, (
        f"it is {largest:.5f}, not {documented:g}")
    return f"{largest:.2g} of 255"


def main():
    need_backend("networks")
    table, properties = modelspage.differences(), modelspage.properties()
    cases = [("every reference is in the table", lambda: check_names(table, properties))]
    cases += [(name, lambda name=name: case(properties[name], REFERENCES[name], table[name]))
              for name in table if name in properties]
    return report(cases)


def check_names(table, properties):
    missing = set(REFERENCES) ^ set(table) | (set(table) - set(properties))
    assert not missing, ", ".join(sorted(missing))


sys.exit(main())
