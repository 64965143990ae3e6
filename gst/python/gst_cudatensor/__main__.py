# SPDX-License-Identifier: LGPL-2.1-or-later
"""python -m gst_cudatensor: prints which GStreamer, plugin, GPUs and decoders the package finds.

Exits with status 1 if GStreamer does not find the plugin.
"""
from __future__ import annotations

import ctypes
import platform
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_uint, c_uint64, c_void_p
from typing import Any, Iterator

from . import __version__
from ._library import _LIBRARY, is_bundled

_CODECS = {"H.264": "video/x-h264", "H.265": "video/x-h265", "AV1": "video/x-av1",
           "VP8": "video/x-vp8", "VP9": "video/x-vp9", "MPEG-1": "video/mpeg, mpegversion=1",
           "MPEG-2": "video/mpeg, mpegversion=2", "MPEG-4": "video/mpeg, mpegversion=4",
           "WMV and VC-1": "video/x-wmv", "Theora": "video/x-theora", "JPEG": "image/jpeg"}
_DECODERS = 1  # GST_ELEMENT_FACTORY_TYPE_DECODER
_MARGINAL = 64  # GST_RANK_MARGINAL, the lowest rank that decodebin uses
_SINK = 2  # GST_PAD_SINK


class _List(ctypes.Structure):
    """A GList."""


_List._fields_ = [("data", c_void_p), ("next", POINTER(_List)), ("previous", POINTER(_List))]

_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "gst_init_check": (c_int, c_void_p, c_void_p, c_void_p),
    "gst_version_string": (c_char_p,),
    "gst_registry_get": (c_void_p,),
    "gst_registry_find_plugin": (c_void_p, c_void_p, c_char_p),
    "gst_plugin_get_filename": (c_char_p, c_void_p),
    "gst_plugin_get_version": (c_char_p, c_void_p),
    "gst_caps_from_string": (c_void_p, c_char_p),
    "gst_element_factory_list_get_elements": (POINTER(_List), c_uint64, c_uint),
    "gst_element_factory_list_filter": (POINTER(_List), POINTER(_List), c_void_p, c_int, c_int),
    "gst_plugin_feature_rank_compare_func": (c_int, c_void_p, c_void_p),
    "gst_object_get_name": (c_char_p, c_void_p),
    "g_list_sort": (POINTER(_List), POINTER(_List), c_void_p),
}


def _function(name: str) -> Any:
    """Returns a function of GStreamer or GLib. Its results are not freed, because the program ends
    soon."""
    function = getattr(_LIBRARY, name)
    function.restype, *function.argtypes = _FUNCTIONS[name]
    return function


def _names(features: Any) -> Iterator[str]:
    while features:
        yield _function("gst_object_get_name")(features.contents.data).decode()
        features = features.contents.next


def _decoders() -> Iterator[tuple[str, list[str]]]:
    """Yields each codec and the names of its decoders, in the order in which they are tried."""
    elements = _function("gst_element_factory_list_get_elements")(_DECODERS, _MARGINAL)
    compare = ctypes.cast(_function("gst_plugin_feature_rank_compare_func"), c_void_p)
    for codec, caps in _CODECS.items():
        wanted = _function("gst_caps_from_string")(caps.encode())
        found = _function("gst_element_factory_list_filter")(elements, wanted, _SINK, 0)
        yield codec, list(_names(_function("g_list_sort")(found, compare)))


def _gpus() -> Iterator[str]:
    """Yields the names of the GPUs, or the reason why there is none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        yield f"none ({error})"
        return
    count, version, name = c_int(), c_int(), ctypes.create_string_buffer(256)
    if error := driver.cuInit(0) or driver.cuDeviceGetCount(byref(count)):
        yield f"none (the driver reports error {error})"
    driver.cuDriverGetVersion(byref(version))
    for device in range(count.value):
        driver.cuDeviceGetName(name, len(name), device)
        yield (f"{name.value.decode()} (the driver is for CUDA {version.value // 1000}."
               f"{version.value % 1000 // 10})")


def main() -> int:
    """Prints the report. Returns the exit status."""
    _function("gst_init_check")(None, None, None)
    plugin = _function("gst_registry_find_plugin")(_function("gst_registry_get")(), b"cudatensor")
    print(f"gst-cudatensor  {__version__}, Python {platform.python_version()}")
    print(f"GStreamer       {_function('gst_version_string')().decode().split()[-1]}, "
          f"{'of this package' if is_bundled else 'of the system'}")
    print(f"library         {_LIBRARY._name}")
    if plugin:
        file, version = (_function(f"gst_plugin_get_{what}")(plugin).decode()
                         for what in ("filename", "version"))
        print(f"plugin          {version}, {file}")
    else:
        print("plugin          missing: GStreamer does not find gstcudatensor; set GST_PLUGIN_PATH to "
              "its folder")
    for gpu in _gpus():
        print(f"GPU             {gpu}")
    for codec, decoders in _decoders():
        print(f"{codec:<15} {', '.join(decoders) or 'no decoder'}")
    return 0 if plugin else 1


if __name__ == "__main__":
    sys.exit(main())
