# SPDX-License-Identifier: LGPL-2.1-or-later
"""The GStreamer in the wheel: which library to load, and the environment for its initialization.

The wheel has the folder runtime/. An installation from source does not, and uses the system's
GStreamer. Libraries and C symbols in runtime/ have names of their own, so that the process may use
the system's GStreamer, too.
"""
from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
from pathlib import Path
from typing import Any, Iterator, Optional, Union

SYSTEM_VARIABLE = "GST_CUDATENSOR_SYSTEM"

_RUNTIME = Path(__file__).resolve().with_name("runtime")
_LIBRARY = _RUNTIME / "lib/libgstcudatensor-1.0-gct.so.0"
_GIO = _RUNTIME / "lib/libgio-2.0-gct.so.0"
_PREFIX = "gct_"  # of the C symbols; see packaging/wheel/bundle.py
# Variables that the user may have set for the system's GStreamer; they would load its plugins here.
_NOT_OURS = ("GST_PLUGIN_PATH_1_0", "GST_PLUGIN_PATH", "GST_PLUGIN_SYSTEM_PATH", "GST_REGISTRY",
             "GST_REGISTRY_UPDATE", "GST_PLUGIN_SCANNER", "GST_PLUGIN_LOADING_WHITELIST",
             "GIO_EXTRA_MODULES")


def is_wanted() -> bool:
    """Returns whether this is the wheel and the user has not asked for the system's GStreamer."""
    return _LIBRARY.is_file() and os.environ.get(SYSTEM_VARIABLE, "") in ("", "0")


class Library(ctypes.CDLL):
    """The library in the wheel. Finds the functions of GLib and GStreamer by their usual names."""

    def __getitem__(self, name: Union[str, int]) -> Any:
        if isinstance(name, str) and not name.startswith("gst_cuda_tensor_"):
            name = _PREFIX + name
        return super().__getitem__(name)


def load() -> tuple[Library, Library]:
    """Loads and returns the library, and GIO, which some plugins of GStreamer use. Raises
    ImportError."""
    try:
        return Library(str(_LIBRARY)), Library(str(_GIO))
    except OSError as error:
        raise ImportError(f"cannot load the GStreamer of this package: {error}") from error


@contextlib.contextmanager
def environment() -> Iterator[None]:
    """Sets the variables that GStreamer and GIO read during initialization, while the context
    lasts."""
    with _variables(_registry()):
        yield


@contextlib.contextmanager
def _variables(registry: Path) -> Iterator[None]:
    saved = dict(os.environ)
    ours = {"GST_PLUGIN_SYSTEM_PATH_1_0": _RUNTIME / "plugins", "GST_REGISTRY_1_0": registry,
            "GST_PLUGIN_SCANNER_1_0": _RUNTIME / "libexec/gst-plugin-scanner",
            "GIO_MODULE_DIR": _RUNTIME / "gio"}
    try:
        for name in _NOT_OURS:
            os.environ.pop(name, None)
        os.environ.update({name: str(path) for name, path in ours.items()})
        yield
    finally:
        for name in (*_NOT_OURS, *ours):
            if name in saved:
                os.environ[name] = saved[name]
            else:
                os.environ.pop(name, None)


def _registry() -> Path:
    """Returns the path of the registry, in the user's cache folder. If the folder is not writable,
    returns a path that no file can have: GStreamer then scans the plugins at each start and ignores
    that it cannot write the registry."""
    folder = _cache()
    # A name too long to exist, because GStreamer would change the mode of any file at the path, even of a
    # device.
    return (Path("/", "-" * 256) if folder is None else folder) / _name_of_registry()


def _cache() -> Optional[Path]:
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "gst-cudatensor"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def _name_of_registry() -> str:
    """Returns a name that changes with what the registry depends on: these plugins, and the GPUs
    and the driver, from which nvcodec makes its elements. GStreamer itself checks only the files of
    plugins."""
    gpus = sorted(Path("/proc/driver/nvidia").glob("gpus/*/information"))
    parts = [str(_RUNTIME), str(_LIBRARY.stat().st_mtime_ns),
             os.environ.get("CUDA_VISIBLE_DEVICES", "all"),
             *map(str, sorted(Path("/dev").glob("nvidia[0-9c]*"))), str(Path("/dev/dxg").exists()),
             *map(_text, (Path("/proc/driver/nvidia/version"), *gpus))]
    return f"registry-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}.bin"


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
