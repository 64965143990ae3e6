# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where pictures lie in a tensor."""
from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from ._library import GeometryStruct, SlotStruct

_NO_TIME = 2**64 - 1


@dataclass(frozen=True)
class Geometry:
    """How a picture lies in its tensor, or in its slot of a batch; sizes in pixels."""

    matrix: tuple[float, ...]  #: row-major 2×3, from the source picture to the tensor
    inverse: tuple[float, ...]  #: the way back
    src_width: int
    src_height: int
    dst_width: int
    dst_height: int
    pad_left: int
    pad_top: int
    content_width: int
    content_height: int

    @classmethod
    def _of(cls, struct: GeometryStruct) -> Geometry:
        values = {name: getattr(struct, name) for name in cls.__dataclass_fields__}
        return cls(**{**values, "matrix": tuple(struct.matrix), "inverse": tuple(struct.inverse)})

    def map_points(self, points: Any) -> Any:
        """Points of shape (…, 2), x and y in the tensor's pixels, as a NumPy array of the same in the
        source picture's. Raises ValueError for another shape."""
        import numpy

        points = numpy.asarray(points, numpy.float64)
        if points.ndim == 0 or points.shape[-1] != 2:
            raise ValueError(f"points of shape {points.shape}, not (N, 2)")
        return numpy.stack(self._map(points[..., 0], points[..., 1]), -1)

    def map_box(self, box: Sequence[float]) -> tuple[float, float, float, float]:
        """x0, y0, x1, y1 in the tensor's pixels as the same in the source picture's."""
        x0, y0, x1, y1 = box
        return (*self._map(x0, y0), *self._map(x1, y1))

    def map_boxes(self, boxes: Any) -> Any:
        """The same for boxes of shape (N, 4): a NumPy array for one (of any shape (…, 4)), a list of
        tuples for other sequences. Raises ValueError for another shape."""
        numpy = sys.modules.get("numpy")
        if numpy is None or not isinstance(boxes, numpy.ndarray):
            return [self.map_box(box) for box in boxes]
        if boxes.ndim == 0 or boxes.shape[-1] != 4:
            raise ValueError(f"boxes of shape {boxes.shape}, not (N, 4)")
        mapped = numpy.empty(boxes.shape, numpy.float64)
        mapped[..., 0::2], mapped[..., 1::2] = self._map(boxes[..., 0::2], boxes[..., 1::2])
        return mapped

    def _map(self, x: Any, y: Any) -> tuple[Any, Any]:
        a, b, c, d, e, f = self.inverse
        return a * x + b * y + c, d * x + e * y + f


@dataclass(frozen=True)
class Slot:
    """A slot of a batch. All but `pad_index` and `stream_id` is only there where it is valid."""

    valid: bool  #: there is a picture
    pad_index: int  #: number of the sink pad, -1 = none
    stream_id: Optional[str]
    pts: Optional[int]  #: ns, as the next two
    duration: Optional[int]
    running_time: Optional[int]
    geometry: Optional[Geometry]  #: in the slot, as if that were a tensor of its own
    region: Optional[tuple[float, ...]]  #: x, y, width, height of what was cut from the input
    roi_type: Optional[str]  #: of the GstVideoRegionOfInterestMeta that asked for it, as the next
    roi_id: Optional[int]
    parent_id: Optional[int]

    @classmethod
    def _of(cls, struct: SlotStruct) -> Slot:
        return cls(bool(struct.valid), struct.pad_index, _text(struct.stream_id),
                   _time(struct.pts), _time(struct.duration), _time(struct.running_time),
                   Geometry._of(struct.geometry) if struct.has_geometry else None,
                   tuple(struct.region) if struct.has_region else None, _text(struct.roi_type),
                   *((struct.roi_id, struct.parent_id) if struct.has_interest else (None, None)))


def _text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode(errors="replace")


def _time(value: int) -> Optional[int]:
    return None if value == _NO_TIME else value
