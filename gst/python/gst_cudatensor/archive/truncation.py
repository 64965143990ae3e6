# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether a file has all the bytes that its container states.

The last frame of a whole file may come long before its end: sound may be longer, and a still picture
has one frame for all of its time.
"""
from __future__ import annotations

from typing import Any, Optional

from pyarrow import fs

from .places import place_of

_MOST_BOXES = 10_000
_SEGMENT = 0x18538067


def missing_bytes(uri: str) -> Optional[int]:
    """The number of bytes that an MP4, Matroska, WebM or AVI file lacks; 0: none. None: the
    container does not tell, or the file is read from a web server. Raises OSError."""
    if uri.startswith(("http://", "https://")):
        return None
    place = place_of(uri)
    with place.store.open_input_file(place.path) as file:
        size = file.size()
        head = _read(file, 0)
        if head[4:8] == b"ftyp":
            end = _end_of_boxes(file, size, isinstance(place.store, fs.LocalFileSystem))
        elif head[:4] == b"\x1a\x45\xdf\xa3":
            end = _end_of_segment(file)
        elif head[:4] == b"RIFF":
            end = 8 + int.from_bytes(head[4:8], "little")
        else:
            end = None
    return None if end is None else max(0, end - size)


#: Of which a cut file may have a part.
_BOXES = (b"mdat", b"moov", b"moof", b"free", b"skip", b"wide", b"uuid", b"meta", b"mfra", b"sidx",
          b"styp", b"pnot", b"udta")


def _read(file: Any, offset: int) -> bytes:
    file.seek(offset)
    return file.read(16).ljust(16, b"\0")


def _end_of_boxes(file: Any, size: int, is_local: bool) -> Optional[int]:
    """None also for a file of many fragments in a store, where each box is a request."""
    at = 0
    for _ in range(_MOST_BOXES):
        if at >= size:
            return at
        head = _read(file, at)
        if head[4:8] == b"moof" and not is_local:
            return None
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:], "big")
        # Cameras append other bytes to their files, which may look like the length of a box.
        if length < 8 or (at + length > size and head[4:8] not in _BOXES):
            return None
        at += length
    return None


def _varint(data: bytes) -> tuple[int, int, bool]:
    """Value and length of an integer of EBML, and whether it stands for "unknown"."""
    length = next((n for n in range(1, 9) if data[0] & 0x80 >> (n - 1)), 8)
    most = (1 << 7 * length) - 1
    value = int.from_bytes(data[:length], "big") & most
    return value, length, value == most


def _end_of_segment(file: Any) -> Optional[int]:
    value, length, _ = _varint(_read(file, 4))
    at = 4 + length + value
    head = _read(file, at)
    if int.from_bytes(head[:4], "big") != _SEGMENT:
        return None
    value, length, is_unknown = _varint(head[4:])
    return None if is_unknown else at + 4 + length + value
