# SPDX-License-Identifier: LGPL-2.1-or-later
"""The video files of folders, object stores and lists."""
from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Iterable, Iterator, Optional
from urllib.parse import urlsplit

from pyarrow import fs

from .places import Place, place_of

#: Suffixes of the files that are taken from a folder. A file that the user names is always taken.
VIDEO_SUFFIXES = frozenset(
    ".3gp .avi .flv .h264 .h265 .hevc .ivf .m2ts .m4v .mjpeg .mjpg .mkv .mov .mp4 .mpeg .mpg .mts "
    ".ogv .ts .webm .wmv .y4m".split())


@dataclass(frozen=True)
class File:
    """A file of the archive. `error` says why it cannot be read."""

    uri: str  #: an absolute path, or a URI
    size: Optional[int] = None  #: in bytes; None: unknown
    modified: Optional[int] = None  #: in ns since 1970; None: unknown
    error: Optional[str] = None

    @property
    def id(self) -> str:
        """An id that changes when the file does."""
        return hashlib.sha256(f"{self.uri}\n{self.size}\n{self.modified}".encode()).hexdigest()[:32]


def list_files(sources: Iterable[str]) -> list[File]:
    """Returns the files of `sources`: files, folders with their subfolders, URIs that pyarrow.fs
    knows (s3://, gs://, …), and http(s) URIs. Each file comes once, in the order of the sources and
    sorted in a folder. A missing file becomes a File with an error. Raises ValueError for other
    URIs, and OSError if a store cannot be listed."""
    files: dict[str, File] = {}
    for source in sources:
        for file in _files_of(source):
            files.setdefault(file.uri, file)
    return list(files.values())


def _files_of(source: str) -> Iterator[File]:
    scheme = urlsplit(source).scheme if "://" in source else ""
    if scheme in ("http", "https"):
        yield File(source)
        return
    if scheme in ("rtsp", "rtsps", "rtmp", "udp", "v4l2"):
        raise ValueError(f"{source}: a live source is not a file of an archive")
    place = place_of(source)
    if isinstance(place.store, fs.LocalFileSystem):
        yield from _local_files_of(place.path)
        return
    info = place.store.get_file_info(place.path)
    if info.type != fs.FileType.Directory:
        yield _file_of(place, info)
        return
    found = place.store.get_file_info(fs.FileSelector(place.path, recursive=True))
    for entry in sorted(found, key=lambda entry: entry.path):
        if _is_video(entry.path) and entry.type != fs.FileType.Directory:
            yield _file_of(place, entry)


def _is_video(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in VIDEO_SUFFIXES


def _local_files_of(path: str) -> Iterator[File]:
    """Yields the files of a path on this machine. pyarrow.fs is not used here, because it lists
    nothing if a name is not UTF-8 or a folder cannot be read."""
    if os.path.isdir(path):
        found: list[tuple[str, Optional[str]]] = []
        _list_folder(path, frozenset(), found)
        for name, error in sorted(found, key=lambda entry: os.fsencode(entry[0])):
            yield _local_file(name, error)
    else:
        yield _local_file(path, None)


def _list_folder(folder: str, parents: frozenset[tuple[int, int]],
                 found: list[tuple[str, Optional[str]]]) -> None:
    """Appends the videos in a folder and its subfolders, and an error for each folder that cannot
    be listed."""
    try:
        state = os.stat(folder)
        if (state.st_dev, state.st_ino) in parents:
            return  # a link to a folder above it
        with os.scandir(folder) as entries:
            listed = [(entry.path, _is_folder(entry)) for entry in entries]
    except OSError as error:
        found.append((folder, f"the folder cannot be listed: {error.strerror}"))
        return
    for path, is_folder in listed:
        if is_folder:
            _list_folder(path, parents | {(state.st_dev, state.st_ino)}, found)
        elif _is_video(path):
            found.append((path, None))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # such as a link to itself


def _local_file(path: str, error: Optional[str]) -> File:
    try:
        path.encode()
    except UnicodeEncodeError:
        # Neither a row nor a URI of GStreamer can have such a name.
        path = os.fsencode(path).decode(errors="backslashreplace")
        return File(path, error=error or "the name of the file or of its folder is not UTF-8")
    if error is not None:
        return File(path, error=error)
    try:
        state = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return File(path, error="there is no such file")
    except (OSError, ValueError) as fault:
        return File(path, error=f"the file cannot be read: {getattr(fault, 'strerror', fault)}")
    if not stat.S_ISREG(state.st_mode):
        return File(path, error="not a regular file")
    if state.st_size == 0:
        return File(path, 0, state.st_mtime_ns, error="the file is empty")
    return File(path, state.st_size, state.st_mtime_ns)


def _file_of(place: Place, info: fs.FileInfo) -> File:
    uri = place.uri_of(info.path)
    if info.type == fs.FileType.NotFound:
        return File(uri, error="there is no such file")
    if info.type != fs.FileType.File:
        return File(uri, error="not a regular file")
    if info.size == 0:
        return File(uri, 0, info.mtime_ns, error="the file is empty")
    return File(uri, info.size, info.mtime_ns)
