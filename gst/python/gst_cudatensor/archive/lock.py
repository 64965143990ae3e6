# SPDX-License-Identifier: LGPL-2.1-or-later
"""The lock of a folder of results, which lets one run at a time write to it.

A run writes the time into the file lock.json at regular intervals. An old file belongs to a run
that was killed.
"""
from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from pathlib import Path
from typing import Any, Callable, Optional

from pyarrow import fs

HEARTBEAT = 10.0  #: seconds between two writes of the time
STALE = 60.0  #: seconds after which the lock may be taken
_SETTLED = 2.0  # seconds within which another run that takes the lock writes it


class OutputInUse(OSError):
    """Another run writes to the folder."""


def _machine() -> str:
    """Returns an id of the boot and PID namespace, in which process numbers are unique."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _begin_of(process: int) -> Optional[str]:
    """Returns when a process of this machine began, in the system's units; "" if it has ended; None
    if the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    return "" if fields[0] == "Z" else fields[19]


class Lock:
    """A context manager that holds the lock at `path` of the folder that the user has named
    `output`. Raises OutputInUse if another run holds it, and OSError.

    On local and network disks, only one of several runs can create the file. An object store has no
    such operation: there, the run whose file is found after two seconds holds the lock.
    """

    def __init__(self, store: fs.FileSystem, path: str, output: str) -> None:
        self._store, self._path, self._output = store, path, output
        self._own = {"run": uuid.uuid4().hex, "host": socket.gethostname(), "process": os.getpid(),
                     "machine": _machine(), "begin": _begin_of(os.getpid())}
        self._ended = threading.Event()
        self._lost: Optional[str] = None
        self._when_lost: Optional[Callable[[str], None]] = None
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Lock:
        self._take()
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._thread.join()
        if self._is_own(self._read()):
            self._store.delete_file(self._path)

    def check(self) -> None:
        """Raises OutputInUse if another run has taken the lock, because this one was suspended for
        long."""
        if self._lost is not None:
            raise OutputInUse(self._lost)

    def when_lost(self, call: Callable[[str], None]) -> None:
        """Sets a function that is called with the reason when another run has taken the lock."""
        self._when_lost = call

    # ------------------------------------------------------------------------ taking

    def _take(self) -> None:
        if self._create():
            return
        held = self._read()
        if held is not None and not self._is_left(held):
            raise OutputInUse(self._reason(held))
        self._write()
        time.sleep(_SETTLED)
        held = self._read()
        if not self._is_own(held):
            raise OutputInUse(self._reason(held or {}))

    def _reason(self, held: dict[str, Any]) -> str:
        return (f"{self._output} is in use by process {held.get('process', '?')} on "
                f"{held.get('host', '?')}: one run at a time can write to it. If that run does not "
                f"exist any more, try again {STALE:g} s after its end")

    def _is_left(self, held: dict[str, Any]) -> bool:
        """Returns whether the run of this lock has ended."""
        if held.get("machine") and held["machine"] == self._own["machine"]:
            begin = _begin_of(held["process"])
            # The system may report only that a process of another user exists.
            if begin != held["begin"] and (begin is not None or not _exists(held["process"])):
                return True
        return time.time() - held["time"] > STALE

    def _create(self) -> bool:
        """Creates the file if there is none. Returns whether it was created."""
        if isinstance(self._store, fs.LocalFileSystem):
            try:
                file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            except FileExistsError:
                return False
            with os.fdopen(file, "wb") as opened:
                opened.write(self._content())
            return True
        if self._store.get_file_info(self._path).type != fs.FileType.NotFound:
            return False
        self._write()
        time.sleep(_SETTLED)
        return self._is_own(self._read())

    # ---------------------------------------------------------------------- the file

    def _content(self) -> bytes:
        return json.dumps({**self._own, "time": time.time()}).encode()

    def _write(self) -> None:
        # A write replaces a file of an object store as a whole; on a disk, a move does.
        is_local = isinstance(self._store, fs.LocalFileSystem)
        path = f"{self._path}.{self._own['run']}" if is_local else self._path
        with self._store.open_output_stream(path) as file:
            file.write(self._content())
        if is_local:
            self._store.move(path, self._path)

    def _read(self) -> Optional[dict[str, Any]]:
        """Returns the contents of the lock's file; None if there is none."""
        try:
            with self._store.open_input_file(self._path) as file:
                return json.loads(file.read())
        except FileNotFoundError:
            return None
        except ValueError:  # it is being written, or its run was killed at that moment
            # Some stores do not report when the file was written.
            written = self._store.get_file_info(self._path).mtime_ns or time.time_ns()
            return {"time": written / 1e9}

    def _is_own(self, held: Optional[dict[str, Any]]) -> bool:
        return held is not None and held.get("run") == self._own["run"]

    def _beat(self) -> None:
        while not self._ended.wait(HEARTBEAT):
            try:
                held = self._read()
                if held is None or self._is_own(held):
                    self._write()
                    continue
            except OSError:
                continue  # tried again; a run that takes the lock meanwhile is found then
            if "run" not in held:
                continue  # it is being written
            self._lost = self._reason(held)
            if self._when_lost is not None:
                self._when_lost(self._lost)
            return
