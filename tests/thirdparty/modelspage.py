# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the tables of docs/models.md."""
import re

import numpy

from references import ROOT

PAGE = ROOT / "docs/models.md"


def rows(columns):
    """Returns the cells of the tables with this many columns."""
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == columns and not set(line) <= set("|-: "):
            yield cells


def properties():
    """name → the properties in the table of networks"""
    return {cells[0]: cells[1].strip("`") for cells in rows(5) if "×" in cells[2]}


def differences():
    """name → the largest difference in the table of comparisons"""
    return {name: float(difference) for name, _, difference in rows(3)
            if re.fullmatch(r"[\d.e-]+", difference)}


def numbers_of(text, name, default):
    found = re.search(rf"\b{name}=<?([-\d.,e]+)", text)
    return numpy.array([float(number) for number in found[1].split(",")]) if found else default


def level_of(text):
    """Returns by how much one level of 255 changes the tensor, for each channel."""
    if "normalization=alpha-beta" in text:
        return numbers_of(text, "alpha", numpy.array([1 / 255]))
    integers = re.search(r"dtype=u?int8", text)
    scale = numbers_of(text, "scale", numpy.array([1.0 if integers else 1 / 255]))
    return scale / numbers_of(text, "std", numpy.array([1.0]))


def levels(text, ours, theirs):
    """Returns the largest difference of two tensors in levels of 255."""
    assert ours.shape == theirs.shape, f"ours is {ours.shape}, theirs {theirs.shape}"
    level = level_of(text)
    shape = (1, 1, -1) if "layout=nhwc" in text else (-1, 1, 1)
    difference = numpy.abs(ours.astype(numpy.float64) - theirs.astype(numpy.float64))
    return float((difference / level.reshape(shape)).max())
