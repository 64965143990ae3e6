# SPDX-License-Identifier: LGPL-2.1-or-later
"""Claims cores of this machine for a worker.

Decoders start one thread for each core that they may use. Without a limit, a large machine with one
worker per core would have the square of that number of threads.

Workers see each other's claims in a folder of locks. Containers have folders of their own, unless
the variable GST_CUDATENSOR_CORE_LOCKS names a shared one. Without it, the containers of a machine
begin at different cores, so that two rarely claim the same core.
"""
from __future__ import annotations

import fcntl
import os
import socket
import stat
import tempfile
import zlib
from pathlib import Path

_HOST = "pid:[4026531836]"  # the PID namespace of the host
_kept: list[int] = []  # The system releases a lock with the process, however it ends.


def _folder() -> Path:
    """Returns the folder of locks. Raises OSError if another user could have written to it."""
    shared = os.environ.get("GST_CUDATENSOR_CORE_LOCKS") or tempfile.gettempdir()
    folder = Path(shared) / f"gst-cudatensor-cores-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    state = os.lstat(folder)
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o077:
        raise PermissionError(f"{folder} is not a private folder")
    return folder


def _in_order(cores: set[int]) -> list[int]:
    """Returns all cores in the order to try them. It begins at a core that depends on the host name
    in a container whose locks others do not see."""
    ordered = sorted(cores)
    try:
        is_container = os.readlink("/proc/self/ns/pid") != _HOST
    except OSError:
        is_container = False
    if not is_container or os.environ.get("GST_CUDATENSOR_CORE_LOCKS"):
        return ordered
    begin = zlib.crc32(socket.gethostname().encode()) % len(ordered)
    return ordered[begin:] + ordered[:begin]


def claim_cores(count: int) -> set[int]:
    """Limits this thread, and the threads that it starts, to `count` cores that no other worker of
    this user has claimed. Returns these cores. If fewer are free, changes nothing and returns all
    cores that the thread may use."""
    allowed = os.sched_getaffinity(0)
    claimed: dict[int, int] = {}
    try:
        folder = _folder()
        for core in _in_order(allowed):
            if len(claimed) == count:
                break
            lock = os.open(folder / str(core),
                           os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                claimed[core] = lock
            except BlockingIOError:
                os.close(lock)
        if len(claimed) == count:
            os.sched_setaffinity(0, claimed)
            _kept.extend(claimed.values())
            return set(claimed)
    except OSError:
        pass  # the system does not permit it
    for lock in claimed.values():
        os.close(lock)
    return allowed
