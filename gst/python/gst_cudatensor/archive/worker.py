# SPDX-License-Identifier: LGPL-2.1-or-later
"""What runs on the workers: chunks become rows."""
from __future__ import annotations

import logging
import time
from typing import Any, Iterator, Optional

import pyarrow

from .chunks import Chunk, chunk_from
from .cores import claim_cores
from .jobs import Job, make_job
from .options import Options
from .player import MediaError
from .remote import source_of

#: The columns that every job has.
COLUMNS = pyarrow.schema([("uri", pyarrow.string()), ("file_id", pyarrow.string()),
                          ("chunk_id", pyarrow.string()), ("start", pyarrow.float64()),
                          ("end", pyarrow.float64()), ("error", pyarrow.string())])
#: Workers that a chunk may end. A file can make a decoder crash.
MOST_ATTEMPTS = 3

_log = logging.getLogger(__name__)


def schema_of(options: Options, columns: pyarrow.Schema) -> pyarrow.Schema:
    """The columns of the results. Raises ValueError if `options.columns` names others."""
    if options.columns is None:
        return pyarrow.schema([*COLUMNS, *columns])
    unknown = sorted(set(options.columns) - set(columns.names))
    if unknown:
        raise ValueError(f"no column {', '.join(unknown)}; the job has {', '.join(columns.names)}")
    return pyarrow.schema([*COLUMNS, *(columns.field(name) for name in options.columns)])


class Attempts:
    """A Ray actor that counts how often a chunk was begun, and keeps those with an error."""

    def __init__(self) -> None:
        self._begun: dict[str, int] = {}
        self._failed: set[str] = set()

    def begin(self, chunk_id: str) -> int:
        """The number of this attempt, from 1."""
        self._begun[chunk_id] = self._begun.get(chunk_id, 0) + 1
        return self._begun[chunk_id]

    def finish(self, chunk_id: str, has_failed: bool) -> None:
        """The chunk has its rows. If they are lost with a node, it begins anew."""
        self._begun.pop(chunk_id, None)
        (self._failed.add if has_failed else self._failed.discard)(chunk_id)

    def failed(self) -> set[str]:
        """The ids of the chunks with an error."""
        return self._failed


class Worker:
    """An actor of Ray Data's map_batches. It keeps the model in memory from chunk to chunk."""

    def __init__(self, options: Options, dimension: Optional[int], attempts: Any) -> None:
        if options.device == "cpu" or not options.num_gpus_per_worker:
            claim_cores(options.num_cpus_per_worker)
        self._options, self._attempts = options, attempts
        self._job = make_job(options, dimension)
        self._schema = schema_of(options, self._job.columns)

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        """The rows of the chunks in a table of chunks.SCHEMA."""
        rows = [row for entry in table.to_pylist() for row in self._rows(chunk_from(entry))]
        return pyarrow.Table.from_pylist(rows, self._schema)

    def _rows(self, chunk: Chunk) -> Iterator[dict[str, Any]]:
        import ray

        same = {"uri": chunk.uri, "file_id": chunk.file_id, "chunk_id": chunk.chunk_id,
                "start": chunk.start, "end": chunk.end}
        attempt = ray.get(self._attempts.begin.remote(chunk.chunk_id))
        found: list[dict[str, Any]] = []
        error: Optional[str] = f"workers ended {MOST_ATTEMPTS} times while they read it"
        if attempt <= MOST_ATTEMPTS:
            error = rows_of(self._job, chunk, self._options.longest, found)
        yield from ({**same, **row} for row in found)
        if error is not None:
            yield {**same, "error": error}
        self._attempts.finish.remote(chunk.chunk_id, error is not None)


def rows_of(job: Job, chunk: Chunk, longest: float, rows: list[dict[str, Any]]) -> Optional[str]:
    """Appends the rows of a chunk. Returns what is wrong with the file, whose rows up to there are
    kept; None: nothing. Raises the errors of the model."""
    if chunk.error is not None:
        return chunk.error
    begun, count = time.monotonic(), len(rows)
    try:
        with source_of(chunk.uri) as source:
            for row in job.rows(chunk, source):
                rows.append(row)
                if chunk.end is None and row["time"] - chunk.start > longest:
                    return f"does not end after {longest:g} s of video"
    except (MediaError, OSError) as error:
        return str(error) or type(error).__name__
    _log.debug("%s: %d rows in %.2f s", chunk.uri, len(rows) - count, time.monotonic() - begun)
    return None if len(rows) > count else f"no frame from {chunk.start:g} s on"
