# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of object stores for GStreamer, which reads HTTP.

A server on the loopback interface answers requests for ranges of bytes with pyarrow.fs, so that
only the needed bytes of a large file are transferred, and nothing is stored.
"""
from __future__ import annotations

import errno
import os
import re
import secrets
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Iterator, Optional
from urllib.parse import urlsplit

from pyarrow import fs

from .places import place_of

_BLOCK = 1 << 20  # bytes
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")


class _Served:
    def __init__(self, store: fs.FileSystem, path: str) -> None:
        self.store, self.path = store, path
        self.error: Optional[Exception] = None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: RangeServer

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def log_message(self, *_: Any) -> None:
        """Logs nothing, because the errors that matter reach the rows."""

    def _answer(self, with_body: bool) -> None:
        served = self.server.served.get(self.path.lstrip("/"))
        if served is None:
            self.send_error(404)
            return
        try:
            self._send(served, with_body)
        except ConnectionError:  # GStreamer seeks, or has read all it needs
            self.close_connection = True
        except OSError as error:
            served.error = error
            self.close_connection = True

    def _send(self, served: _Served, with_body: bool) -> None:
        with served.store.open_input_file(served.path) as file:
            size = file.size()
            wanted = _RANGE.fullmatch(self.headers.get("Range", ""))
            first = int(wanted[1]) if wanted else 0
            last = min(int(wanted[2]), size - 1) if wanted and wanted[2] else size - 1
            if first >= size:
                self.send_error(416)
                return
            self.send_response(206 if wanted else 200)
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(last + 1 - first))
            if wanted:
                self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
            self.end_headers()
            file.seek(first)
            left = last + 1 - first if with_body else 0
            while left > 0:
                block = file.read(min(_BLOCK, left))
                if not block:
                    raise OSError(f"{served.path} ends before its size")
                self.wfile.write(block)
                left -= len(block)


class RangeServer(ThreadingHTTPServer):
    """Serves the files of open() to programs of this machine that know their secret names."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.served: dict[str, _Served] = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @contextmanager
    def open(self, store: fs.FileSystem, path: str) -> Iterator[str]:
        """Returns a context manager with the URL of a file, which is valid in the context. Leaving
        it raises the store's OSError if the store failed."""
        name = secrets.token_hex(16)
        served = self.served[name] = _Served(store, path)
        try:
            yield f"http://127.0.0.1:{self.server_address[1]}/{name}"
        except RuntimeError as error:
            # The pipeline reports only a closed connection.
            if served.error is not None:
                raise served.error from error
            raise
        finally:
            del self.served[name]
        if served.error is not None:  # the file was not read completely
            raise served.error


_PROXIES = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
_proxies: dict[str, str] = {}  # variables currently removed from the environment
_server: Optional[RangeServer] = None
_starting = threading.Lock()


@contextmanager
def source_of(uri: str) -> Iterator[str]:
    """Returns a context manager with the source that GStreamer opens for a file of the archive: a
    path or an http(s) URL unchanged, for other stores the URL of a server in this process. Raises
    OSError if the store fails, PermissionError for a path that this user cannot read."""
    global _server  # pylint: disable=global-statement
    scheme = urlsplit(uri).scheme if "://" in uri else ""
    if scheme in ("", "http", "https"):
        if scheme:
            _use_proxies(True)
        elif os.path.exists(uri) and not os.access(uri, os.R_OK):
            raise PermissionError(f"the file cannot be read: {os.strerror(errno.EACCES)}")
        yield uri
        return
    place = place_of(uri)
    with _starting:
        if _server is None:
            _server = RangeServer()
    _use_proxies(False)
    with _server.open(place.store, place.path) as url:
        yield url


def _use_proxies(wanted: bool) -> None:
    """Sets or removes the variables of proxies, which are set only while a source is on another
    machine: GStreamer's HTTP source ignores no_proxy and would use them for this machine, too.
    Called while no pipeline of this process runs."""
    for name in _PROXIES:
        if wanted and name in _proxies:
            os.environ[name] = _proxies.pop(name)
        elif not wanted and name in os.environ:
            _proxies[name] = os.environ.pop(name)
