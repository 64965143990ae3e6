# SPDX-License-Identifier: LGPL-2.1-or-later
"""The folder of a job's results.

rows/ has the results, verdicts/ the verdicts of the job `luminance`. chunks/ has the list of
chunks, todo/ the chunks of the latest run, checkpoint/ the chunks whose rows Ray has written,
job.json the options. lock.json and forgotten.parquet exist while a run writes.
"""
from __future__ import annotations

import json
import time
import uuid
from typing import Any, Optional

import pyarrow
from pyarrow import fs, parquet

from .chunks import ChunkList
from .lock import Lock
from .options import Options, fingerprint
from .places import place_of

_SETTLED = 10.0  # seconds without new files after which the workers of a killed job have ended
_PENDING = ".pending.parquet"  # of Ray's checkpoint: rows that may not be complete


class Store:
    """The folder `options.output`. Raises ValueError if it has the results of other options."""

    def __init__(self, options: Options) -> None:
        output = options.output
        self._place = place_of(output)
        self.filesystem, self._root = self._place.store, self._place.path
        self.filesystem.create_dir(self._root, recursive=True)
        self.chunks = ChunkList(self.filesystem, f"{self._root}/chunks")
        self._job = f"{self._root}/job.json"
        #: The list of chunks whose rows are being removed.
        self.forgotten = f"{self._root}/forgotten.parquet"
        self._options = json.loads(fingerprint(options))
        empty = {"options": self._options, "embedding": None, "judged": False,
                 "running": False, "begun": False}
        self._kept = {"begun": True, **(self._read_job() or empty)}
        self._output = output
        if self._kept["begun"] and self._kept["options"] != self._options:
            different = _difference(self._kept["options"], self._options)
            raise ValueError(f"{output} has the results of other options: {different}")

    def uri(self, folder: str) -> str:
        """Returns the path or URI of a folder of the results."""
        return self._place.uri_of(f"{self._root}/{folder}")

    def lock(self) -> Lock:
        """Returns the lock of the folder."""
        return Lock(self.filesystem, f"{self._root}/lock.json", self._output)

    @property
    def embedding(self) -> Optional[list[Any]]:
        """[type, dimension] of the embeddings in rows/ that a function made; None if unknown."""
        return self._kept["embedding"]

    @property
    def judged(self) -> bool:
        """Whether verdicts/ covers all of rows/."""
        return self._kept["judged"]

    def begin(self) -> None:
        """Stores the options before there are chunks, which depend on them. Discards the chunks of
        a run with other options that failed before it wrote rows."""
        if self._kept["options"] != self._options:
            self.chunks.clear()
            self._kept["options"] = self._options
        self.update()

    def settle(self) -> None:
        """Waits until the workers of a killed run no longer write: they end a little later than the
        run."""
        seen, since = None, time.monotonic()
        while self._kept["running"] and time.monotonic() - since < _SETTLED:
            files = [self.filesystem.get_file_info(path) for folder in ("rows", "checkpoint")
                     for path in self.parquet_files(folder)]
            now = [(file.path, file.size) for file in files]
            if now != seen:
                seen, since = now, time.monotonic()
            time.sleep(1)

    def update(self, **values: Any) -> None:
        """Stores the options and the state of the rows: `embedding`, `judged`, whether a job is
        `running`, and whether one has `begun` to write rows."""
        self._kept = {**self._kept, **values}
        with self.filesystem.open_output_stream(self._job + ".tmp") as file:
            file.write(json.dumps(self._kept, indent=1).encode())
        self.filesystem.move(self._job + ".tmp", self._job)

    def write_todo(self, chunks: pyarrow.Table) -> str:
        """Writes a new Parquet file with these chunks, for Ray to read. Returns its path."""
        folder = f"{self._root}/todo"
        self.filesystem.create_dir(folder, recursive=True)
        self.filesystem.delete_dir_contents(folder)
        path = f"{folder}/{uuid.uuid4().hex}.parquet"
        parquet.write_table(chunks, path, filesystem=self.filesystem)
        return path

    def complete(self, folder: str, schema: pyarrow.Schema) -> None:
        """Writes a table without rows if a folder has no table, so that it can be read."""
        path = f"{self._root}/{folder}"
        self.filesystem.create_dir(path, recursive=True)
        if not self.parquet_files(folder):
            parquet.write_table(schema.empty_table(), f"{path}/empty.parquet",
                                filesystem=self.filesystem)

    def parquet_files(self, folder: str) -> list[str]:
        """Returns the paths in `filesystem` of the Parquet files in a folder of the results."""
        found = self.filesystem.get_file_info(
            fs.FileSelector(f"{self._root}/{folder}", allow_not_found=True))
        return sorted(info.path for info in found if info.path.endswith(".parquet"))

    def done(self) -> set[str]:
        """Returns the ids of the chunks whose rows are written."""
        ids: set[str] = set()
        for path in self.parquet_files("checkpoint"):
            if not path.endswith(_PENDING):
                table = parquet.read_table(path, filesystem=self.filesystem)
                ids.update(table["chunk_id"].to_pylist())
        return ids

    def remaining(self) -> pyarrow.Table:
        """Returns the chunks without rows, in columns of chunks.SCHEMA."""
        table, done = self.chunks.read(), self.done()
        is_left = [name not in done for name in table["chunk_id"].to_pylist()]
        return table.filter(pyarrow.array(is_left, pyarrow.bool_()))

    def _read_job(self) -> Optional[dict[str, Any]]:
        if self.filesystem.get_file_info(self._job).type == fs.FileType.NotFound:
            return None
        with self.filesystem.open_input_file(self._job) as file:
            return json.loads(file.read())


def _difference(kept: dict[str, Any], wanted: dict[str, Any]) -> str:
    return "; ".join(f"{name} was {kept.get(name)}, is {wanted.get(name)}"
                     for name in sorted({*kept, *wanted}) if kept.get(name) != wanted.get(name))
