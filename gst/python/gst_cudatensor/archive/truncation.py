# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks whether a file has all the bytes that its container states.

The last frame of a complete file may come long before its end: sound may be longer, and a still
picture has one frame for its whole duration.
"""
from __future__ import annotations

import ctypes
from typing import Any, Optional

from pyarrow import fs

from .._library import ReadFunction, functions
from .places import place_of

#: Each read is a request to a store, and a fragmented MP4 file may have a header every second.
_MOST_READS_OF_STORES = 16


def missing_bytes(uri: str) -> Optional[int]:
    """Returns the number of bytes that a file lacks, 0 if it is complete. Returns None if its
    container does not tell (see gst_cuda_tensor_stated_length()), or for a file on a web server.
    Raises OSError."""
    if uri.startswith(("http://", "https://")):
        return None
    place = place_of(uri)
    with place.store.open_input_file(place.path) as file:
        size = file.size()
        most = None if isinstance(place.store, fs.LocalFileSystem) else _MOST_READS_OF_STORES
        stated = _stated_length(file, size, most)
    return max(0, stated - size) if stated else None


def _stated_length(file: Any, size: int, most_reads: Optional[int]) -> int:
    """Calls gst_cuda_tensor_stated_length() and returns its result. Raises OSError."""
    reads = 0
    fault: Optional[OSError] = None

    def read(offset: int, address: int, length: int, _: Any) -> int:
        nonlocal reads, fault
        reads += 1
        if most_reads is not None and reads > most_reads:
            return False
        try:
            file.seek(min(offset, size))
            data = file.read(length).ljust(length, b"\0")
        except OSError as error:
            fault = error
            return False
        ctypes.memmove(address, data, length)
        return True

    stated = functions.stated_length(ReadFunction(read), None, size)
    if fault is not None:
        raise fault
    return stated
