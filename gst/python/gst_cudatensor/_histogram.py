# SPDX-License-Identifier: LGPL-2.1-or-later
"""The messages of cudahistogram."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Optional

from ._library import NO_TIME, HistogramStruct, address_of, call, functions, time_of

_TIMES = ("timestamp", "stream_time", "running_time", "duration")


def is_histogram(message: Any) -> bool:
    """Returns whether a message is one of cudahistogram.

    `message`: a Gst.Message of PyGObject, or the address of a GstMessage (an int). Raises TypeError
    for other objects.
    """
    return bool(functions.is_histogram(address_of(message, "GstMessage")))


@dataclass(frozen=True)
class Histogram:
    """The luminance histogram of one or more frames. Luma is from 0 to 255, as in the picture."""

    timestamp: Optional[int]  #: of the first frame, in ns, like the next two
    stream_time: Optional[int]
    running_time: Optional[int]
    duration: Optional[int]  #: of the frames, in ns
    frames: int
    pixels: int  #: number of pixels in all frames
    bins: tuple[int, ...]  #: number of pixels with each luma value, 256 values
    mean: float
    stddev: float  #: population standard deviation
    min: int  #: lowest and highest luma value that occur
    max: int
    median: int  #: percentile 50; the next four are percentiles, too
    p1: int
    p5: int
    p95: int
    p99: int
    clipped_low: float  #: share of pixels at or below black
    clipped_high: float  #: share of pixels at or above white
    roi: Optional[tuple[int, int, int, int]]  #: x, y, width, height of the region that was counted

    @classmethod
    def from_message(cls, message: Any) -> Histogram:
        """Returns the histogram in a message of cudahistogram.

        `message` is as for is_histogram(). Raises TypeError for other objects, and TensorError for
        other messages or if a field is missing.
        """
        struct = HistogramStruct()
        call(functions.histogram_parse, address_of(message, "GstMessage"), ctypes.byref(struct))
        return cls._of(struct)

    def __add__(self, more: Histogram) -> Histogram:
        """Returns the sum of two histograms, of which `more` was played later: see
        gst_cuda_tensor_histogram_add()."""
        if not isinstance(more, Histogram):
            return NotImplemented
        struct = self._struct()
        functions.histogram_add(ctypes.byref(struct), ctypes.byref(more._struct()))
        return self._of(struct)

    @classmethod
    def _of(cls, struct: HistogramStruct) -> Histogram:
        values = {name: getattr(struct, name) for name in cls.__dataclass_fields__ if name != "roi"}
        values.update((name, time_of(values[name])) for name in _TIMES)
        return cls(**{**values, "bins": tuple(struct.bins)},
                   roi=tuple(struct.roi) if struct.has_roi else None)

    def _struct(self) -> HistogramStruct:
        struct = HistogramStruct(has_roi=self.roi is not None)
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if value is None:
                value = NO_TIME if name in _TIMES else (0, 0, 0, 0)
            setattr(struct, name, value)
        return struct
