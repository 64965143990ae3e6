# SPDX-License-Identifier: LGPL-2.1-or-later
"""TEMPORARY: stands in for the Python package gst_cudatensor. To be deleted when that is there.

Copies, where the package does not, and knows float32 tensors in system memory only.
"""
import dataclasses

import numpy as np
from gi.repository import Gst

META = "GstCudaTensorGeometryMeta"


@dataclasses.dataclass(frozen=True)
class Geometry:
    """GstCudaTensorGeometryMeta: matrices are row-major 2×3, all else is in pixels."""
    matrix: tuple
    inverse: tuple
    src_width: int
    src_height: int
    dst_width: int
    dst_height: int
    pad_left: int
    pad_top: int
    content_width: int
    content_height: int

    @classmethod
    def from_structure(cls, structure):
        def read(name):
            if name not in ("matrix", "inverse"):
                return structure.get_int(name.replace("_", "-"))[1]
            _, array = structure.get_array(name)
            return tuple(array.get_nth(i) for i in range(6))
        return cls(**{field.name: read(field.name) for field in dataclasses.fields(cls)})


class Tensor:
    """The tensor of a sample."""

    def __init__(self, array, geometry):
        self._array = array
        self.geometry = geometry

    @classmethod
    def from_sample(cls, sample):
        buffer = sample.get_buffer()
        dimensions = sample.get_caps().get_structure(0).get_string("dimensions")
        shape = [int(n) for n in reversed(dimensions.split(":"))]
        array = np.frombuffer(buffer.extract_dup(0, buffer.get_size()), np.float32)
        meta = buffer.get_custom_meta(META)
        return cls(array.reshape(shape), Geometry.from_structure(meta.get_structure()))

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype, copy=copy)
