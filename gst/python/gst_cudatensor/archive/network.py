# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames of a file in batches, and the rows that a network makes from them."""
from __future__ import annotations

import contextlib
from typing import Any, Iterator, Optional, Protocol

import pyarrow

from .. import ErrorCode, Frames, FramesError
from .chunks import SECOND, Chunk
from .faults import HungError, MediaError, PassingError, of_frames, of_model
from .opened import CodedFile
from .options import Options, period_of
from .patience import LEAST_START, Patience, batches_of, slice_of
from .player import check_end, check_length

_DENSE = SECOND  # ns: with frames farther apart, the last one does not show where the file ends
TIME = pyarrow.field("time", pyarrow.float64())


class Network(Protocol):
    """A network that a worker keeps in memory from chunk to chunk."""

    columns: pyarrow.Schema  #: the columns of the rows

    def input_options(self) -> dict[str, Any]:
        """Returns the arguments of Frames that the network's input needs."""

    def rows(self, batch: Any) -> Iterator[dict[str, Any]]:
        """Yields at least one row for each frame of a Batch, with the number of the frame as
        `frame`."""


@contextlib.contextmanager
def _closing(frames: Frames, patience: Patience) -> Iterator[None]:
    """Closes the frames at the end. Raises HungError if they do not close, except in the place of an
    error that ends the job."""
    try:
        yield
    except (FramesError, MediaError, PassingError, GeneratorExit):
        patience.returned(frames.close)
        raise
    except BaseException:
        with contextlib.suppress(HungError):
            patience.returned(frames.close)
        raise
    patience.returned(frames.close)


class FramesJob:
    """A job that passes the frames of a chunk to a network."""

    def __init__(self, options: Options, network: Network) -> None:
        self._options, self._network = options, network
        self.columns = pyarrow.schema([TIME, *network.columns])

    def rows(self, chunk: Chunk, source: str) -> Iterator[dict[str, Any]]:
        """Yields the rows of each frame with its timestamp as `time`, in seconds. Raises
        MediaError, PassingError, and ValueError for wrong properties, which fail for every file."""
        timeout, arguments = self._options.timeout, self._arguments(chunk)
        if self._may_be_endless(chunk):
            arguments["stop"] = self._stop_of(source)
        try:
            frames = Frames(source, **arguments, timeout=slice_of(timeout))
            patience = Patience(timeout, frames._count_buffers)
            with _closing(frames, patience):
                patience.returned(frames._open, LEAST_START)
                yield from self._rows_of_all(frames, patience, chunk, arguments["stop"])
        except FramesError as error:
            if error.code is ErrorCode.SOURCE:
                self._look_at(source)
            raise of_frames(error, source) from error

    def _look_at(self, source: str) -> None:
        """Raises MediaError if a source cannot be read because of its contents: Frames has the same
        code for that and for faults of disks and networks."""
        with CodedFile(source, self._options.timeout) as file:
            file.duration()

    def _may_be_endless(self, chunk: Chunk) -> bool:
        """Returns whether counting the chunk's frames may never end, which is possible only for
        HTTP: other files have a size."""
        return self._options.count is not None and chunk.uri.startswith(("http://", "https://"))

    def _stop_of(self, source: str) -> Optional[float]:
        with CodedFile(source, self._options.timeout) as file:
            return self._options.longest if file.duration() is None else None

    def _arguments(self, chunk: Chunk) -> dict[str, Any]:
        options = self._options
        period = period_of(options.every)
        arguments = {"batch": options.batch, "device": options.device,
                     "video_direction": options.video_direction,
                     "every": period / SECOND if period else options.every,
                     "count": options.count, "start": chunk.start / SECOND if chunk.start else None,
                     "stop": None if chunk.end is None else chunk.end / SECOND,
                     **self._network.input_options(), **options.properties}
        if options.model_config:
            arguments["model_config"] = options.model_config
        return arguments

    def _rows_of_all(self, frames: Frames, patience: Patience, chunk: Chunk,
                     stop: Optional[float]) -> Iterator[dict[str, Any]]:
        last, longest, count = None, self._options.longest, self._options.count
        for batch in batches_of(frames, patience):
            yield from self._rows_of(batch, chunk)
            last = int(batch.pts[-1])
            if chunk.end is None and count is None and last > longest * SECOND:
                check_length(last, _ns(frames.duration), longest)
        if last is None or chunk.end is not None:
            return
        if count is not None and stop is not None:
            check_length(last + SECOND, None, longest)  # `last` is the last frame before `stop`
        period = _period_between(self._options)
        if period is not None:
            check_end(last + period, _ns(frames.duration))

    def _rows_of(self, batch: Any, chunk: Chunk) -> Iterator[dict[str, Any]]:
        # The frame shown at the start of a chunk belongs to the previous chunk, unless frames are selected by
        # time.
        begin = chunk.start if period_of(self._options.every) is None else 0
        times = [int(pts) for pts in batch.pts]
        for row in self._rows_of_model(batch):
            time = times[row.pop("frame")]
            if time >= begin:
                yield {"time": time / SECOND, **row}

    def _rows_of_model(self, batch: Any) -> Iterator[dict[str, Any]]:
        try:
            yield from self._network.rows(batch)
        except Exception as error:  # pylint: disable=broad-except
            passing = of_model(error)
            if passing is None:
                raise
            raise passing from error


def _ns(seconds: Optional[float]) -> Optional[int]:
    return None if seconds is None else round(seconds * SECOND)


def _period_between(options: Options) -> Optional[int]:
    """Returns the ns from a chosen frame to the next; None if that is more than _DENSE, or not
    known."""
    if options.count is not None:
        return None
    period = 0 if options.every is None else period_of(options.every)
    return period if period is not None and period <= _DENSE else None
