# SPDX-License-Identifier: LGPL-2.1-or-later
"""Faults of files, and faults of their environment: networks, disks, memory.

A broken file stays broken and gets a row with the error. A fault of the environment may pass, so
the chunk is tried again.
"""
from __future__ import annotations

from typing import Optional

from .. import ErrorCode, FramesError

#: Errors of options and machines, which every file would have.
_OF_THE_JOB = (ErrorCode.SETTINGS, ErrorCode.NO_CUDA, ErrorCode.CONTEXT)
_PASSING_CODES = (ErrorCode.SOURCE, ErrorCode.TIMEOUT)
_OF_A_FILE = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
#: Texts of PyTorch, CuPy and onnxruntime, whose errors have no common class.
_NO_MEMORY = ("out of memory", "failed to allocate memory", "bad_alloc", "cublas_status_alloc_failed")


class MediaError(RuntimeError):
    """A file cannot be read. The message names the cause."""


class EndsEarly(MediaError):
    """The last frame comes before the duration that the file states."""


class PassingError(RuntimeError):
    """A file could not be read for a cause outside the file, which may pass: a network, a store, a
    disk, or memory in use. The message names the cause."""


class WornProcess(PassingError):
    """A fault after which the process cannot do more work, so that it has to end."""


class DeviceError(WornProcess):
    """A call to the GPU failed. Later calls may fail, too, until the process ends."""


class HungError(WornProcess):
    """A thread of a pipeline hangs, for example in a decoder. Only the end of the process stops
    it."""


def of_frames(error: FramesError, source: str) -> Exception:
    """Returns a MediaError, a PassingError, or a ValueError for errors of the options, which every
    file would have."""
    text = str(error).removeprefix(f"{source}: ")
    if error.code in _OF_THE_JOB:
        return ValueError(text)
    if error.code == ErrorCode.CUDA:
        return DeviceError(text)
    return PassingError(text) if error.code in _PASSING_CODES else MediaError(text)


def of_system(error: OSError) -> Exception:
    """Returns a MediaError if the file does not exist or this user may not read it, otherwise a
    PassingError."""
    text = str(error) or type(error).__name__
    return MediaError(text) if isinstance(error, _OF_A_FILE) else PassingError(text)


def of_model(error: Exception) -> Optional[PassingError]:
    """Returns a PassingError if the model ran out of memory; None for its other errors."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return PassingError(text)
    return PassingError(text) if any(part in text.lower() for part in _NO_MEMORY) else None
