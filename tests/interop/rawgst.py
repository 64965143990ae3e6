# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls GStreamer's C functions in an interpreter without PyGObject. Uses the same GStreamer as the
package gst_cudatensor."""
import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p

from gst_cudatensor._library import _LIBRARY

SECOND = 10**9
NULL, PLAYING = 1, 4
MAP_READ, MAP_CUDA = 1, 1 << 17


class _MapInfo(ctypes.Structure):
    _fields_ = [("memory", c_void_p), ("flags", c_int), ("data", c_void_p), ("size", c_size_t),
                ("maxsize", c_size_t), ("reserved", c_void_p * 8)]


def _load():
    for name, result, *arguments in (
            ("gst_init", None, c_void_p, c_void_p),
            ("gst_parse_launch", c_void_p, c_char_p, c_void_p),
            ("gst_bin_get_by_name", c_void_p, c_void_p, c_char_p),
            ("gst_element_set_state", c_int, c_void_p, c_int),
            ("gst_sample_get_buffer", c_void_p, c_void_p),
            ("gst_buffer_map", c_int, c_void_p, ctypes.POINTER(_MapInfo), c_int),
            ("gst_buffer_unmap", None, c_void_p, ctypes.POINTER(_MapInfo)),
            ("gst_object_unref", None, c_void_p),
            ("gst_mini_object_unref", None, c_void_p)):
        getattr(_LIBRARY, name).restype = result
        getattr(_LIBRARY, name).argtypes = arguments
    _LIBRARY.gst_init(None, None)
    return _LIBRARY


_GST = _load()


def samples(description, prepare=lambda pipeline: None):
    """Yields the address of each sample of the pipeline's appsink, named sink. It is valid until
    the next one. Calls `prepare` with the pipeline before it starts."""
    pipeline = _GST.gst_parse_launch(description.encode(), None)
    assert pipeline, "there is no plugin"
    prepare(pipeline)
    sink = _GST.gst_bin_get_by_name(pipeline, b"sink")
    _GST.gst_element_set_state(pipeline, PLAYING)
    try:
        while True:
            sample = c_void_p()
            _GST.g_signal_emit_by_name(c_void_p(sink), c_char_p(b"try-pull-sample"),
                                       c_uint64(20 * SECOND), byref(sample))
            if not sample.value:
                break
            yield sample.value
            _GST.gst_mini_object_unref(sample)
    finally:
        _GST.gst_element_set_state(pipeline, NULL)
        _GST.gst_object_unref(sink)
        _GST.gst_object_unref(pipeline)


def device_address(sample):
    """Returns the address of a sample's data on the GPU."""
    buffer, info = _GST.gst_sample_get_buffer(sample), _MapInfo()
    assert _GST.gst_buffer_map(buffer, byref(info), MAP_READ | MAP_CUDA)
    _GST.gst_buffer_unmap(buffer, byref(info))
    return info.data
