# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames of a file in batches, and the rows that a network makes of them."""
from __future__ import annotations

from typing import Any, Iterator, Protocol

import pyarrow

from .. import ErrorCode, Frames, FramesError
from .chunks import Chunk
from .options import Options, period_of
from .player import MediaError, check_end

_SECOND = 1_000_000_000
#: Errors that are not those of a file.
_OF_THE_JOB = (ErrorCode.SETTINGS, ErrorCode.NO_CUDA, ErrorCode.CUDA, ErrorCode.CONTEXT)
TIME = pyarrow.field("time", pyarrow.float64())


class Network(Protocol):
    """What a worker keeps in memory from chunk to chunk."""

    columns: pyarrow.Schema  #: of its rows

    def input_options(self) -> dict[str, Any]:
        """Arguments of Frames that the network's input needs."""

    def rows(self, batch: Any) -> Iterator[dict[str, Any]]:
        """At least one row for each frame of a Batch, with the number of the frame as `frame`."""


class FramesJob:
    """A job that passes the frames of a chunk to a network."""

    def __init__(self, options: Options, network: Network) -> None:
        self._options, self._network = options, network
        self.columns = pyarrow.schema([TIME, *network.columns])

    def rows(self, chunk: Chunk, source: str) -> Iterator[dict[str, Any]]:
        """The rows of each frame with its timestamp as `time`, in seconds. Raises MediaError, and
        ValueError for properties that no file could have."""
        try:
            with Frames(source, **self._arguments(chunk)) as frames:
                yield from self._rows_of_all(frames, chunk)
        except FramesError as error:
            kind = ValueError if error.code in _OF_THE_JOB else MediaError
            raise kind(str(error).removeprefix(f"{source}: ")) from error

    def _arguments(self, chunk: Chunk) -> dict[str, Any]:
        options = self._options
        arguments = {"batch": options.batch, "device": options.device, "every": options.every,
                     "count": options.count, "start": chunk.start or None, "stop": chunk.end,
                     "timeout": options.timeout, **self._network.input_options(),
                     **options.properties}
        if options.model_config:
            arguments["model_config"] = options.model_config
        return arguments

    def _rows_of_all(self, frames: Frames, chunk: Chunk) -> Iterator[dict[str, Any]]:
        last = 0.0
        for batch in frames:
            last = int(batch.pts[-1]) / _SECOND
            yield from self._rows_of(batch, chunk)
        options = self._options
        if chunk.end is None and options.count is None and options.every != "keyframes":
            check_end(last + (period_of(options.every) or 0), frames.duration)

    def _rows_of(self, batch: Any, chunk: Chunk) -> Iterator[dict[str, Any]]:
        # The frame that is shown at the start of a chunk belongs to the one before, unless frames
        # are selected by time.
        begin = chunk.start if period_of(self._options.every) is None else 0
        times = [int(pts) / _SECOND for pts in batch.pts]
        for row in self._network.rows(batch):
            time = times[row.pop("frame")]
            if time >= begin:
                yield {"time": time, **row}
