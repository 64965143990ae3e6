# SPDX-License-Identifier: LGPL-2.1-or-later
"""Waits for a frame as long as the pipeline works.

A frame may take long if the file is read over a slow network, if many frames are decoded for one
that is wanted, or if all frames are counted first. A pipeline that waits for something that does
not come uses no processor time.
"""
from __future__ import annotations

import os
import threading
import time
from typing import Any, Iterator

from .. import ErrorCode, FramesError
from .faults import MediaError, PassingError

#: Maximum seconds of waiting for one batch or frame.
MOST = 3600.0
_LEAST_WORK = 1_000_000  # ns of processor time that count as work
_LOOK = 1.0  # seconds between two checks
#: Names of threads of Ray and CUDA that poll for work.
_FOREIGN = ("grpc", "ray::", "client.poll", "server.poll", "event_engine", "worker.io", "cuda")


def _threads() -> dict[str, int]:
    """Returns the processor time in ns of each thread of this process that Python has not
    started."""
    own = {str(thread.native_id) for thread in threading.enumerate()}
    found = {}
    try:
        names = os.listdir("/proc/self/task")
    except OSError:
        return {}
    for name in names:
        if name in own or name in _earlier:
            continue
        try:
            with open(f"/proc/self/task/{name}/comm", encoding="utf-8", errors="replace") as file:
                is_foreign = file.read().startswith(_FOREIGN)
            with open(f"/proc/self/task/{name}/schedstat", encoding="ascii") as file:
                used = int(file.read().split()[0])
        except (OSError, ValueError, IndexError):
            continue  # the thread has ended, or the system does not report its time
        if not is_foreign:
            found[name] = used
    return found


_earlier: set[str] = set()
_earlier.update(_threads())  # threads from before a file is opened, such as Ray's


class Patience:
    """Decides whether to wait longer for a frame. `timeout`: seconds without a frame and without
    work."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.slice = min(_LOOK, timeout / 4)  #: seconds to wait between two checks
        self._seen = _threads()
        self.renew()

    def renew(self) -> None:
        """Called when a frame has come."""
        self._begin = self._latest = time.monotonic()

    def check(self) -> None:
        """Raises PassingError if the timeout has passed, and MediaError if the pipeline has worked
        for longer than MOST."""
        now, threads = time.monotonic(), _threads()
        if sum(max(0, used - self._seen.get(name, 0)) for name, used in threads.items()) >= _LEAST_WORK:
            self._latest, self._seen = now, threads
        if now - self._latest >= self.timeout:
            raise PassingError(f"no frame in {self.timeout:g} s")
        if now - self._begin >= MOST:
            raise MediaError(f"no frame in {MOST:g} s, in which the pipeline worked")


def batches_of(frames: Any, patience: Patience) -> Iterator[Any]:
    """Yields the batches of Frames, whose timeout must be `patience.slice`. Raises PassingError if
    none comes, and FramesError."""
    while True:
        try:
            batch = next(frames)
        except StopIteration:
            return
        except FramesError as error:
            if error.code is not ErrorCode.TIMEOUT:
                raise
            patience.check()
            continue
        yield batch
        patience.renew()
