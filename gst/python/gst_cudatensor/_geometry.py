# SPDX-License-Identifier: LGPL-2.1-or-later
"""The positions of pictures in a tensor."""
from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from ._library import GeometryStruct, SlotStruct, time_of


@dataclass(frozen=True)
class Geometry:
    """The position of a picture in its tensor or batch slot; sizes are in pixels."""

    matrix: tuple[float, ...]  #: row-major 2×3, maps source to tensor
    inverse: tuple[float, ...]  #: row-major 2×3, maps tensor to source
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
        """Maps points of shape (…, 2) from the tensor's pixels to the source picture's. Returns a
        NumPy array of the same shape, float64. Raises ValueError for other shapes."""
        import numpy

        points = numpy.asarray(points, numpy.float64)
        if points.ndim == 0 or points.shape[-1] != 2:
            raise ValueError(f"points of shape {points.shape}; expected (…, 2)")
        return numpy.stack(self._map(points[..., 0], points[..., 1]), -1)

    def map_box(self, box: Sequence[float]) -> tuple[float, float, float, float]:
        """Maps a box (x0, y0, x1, y1) from the tensor's pixels to the source picture's. If the
        picture was turned, the result is the box around the mapped one."""
        xs, ys = zip(*self._corners(box))
        return min(xs), min(ys), max(xs), max(ys)

    def map_boxes(self, boxes: Any, corners: bool = False) -> Any:
        """Maps boxes of shape (N, 4) from the tensor's pixels to the source picture's. Returns a
        NumPy array for an array, which may have any shape (…, 4), and a list of tuples for other
        sequences. Raises ValueError for other shapes.

        If the picture was turned, as in slots of oriented detections and of aligned faces, the
        results are the boxes around the mapped ones. With `corners`, they are the corners instead,
        of shape (N, 4, 2): first that of (x0, y0), then those of (x1, y0), (x1, y1) and (x0, y1).
        """
        numpy = sys.modules.get("numpy")
        if numpy is None or not isinstance(boxes, numpy.ndarray):
            return [self._corners(box) if corners else self.map_box(box) for box in boxes]
        if boxes.ndim == 0 or boxes.shape[-1] != 4:
            raise ValueError(f"boxes of shape {boxes.shape}; expected (…, 4)")
        boxes = boxes.astype(numpy.float64, copy=False)
        axes = self._map(boxes[..., [0, 2, 2, 0]], boxes[..., [1, 1, 3, 3]])
        if corners:
            return numpy.stack(axes, -1)
        mapped = numpy.empty(boxes.shape, numpy.float64)
        for axis, values in enumerate(axes):
            mapped[..., axis], mapped[..., axis + 2] = values.min(-1), values.max(-1)
        return mapped

    def _corners(self, box: Sequence[float]) -> tuple[tuple[float, float], ...]:
        x0, y0, x1, y1 = box
        return tuple(self._map(x, y) for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1)))

    def _map(self, x: Any, y: Any) -> tuple[Any, Any]:
        a, b, c, d, e, f = self.inverse
        return a * x + b * y + c, d * x + e * y + f


@dataclass(frozen=True)
class Slot:
    """A slot of a batch. If it is not valid, only `pad_index` and `stream_id` are set."""

    valid: bool  #: whether the slot holds a picture
    pad_index: int  #: number of the sink pad; -1 if there is none
    stream_id: Optional[str]
    pts: Optional[int]  #: the picture's timestamp in ns; the next two are in ns, too
    duration: Optional[int]
    running_time: Optional[int]
    geometry: Optional[Geometry]  #: position in the slot, as if the slot were a tensor of its own
    region: Optional[tuple[float, ...]]  #: x, y, width, height in pixels of the input picture
    roi_type: Optional[str]  #: from the region's GstVideoRegionOfInterestMeta, like the next two
    roi_id: Optional[int]
    parent_id: Optional[int]
    detection_type: Optional[str]  #: from the region's GstAnalyticsODMtd, like the next two
    detection_id: Optional[int]
    confidence: Optional[float]

    @classmethod
    def _of(cls, struct: SlotStruct) -> Slot:
        return cls(bool(struct.valid), struct.pad_index, _text(struct.stream_id),
                   time_of(struct.pts), time_of(struct.duration), time_of(struct.running_time),
                   Geometry._of(struct.geometry) if struct.has_geometry else None,
                   tuple(struct.region) if struct.has_region else None, _text(struct.roi_type),
                   *((struct.roi_id, struct.parent_id) if struct.has_roi else (None, None)),
                   _text(struct.detection_type),
                   *((struct.detection_id, struct.confidence) if struct.has_detection
                     else (None, None)))


def _text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode(errors="replace")
