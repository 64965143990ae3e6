# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cores of this machine for a worker.

Decoders start as many threads as they may use cores. Without a limit, many workers on a large
machine would have that number squared.
"""
from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO

_kept: list[IO[str]] = []  # The system releases a lock with the process, however it ends.


def claim_cores(count: int) -> set[int]:
    """Limits this thread, and the threads that it starts, to `count` cores that no other worker of
    this user has claimed. Returns them; without a change, all that the thread may use, if fewer
    are free."""
    allowed = os.sched_getaffinity(0)
    claimed: dict[int, IO[str]] = {}
    folder = Path(tempfile.gettempdir()) / f"gst-cudatensor-cores-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        for core in sorted(allowed):
            if len(claimed) == count:
                break
            lock = open(folder / str(core), "w", encoding="ascii")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                claimed[core] = lock
            except BlockingIOError:
                lock.close()
        if len(claimed) == count:
            os.sched_setaffinity(0, claimed)
            _kept.extend(claimed.values())
            return set(claimed)
    except OSError:
        pass  # a system that does not permit it
    for lock in claimed.values():
        lock.close()
    return allowed
