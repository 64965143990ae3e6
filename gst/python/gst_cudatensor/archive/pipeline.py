# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a job with Ray Data, from the list of files to the Parquet files."""
from __future__ import annotations

import math
import os
import time
from dataclasses import asdict, dataclass
from typing import Any, Iterable, Iterator, Optional

import pyarrow
from pyarrow import compute

from . import verdicts
from .chunks import SCHEMA, Chunk, chunk_from, chunks_of
from .cluster import Settings, check_version, connected
from .embedding import described
from .faults import MediaError, PassingError, WornProcess
from .jobs import form_of, make_job
from .judging import index_of, judge_part, tasks_of
from .listing import File, list_files
from .lock import Lock
from .opened import CodedFile
from .options import Options, chunk_length, function_of, is_luminance
from .remote import source_of
from .retry import finish_forgetting, forget_errors
from .store import Store
from .worker import MOST_ATTEMPTS, Attempts, Worker, schema_of

_MOST_TASKS = 10_000  # per run; with more chunks, a task takes several
_FILES_AT_A_TIME = 1000  # files whose chunks are found and stored together
_FILES_A_TASK = 10
_LOOKS = 3  # attempts to read the duration of a file after passing faults
_TRIED = 20  # chunks that are tried to find the dimension of an embedding


@dataclass(frozen=True)
class Summary:
    """The numbers of a run."""

    files: int  #: files of the archive
    chunks: int  #: chunks of these files
    computed: int  #: chunks that this run has computed
    errors: int  #: computed chunks with an error


def run(sources: Iterable[str], options: Options) -> Summary:
    """Computes the rows of the files of `sources` (see listing.list_files()) that are missing in
    `options.output`. Uses a connected Ray, the cluster at `options.address`, or starts Ray on this
    machine.

    Raises ValueError for options that contradict each other or earlier results and for a model that
    cannot be used, OSError if a store cannot be read or written or another run writes to it,
    ImportError for an unsupported version of Ray, and Ray's errors.
    """
    check_version()
    store = Store(options)
    with store.lock() as lock:
        return _run(sources, options, Store(options), lock)


def _run(sources: Iterable[str], options: Options, store: Store, lock: Lock) -> Summary:
    store.settle()
    store.begin()
    finish_forgetting(store)
    files = list_files(sources)
    wanted = {file.id for file in files}
    if options.retry_errors is not None:
        forget_errors(store, options.retry_errors, wanted)
    known = set(store.chunks.read()["file_id"].to_pylist())
    _find_chunks([file for file in files if file.id not in known], options, store, lock)
    chunks = store.chunks.read()
    count = sum(name in wanted for name in chunks["file_id"].to_pylist())
    left = store.remaining()
    left = left.filter(compute.is_in(left["file_id"], pyarrow.array(sorted(wanted), pyarrow.string())))
    lock.check()
    errors = _compute(left, options, store, lock) if left.num_rows else 0
    lock.check()
    if _has_verdicts(options) and not store.judged:
        _judge(options, store)
    return Summary(len(files), count, left.num_rows, errors)


# ------------------------------------------------------------------------------------- chunks


def _find_chunks(files: list[File], options: Options, store: Store, lock: Lock) -> None:
    """Adds the chunks of new files to the store's list. Tasks open the larger files."""
    small = [file for file in files if _is_whole(file, options)]
    store.chunks.append(chunk for file in small for chunk in chunks_of(file, None, None))
    large = [file for file in files if not _is_whole(file, options)]
    for begin in range(0, len(large), _FILES_AT_A_TIME):
        some = large[begin:begin + _FILES_AT_A_TIME]
        store.chunks.append(_chunks_by_tasks(some, options, lock))


def _is_whole(file: File, options: Options) -> bool:
    return (file.error is not None or chunk_length(options) is None
            or file.size is not None and file.size < options.whole_below)


def _chunks_by_tasks(files: list[File], options: Options, lock: Lock) -> Iterator[Chunk]:
    ray = connected(options)
    rows = ray.data.from_items([asdict(file) for file in files],
                               override_num_blocks=math.ceil(len(files) / _FILES_A_TASK))
    arguments = {"length": chunk_length(options), "timeout": options.timeout,
                 "attempts": _attempts(ray, lock)}
    for batch in rows.map_batches(_chunks_of_files, batch_format="pyarrow", batch_size=None,
                                  fn_kwargs=arguments).iter_batches(batch_format="pyarrow"):
        yield from map(chunk_from, batch.to_pylist())


def _chunks_of_files(table: pyarrow.Table, length: int, timeout: float,
                     attempts: Any) -> pyarrow.Table:
    chunks = []
    for row in table.to_pylist():
        file = File(**row)
        duration = _duration_if_harmless(file, timeout, attempts)
        chunks += [asdict(chunk) for chunk in chunks_of(file, duration, length)]
    return pyarrow.Table.from_pylist(chunks, SCHEMA)


def _duration_if_harmless(file: File, timeout: float, attempts: Any) -> Optional[int]:
    """Returns _duration_of(); None also for a file that has crashed the process several times. Ray
    would restart the task without end; the worker that gets the file as one chunk counts its
    attempts."""
    import ray

    attempt, _ = ray.get(attempts.begin.remote(file.id))
    try:
        duration = _duration_of(file, timeout) if attempt <= MOST_ATTEMPTS else None
    except WornProcess:
        os._exit(1)  # Ray restarts the task in another process
    ray.get(attempts.finish.remote(file.id, False))
    return duration


def _duration_of(file: File, timeout: float) -> Optional[int]:
    """Returns the duration in ns; None if the file states none, can be read only from its
    beginning, or cannot be read. The worker meets the error again, and keeps the rows before it.
    Raises WornProcess."""
    for look in range(1, _LOOKS + 1):
        try:
            with source_of(file.uri) as source, CodedFile(source, timeout) as opened:
                duration = opened.duration()
                return duration if opened.is_seekable() else None
        except MediaError:
            return None
        except WornProcess:
            raise
        except (PassingError, OSError):
            time.sleep(look if look < _LOOKS else 0)
    return None


# --------------------------------------------------------------------------------------- rows


def _compute(left: pyarrow.Table, options: Options, store: Store, lock: Lock) -> int:
    """Writes the rows of these chunks. Returns the number of those with an error."""
    ray = connected(options)
    form = store.embedding
    if not is_luminance(options):
        # A file can crash the process. Ray then restarts the task, which continues after that file.
        describe = ray.remote(num_cpus=options.num_cpus_per_worker, max_retries=_TRIED,
                              num_gpus=options.num_gpus_per_worker)(_describe)
        found = ray.get(describe.remote(options, left.slice(0, _TRIED).to_pylist(),
                                        _attempts(ray, lock)))
        if None not in (form, found) and form != found:
            raise ValueError(f"{options.output} has embeddings of {described(form)}, but "
                             f"{options.model} now makes {described(found)}")
        form = form or found
    store.update(embedding=form, judged=False, running=True, begun=True)
    from .checkpoint import checkpoint_config  # needs Ray

    with Settings(ray.data.DataContext.get_current(), checkpoint_config(store)):
        errors = _write_rows(ray, left, form, options, store, lock)
    store.update(running=False)
    return errors


def _describe(options: Options, rows: list[dict[str, Any]], attempts: Any) -> Optional[list[Any]]:
    """Checks the model where a worker would run. Returns [type, dimension] of the embeddings of a
    function, from the first chunk that has a frame; None if it is not known, or for other
    models."""
    import ray

    schema_of(options, make_job(options).columns)
    if function_of(options) is None:
        return None
    chunks = (chunk for chunk in map(chunk_from, rows) if chunk.error is None
              and ray.get(attempts.begin.remote(chunk.chunk_id))[0] == 1)
    try:
        return form_of(options, chunks)
    except WornProcess:
        os._exit(1)  # Ray restarts the task in another process


def _attempts(ray: Any, lock: Lock) -> Any:
    """Returns an actor on this node, so that it is not lost before the job."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    attempts = ray.remote(num_cpus=0, scheduling_strategy=here)(Attempts).remote()
    lock.when_lost(attempts.stop.remote)
    return attempts


def _write_rows(ray: Any, left: pyarrow.Table, form: Optional[list[Any]], options: Options,
                store: Store, lock: Lock) -> int:
    attempts = _attempts(ray, lock)
    # Reading and writing need little work and must not wait for the cores that workers hold. Ray starts a
    # process for each such task, so only few run at a time.
    light = {"num_cpus": 0}
    tasks = min(left.num_rows, _MOST_TASKS)
    pool = _pool(ray, tasks, options)
    chunks = ray.data.read_parquet(store.write_todo(left), filesystem=store.filesystem,
                                   override_num_blocks=tasks, concurrency=1, **light)
    # With GPUs, Ray requires a batch size; a task has this number of rows or one more.
    rows = chunks.map_batches(
        Worker, batch_format="pyarrow", batch_size=left.num_rows // tasks, compute=pool,
        fn_constructor_args=(options, form, attempts), num_cpus=options.num_cpus_per_worker,
        num_gpus=options.num_gpus_per_worker or None)
    rows.write_parquet(store.uri("rows"), filesystem=store.filesystem, ray_remote_args=light,
                       min_rows_per_file=options.rows_per_file, mode="append",
                       concurrency=max(2, pool.initial_size // 4))
    return len(ray.get(attempts.failed.remote()))


def _pool(ray: Any, tasks: int, options: Options) -> Any:
    """Returns a pool with as many workers as the cluster has room for. Ray starts more if the
    cluster grows, and continues with fewer."""
    room = ray.cluster_resources()
    places = [room.get("CPU", 0) / options.num_cpus_per_worker]
    if options.num_gpus_per_worker:
        places.append(room.get("GPU", 0) / options.num_gpus_per_worker)
    most = min(options.concurrency or tasks, tasks)
    return ray.data.ActorPoolStrategy(min_size=1, max_size=most,
                                      initial_size=max(1, min(most, int(min(places)))))


# ----------------------------------------------------------------------------------- verdicts


def _has_verdicts(options: Options) -> bool:
    return is_luminance(options) and (options.columns is None
                                     or set(verdicts.COLUMNS) <= set(options.columns))


def _judge(options: Options, store: Store) -> None:
    """Rewrites the verdicts on all rows, because they are few and depend on all chunks of a
    file."""
    ray = connected(options)
    tasks = list(tasks_of(index_of(store.filesystem, store.parquet_files("rows"))))
    if tasks:
        judged = ray.data.from_items(tasks, override_num_blocks=len(tasks)).map_batches(
            _judge_tasks, batch_format="pyarrow", batch_size=1,
            fn_args=(store.filesystem, options.every != "keyframes"))
        judged.write_parquet(store.uri("verdicts"), filesystem=store.filesystem, mode="overwrite")
    store.complete("verdicts", verdicts.SCHEMA)
    store.update(judged=True)


def _judge_tasks(tasks: pyarrow.Table, filesystem: Any, has_gaps: bool) -> pyarrow.Table:
    parts = [judge_part(pyarrow.table(task), filesystem, has_gaps) for task in tasks.to_pylist()]
    return pyarrow.concat_tables([verdicts.SCHEMA.empty_table(), *parts])
