# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file that cudahistogram measures frame by frame, through GStreamer's C interface."""
from __future__ import annotations

import contextlib
import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Iterator, Optional

from .._library import _LIBRARY, NO_TIME, GError, HistogramStruct, call, functions
from .chunks import LONGEST_BELIEVED, SECOND
from .faults import DeviceError, EndsEarly, MediaError, PassingError
from .patience import Patience

_NULL, _PAUSED, _PLAYING = 1, 3, 4
_EOS, _ERROR, _ELEMENT, _ASYNC_DONE = 1 << 0, 1 << 1, 1 << 15, 1 << 21
_FORMAT_TIME, _SEEK_SET, _SEEK_NONE = 3, 1, 0
_FLUSH, _ACCURATE, _TRICKMODE, _KEY_UNITS = 1 << 0, 1 << 1, 1 << 4, 1 << 7
_MOST_STUCK = 1000  # frames that may have the same timestamp
_TAIL = 2 * SECOND  # by which sound may be longer
_RESOURCE = b"gst-resource-error-quark"
_FAILED = 1  # of the GPU: no other element has an error without a cause
_PASSING = (4, 5, 9, 14)  # busy, cannot be opened, cannot be read, no space left
_TYPE_OFFSET = 64  # of GstMessage.type, behind its GstMiniObject, in GStreamer 1.x on 64 bits

_LINE = ("uridecodebin name=source caps=video/x-raw(ANY) expose-all-streams=false ! "
         "cudahistogram name=histogram interval=0 backend={backend} cuda-device-id={gpu} ! "
         "fakesink sync=false")
_DECLARATIONS = {
    "gst_init_check": (c_int, c_void_p, c_void_p, POINTER(POINTER(GError))),
    "gst_filename_to_uri": (c_void_p, c_char_p, POINTER(POINTER(GError))),
    "gst_parse_launch": (c_void_p, c_char_p, POINTER(POINTER(GError))),
    "gst_bin_get_by_name": (c_void_p, c_void_p, c_char_p),
    "gst_util_set_object_arg": (None, c_void_p, c_char_p, c_char_p),
    "gst_element_get_bus": (c_void_p, c_void_p),
    "gst_element_set_state": (c_int, c_void_p, c_int),
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
        """GStreamer's functions, which the library is linked with."""
    for name, (result, *arguments) in _DECLARATIONS.items():
        function = getattr(_LIBRARY, name)
        function.restype, function.argtypes = result, arguments
        setattr(Gst, name, function)
    return Gst


_gst = _declare()


def check_end(last: int, duration: Optional[int]) -> None:
    """Raises EndsEarly if a file whose last frame is at `last` says that it is longer, in ns."""
    if duration is not None and last < duration - max(_TAIL, duration // 50):
        raise EndsEarly(f"the video ends at {last / SECOND:.1f} s, of {duration / SECOND:.1f} s that "
                        "the file states")


def check_length(time: int, duration: Optional[int], longest: float) -> None:
    """Raises MediaError if a file has no end: with a frame at `time` in ns, after `longest` seconds
    where it states no duration that can be believed, and that much after the duration it states."""
    is_stated = duration is not None and duration <= LONGEST_BELIEVED
    limit = longest + (duration / SECOND if is_stated else 0)
    if time > limit * SECOND:
        raise MediaError(f"does not end after {limit:g} s of video")


def _checked(function: Any, *arguments: Any) -> Any:
    error = POINTER(GError)()
    result = function(*arguments, ctypes.byref(error))
    if error:
        message = error.contents.message.decode(errors="replace")
        _LIBRARY.g_error_free(error)
        raise MediaError(message)
    return result


def uri_of(source: str) -> str:
    """The URI of a path; URIs stay as they are. Raises MediaError."""
    if "://" in source:
        return source
    address = _checked(_gst.gst_filename_to_uri, str(Path(source).absolute()).encode())
    try:
        return ctypes.string_at(address).decode()
    finally:
        _gst.g_free(address)


class Player:
    """A pipeline that measures a file. A context manager; close() ends it.

    `timeout`: as of Patience. `device`: what measures, and decodes if it can: "cpu", "cuda", "cuda:1",
    or "auto", which is a GPU if there is one. Methods raise MediaError and PassingError, which name
    the cause.
    """

    def __init__(self, source: str, timeout: float, device: str = "cpu") -> None:
        _checked(_gst.gst_init_check, None, None)
        self._patience = Patience(timeout)
        kind, _, number = device.partition(":")
        line = _LINE.format(backend=kind, gpu=number or -1)
        self._pipeline = _checked(_gst.gst_parse_launch, line.encode())
        self._bus = _gst.gst_element_get_bus(self._pipeline)
        if kind != "cpu":
            with self._element("source") as address:
                functions.prefer_gpu_decoders(address, int(number or 0))
        uri = uri_of(source)
        self._is_local = uri.startswith("file:")
        self._set("source", "uri", uri)

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stops the pipeline and frees it."""
        if self._pipeline:
            _gst.gst_element_set_state(self._pipeline, _NULL)
            _gst.gst_object_unref(self._bus)
            _gst.gst_object_unref(self._pipeline)
            self._pipeline = None

    def duration(self) -> Optional[int]:
        """ns, as the file states them; None where it does not. The file is opened for it."""
        self._set("histogram", "post-messages", "false")
        self._preroll()
        return self.known_duration()

    def known_duration(self) -> Optional[int]:
        """The same for a file that is being read."""
        value = c_int64()
        known = _gst.gst_element_query_duration(self._pipeline, _FORMAT_TIME, ctypes.byref(value))
        return value.value if known and value.value > 0 else None

    def is_seekable(self) -> bool:
        """Whether a file that was opened can be read from elsewhere than its beginning."""
        return self._says_seekable() and (self._is_local or self._seeks_in_fact())

    def _seeks_in_fact(self) -> bool:
        """A server without ranges can look like one with them until it is asked for one."""
        try:
            self._seek((self.known_duration() or 0) // 2, False)
            message = self._pop(_ASYNC_DONE | _ERROR | _EOS)
        except MediaError:
            return False
        is_error = self._kind(message) == _ERROR
        _gst.gst_mini_object_unref(message)
        return not is_error

    def _says_seekable(self) -> bool:
        query, seekable = _gst.gst_query_new_seeking(_FORMAT_TIME), c_int()
        try:
            if _gst.gst_element_query(self._pipeline, query):
                _gst.gst_query_parse_seeking(query, None, ctypes.byref(seekable), None, None)
        finally:
            _gst.gst_mini_object_unref(query)
        return bool(seekable.value)

    def histograms(self, begin: int, stop: Optional[int],
                   keyframes: bool = False) -> Iterator[HistogramStruct]:
        """The histogram of each frame whose stream time is from `begin` up to `stop` (None: the end
        of the file), in ns. The struct is valid until the next one. `keyframes`: only key
        frames are decoded, where the container tells them."""
        if begin or keyframes:
            self._set("histogram", "post-messages", "false")
            self._preroll()
            self._set("histogram", "post-messages", "true")
            self._seek(begin, keyframes)
        _gst.gst_element_set_state(self._pipeline, _PLAYING)
        struct, last, stuck = HistogramStruct(), 0, 0
        while self._next(struct):
            stuck = stuck + 1 if struct.stream_time <= last else 0
            last = struct.stream_time
            if last == NO_TIME or stuck > _MOST_STUCK:
                raise MediaError("the frames have no timestamps, or the same one")
            if stop is not None and last >= stop:
                return
            if last >= begin:
                yield struct
        if not keyframes:
            check_end(last, self.known_duration())

    def _seek(self, begin: int, keyframes: bool) -> None:
        flags = _FLUSH | _ACCURATE | (_TRICKMODE | _KEY_UNITS if keyframes else 0)
        # From earlier: a decoder gives the frame that is shown at the position a later timestamp.
        position = max(0, begin - SECOND)
        if not _gst.gst_element_seek(self._pipeline, 1.0, _FORMAT_TIME, flags, _SEEK_SET, position,
                                     _SEEK_NONE, -1):
            raise MediaError(f"cannot seek to {begin / SECOND:g} s")

    def _preroll(self) -> None:
        _gst.gst_element_set_state(self._pipeline, _PAUSED)
        message = self._pop(_ASYNC_DONE | _ERROR | _EOS)
        kind = self._kind(message)
        if kind == _ERROR:
            raise self._error(message)
        _gst.gst_mini_object_unref(message)
        if kind == _EOS:
            raise MediaError("the file has no frame")

    def _next(self, struct: HistogramStruct) -> bool:
        """Fills `struct` with the next frame's histogram; False at the end of the file."""
        while True:
            message = self._pop(_ELEMENT | _ERROR | _EOS)
            kind = self._kind(message)
            if kind == _ERROR:
                raise self._error(message)
            try:
                if kind == _EOS:
                    return False
                if functions.is_histogram(message):
                    call(functions.histogram_parse, message, ctypes.byref(struct))
                    return True
            finally:
                _gst.gst_mini_object_unref(message)

    def _pop(self, kinds: int) -> int:
        """The next message. Raises PassingError if none comes."""
        self._patience.renew()
        while True:
            message = _gst.gst_bus_timed_pop_filtered(self._bus, int(self._patience.slice * SECOND),
                                                      kinds)
            if message:
                return message
            self._patience.check()

    @staticmethod
    def _kind(message: int) -> int:
        return c_uint.from_address(message + _TYPE_OFFSET).value

    @staticmethod
    def _error(message: int) -> RuntimeError:
        error, details = POINTER(GError)(), c_void_p()
        _gst.gst_message_parse_error(message, ctypes.byref(error), ctypes.byref(details))
        text = error.contents.message.decode(errors="replace")
        is_resource = _gst.g_quark_to_string(error.contents.domain) == _RESOURCE
        code = error.contents.code if is_resource else None
        _LIBRARY.g_error_free(error)
        _gst.g_free(details)
        _gst.gst_mini_object_unref(message)
        if code == _FAILED:
            return DeviceError(text)
        return PassingError(text) if code in _PASSING else MediaError(text)

    def _set(self, element: str, name: str, value: str) -> None:
        with self._element(element) as address:
            _gst.gst_util_set_object_arg(address, name.encode(), value.encode())

    @contextlib.contextmanager
    def _element(self, name: str) -> Iterator[int]:
        address = _gst.gst_bin_get_by_name(self._pipeline, name.encode())
        try:
            yield address
        finally:
            _gst.gst_object_unref(address)
