# SPDX-License-Identifier: LGPL-2.1-or-later
"""Removes the rows of chunks with an error from the results, so that they are computed again.

The ids of these chunks are written first and deleted last, so that the next run can complete what a
killed one has begun.
"""
from __future__ import annotations

from typing import Iterator

import pyarrow
from pyarrow import compute, dataset, fs, parquet

from .store import Store


def forget_errors(store: Store, which: str, file_ids: set[str]) -> int:
    """Removes the rows of these files' chunks with an error from the results: of "all", or of those
    whose error may have passed ("retryable"). Returns the number of chunks."""
    chunks = store.chunks.read().select(["chunk_id", "file_id"]).to_pylist()
    wanted = {chunk["chunk_id"] for chunk in chunks if chunk["file_id"] in file_ids}
    ids = [name for name in _failed(store, which == "all") if name in wanted]
    if ids:
        parquet.write_table(pyarrow.table({"chunk_id": ids}), store.forgotten + ".tmp",
                            filesystem=store.filesystem)
        store.filesystem.move(store.forgotten + ".tmp", store.forgotten)
        finish_forgetting(store)
    return len(ids)


def finish_forgetting(store: Store) -> None:
    """Completes what forget_errors() of this run, or of a killed one, has begun."""
    if store.filesystem.get_file_info(store.forgotten).type == fs.FileType.NotFound:
        return
    ids = parquet.read_table(store.forgotten, filesystem=store.filesystem)["chunk_id"]
    store.update(judged=False)
    # The rows first: a chunk that is not in the checkpoint must have none.
    for folder in ("rows", "checkpoint"):
        for path in _whole_files(store, folder):
            _remove(store, path, ids)
    store.filesystem.delete_file(store.forgotten)


def _whole_files(store: Store, folder: str) -> Iterator[str]:
    """Yields the complete files. Ray later deletes those that a killed run has left incomplete."""
    for path in store.parquet_files(folder):
        try:
            parquet.read_metadata(path, filesystem=store.filesystem)
        except pyarrow.ArrowInvalid:
            continue
        yield path


def _failed(store: Store, all_errors: bool) -> list[str]:
    found: set[str] = set()
    field = compute.field
    wanted = field("error").is_valid() & (compute.scalar(all_errors) | field("retryable"))
    for path in _whole_files(store, "rows"):
        rows = dataset.dataset(path, filesystem=store.filesystem).to_table(
            columns=["chunk_id"], filter=wanted)
        found.update(rows["chunk_id"].to_pylist())
    return sorted(found)


def _remove(store: Store, path: str, ids: pyarrow.ChunkedArray) -> None:
    """Rewrites a Parquet file without the rows of these chunks."""
    filesystem = store.filesystem
    found = parquet.read_table(path, columns=["chunk_id"], filesystem=filesystem)["chunk_id"]
    is_in = compute.is_in(found, ids.combine_chunks())
    if not compute.any(is_in).as_py():
        return
    kept = parquet.read_table(path, filesystem=filesystem).filter(compute.invert(is_in))
    if kept.num_rows == 0:
        filesystem.delete_file(path)
        return
    # Written outside the folder of rows, where a reader would take an incomplete file for results.
    parquet.write_table(kept, store.forgotten + ".tmp", filesystem=filesystem)
    filesystem.move(store.forgotten + ".tmp", path)
