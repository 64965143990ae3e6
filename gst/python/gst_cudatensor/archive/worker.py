# SPDX-License-Identifier: LGPL-2.1-or-later
"""The code that runs on the workers and turns chunks into rows."""
from __future__ import annotations

import logging
import os
import time
from typing import Any, Iterator, Optional, Sequence

import pyarrow

from .chunks import SECOND, Chunk, chunk_from
from .cores import claim_cores
from .faults import EndsEarly, HungError, MediaError, PassingError, WornProcess, of_system
from .jobs import Job, make_job
from .lock import OutputInUse
from .options import Options
from .remote import source_of
from .truncation import missing_bytes

#: The columns that every job has.
COLUMNS = pyarrow.schema([("uri", pyarrow.string()), ("file_id", pyarrow.string()),
                          ("chunk_id", pyarrow.string()), ("start", pyarrow.float64()),
                          ("end", pyarrow.float64()), ("error", pyarrow.string()),
                          ("retryable", pyarrow.bool_())])
#: How often a chunk is begun that ends its worker or meets a fault that may pass. A file can make a decoder
#: crash.
MOST_ATTEMPTS = 3
_PAUSE = 2.0  # seconds before the second attempt after a fault; twice that before the third

_log = logging.getLogger(__name__)


def schema_of(options: Options, columns: pyarrow.Schema) -> pyarrow.Schema:
    """Returns the columns of the results. Raises ValueError if `options.columns` names unknown
    ones."""
    if options.columns is None:
        return pyarrow.schema([*COLUMNS, *columns])
    unknown = sorted(set(options.columns) - set(columns.names))
    if unknown:
        raise ValueError(f"columns: expected some of {', '.join(columns.names)}, got {', '.join(unknown)}")
    return pyarrow.schema([*COLUMNS, *(columns.field(name) for name in options.columns)])


class Attempts:
    """A Ray actor that counts the attempts of each chunk and keeps the ids of those with an
    error."""

    def __init__(self) -> None:
        self._begun: dict[str, int] = {}
        self._faults: dict[str, list[str]] = {}
        self._failed: set[str] = set()
        self._stopped: Optional[str] = None

    def stop(self, reason: str) -> None:
        """Stops the job: no chunk can be begun afterwards."""
        self._stopped = reason

    def begin(self, chunk_id: str) -> tuple[int, list[str]]:
        """Returns the number of this attempt, from 1, and the faults of earlier attempts that did
        not end their worker. Raises OutputInUse if the job has been stopped."""
        if self._stopped is not None:
            raise OutputInUse(self._stopped)
        self._begun[chunk_id] = self._begun.get(chunk_id, 0) + 1
        return self._begun[chunk_id], self._faults.get(chunk_id, [])

    def add_fault(self, chunk_id: str, fault: str) -> None:
        """Records a fault that may pass."""
        self._faults.setdefault(chunk_id, []).append(fault)

    def finish(self, chunk_id: str, has_failed: bool) -> None:
        """Called when a chunk has its rows. Forgets its attempts, because it begins anew if the
        rows are lost with a node. Raises OutputInUse if the job has been stopped: the rows must not
        be written."""
        if self._stopped is not None:
            raise OutputInUse(self._stopped)
        self._begun.pop(chunk_id, None)
        self._faults.pop(chunk_id, None)
        (self._failed.add if has_failed else self._failed.discard)(chunk_id)

    def failed(self) -> set[str]:
        """Returns the ids of the chunks with an error."""
        return self._failed


class Worker:
    """An actor of Ray Data's map_batches. It keeps the model in memory from chunk to chunk."""

    def __init__(self, options: Options, form: Optional[Sequence[Any]], attempts: Any) -> None:
        if options.device == "cpu" or not options.num_gpus_per_worker:
            claim_cores(options.num_cpus_per_worker)
        self._options, self._attempts = options, attempts
        self._job = make_job(options, form)
        self._schema = schema_of(options, self._job.columns)
        self._finished: dict[str, list[dict[str, Any]]] = {}

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        """Returns the rows of the chunks in a table of chunks.SCHEMA."""
        chunks = [chunk_from(entry) for entry in table.to_pylist()]
        # Ray calls again with the whole table if one of its chunks has met a fault.
        ids = {chunk.chunk_id for chunk in chunks}
        self._finished = {name: rows for name, rows in self._finished.items() if name in ids}
        for chunk in chunks:
            if chunk.chunk_id not in self._finished:
                self._finished[chunk.chunk_id] = list(self._rows(chunk))
        rows = [row for chunk in chunks for row in self._finished[chunk.chunk_id]]
        self._finished.clear()
        return pyarrow.Table.from_pylist(rows, self._schema)

    def _rows(self, chunk: Chunk) -> Iterator[dict[str, Any]]:
        import ray

        same = {"uri": chunk.uri, "file_id": chunk.file_id, "chunk_id": chunk.chunk_id,
                "start": chunk.start / SECOND, "retryable": False,
                "end": None if chunk.end is None else chunk.end / SECOND}
        attempt, faults = ray.get(self._attempts.begin.remote(chunk.chunk_id))
        found: list[dict[str, Any]] = []
        error: Optional[str] = _no_attempt_left(faults)
        is_retryable = len(faults) == MOST_ATTEMPTS
        if attempt <= MOST_ATTEMPTS:
            try:
                error = rows_of(self._job, chunk, found)
            except PassingError as fault:
                # After a HungError, also the last attempt ends the process, whose threads would run on.
                if attempt < MOST_ATTEMPTS or isinstance(fault, HungError):
                    _log.warning("%s: %s; the chunk is tried again", chunk.uri, fault)
                    ray.get(self._attempts.add_fault.remote(chunk.chunk_id, str(fault)))
                    time.sleep(attempt * _PAUSE)
                    if isinstance(fault, WornProcess):
                        os._exit(1)  # Ray starts another worker
                    raise  # Ray calls again
                error, is_retryable = str(fault), True
        yield from ({**same, **row} for row in found)
        if error is not None:
            yield {**same, "error": error, "retryable": is_retryable}
        ray.get(self._attempts.finish.remote(chunk.chunk_id, error is not None))


def _no_attempt_left(faults: list[str]) -> str:
    """Returns the error of a file that has ended its workers in all attempts, or has hung in the
    last one."""
    ends = MOST_ATTEMPTS - len(faults)
    if ends == 0:
        return faults[-1]
    text = f"workers ended {ends} time{'s' if ends > 1 else ''} while they read it"
    return f"{text}, after other faults: {'; '.join(faults)}" if faults else text


def rows_of(job: Job, chunk: Chunk, rows: list[dict[str, Any]]) -> Optional[str]:
    """Appends the rows of a chunk to `rows`. Returns the error of the file, whose rows before the
    error are kept; None if there is none. Raises PassingError, and the errors of the model."""
    if chunk.error is not None:
        return chunk.error
    begun, count = time.monotonic(), len(rows)
    try:
        _read(job, chunk, rows)
    except MediaError as error:
        return str(error)
    except OSError as error:
        fault = of_system(error)
        if isinstance(fault, MediaError):
            return str(fault)
        raise fault from error
    _log.debug("%s: %d rows in %.2f s", chunk.uri, len(rows) - count, time.monotonic() - begun)
    return None if len(rows) > count else f"no frame from {chunk.start / SECOND:g} s on"


def _read(job: Job, chunk: Chunk, rows: list[dict[str, Any]]) -> None:
    """Appends the rows of a chunk to `rows`. Raises MediaError, also for a truncated file."""
    fault: Optional[MediaError] = None
    try:
        with source_of(chunk.uri) as source:
            for row in job.rows(chunk, source):
                rows.append(row)
    except MediaError as error:
        fault = error
    is_judged = chunk.end is None or fault is not None
    missing = missing_bytes(chunk.uri) if is_judged else None
    if missing and "truncated" not in str(fault):
        cause = "" if fault is None or isinstance(fault, EndsEarly) else f" ({fault})"
        raise MediaError(f"the file is truncated: at least {missing} bytes are missing{cause}")
    is_whole = isinstance(fault, EndsEarly) and missing is not None
    if fault is not None and not is_whole:
        raise fault
