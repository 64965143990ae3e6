# SPDX-License-Identifier: LGPL-2.1-or-later
"""The modules Image of Pillow and, if the variable CUDATENSOR_BENCH_PILLOW_SIMD names its folder,
of Pillow-SIMD. Both packages are named PIL; this module loads them into one process."""
import importlib
import os
import sys


def image_module(folder=None):
    for name in [name for name in sys.modules if name.split(".")[0] == "PIL"]:
        del sys.modules[name]
    path = list(sys.path)
    try:
        if folder:
            sys.path.insert(0, folder)
        return importlib.import_module("PIL.Image")
    finally:
        sys.path[:] = path


SIMD_FOLDER = os.environ.get("CUDATENSOR_BENCH_PILLOW_SIMD", "")
PILLOW_SIMD = image_module(SIMD_FOLDER) if os.path.isdir(SIMD_FOLDER) else None
PILLOW = image_module()  # the last one, because others import it
