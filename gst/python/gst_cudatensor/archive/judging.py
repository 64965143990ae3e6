# SPDX-License-Identifier: LGPL-2.1-or-later
"""The verdicts on all rows of a job `luminance`, in memory that does not depend on their number.

The index has an entry for each chunk. The rows of the chunks are read in windows, in the order of
files and times.
"""
from __future__ import annotations

from itertools import groupby
from typing import Any, Iterator

import pyarrow
from pyarrow import compute, dataset, parquet

from . import verdicts

#: Maximum rows of a window, unless a single chunk has more.
WINDOW = 20_000
_TASK = 1_000_000  # rows after which a task ends at the next file
_SLICE = 1000  # rows converted to Python objects at a time
_KEYS = ["file_id", "start"]
_INDEX = pyarrow.schema([("file_id", pyarrow.string()), ("start", pyarrow.float64()),
                         ("rows", pyarrow.int64()), ("path", pyarrow.string())])


def index_of(filesystem: Any, paths: list[str]) -> pyarrow.Table:
    """Returns the chunks in these Parquet files, in columns of _INDEX. They are sorted so that the
    chunks of a video follow each other, and videos that share a Parquet file are close."""
    parts = [_INDEX.empty_table()]
    for path in paths:
        keys = parquet.read_table(path, columns=_KEYS, filesystem=filesystem)
        counted = keys.group_by(_KEYS).aggregate([([], "count_all")])
        parts.append(pyarrow.table([*(counted[name] for name in (*_KEYS, "count_all")),
                                    pyarrow.array([path] * counted.num_rows, pyarrow.string())],
                                   schema=_INDEX))
    index = pyarrow.concat_tables(parts)
    first = index.group_by("file_id").aggregate([("path", "min")])
    index = index.join(first, "file_id")
    return index.sort_by([(name, "ascending") for name in ("path_min", *_KEYS)]).select(_INDEX.names)


def tasks_of(index: pyarrow.Table) -> Iterator[dict[str, Any]]:
    """Yields parts of the index, each with all chunks of its files."""
    begin, rows, previous = 0, 0, None
    for i, (name, count) in enumerate(zip(index["file_id"].to_pylist(), index["rows"].to_pylist())):
        if rows >= _TASK and name != previous:
            yield _task(index.slice(begin, i - begin))
            begin, rows = i, 0
        rows, previous = rows + count, name
    if index.num_rows > begin:
        yield _task(index.slice(begin))


def _task(part: pyarrow.Table) -> dict[str, Any]:
    return {name: part[name].to_pylist() for name in _INDEX.names}


def judge_part(part: pyarrow.Table, filesystem: Any, has_gaps: bool) -> pyarrow.Table:
    """Returns the verdicts on the files of a part of the index, in columns of verdicts.SCHEMA."""
    found: list[dict[str, Any]] = []
    for _, rows in groupby(_rows_of(part, filesystem), lambda row: row["file_id"]):
        first = next(rows)
        same = {"uri": first["uri"], "file_id": first["file_id"]}
        found += [{**same, **verdict} for verdict in verdicts.judge(_chained(first, rows), has_gaps)]
    return pyarrow.Table.from_pylist(found, verdicts.SCHEMA)


def _chained(first: dict[str, Any], rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield first
    yield from rows


def _rows_of(part: pyarrow.Table, filesystem: Any) -> Iterator[dict[str, Any]]:
    counts, begin, rows = part["rows"].to_pylist(), 0, 0
    for i, count in enumerate([*counts, WINDOW]):
        if i > begin and rows + count > WINDOW:
            yield from _rows_of_window(part.slice(begin, i - begin), filesystem)
            begin, rows = i, 0
        rows += count


def _rows_of_window(window: pyarrow.Table, filesystem: Any) -> Iterator[dict[str, Any]]:
    starts = compute.min_max(window["start"])
    paths = sorted(set(window["path"].to_pylist()))
    field = compute.field
    wanted = (field("file_id").isin(compute.unique(window["file_id"]).to_pylist())
              & (field("start") >= starts["min"]) & (field("start") <= starts["max"]))
    rows = dataset.dataset(paths, filesystem=filesystem).scanner(
        columns=["uri", *_KEYS, *verdicts.COLUMNS], filter=wanted, batch_size=WINDOW,
        batch_readahead=1, fragment_readahead=1).to_table()
    order = {name: i for i, name in enumerate(dict.fromkeys(window["file_id"].to_pylist()))}
    keys = set(zip(window["file_id"].to_pylist(), window["start"].to_pylist()))
    names = rows["file_id"].to_pylist()
    kept = [key in keys for key in zip(names, rows["start"].to_pylist())]
    rows = rows.append_column("order", pyarrow.array([order[name] for name in names], pyarrow.int64()))
    rows = rows.filter(pyarrow.array(kept, pyarrow.bool_()))
    rows = rows.sort_by([("order", "ascending"), ("time", "ascending")])
    for begin in range(0, rows.num_rows, _SLICE):
        yield from rows.slice(begin, _SLICE).to_pylist()
