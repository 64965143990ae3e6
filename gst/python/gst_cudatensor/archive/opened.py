# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file that a pipeline opens, through GStreamer's C interface."""
from __future__ import annotations

import contextlib
import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Iterator, Optional, TypeVar

from .._library import _LIBRARY, GError, functions
from .chunks import SECOND
from .faults import DeviceError, MediaError, PassingError
from .patience import LEAST_START, Patience, slice_of

_Self = TypeVar("_Self", bound="OpenedFile")

EOS, ERROR, ELEMENT, _ASYNC_DONE = 1 << 0, 1 << 1, 1 << 15, 1 << 21  # kinds of messages
_NULL, _PAUSED, _PLAYING = 1, 3, 4
_FORMAT_TIME, _SEEK_SET, _SEEK_NONE = 3, 1, 0
_FLUSH, _ACCURATE, _TRICKMODE, _KEY_UNITS = 1 << 0, 1 << 1, 1 << 4, 1 << 7
_RESOURCE = b"gst-resource-error-quark"
_FAILED = 1  # an error of the GPU: other elements do not use this code
_PASSING = (4, 5, 9, 14)  # busy, cannot be opened, cannot be read, no space left
_TYPE_OFFSET = 64  # of GstMessage.type, which follows the GstMiniObject, in GStreamer 1.x on 64 bits

# The caps at which decodebin stops: those that decoders take.
_CODED = ("video/x-h264", "video/x-h265", "video/x-h266", "video/x-h263",
          "video/mpeg,systemstream=(boolean)false", "video/x-vp8", "video/x-vp9", "video/x-av1",
          "video/x-theora", "video/x-prores", "image/jpeg", "video/x-raw(ANY)")
_DECLARATIONS = {
    "gst_init_check": (c_int, c_void_p, c_void_p, POINTER(POINTER(GError))),
    "gst_filename_to_uri": (c_void_p, c_char_p, POINTER(POINTER(GError))),
    "gst_parse_launch": (c_void_p, c_char_p, POINTER(POINTER(GError))),
    "gst_bin_get_by_name": (c_void_p, c_void_p, c_char_p),
    "gst_util_set_object_arg": (None, c_void_p, c_char_p, c_char_p),
    "gst_element_get_bus": (c_void_p, c_void_p),
    "gst_element_set_state": (c_int, c_void_p, c_int),
    "gst_element_get_context": (c_void_p, c_void_p, c_char_p),
    "gst_element_set_context": (None, c_void_p, c_void_p),
    "gst_element_query_duration": (c_int, c_void_p, c_int, POINTER(c_int64)),
    "gst_query_new_seeking": (c_void_p, c_int),
    "gst_query_parse_seeking": (None, c_void_p, c_void_p, POINTER(c_int), c_void_p, c_void_p),
    "gst_element_query": (c_int, c_void_p, c_void_p),
    "gst_element_seek": (c_int, c_void_p, c_double, c_int, c_int, c_int, c_int64, c_int, c_int64),
    "gst_bus_timed_pop_filtered": (c_void_p, c_void_p, c_uint64, c_int),
    "gst_message_parse_error": (None, c_void_p, POINTER(POINTER(GError)), POINTER(c_void_p)),
    "gst_mini_object_unref": (None, c_void_p),
    "gst_object_unref": (None, c_void_p),
    "g_free": (None, c_void_p),
    "g_quark_to_string": (c_char_p, c_uint),
}


def _declare() -> Any:
    class Gst:
        """The functions of GStreamer, with which the library is linked."""
    for name, (result, *arguments) in _DECLARATIONS.items():
        function = getattr(_LIBRARY, name)
        function.restype, function.argtypes = result, arguments
        setattr(Gst, name, function)
    return Gst


_gst = _declare()


def _checked(function: Any, *arguments: Any) -> Any:
    error = POINTER(GError)()
    result = function(*arguments, ctypes.byref(error))
    if error:
        message = error.contents.message.decode(errors="replace")
        _LIBRARY.g_error_free(error)
        raise MediaError(message)
    return result


def uri_of(source: str) -> str:
    """Returns the URI of a path, or `source` if it is a URI. Raises MediaError."""
    if "://" in source:
        return source
    address = _checked(_gst.gst_filename_to_uri, str(Path(source).absolute()).encode())
    try:
        return ctypes.string_at(address).decode()
    finally:
        _gst.g_free(address)


def unref(address: int) -> None:
    """Frees a message, a query or a context."""
    _gst.gst_mini_object_unref(address)


class OpenedFile:
    """A pipeline whose element "source" is a uridecodebin. A context manager; close() ends it.

    `timeout` is that of Patience. Methods raise MediaError and PassingError, which name the cause,
    HungError among the latter.
    """

    def __init__(self, line: str, source: str, timeout: float) -> None:
        _checked(_gst.gst_init_check, None, None)
        uri = uri_of(source)
        self._is_local = uri.startswith("file:")
        self.has_failed = False
        self._timeout = timeout
        self._pipeline = _checked(_gst.gst_parse_launch, line.encode())
        self._patience = Patience(timeout, lambda: int(functions.count_buffers(self._pipeline)))
        self._bus = _gst.gst_element_get_bus(self._pipeline)
        self.set("source", "uri", uri)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stops the pipeline and frees it. Raises HungError if it does not stop."""
        if self._pipeline:
            self._patience.returned(
                lambda: _gst.gst_element_set_state(self._pipeline, _NULL))
            _gst.gst_object_unref(self._bus)
            _gst.gst_object_unref(self._pipeline)
            self._pipeline = None

    def _start(self, state: int) -> None:
        self._patience.returned(lambda: _gst.gst_element_set_state(self._pipeline, state), LEAST_START)

    def known_duration(self) -> Optional[int]:
        """Returns the duration that the file states, in ns; None if it states none, or was not
        opened."""
        value = c_int64()
        known = self._patience.returned(lambda: _gst.gst_element_query_duration(
            self._pipeline, _FORMAT_TIME, ctypes.byref(value)))
        return value.value if known and value.value > 0 else None

    def is_seekable(self) -> bool:
        """Returns whether a file that was opened can be read from other positions than its
        beginning."""
        return self._says_seekable() and (self._is_local or self._seeks_in_fact())

    def _seeks_in_fact(self) -> bool:
        """Returns whether a seek works. A server may appear to support ranges until one is
        requested."""
        try:
            self.seek((self.known_duration() or 0) // 2, False)
            message = self.pop(_ASYNC_DONE | ERROR | EOS)
        except MediaError:
            return False
        is_error = self.kind(message) == ERROR
        unref(message)
        return not is_error

    def _says_seekable(self) -> bool:
        query, seekable = _gst.gst_query_new_seeking(_FORMAT_TIME), c_int()
        try:
            if self._patience.returned(lambda: _gst.gst_element_query(self._pipeline, query)):
                _gst.gst_query_parse_seeking(query, None, ctypes.byref(seekable), None, None)
        finally:
            unref(query)
        return bool(seekable.value)

    def seek(self, begin: int, keyframes: bool) -> None:
        """Seeks to `begin`, in ns. Some frames before it come, too."""
        flags = _FLUSH | _ACCURATE | (_TRICKMODE | _KEY_UNITS if keyframes else 0)
        # Seeks to an earlier position, because decoders give the frame shown at the position a later
        # timestamp.
        position = max(0, begin - SECOND)
        if not self._patience.returned(lambda: _gst.gst_element_seek(
                self._pipeline, 1.0, _FORMAT_TIME, flags, _SEEK_SET, position, _SEEK_NONE, -1)):
            raise MediaError(f"cannot seek to {begin / SECOND:g} s")

    def open(self) -> None:
        """Reads the file up to its first frame."""
        self._start(_PAUSED)
        message = self.pop(_ASYNC_DONE | ERROR | EOS)
        kind = self.kind(message)
        if kind == ERROR:
            raise self.error(message)
        unref(message)
        if kind == EOS:
            raise MediaError("the file has no frame")

    def play(self) -> None:
        """Reads the file to its end, in the background."""
        self._start(_PLAYING)

    def pop(self, kinds: int) -> int:
        """Returns the next message of these kinds. Raises PassingError if none comes."""
        self._patience.renew()
        while True:
            message = _gst.gst_bus_timed_pop_filtered(self._bus, int(slice_of(self._timeout) * SECOND),
                                                      kinds)
            if message:
                return message
            self._patience.check()

    @staticmethod
    def kind(message: int) -> int:
        """Returns the kind of a message, for example EOS, ERROR or ELEMENT."""
        return c_uint.from_address(message + _TYPE_OFFSET).value

    def error(self, message: int) -> RuntimeError:
        """Returns the exception for a message of kind ERROR, and frees the message."""
        self.has_failed = True
        error, details = POINTER(GError)(), c_void_p()
        _gst.gst_message_parse_error(message, ctypes.byref(error), ctypes.byref(details))
        text = error.contents.message.decode(errors="replace")
        is_resource = _gst.g_quark_to_string(error.contents.domain) == _RESOURCE
        code = error.contents.code if is_resource else None
        _LIBRARY.g_error_free(error)
        _gst.g_free(details)
        unref(message)
        if code == _FAILED:
            return DeviceError(text)
        return PassingError(text) if code in _PASSING else MediaError(text)

    def context(self, name: str) -> Optional[int]:
        """Returns the context of this type that elements of the pipeline share. The caller frees
        it."""
        return _gst.gst_element_get_context(self._pipeline, name.encode()) or None

    def set_context(self, context: int) -> None:
        """Makes the elements use a context of another pipeline."""
        _gst.gst_element_set_context(self._pipeline, context)

    def set(self, element: str, name: str, value: str) -> None:
        """Sets a property of an element of the pipeline."""
        with self.element(element) as address:
            _gst.gst_util_set_object_arg(address, name.encode(), value.encode())

    @contextlib.contextmanager
    def element(self, name: str) -> Iterator[int]:
        """Returns a context manager with the address of an element of the pipeline."""
        address = _gst.gst_bin_get_by_name(self._pipeline, name.encode())
        try:
            yield address
        finally:
            _gst.gst_object_unref(address)


class CodedFile(OpenedFile):
    """A file that is read without a decoder, so that neither one nor a GPU is needed."""

    def __init__(self, source: str, timeout: float) -> None:
        super().__init__(f'uridecodebin name=source caps="{"; ".join(_CODED)}" '
                         "expose-all-streams=false ! fakesink sync=false", source, timeout)

    def duration(self) -> Optional[int]:
        """Opens the file and returns the duration that it states, in ns; None if it states none."""
        self.open()
        return self.known_duration()
