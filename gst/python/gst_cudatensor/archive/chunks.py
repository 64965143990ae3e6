# SPDX-License-Identifier: LGPL-2.1-or-later
"""The chunks of files, and the list of them that a job keeps."""
from __future__ import annotations

import hashlib
import uuid
from dataclasses import asdict, dataclass, fields
from typing import Iterable, Optional

import pyarrow
from pyarrow import fs, parquet

from .listing import File

SECOND = 1_000_000_000  #: ns
#: ns. A file that states a longer duration is read as one that states none.
LONGEST_BELIEVED = 31 * 86400 * SECOND

SCHEMA = pyarrow.schema([("chunk_id", pyarrow.string()), ("file_id", pyarrow.string()),
                         ("uri", pyarrow.string()), ("chunk", pyarrow.int32()),
                         ("chunks", pyarrow.int32()), ("start", pyarrow.int64()),
                         ("end", pyarrow.int64()), ("error", pyarrow.string())])


@dataclass(frozen=True)
class Chunk:
    """A part of a file. Its frames are those with start <= timestamp < end."""

    chunk_id: str
    file_id: str
    uri: str
    chunk: int  #: the chunk's number in the file, from 0
    chunks: int  #: number of chunks of the file
    start: int  #: in ns: as seconds, rounding could put a frame into two chunks or none
    end: Optional[int]  #: in ns; None: to the end of the file
    error: Optional[str] = None  #: why it cannot be read


def chunks_of(file: File, duration: Optional[int], length: Optional[int]) -> list[Chunk]:
    """Returns the chunks of a file, of `length` ns each; the last one has 0.5 to 1.5 times that.
    One chunk if `duration` or `length` is None."""
    count = 1
    if duration is not None and length is not None and duration <= LONGEST_BELIEVED:
        count = max(1, (2 * duration + length) // (2 * length))
    # The last chunk has no end, because the stated duration of a file may differ from that of its video.
    return [_chunk(file, i, count, i * (length or 0), (i + 1) * length if i < count - 1 else None)
            for i in range(count)]


def _chunk(file: File, number: int, count: int, start: int, end: Optional[int]) -> Chunk:
    name = f"{file.id}\n{start}\n{end}"
    return Chunk(hashlib.sha256(name.encode()).hexdigest()[:32], file.id, file.uri, number, count,
                 start, end, file.error)


class ChunkList:
    """The chunks of all files that were examined, in Parquet files of a folder. Only the driver
    writes it."""

    def __init__(self, store: fs.FileSystem, folder: str) -> None:
        self._store, self.folder = store, folder
        store.create_dir(folder, recursive=True)

    def read(self) -> pyarrow.Table:
        """Returns the chunks, in columns of SCHEMA."""
        found = self._store.get_file_info(fs.FileSelector(self.folder))
        tables = [parquet.read_table(info.path, filesystem=self._store, schema=SCHEMA)
                  for info in sorted(found, key=lambda i: i.path) if info.path.endswith(".parquet")]
        return pyarrow.concat_tables(tables) if tables else SCHEMA.empty_table()

    def append(self, chunks: Iterable[Chunk]) -> None:
        """Adds a file with these chunks. A crash in between adds none."""
        table = pyarrow.Table.from_pylist([asdict(chunk) for chunk in chunks], SCHEMA)
        if table.num_rows == 0:
            return
        path = f"{self.folder}/{uuid.uuid4().hex}"
        # Small row groups: Ray reads them in parallel.
        parquet.write_table(table, path + ".tmp", filesystem=self._store, row_group_size=1000)
        self._store.move(path + ".tmp", path + ".parquet")

    def clear(self) -> None:
        """Removes all chunks."""
        self._store.delete_dir_contents(self.folder)


def chunk_from(row: dict) -> Chunk:
    """Returns the chunk in a row of a ChunkList."""
    return Chunk(**{field.name: row[field.name] for field in fields(Chunk)})
