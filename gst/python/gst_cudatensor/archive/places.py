# SPDX-License-Identifier: LGPL-2.1-or-later
"""Paths and URIs, and their file systems of pyarrow.fs."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from pyarrow import fs


@dataclass(frozen=True)
class Place:
    """A file or folder."""

    store: fs.FileSystem
    path: str  #: in the store
    root: str = ""  #: the prefix of all paths in the store
    prefix: str = ""  #: the prefix that replaces `root` in URIs

    def uri_of(self, path: str) -> str:
        """Returns the URI of a path in the store; for files of this machine, the path."""
        return self.prefix + path[len(self.root):]


def place_of(uri: str) -> Place:
    """Returns the place of a path or a URI. The path in a URI is not decoded, because names in
    object stores may contain spaces, "%" and "?". Raises ValueError if pyarrow.fs does not know its
    scheme."""
    scheme, is_uri, rest = uri.partition("://")
    if not is_uri or scheme == "file":
        path = unquote(rest[rest.find("/"):]) if is_uri else uri
        return Place(fs.LocalFileSystem(), str(Path(path).absolute()))
    host, _, path = rest.partition("/")
    try:
        store, root = fs.FileSystem.from_uri(f"{scheme}://{host}/")
    except ValueError as error:
        raise ValueError(f"{uri}: {error}") from error
    root = root.rstrip("/")
    return Place(store, f"{root}/{path}".rstrip("/"), root, f"{scheme}://{host}")
