# SPDX-License-Identifier: LGPL-2.1-or-later
"""Locates and loads libgstcudatensor-1.0 and declares its functions."""
from __future__ import annotations

import ctypes
import enum
import os
import re
import subprocess
import sys
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Iterator, Optional

from . import _bundled

SONAME = "libgstcudatensor-1.0.so.0"
LIBRARY_VARIABLE = "GST_CUDATENSOR_LIBRARY"

ANY_CONTEXT, TRANSIENT_STREAM = 1, 2  # flags
NO_STREAM = ctypes.c_void_p(-1).value
CPU, CUDA = 1, 2  # device types, numbered as in DLPack
NO_TIME = 2**64 - 1


class ErrorCode(enum.IntEnum):
    """The kind of a TensorError; corresponds to GstCudaTensorError."""

    CAPS = 0  #: the caps do not describe one static tensor of a known type
    BUFFER = 1  #: the buffer is not one memory of the size in the caps, or cannot be mapped
    NO_CUDA = 2  #: the library was built without CUDA, or there is no driver, device or libgstcuda
    CONTEXT = 3  #: the memory belongs to a CUDA context that the consumer does not use
    STATE = 4  #: the element has started
    CUDA = 5  #: a CUDA call failed
    MESSAGE = 6  #: the message is not one of cudahistogram, or lacks a field
    SETTINGS = 7  #: an option or property is wrong
    NOT_FOUND = 8  #: there is no such file, camera or stream
    SOURCE = 9  #: a file, camera or stream cannot be opened or read
    FORMAT = 10  #: the data is broken or not a video
    DECODER = 11  #: there is no decoder, or another plugin of GStreamer is missing
    TIMEOUT = 12  #: nothing has come within the timeout
    CLOSED = 13  #: the frames were closed
    NO_FRAMES = 14  #: no frame lies between the requested start and stop


class TensorError(RuntimeError):
    """An error reported by the library. The message names the cause, and `code` the kind of
    error."""

    def __init__(self, code: ErrorCode, message: str):
        super().__init__(message)
        self.code = code


class GError(ctypes.Structure):
    _fields_ = [("domain", ctypes.c_uint32), ("code", c_int), ("message", c_char_p)]


class GeometryStruct(ctypes.Structure):
    _fields_ = [("matrix", c_double * 6), ("inverse", c_double * 6),
                *((name, c_int) for name in ("src_width", "src_height", "dst_width", "dst_height",
                                             "pad_left", "pad_top", "content_width",
                                             "content_height")),
                ("_reserved", c_void_p * 4)]


class SlotStruct(ctypes.Structure):
    _fields_ = [("valid", c_int), ("pad_index", c_int), ("stream_id", c_char_p),
                ("pts", c_uint64), ("duration", c_uint64), ("running_time", c_uint64),
                ("has_geometry", c_int), ("geometry", GeometryStruct),
                ("has_region", c_int), ("region", c_double * 4),
                ("has_roi", c_int), ("roi_type", c_char_p),
                ("roi_id", c_int), ("parent_id", c_int),
                ("has_detection", c_int), ("detection_id", c_uint), ("detection_type", c_char_p),
                ("confidence", c_double), ("_reserved", c_void_p * 17)]


class InfoStruct(ctypes.Structure):
    _fields_ = [("data_type", c_int), ("n_dims", c_uint), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("size", c_size_t), ("device_type", c_int),
                ("device_id", c_int), ("n_slots", c_uint), ("left_out", c_uint),
                ("has_geometry", c_int), ("geometry", GeometryStruct), ("_reserved", c_void_p * 20)]


class HistogramStruct(ctypes.Structure):
    _fields_ = [*((name, c_uint64) for name in ("timestamp", "stream_time", "running_time",
                                                "duration")),
                ("frames", c_uint), ("pixels", c_uint64), ("bins", c_uint64 * 256),
                ("mean", c_double), ("stddev", c_double),
                *((name, c_uint) for name in ("min", "max", "median", "p1", "p5", "p95", "p99")),
                ("clipped_low", c_double), ("clipped_high", c_double),
                ("has_roi", c_int), ("roi", c_uint * 4),
                ("_reserved", c_void_p * 4)]


class FramesOptionsStruct(ctypes.Structure):
    _fields_ = [("batch", c_uint), ("every", c_double), ("every_frames", c_uint64),
                ("keyframes", c_int), ("count", c_uint64), ("has_start", c_int),
                ("start", c_double), ("has_stop", c_int), ("stop", c_double), ("block", c_int),
                ("device", c_char_p), ("video_direction", c_char_p), ("_reserved", c_void_p * 19)]


class FramesInfoStruct(ctypes.Structure):
    _fields_ = [*((name, c_int) for name in ("width", "height", "frame_rate_n", "frame_rate_d")),
                ("duration", c_uint64), ("is_live", c_int), ("_reserved", c_void_p * 4)]


#: Reads bytes at an offset into memory at an address.
ReadFunction = ctypes.CFUNCTYPE(c_int, c_uint64, c_void_p, c_size_t, c_void_p)

_ERROR = POINTER(POINTER(GError))
# Functions without the prefix gst_cuda_tensor_: the result type, then the parameter types.
_FUNCTIONS = {
    "new": (c_void_p, c_void_p, c_void_p, _ERROR),
    "new_from_sample": (c_void_p, c_void_p, _ERROR),
    "ref": (c_void_p, c_void_p),
    "unref": (None, c_void_p),
    "get_info": (None, c_void_p, POINTER(InfoStruct)),
    "data_type_get_size": (c_size_t, c_int),
    "data_type_get_name": (c_char_p, c_int),
    "get_data": (c_void_p, c_void_p),
    "is_read_only": (c_int, c_void_p),
    "get_slot": (c_int, c_void_p, c_uint, POINTER(SlotStruct)),
    "get_slot_times": (c_uint, c_void_p, c_uint, POINTER(c_int64), POINTER(c_int)),
    "acquire": (c_int, c_void_p, c_int, c_void_p, _ERROR),
    "release": (None, c_void_p, c_void_p),
    "to_dlpack": (c_void_p, c_void_p, c_int, c_void_p, _ERROR),
    "to_dlpack_versioned": (c_void_p, c_void_p, c_int, c_void_p, _ERROR),
    "python_capsule_destructor": (c_void_p, c_void_p),
    "share_primary_context": (c_int, c_void_p, c_int, _ERROR),
    "prefer_gpu_decoders": (None, c_void_p, c_int),
    "count_buffers": (c_uint, c_void_p),
    "is_histogram": (c_int, c_void_p),
    "histogram_parse": (c_int, c_void_p, POINTER(HistogramStruct), _ERROR),
    "histogram_add": (None, POINTER(HistogramStruct), POINTER(HistogramStruct)),
    "frames_new": (c_void_p, POINTER(c_char_p), POINTER(FramesOptionsStruct), POINTER(c_char_p),
                   _ERROR),
    "frames_unref": (None, c_void_p),
    "frames_next": (c_void_p, c_void_p, c_uint64, _ERROR),
    "frames_get_info": (c_int, c_void_p, c_uint, c_uint64, POINTER(FramesInfoStruct), _ERROR),
    "frames_get_failed_source": (c_int, c_void_p),
    "frames_count_buffers": (c_uint, c_void_p),
    "frames_close": (None, c_void_p),
    "stated_length": (c_uint64, ReadFunction, c_void_p, c_uint64),
}


def _pkg_config() -> Iterator[str]:
    """Yields the library directory that pkg-config reports, if any."""
    command = ["pkg-config", "--variable=libdir", "gstcudatensor-1.0"]
    try:
        found = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    except OSError:
        return
    if found.returncode == 0:
        yield found.stdout.strip()


def _candidates() -> Iterator[str]:
    """Yields candidate paths of the system's library, most likely first."""
    if os.environ.get(LIBRARY_VARIABLE):
        yield os.environ[LIBRARY_VARIABLE]
        return
    # This file is PREFIX/lib/python3/…-packages/gst_cudatensor/_library.py.
    prefix = next((folder.parent for folder in Path(__file__).resolve().parents
                   if folder.name in ("lib", "lib64")), Path(sys.prefix))
    multiarch = getattr(sys.implementation, "_multiarch", "")
    for folder in (f"lib/{multiarch}", "lib", "lib64"):
        if (prefix / folder / SONAME).is_file():
            yield str(prefix / folder / SONAME)
    yield SONAME
    for folder in _pkg_config():
        yield f"{folder}/{SONAME}"


def _open_bundled() -> ctypes.CDLL:
    library, gio = _bundled.load()
    with _bundled.environment():
        error = POINTER(GError)()
        if not library.gst_init_check(None, None, ctypes.byref(error)):
            cause = error.contents.message.decode() if error else "no cause is given"
            raise ImportError(f"the GStreamer of this package cannot be initialized: {cause}")
        gio.g_proxy_resolver_get_default()  # lists the modules of GIO
    return library


def _open() -> ctypes.CDLL:
    if is_bundled:
        return _open_bundled()
    tried = []
    for name in _candidates():
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            tried.append(str(error))
    asked = f"{_bundled.SYSTEM_VARIABLE} asks for the system's library; "
    raise ImportError(f"{asked if os.environ.get(_bundled.SYSTEM_VARIABLE) else ''}"
                      f"cannot load the gst-cudatensor library ({'; '.join(tried)}): "
                      f"install it, or set {LIBRARY_VARIABLE} to the path of {SONAME}")


#: Whether GStreamer is the one in the wheel, and not the system's.
is_bundled = not os.environ.get(LIBRARY_VARIABLE) and _bundled.is_wanted()
_LIBRARY = _open()


class _Functions:
    """The library's functions, as attributes without the prefix gst_cuda_tensor_."""

    def __init__(self) -> None:
        for name, (result, *arguments) in _FUNCTIONS.items():
            try:
                function = getattr(_LIBRARY, "gst_cuda_tensor_" + name)
            except AttributeError as error:
                raise ImportError("the gst-cudatensor library is older than this package: "
                                  f"{error}") from error
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:  # for type checkers
        raise AttributeError(name)


functions = _Functions()
_LIBRARY.g_error_free.argtypes = [c_void_p]
_LIBRARY.g_error_free.restype = None
_LIBRARY.g_type_from_name.argtypes = [c_char_p]
_LIBRARY.g_type_from_name.restype = c_size_t
_LIBRARY.g_type_is_a.argtypes = [c_size_t, c_size_t]
_LIBRARY.g_type_is_a.restype = c_int
_LIBRARY.g_type_check_instance_is_a.argtypes = [c_void_p, c_size_t]
_LIBRARY.g_type_check_instance_is_a.restype = c_int


def call(function: Any, *arguments: Any) -> Any:
    """Calls a function whose last parameter is a GError and returns its result.

    Raises TensorError.
    """
    error = POINTER(GError)()
    result = function(*arguments, ctypes.byref(error))
    if not error:
        return result
    code, message = error.contents.code, error.contents.message
    _LIBRARY.g_error_free(error)
    # The message contains names of files as they were passed, which may not be UTF-8.
    raise TensorError(ErrorCode(code), message.decode(errors="backslashreplace"))


def time_of(value: int) -> Optional[int]:
    """Returns a GstClockTime in ns; None if it is unknown."""
    return None if value == NO_TIME else value


def _is_a(name: str, wanted: str) -> bool:
    types = [_LIBRARY.g_type_from_name(each.encode()) for each in (name, wanted)]
    return all(types) and bool(_LIBRARY.g_type_is_a(*types))


def _check_origin(kind: Optional[int], name: str, thing: object) -> None:
    """Raises TypeError if `kind`, the GType of an object, is not the type `name` of this package's
    GStreamer: the object then belongs to another GStreamer in the process."""
    if is_bundled and kind != _LIBRARY.g_type_from_name(name.encode()):
        raise TypeError(f"{thing!r} belongs to another GStreamer, and this package uses the one that "
                        f"it carries: set {_bundled.SYSTEM_VARIABLE}=1 before the import for the "
                        "system's GStreamer and gst-cudatensor")


def _check_instance(address: int, wanted: str) -> None:
    """Like _check_origin(), for the address of an instance of the type `wanted`."""
    if not is_bundled:
        return
    kind = _LIBRARY.g_type_from_name(wanted.encode())
    if wanted != "GstElement":  # a GstMiniObject, which begins with its type
        _check_origin(ctypes.cast(address, POINTER(c_size_t))[0], wanted, address)
    elif not _LIBRARY.g_type_check_instance_is_a(address, kind):
        _check_origin(None, wanted, address)


def _match_repr(thing: object) -> re.Match[str] | None:
    """Matches '(GType at 0xADDRESS)' in PyGObject's own repr of an object, also if it is
    overridden."""
    for base in reversed(type(thing).__mro__):
        found = re.search(r"\((\w+) at (0x[0-9a-f]+)\)", getattr(base, "__repr__")(thing))
        if found:
            return found
    return None


def address_of(thing: object, wanted: str) -> int:
    """Returns the C address of the GType instance that a PyGObject object wraps.

    Returns an int, which must be such an address, unchanged.

    Raises TypeError for other objects, for those of another GStreamer than this package uses, or if
    PyGObject does not reveal the address.
    """
    if isinstance(thing, int) and not isinstance(thing, bool):
        if thing <= 0:
            raise TypeError(f"{thing} is not a valid address of a {wanted}")
        _check_instance(thing, wanted)
        return thing
    said = _match_repr(thing)
    if said is not None:
        _check_origin(hash(getattr(thing, "__gtype__", None)), said[1], thing)
    if said is None or not _is_a(said[1], wanted):
        raise TypeError(f"{thing!r} is neither a {wanted} from PyGObject nor its address as an int")
    if int(said[2], 16) != hash(thing):
        raise TypeError("this version of PyGObject does not reveal the address of "
                        f"{thing!r}: pass it as an int")
    return hash(thing)
