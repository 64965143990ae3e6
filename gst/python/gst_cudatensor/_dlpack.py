# SPDX-License-Identifier: LGPL-2.1-or-later
"""DLPack's structs in capsules."""
from __future__ import annotations

import ctypes
from ctypes import PYFUNCTYPE, c_char_p, c_int, c_int32, c_uint32, c_uint64, c_void_p, py_object
from typing import Any

_Deleter = ctypes.CFUNCTYPE(None, c_void_p)


class _Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device", c_int32 * 2), ("ndim", c_int32),
                ("dtype", c_uint32), ("shape", c_void_p), ("strides", c_void_p),
                ("byte_offset", c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("dl_tensor", _Tensor), ("manager_ctx", c_void_p), ("deleter", _Deleter)]


class _ManagedVersioned(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("manager_ctx", c_void_p),
                ("deleter", _Deleter)]


_STRUCTS = {b"dltensor": _Managed, b"dltensor_versioned": _ManagedVersioned}

_new = PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
# Of a capsule that is going: its address, for a reference would bring it back.
_is_valid = PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def _destroy(capsule: int, structs: Any = _STRUCTS, is_valid: Any = _is_valid,
             pointer: Any = _pointer) -> None:
    """Frees what no consumer has taken: who does renames the capsule."""
    for name, struct in structs.items():
        if is_valid(capsule, name):
            managed = pointer(capsule, name)
            struct.from_address(managed).deleter(managed)


_destructor = PYFUNCTYPE(None, c_void_p)(_destroy)
# Capsules keep pointers to these, and may go after this module.
for _kept in (_destructor, *_STRUCTS):
    ctypes.pythonapi.Py_IncRef(py_object(_kept))


def capsule_of(managed: int, versioned: bool) -> Any:
    """A capsule that owns the struct at this address."""
    name = next(name for name in _STRUCTS if name.endswith(b"_versioned") == versioned)
    return _new(managed, name, ctypes.cast(_destructor, c_void_p))
