# SPDX-License-Identifier: LGPL-2.1-or-later
"""Waits for a pipeline as long as buffers pass through it, and ends it.

A frame may take long if the file is read over a slow network, if many frames are decoded for one
that is wanted, or if all frames are counted first. Its pipeline passes on bytes or frames in the
meantime; one that hangs does not.
"""
from __future__ import annotations

import threading
import time
from concurrent.futures import Future, TimeoutError as NotReturned
from typing import Any, Callable, Iterator, Optional, TypeVar

from .. import ErrorCode, FramesError
from .faults import HungError, MediaError, PassingError

_Result = TypeVar("_Result")

#: Maximum seconds of waiting for one batch or frame.
MOST = 3600.0
_LOOK = 1.0  # seconds
# Seconds that a pipeline has also with a short timeout, to end and to start. The driver creates the
# contexts of all processes on a GPU one after the other.
_LEAST_END = 5.0
LEAST_START = 15.0


def slice_of(timeout: float) -> float:
    """Returns the seconds to wait for a frame between two checks."""
    return min(_LOOK, timeout / 4)


class Patience:
    """Decides whether to wait longer for a frame. `timeout`: seconds without a frame and without a
    buffer. `count_buffers` returns a number that stays the same while no buffer passes."""

    def __init__(self, timeout: float, count_buffers: Callable[[], int]) -> None:
        self.timeout = timeout
        self._count_buffers = count_buffers
        self._seen: Optional[int] = None
        self._fault: Optional[PassingError] = None
        self.renew()

    def renew(self) -> None:
        """Called when a frame has come."""
        self._begin = self._latest = time.monotonic()

    def check(self) -> None:
        """Raises PassingError if the timeout has passed, and MediaError if the pipeline has worked
        for longer than MOST."""
        now, seen = time.monotonic(), self._count_buffers()
        if seen != self._seen:
            self._latest, self._seen = now, seen
        if now - self._latest >= self.timeout:
            self._fault = PassingError(f"no frame in {self.timeout:g} s")
            raise self._fault
        if now - self._begin >= MOST:
            raise MediaError(f"no frame in {MOST:g} s, in which the pipeline worked")

    def returned(self, function: Callable[[], _Result], least: float = _LEAST_END) -> _Result:
        """Returns the result of a function that waits for the threads of the pipeline, or raises
        its exception. GStreamer waits without a limit and cannot end a thread, so another thread
        calls the function. Raises HungError if it does not return within `least` seconds and the
        timeout."""
        done: Future[_Result] = Future()
        threading.Thread(target=_call, args=(function, done), daemon=True).start()
        try:
            return done.result(min(max(self.timeout, least), threading.TIMEOUT_MAX))
        except NotReturned:
            if done.done():
                raise
            before = f"{self._fault}; " if self._fault else ""
            raise HungError(f"{before}its reader or decoder hangs and cannot be stopped") from None


def _call(function: Callable[[], _Result], done: Future[_Result]) -> None:
    try:
        done.set_result(function())
    except BaseException as error:
        done.set_exception(error)


def batches_of(frames: Any, patience: Patience) -> Iterator[Any]:
    """Yields the batches of Frames, whose timeout must be slice_of() that of `patience`. Raises
    PassingError if none comes, and FramesError."""
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
