# SPDX-License-Identifier: LGPL-2.1-or-later
"""A job, from the list of files to the Parquet files, by Ray Data."""
from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Iterable, Iterator, Optional

import pyarrow
from pyarrow import compute, dataset, parquet

from . import verdicts

from .chunks import SCHEMA, Chunk, chunk_from, chunks_of
from .jobs import dimension_of, has_unknown_dimension, make_job
from .listing import File, list_files
from .options import Options, chunk_length, is_luminance
from .player import MediaError, Player
from .remote import source_of
from .store import Store
from .worker import Attempts, Worker, schema_of

_MOST_TASKS = 10_000  # of a run; a task takes several chunks where there are more
_FILES_AT_A_TIME = 1000  # whose chunks are found, and kept, together
_FILES_A_TASK = 10
_TRIED = 20  # chunks, to find how long an embedding is


@dataclass(frozen=True)
class Summary:
    """What a run has done."""

    files: int  #: of the archive
    chunks: int  #: of these files
    computed: int  #: of the chunks, by this run
    errors: int  #: of the computed chunks, those with an error


def run(sources: Iterable[str], options: Options) -> Summary:
    """Computes the rows that are missing in `options.output`, of the files of `sources` (see
    listing.list_files()). Ray has to be connected, or is started on this machine.

    Raises ValueError for options that contradict each other or earlier results and for a model that
    cannot be used, OSError if a store cannot be read or written, and Ray's errors.
    """
    store = Store(options)
    store.settle()
    files = list_files(sources)
    wanted = {file.id for file in files}
    known = set(store.chunks.read()["file_id"].to_pylist())
    _find_chunks([file for file in files if file.id not in known], options, store)
    chunks = store.chunks.read()
    count = sum(name in wanted for name in chunks["file_id"].to_pylist())
    left = store.remaining()
    left = left.filter(compute.is_in(left["file_id"], pyarrow.array(sorted(wanted), pyarrow.string())))
    errors = _compute(left, options, store) if left.num_rows else 0
    if _has_verdicts(options) and not store.judged:
        _judge(options, store)
    return Summary(len(files), count, left.num_rows, errors)


# ------------------------------------------------------------------------------------- chunks


def _find_chunks(files: list[File], options: Options, store: Store) -> None:
    """Adds the chunks of new files to the store's list. The larger files are opened by tasks."""
    small = [file for file in files if _is_whole(file, options)]
    store.chunks.append(chunk for file in small for chunk in chunks_of(file, None, None))
    large = [file for file in files if not _is_whole(file, options)]
    for begin in range(0, len(large), _FILES_AT_A_TIME):
        some = large[begin:begin + _FILES_AT_A_TIME]
        store.chunks.append(_chunks_by_tasks(some, options))


def _is_whole(file: File, options: Options) -> bool:
    return (file.error is not None or chunk_length(options) is None
            or file.size is not None and file.size < options.whole_below)


def _chunks_by_tasks(files: list[File], options: Options) -> Iterator[Chunk]:
    ray = _connected(options)
    rows = ray.data.from_items([asdict(file) for file in files],
                               override_num_blocks=math.ceil(len(files) / _FILES_A_TASK))
    arguments = {"length": chunk_length(options), "timeout": options.timeout}
    for batch in rows.map_batches(_chunks_of_files, batch_format="pyarrow", batch_size=None,
                                  fn_kwargs=arguments).iter_batches(batch_format="pyarrow"):
        yield from map(chunk_from, batch.to_pylist())


def _chunks_of_files(table: pyarrow.Table, length: float, timeout: float) -> pyarrow.Table:
    chunks = []
    for row in table.to_pylist():
        file, duration = File(**row), None
        try:
            with source_of(file.uri) as source, Player(source, timeout) as player:
                duration = player.duration()
        except (MediaError, OSError):
            pass  # the worker finds it again, and has the rows that come before it
        chunks += [asdict(chunk) for chunk in chunks_of(file, duration, length)]
    return pyarrow.Table.from_pylist(chunks, SCHEMA)


# --------------------------------------------------------------------------------------- rows


def _compute(left: pyarrow.Table, options: Options, store: Store) -> int:
    """Writes the rows of these chunks. Returns the number of those with an error."""
    ray = _connected(options)
    dimension = store.dimension
    if dimension is None and not is_luminance(options):
        describe = ray.remote(num_cpus=options.num_cpus_per_worker,
                              num_gpus=options.num_gpus_per_worker)(_describe)
        dimension = ray.get(describe.remote(options, left.slice(0, _TRIED).to_pylist()))
    store.update(dimension=dimension, judged=False, running=True)
    from .checkpoint import checkpoint_config  # needs Ray

    context = ray.data.DataContext.get_current()
    kept = context.checkpoint_config, context.target_max_block_size, context.use_datasource_v2
    # The rows of a chunk stay in one block, which one task writes: the checkpoint knows only ids.
    context.target_max_block_size = None
    context.checkpoint_config = checkpoint_config(store)
    context.use_datasource_v2 = False  # it lists files in a task that waits for a core
    try:
        errors = _write_rows(ray, left, dimension, options, store)
    finally:
        context.checkpoint_config, context.target_max_block_size, context.use_datasource_v2 = kept
    store.update(running=False)
    return errors


def _describe(options: Options, rows: list[dict[str, Any]]) -> Optional[int]:
    """Checks the model where a worker would run. Returns the numbers of an embedding, from the
    first chunk that has a frame; None: not known, or no embedding."""
    job = make_job(options)
    schema_of(options, job.columns)
    if not has_unknown_dimension(job.columns):
        return None
    for chunk in map(chunk_from, rows):
        dimension = dimension_of(options, chunk) if chunk.error is None else None
        if dimension is not None:
            return dimension
    return None


def _write_rows(ray: Any, left: pyarrow.Table, dimension: Optional[int], options: Options,
                store: Store) -> int:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    attempts = ray.remote(num_cpus=0, scheduling_strategy=here)(Attempts).remote()
    # Reading and writing are little work, and must not wait for the cores that workers hold. Ray
    # starts a process for each such task, so there are few at a time.
    light = {"num_cpus": 0}
    tasks = min(left.num_rows, _MOST_TASKS)
    pool = _pool(ray, tasks, options)
    chunks = ray.data.read_parquet(store.write_todo(left), filesystem=store.filesystem,
                                   override_num_blocks=tasks, concurrency=1, **light)
    rows = chunks.map_batches(
        Worker, batch_format="pyarrow", batch_size=None, compute=pool,
        fn_constructor_args=(options, dimension, attempts), num_cpus=options.num_cpus_per_worker,
        num_gpus=options.num_gpus_per_worker or None)
    rows.write_parquet(store.uri("rows"), filesystem=store.filesystem, ray_remote_args=light,
                       min_rows_per_file=options.rows_per_file, mode="append",
                       concurrency=max(2, pool.initial_size // 4))
    return len(ray.get(attempts.failed.remote()))


def _pool(ray: Any, tasks: int, options: Options) -> Any:
    """As many workers as have room, at once. Ray starts more where the cluster grows, and goes on
    with fewer."""
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
    """Writes the verdicts on all rows anew: they are few, and depend on all chunks of a file."""
    ray = _connected(options)
    tasks = [{"file_ids": sorted(ids), "paths": sorted(paths)} for ids, paths in _row_files(store)]
    if tasks:
        judged = ray.data.from_items(tasks, override_num_blocks=len(tasks)).map_batches(
            _judge_files, batch_format="pyarrow", batch_size=None, fn_args=(store.filesystem,))
        judged.write_parquet(store.uri("verdicts"), filesystem=store.filesystem, mode="overwrite")
    store.complete("verdicts", verdicts.SCHEMA)
    store.update(judged=True)


def _row_files(store: Store) -> list[tuple[set[str], set[str]]]:
    """Groups of files of the archive, with the Parquet files that have their rows."""
    parts: dict[str, set[str]] = {}
    for path in store.parquet_files("rows"):
        ids = parquet.read_table(path, columns=["file_id"], filesystem=store.filesystem)
        for name in compute.unique(ids["file_id"]).to_pylist():
            parts.setdefault(name, set()).add(path)
    # The files of a Parquet file belong together: their task reads it once.
    names = sorted(parts, key=lambda name: min(parts[name]))
    groups = [names[i:i + _FILES_AT_A_TIME] for i in range(0, len(names), _FILES_AT_A_TIME)]
    return [(set(group), set().union(*(parts[name] for name in group))) for group in groups]


def _judge_files(table: pyarrow.Table, filesystem: Any) -> pyarrow.Table:
    found: list[dict[str, Any]] = []
    for task in table.to_pylist():
        rows = dataset.dataset(task["paths"], filesystem=filesystem).to_table(
            columns=["uri", "file_id", *verdicts.COLUMNS],
            filter=compute.field("file_id").isin(task["file_ids"]))
        for name in compute.unique(rows["file_id"]).to_pylist():
            entries = rows.filter(compute.equal(rows["file_id"], name)).to_pylist()
            found += [{"uri": entries[0]["uri"], "file_id": name, **verdict}
                      for verdict in verdicts.judge(entries)]
    return pyarrow.Table.from_pylist(found, verdicts.SCHEMA)


# ---------------------------------------------------------------------------------------- Ray


def _connected(options: Options) -> Any:
    """Ray, connected to options.address, or to one that is started on this machine."""
    import ray
    import ray.data

    if not ray.is_initialized():
        ray.init(address=options.address or "local", include_dashboard=None if options.address
                 else False, log_to_driver=True)
    return ray
