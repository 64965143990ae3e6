# SPDX-License-Identifier: LGPL-2.1-or-later
"""DLPack capsules."""
from __future__ import annotations

import ctypes
from ctypes import PYFUNCTYPE, c_char_p, c_void_p, py_object
from typing import Any

from ._library import functions

# The members of GstCudaTensorPythonApi, in its order.
_API = ("PyCapsule_IsValid", "PyCapsule_GetPointer", "PyErr_Fetch", "PyErr_Restore",
        "PyEval_SaveThread", "PyEval_RestoreThread")
_addresses = (c_void_p * len(_API))(
    *(ctypes.cast(getattr(ctypes.pythonapi, name), c_void_p).value for name in _API))
#: Frees a struct that no consumer has taken. A consumer that takes it renames the capsule.
_destructor = functions.python_capsule_destructor(_addresses)

_new = PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
_NAMES = (b"dltensor", b"dltensor_versioned")
# Capsules hold pointers to these names and may outlive this module.
for _kept in _NAMES:
    ctypes.pythonapi.Py_IncRef(py_object(_kept))


def make_capsule(managed: int, versioned: bool) -> Any:
    """Returns a capsule that owns the struct at this address."""
    return _new(managed, _NAMES[versioned], _destructor)
