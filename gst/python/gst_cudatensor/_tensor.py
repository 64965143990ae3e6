# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors in buffers, and their way to consumers."""
from __future__ import annotations

import ctypes
import sys
import weakref
from typing import Any, Callable, NoReturn, Optional

from ._dlpack import capsule_of
from ._geometry import Geometry, Slot
from ._library import (ANY_CONTEXT, CPU, CUDA, NO_STREAM, STREAM_MAY_GO, GeometryStruct,
                       SlotStruct, TensorError, address_of, call, functions)

_LEGACY_DEFAULT_STREAM = 1


class _NotCopied:
    """What owns something that a copy of its fields would not."""

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a tensor of a pipeline is neither copied nor pickled: take an array of its "
                        "data, as numpy.array(tensor) or torch.from_dlpack(tensor).clone()")


class _Reference(_NotCopied):
    """A reference of the library's, given back when nobody uses this object any more."""

    def __init__(self, address: int, give_back: Callable[..., None] = functions.unref,
                 *arguments: Any) -> None:
        self.address = address
        finalizer = weakref.finalize(self, give_back, address, *arguments)
        # At exit whoever is left may still look at the data.
        finalizer.atexit = False


class _ArrayView:
    """What a NumPy array is a view of."""

    def __init__(self, tensor: Tensor, reference: _Reference) -> None:
        self._reference = _Reference(functions.ref(reference.address))
        self.__array_interface__ = {**tensor._interface(reference), "version": 3}


class Tensor(_NotCopied):
    """The tensor in a buffer, held until this object and all that was made from it are gone.

    Row-major and without gaps; whether its dimensions are N, C, H, W or N, H, W, C is the `layout`
    of the element that made it. Consumers get the data itself:

    * ``torch.from_dlpack(t)``, ``cupy.from_dlpack(t)``, ``numpy.from_dlpack(t)`` and the like, on
      the device where the tensor is. The consumer's CUDA stream waits for what fills the tensor, and
      the next frame in that memory for the consumer; the CPU does not wait.
    * ``numpy.asarray(t)`` on the CPU, read-only.
    * ``__cuda_array_interface__`` on the GPU.

    Threads may share one.
    """

    def __init__(self, address: int, *, any_context: bool = False) -> None:
        """For the class methods: takes over a reference to a GstCudaTensor."""
        self._reference: Optional[_Reference] = _Reference(address)
        self._flags = ANY_CONTEXT if any_context else 0
        self._cuda_array: Optional[_Reference] = None
        rank = functions.get_n_dims(address)
        kind = functions.get_data_type(address)
        self._shape: tuple[int, ...] = tuple(functions.get_shape(address)[:rank])
        self._strides: tuple[int, ...] = tuple(functions.get_strides(address)[:rank])
        self._dtype: str = functions.data_type_get_name(kind).decode()
        self._itemsize: int = functions.data_type_get_size(kind)
        self._nbytes: int = functions.get_size(address)
        self._device = (functions.get_device(address), functions.get_device_id(address))
        geometry = GeometryStruct()
        self._geometry: Optional[Geometry] = None
        if functions.get_geometry(address, ctypes.byref(geometry)):
            self._geometry = Geometry._of(geometry)
        self._slots: tuple[Slot, ...] = tuple(self._read_slot(address, i)
                                              for i in range(functions.get_n_slots(address)))
        self._left_out: int = functions.get_left_out(address)

    @classmethod
    def from_sample(cls, sample: Any, *, any_context: bool = False) -> Tensor:
        """The tensor in a Gst.Sample of PyGObject, or in the GstSample at an address (an int).

        Of the sample only the buffer is held. With `any_context` consumers work in the CUDA context
        that the tensor is in; without, one that is not in the device's primary context is refused
        by those on the GPU: see share_primary_context().

        Raises TypeError for what is no sample, and TensorError where there is no tensor in it.
        """
        address = address_of(sample, "GstSample")
        return cls(call(functions.new_from_sample, address), any_context=any_context)

    @classmethod
    def from_buffer(cls, buffer: Any, caps: Any, *, any_context: bool = False) -> Tensor:
        """The same for a Gst.Buffer and its Gst.Caps, or the addresses of such."""
        addresses = address_of(buffer, "GstBuffer"), address_of(caps, "GstCaps")
        return cls(call(functions.new, *addresses), any_context=any_context)

    # ---------------------------------------------------------------------- what it says

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each dimension, outermost first."""
        return self._shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements from one to the next along each dimension."""
        return self._strides

    @property
    def dtype(self) -> str:
        """NumPy's name of the element type: "float32", "float16", "uint8", "int8", …"""
        return self._dtype

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self._itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._nbytes

    @property
    def geometry(self) -> Optional[Geometry]:
        """Where the picture lies in the tensor; None where the buffer does not say, or for a batch,
        whose slots have a geometry each."""
        return self._geometry

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots of a batch; empty for a tensor that is no batch."""
        return self._slots

    @property
    def left_out(self) -> int:
        """The number of regions for which the batch had no slot."""
        return self._left_out

    @property
    def device(self) -> str:
        """"cpu", or "cuda:" and the device's number."""
        kind, number = self._device
        return "cpu" if kind == CPU else f"cuda:{number}"

    @property
    def data_ptr(self) -> int:
        """The address of the first element. Raises ValueError once closed."""
        reference = self._open()
        return int(functions.get_data(reference.address))

    @property
    def read_only(self) -> bool:
        """Whether others may see what is written to the data, as whoever has the sample may."""
        reference = self._open()
        return bool(functions.is_read_only(reference.address))

    def map_boxes(self, boxes: Any, slot: Optional[int] = None) -> Any:
        """Boxes of shape (N, 4), x0, y0, x1, y1 in the tensor's pixels, as the same in the source
        picture's: a NumPy array for one, a list of tuples for other sequences.

        `slot`: of a batch, from 0. Raises ValueError where no geometry is known, and IndexError
        where there is no such slot.
        """
        geometry = self.geometry if slot is None else self.slots[slot].geometry
        if geometry is None:
            raise ValueError("a batch has a geometry for each slot: say which"
                             if slot is None and self.slots else "there is no geometry here")
        return geometry.map_boxes(boxes)

    def __repr__(self) -> str:
        closed = ", closed" if self._reference is None else ""
        return f"<gst_cudatensor.Tensor {self.dtype} {self.shape} on {self.device}{closed}>"

    # ----------------------------------------------------------------------- how long

    def close(self) -> None:
        """Gives the buffer back now, unless a consumer has it still. Nothing more can be handed over
        then."""
        self._reference = None

    def __enter__(self) -> Tensor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ---------------------------------------------------------------------- consumers

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's device type (1: CPU, 2: CUDA) and the device's number."""
        return self._device

    def __dlpack__(self, *, stream: Optional[int] = None,
                   max_version: Optional[tuple[int, int]] = None,
                   dl_device: Optional[tuple[int, int]] = None,
                   copy: Optional[bool] = None) -> Any:
        """A capsule with the tensor, as the array API standard has it.

        `stream`, on the GPU: the consumer's cudaStream_t; 1 or None: the legacy default stream; 2:
        the thread's default stream; -1: nobody waits for anybody. It may be gone when the consumer
        lets go: the next frame in that memory then waits for all that is queued, on any stream.

        Only with a `max_version` of 1.0 or later the consumer hears whether the data is read-only:
        others must not write to it.

        Raises BufferError for a copy, another device, or what TensorError names; ValueError for a
        stream that is none.
        """
        if copy:
            raise BufferError("tensors are handed over without a copy: copy what you get")
        if dl_device is not None and tuple(map(int, dl_device)) != self._device:
            raise BufferError(f"the tensor is on {self.device}, where it stays: ask for it there "
                              "and copy it")
        versioned = max_version is not None and max_version[0] >= 1
        function = functions.to_dlpack_versioned if versioned else functions.to_dlpack
        managed = self._hand_over(function, self._stream(stream))
        return capsule_of(managed, versioned)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        """A read-only NumPy array of the data itself; a copy where `dtype` or `copy` ask for one.

        Raises TypeError for a tensor on the GPU, and ValueError where a copy is needed that
        `copy=False` forbids.
        """
        if self._device[0] != CPU:
            raise TypeError(f"the tensor is on {self.device}: take torch.from_dlpack() or "
                            "cupy.from_dlpack(), or let the pipeline end in other/tensors without "
                            "(memory:CUDAMemory)")
        import numpy  # whoever calls has it

        array = numpy.asarray(_ArrayView(self, self._open()))
        converts = dtype is not None and numpy.dtype(dtype) != array.dtype
        if converts and copy is False:
            raise ValueError(f"{array.dtype} becomes {numpy.dtype(dtype)} only in a copy")
        if converts:
            return array.astype(dtype)
        return array.copy() if copy else array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3. The legacy default stream waits for what fills the tensor, and the next frame
        in that memory for all that this stream has when this object goes: consumers on other
        streams are better served by DLPack.

        Raises AttributeError on the CPU, and BufferError for what TensorError names.
        """
        if self._device[0] != CUDA:
            raise AttributeError("__cuda_array_interface__: the tensor is on the CPU")
        reference = self._open()
        interface = self._interface(reference)
        if self._cuda_array is None:
            self._hand_over(functions.acquire, _LEGACY_DEFAULT_STREAM)
            self._cuda_array = _Reference(reference.address, functions.release,
                                          _LEGACY_DEFAULT_STREAM)
        return {**interface, "version": 3, "stream": _LEGACY_DEFAULT_STREAM}

    # ------------------------------------------------------------------------ private

    @staticmethod
    def _read_slot(address: int, index: int) -> Slot:
        slot = SlotStruct()
        functions.get_slot(address, index, ctypes.byref(slot))
        return Slot._of(slot)

    def _open(self) -> _Reference:
        """The reference, which whoever calls keeps while it is in use."""
        reference = self._reference
        if reference is None:
            raise ValueError("the tensor is closed")
        return reference

    def _interface(self, reference: _Reference) -> dict[str, Any]:
        """What the array interfaces of host and device have in common."""
        order = "|" if self.itemsize == 1 else "<" if sys.byteorder == "little" else ">"
        return {"shape": self.shape, "typestr": f"{order}{self.dtype[0]}{self.itemsize}",
                "data": (functions.get_data(reference.address), True), "strides": None}

    def _stream(self, stream: Optional[int]) -> Optional[int]:
        if self._device[0] == CPU:
            if stream not in (None, -1):
                raise ValueError(f"a tensor on the CPU has no stream, and not {stream}")
            return NO_STREAM
        if stream is None:
            return _LEGACY_DEFAULT_STREAM
        if stream == -1:
            return NO_STREAM
        if stream <= 0:
            raise ValueError(f"{stream} is no CUDA stream: 1 is the legacy default one")
        return stream

    def _hand_over(self, function: Any, stream: Optional[int]) -> Any:
        reference = self._open()
        try:
            return call(function, reference.address, self._flags | STREAM_MAY_GO, stream)
        except TensorError as error:
            raise BufferError(str(error)) from error


def share_primary_context(pipeline: Any, device: int = 0) -> None:
    """Makes the elements of a pipeline, bin or element that has not started work in the primary CUDA
    context of a device, as PyTorch, CuPy and all else that is built on the CUDA runtime do.

    `pipeline`: a Gst.Element of PyGObject, or the address of a GstElement (an int). Raises TypeError
    for what is none, and TensorError where there is no such device, or the pipeline has started.
    """
    call(functions.share_primary_context, address_of(pipeline, "GstElement"), device)
