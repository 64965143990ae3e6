# SPDX-License-Identifier: LGPL-2.1-or-later
"""The boxes in the output of a detector."""
from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy
import pyarrow

DETECTION_COLUMNS = pyarrow.schema(
    [(name, pyarrow.float32()) for name in ("x0", "y0", "x1", "y1", "score")]
    + [("class", pyarrow.int32())])
_OVERLAP = 0.7  # IoU of two boxes of a class above which only the better one is kept
_MOST_BOXES = 300  # per frame
_END_TO_END = 6  # x0, y0, x1, y1, score, class
_HEADS = ("Detect", "v10Detect", "WorldDetect", "YOLOEDetect")  # Ultralytics' heads with such outputs


def is_detector(shape: Sequence[Any], metadata: Mapping[str, str]) -> bool:
    """Returns whether an output of this shape has boxes: (N, boxes, 6), or (N, 4 + classes, boxes)
    of an export of Ultralytics with the task "detect". Raises ValueError if the metadata of an
    export name a task or a head with other outputs."""
    is_export = "imgsz" in metadata
    task = metadata.get("task", "") if is_export else ""
    if is_export:
        _check_export(task, metadata)
    return len(shape) == 3 and task != "classify" and (shape[2] == _END_TO_END or task == "detect")


def _check_export(task: str, metadata: Mapping[str, str]) -> None:
    if task not in ("detect", "classify"):
        raise ValueError("expected an export of Ultralytics with the task 'detect' or 'classify', "
                         f"got the task {task!r}")
    # In exports that do not name the head, only the description shows RT-DETR, whose task is also detect.
    is_rtdetr = "rtdetr" in metadata.get("description", "")
    head = metadata.get("head") or ("RTDETRDecoder" if is_rtdetr else "")
    if task == "detect" and head and head not in _HEADS:
        raise ValueError("expected an export of Ultralytics with one of the heads "
                         f"{', '.join(_HEADS)}, got the head {head}")


def boxes_of(output: numpy.ndarray, confidence: float) -> tuple[numpy.ndarray, ...]:
    """Returns the boxes (n, 4) as x0, y0, x1, y1 in pixels of the tensor, their scores (n,) and
    classes (n,), best first. The output for a frame is (boxes, 6), in which the network has chosen
    the boxes, or Ultralytics' (4 + classes, boxes) with center and size, from which the best are
    chosen here."""
    if output.shape[1] == _END_TO_END:
        chosen = output[output[:, 4] >= confidence]
        chosen = chosen[numpy.argsort(-chosen[:, 4], kind="stable")]
        return chosen[:, :4], chosen[:, 4], chosen[:, 5].astype(int)
    scores, classes = output[4:].max(0), output[4:].argmax(0)
    candidates = numpy.flatnonzero(scores >= confidence)
    candidates = candidates[numpy.argsort(-scores[candidates], kind="stable")]
    center, half = output[:2, candidates].T, output[2:4, candidates].T / 2
    boxes = numpy.concatenate([center - half, center + half], 1)
    scores, classes = scores[candidates], classes[candidates]
    kept = _best(boxes, classes)
    return boxes[kept], scores[kept], classes[kept]


def _best(boxes: numpy.ndarray, classes: numpy.ndarray) -> list[int]:
    """Returns the indices of the boxes that do not overlap a better one of their class, best
    first."""
    areas = numpy.prod(boxes[:, 2:] - boxes[:, :2], 1)
    left, kept = numpy.arange(len(boxes)), []
    while len(left) and len(kept) < _MOST_BOXES:
        best, rest = left[0], left[1:]
        kept.append(int(best))
        low = numpy.maximum(boxes[best, :2], boxes[rest, :2])
        high = numpy.minimum(boxes[best, 2:], boxes[rest, 2:])
        shared = numpy.prod(numpy.maximum(high - low, 0), 1)
        overlap = shared / numpy.maximum(areas[best] + areas[rest] - shared, 1e-9)
        left = rest[(overlap <= _OVERLAP) | (classes[rest] != classes[best])]
    return kept
