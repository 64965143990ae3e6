# SPDX-License-Identifier: LGPL-2.1-or-later
"""The luminance of a file: a row for each interval."""
from __future__ import annotations

import ctypes
import hashlib
from typing import Any, Iterator, Optional

import numpy
import pyarrow

from .._library import HistogramStruct, functions
from .chunks import SECOND, Chunk
from .faults import MediaError, PassingError
from .flicker import Flicker
from .options import Options, period_of
from .player import Player, check_length

#: Lumas at (i + 0.5) / 32 of the pixels. The mean distance of two such lists approximates the smallest mean
#: change of luma that turns one histogram into the other.
QUANTILES = 32
LEAD = 4 * SECOND
_STATISTICS = ("mean", "stddev", "clipped_low", "clipped_high")
_LUMAS = ("min", "max", "median", "p1", "p5", "p95", "p99")


class _Interval:
    """Sums the frames of an interval."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.sum = HistogramStruct()
        self.digests: list[bytes] = []
        self.latest = 0  #: stream time of the latest frame, in ns

    def add(self, frame: HistogramStruct, digest: bytes) -> None:
        functions.histogram_add(ctypes.byref(self.sum), ctypes.byref(frame))
        self.latest = frame.stream_time
        if not self.digests or self.digests[-1] != digest:
            self.digests = [*self.digests[:1], digest]  # the first and the latest are enough

    def row(self, period: int, flicker: Optional[float]) -> dict[str, Any]:
        total = self.sum
        bins = numpy.ctypeslib.as_array(total.bins)
        wanted = (numpy.arange(QUANTILES) + 0.5) / QUANTILES * int(bins.sum())
        return {"time": self.number * period / SECOND, "last_time": self.latest / SECOND,
                "frames": total.frames, "pixels": total.pixels,
                **{name: getattr(total, name) for name in _STATISTICS + _LUMAS},
                "quantiles": numpy.searchsorted(bins.cumsum(), wanted).tolist(),
                "flicker": flicker, "still": len(self.digests) == 1,
                "first_digest": self.digests[0], "last_digest": self.digests[-1]}


class Luminance:
    """The job `luminance`: statistics of the histograms of all frames of each interval."""

    columns = pyarrow.schema(
        [("time", pyarrow.float64()), ("last_time", pyarrow.float64()),
         ("frames", pyarrow.int32()), ("pixels", pyarrow.int64())]
        + [(name, pyarrow.float64()) for name in _STATISTICS]
        + [(name, pyarrow.uint8()) for name in _LUMAS]
        + [("quantiles", pyarrow.list_(pyarrow.uint8(), QUANTILES)),
           ("flicker", pyarrow.float32()), ("still", pyarrow.bool_()),
           ("first_digest", pyarrow.binary(8)), ("last_digest", pyarrow.binary(8))])

    def __init__(self, options: Options) -> None:
        self._period = period_of(options.every) or SECOND
        self._keyframes = options.every == "keyframes"
        self._timeout, self._longest = options.timeout, options.longest
        self._device = options.device

    def rows(self, chunk: Chunk, source: str) -> Iterator[dict[str, Any]]:
        """Yields a row for each interval in which the chunk has a frame, also for those before an
        error. Raises MediaError and PassingError."""
        interval: Optional[_Interval] = None
        failures: list[RuntimeError] = []
        flicker = None if self._keyframes else Flicker()
        # Flicker needs the frames of the last seconds, which may lie before the chunk.
        begin = max(0, chunk.start - (0 if self._keyframes else LEAD))
        with Player(source, self._timeout, self._device) as player:
            for frame in self._until_error(player, begin, chunk.end, failures):
                number = frame.stream_time // self._period
                if chunk.end is None and frame.stream_time > self._longest * SECOND:
                    check_length(frame.stream_time, player.known_duration(), self._longest)
                if interval is not None and number != interval.number:
                    yield interval.row(self._period, flicker and flicker.percent())
                    interval = None
                if flicker:
                    flicker.add(frame.stream_time / SECOND, frame.mean)
                if frame.stream_time < chunk.start:
                    continue
                if interval is None:
                    interval = _Interval(number)
                interval.add(frame, hashlib.blake2b(frame.bins, digest_size=8).digest())
        if interval is not None:
            yield interval.row(self._period, flicker and flicker.percent())
        if failures:
            raise failures[0]

    def _until_error(self, player: Player, begin: int, end: Optional[int],
                     failures: list[RuntimeError]) -> Iterator[HistogramStruct]:
        try:
            yield from player.histograms(begin, end, self._keyframes)
        except (MediaError, PassingError) as error:
            failures.append(error)
