# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors in buffers and their export to consumers."""
from __future__ import annotations

import ctypes
import functools
import sys
import weakref
from typing import Any, Callable, NoReturn, Optional, TypeVar

from ._dlpack import make_capsule
from ._geometry import Geometry, Slot
from ._library import (ANY_CONTEXT, CPU, CUDA, NO_STREAM, TRANSIENT_STREAM, InfoStruct,
                       SlotStruct, TensorError, address_of, call, functions)

_LEGACY_DEFAULT_STREAM = 1


@functools.lru_cache(maxsize=None)
def _data_type(kind: int) -> tuple[str, int]:
    """NumPy's name of a type, and its size in bytes."""
    return functions.data_type_get_name(kind).decode(), functions.data_type_get_size(kind)


class _NotCopied:
    """Base class of objects that own a reference and therefore cannot be copied."""

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a tensor of a pipeline cannot be copied or pickled: copy its data, for "
                        "example with numpy.array(tensor) or "
                        "torch.from_dlpack(tensor).clone()")


class _Reference(_NotCopied):
    """A reference to a GstCudaTensor, released when this object is garbage-collected."""

    def __init__(self, address: int, give_back: Callable[..., None] = functions.unref,
                 *arguments: Any) -> None:
        self.address = address
        finalizer = weakref.finalize(self, give_back, address, *arguments)
        # At interpreter exit, remaining objects may still use the data.
        finalizer.atexit = False


class _ArrayView:
    """The base object of NumPy arrays, which are views of its data."""

    def __init__(self, tensor: TensorData, reference: _Reference) -> None:
        self._reference = _Reference(functions.ref(reference.address))
        self.__array_interface__ = {**tensor._interface(reference), "version": 3}


_Self = TypeVar("_Self", bound="TensorData")


class TensorData(_NotCopied):
    """The data of a tensor in a buffer, for Tensor and Batch."""

    def __init__(self, address: int, *, any_context: bool = False) -> None:
        """Takes ownership of a reference to a GstCudaTensor."""
        self._reference: Optional[_Reference] = _Reference(address)
        self._flags = ANY_CONTEXT if any_context else 0
        self._cuda_array: Optional[_Reference] = None
        info = InfoStruct()
        functions.get_info(address, ctypes.byref(info))
        self._shape: tuple[int, ...] = tuple(info.shape[:info.n_dims])
        self._strides: tuple[int, ...] = tuple(info.strides[:info.n_dims])
        self._dtype, self._itemsize = _data_type(info.data_type)
        self._nbytes: int = info.size
        self._device = (info.device_type, info.device_id)
        self._n_slots: int = info.n_slots
        self._left_out: int = info.left_out
        self._geometry: Optional[Geometry] = (Geometry._of(info.geometry) if info.has_geometry
                                              else None)

    # ---------------------------------------------------------------------- properties

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of elements along each dimension, outermost first."""
        return self._shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Stride of each dimension, in elements."""
        return self._strides

    @property
    def dtype(self) -> str:
        """NumPy's name of the element type: "float32", "float16", "uint8", "int8", … or "bfloat16",
        which NumPy lacks."""
        return self._dtype

    @property
    def itemsize(self) -> int:
        """Size of an element, in bytes."""
        return self._itemsize

    @property
    def nbytes(self) -> int:
        """Size of the data, in bytes."""
        return self._nbytes

    @property
    def left_out(self) -> int:
        """The number of regions that got no slot."""
        return self._left_out

    @property
    def device(self) -> str:
        """"cpu", or "cuda:" followed by the device index."""
        kind, number = self._device
        return "cpu" if kind == CPU else f"cuda:{number}"

    @property
    def data_ptr(self) -> int:
        """The address of the first element. Raises ValueError if the tensor is closed."""
        reference = self._open()
        return int(functions.get_data(reference.address))

    @property
    def read_only(self) -> bool:
        """Whether the data must not be modified, because others may read it, for example through
        the sample."""
        reference = self._open()
        return bool(functions.is_read_only(reference.address))

    def __repr__(self) -> str:
        closed = ", closed" if self._reference is None else ""
        return f"<gst_cudatensor.{type(self).__name__} {self.dtype} {self.shape} on {self.device}{closed}>"

    # ----------------------------------------------------------------------- lifetime

    def close(self) -> None:
        """Releases the buffer, unless a consumer still holds it. The tensor cannot be exported
        afterwards."""
        self._reference = None

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ---------------------------------------------------------------------- consumers

    def __dlpack_device__(self) -> tuple[int, int]:
        """Returns DLPack's device type (1: CPU, 2: CUDA) and the device index."""
        return self._device

    def __dlpack__(self, *, stream: Optional[int] = None,
                   max_version: Optional[tuple[int, int]] = None,
                   dl_device: Optional[tuple[int, int]] = None,
                   copy: Optional[bool] = None) -> Any:
        """Returns a DLPack capsule, as specified by the Python array API standard.

        `stream`, on the GPU: the consumer's cudaStream_t; 1 or None: the legacy default stream; 2:
        the per-thread default stream; -1: no synchronization. The stream may be destroyed before
        the capsule is released; the next frame in the same memory waits for the work queued on all
        streams.

        A consumer learns whether the data is read-only only if `max_version` is 1.0 or later; other
        consumers must not write to it.

        Raises BufferError if a copy or another device is requested, or if the library reports an
        error, and ValueError for an invalid stream.
        """
        if copy:
            raise BufferError("tensors are exported without a copy: copy the result instead")
        if dl_device is not None and tuple(map(int, dl_device)) != self._device:
            raise BufferError(f"the tensor is on {self.device} and cannot be moved: import it there "
                              "and copy it")
        versioned = max_version is not None and max_version[0] >= 1
        function = functions.to_dlpack_versioned if versioned else functions.to_dlpack
        managed = self._acquire(function, self._stream(stream))
        return make_capsule(managed, versioned)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        """Returns a read-only NumPy view of the data, or a copy if `dtype` or `copy` requires one.

        Raises TypeError for a tensor on the GPU and for bfloat16, and ValueError if a copy is
        needed but `copy=False`.
        """
        if self._device[0] != CPU:
            raise TypeError(f"the tensor is on {self.device}: use torch.from_dlpack() or "
                            "cupy.from_dlpack(), or end the pipeline with other/tensors caps "
                            "without (memory:CUDAMemory)")
        if self.dtype == "bfloat16":
            raise TypeError("NumPy has no bfloat16: use torch.from_dlpack()")
        import numpy  # the caller has imported it already

        array = numpy.asarray(_ArrayView(self, self._open()))
        converts = dtype is not None and numpy.dtype(dtype) != array.dtype
        if converts and copy is False:
            raise ValueError(f"{array.dtype} can be converted to {numpy.dtype(dtype)} only by "
                             "copying")
        if converts:
            return array.astype(dtype)
        return array.copy() if copy else array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """CUDA Array Interface, version 3. The legacy default stream waits for the work that fills
        the tensor. The next frame in the same memory waits for the work queued on that stream when
        this object is freed. Consumers on other streams should use DLPack.

        Raises AttributeError if the tensor is on the CPU, and BufferError if the library reports
        an error.
        """
        if self._device[0] != CUDA:
            raise AttributeError("__cuda_array_interface__: the tensor is on the CPU")
        reference = self._open()
        interface = self._interface(reference)
        if self._cuda_array is None:
            self._acquire(functions.acquire, _LEGACY_DEFAULT_STREAM)
            self._cuda_array = _Reference(reference.address, functions.release,
                                          _LEGACY_DEFAULT_STREAM)
        return {**interface, "version": 3, "stream": _LEGACY_DEFAULT_STREAM}

    # ------------------------------------------------------------------------ private

    def _read_slots(self) -> list[Slot]:
        address = self._open().address
        return [self._read_slot(address, i) for i in range(self._n_slots)]

    @staticmethod
    def _read_slot(address: int, index: int) -> Slot:
        slot = SlotStruct()
        functions.get_slot(address, index, ctypes.byref(slot))
        return Slot._of(slot)

    def _open(self) -> _Reference:
        """Returns the reference. The caller must keep it while using the address."""
        reference = self._reference
        if reference is None:
            raise ValueError("the tensor is closed")
        return reference

    def _interface(self, reference: _Reference) -> dict[str, Any]:
        """Returns the fields that the array interfaces of CPU and CUDA share."""
        if self.dtype == "bfloat16":
            raise AttributeError("array interfaces have no bfloat16: use torch.from_dlpack()")
        order = "|" if self.itemsize == 1 else "<" if sys.byteorder == "little" else ">"
        return {"shape": self.shape, "typestr": f"{order}{self.dtype[0]}{self.itemsize}",
                "data": (functions.get_data(reference.address), True), "strides": None}

    def _stream(self, stream: Optional[int]) -> Optional[int]:
        if self._device[0] == CPU:
            if stream not in (None, -1):
                raise ValueError(f"a tensor on the CPU has no stream, but stream is {stream}")
            return NO_STREAM
        if stream is None:
            return _LEGACY_DEFAULT_STREAM
        if stream == -1:
            return NO_STREAM
        if stream <= 0:
            raise ValueError(f"{stream} is not a valid CUDA stream; use 1 for the legacy default "
                             "stream")
        return stream

    def _acquire(self, function: Any, stream: Optional[int]) -> Any:
        reference = self._open()
        try:
            return call(function, reference.address, self._flags | TRANSIENT_STREAM, stream)
        except TensorError as error:
            raise BufferError(str(error)) from error


class Tensor(TensorData):
    """A tensor in a buffer. The buffer is held until this object and all arrays made from it are
    freed.

    The data is row-major and contiguous. Whether the dimensions are N, C, H, W or N, H, W, C, or
    1, C, T, H, W for the frames of a clip, depends on the property `layout` of the element that
    produced it. Consumers access the data
    without a copy:

    * ``torch.from_dlpack(t)``, ``cupy.from_dlpack(t)``, ``numpy.from_dlpack(t)`` and similar
    functions, on the tensor's device. The consumer's CUDA stream waits for the work that fills the
    tensor, and the next frame in the same memory waits for the consumer. The CPU does not wait.
    * ``numpy.asarray(t)`` on the CPU, read-only.
    * ``__cuda_array_interface__`` on the GPU.

    Threads may share a Tensor.
    """

    def __init__(self, address: int, *, any_context: bool = False) -> None:
        """Called by the class methods. Takes ownership of a reference to a GstCudaTensor."""
        super().__init__(address, any_context=any_context)
        self._slots = self._read_slots()

    @classmethod
    def from_sample(cls, sample: Any, *, any_context: bool = False) -> Tensor:
        """Creates a Tensor from a PyGObject Gst.Sample, or the address of a GstSample (an int).

        The Tensor holds the buffer, not the sample. With `any_context`, consumers must work in the
        tensor's CUDA context. Otherwise a GPU tensor outside the device's primary context cannot be
        exported; see share_primary_context().

        Raises TypeError if `sample` is not a sample, and TensorError if it contains no tensor.
        """
        address = address_of(sample, "GstSample")
        return cls(call(functions.new_from_sample, address), any_context=any_context)

    @classmethod
    def from_buffer(cls, buffer: Any, caps: Any, *, any_context: bool = False) -> Tensor:
        """Creates a Tensor from a Gst.Buffer and its Gst.Caps, or their addresses, like
        from_sample()."""
        addresses = address_of(buffer, "GstBuffer"), address_of(caps, "GstCaps")
        return cls(call(functions.new, *addresses), any_context=any_context)

    @property
    def geometry(self) -> Optional[Geometry]:
        """The position of the picture in the tensor; None if the buffer has no geometry, or for a
        batch, in which each slot has its own."""
        return self._geometry

    @property
    def slots(self) -> list[Slot]:
        """The slots of a batch; empty for a tensor that is not a batch."""
        return self._slots

    def map_boxes(self, boxes: Any, slot: Optional[int] = None, corners: bool = False) -> Any:
        """Maps boxes (x0, y0, x1, y1) of shape (N, 4) from the tensor's pixels to the source
        picture's. Returns a NumPy array for an array, and a list of tuples for other sequences. With
        `corners`, returns the corners of the mapped boxes, of shape (N, 4, 2), like
        Geometry.map_boxes().

        `slot` is the index in a batch, from 0. Raises ValueError if there is no geometry, and
        IndexError if there is no such slot.
        """
        return self._geometry_of(slot).map_boxes(boxes, corners)

    def map_points(self, points: Any, slot: Optional[int] = None) -> Any:
        """Maps points of shape (…, 2), such as the landmarks of a face, from the tensor's pixels to
        the source picture's. Returns a NumPy array of the same shape, float64.

        `slot` is the index in a batch, from 0. Raises ValueError for other shapes and if there is no
        geometry, and IndexError if there is no such slot.
        """
        return self._geometry_of(slot).map_points(points)

    def _geometry_of(self, slot: Optional[int]) -> Geometry:
        geometry = self.geometry if slot is None else self.slots[slot].geometry
        if geometry is None:
            raise ValueError("in a batch each slot has its own geometry: pass slot"
                             if slot is None and self.slots else "the tensor has no geometry")
        return geometry


def share_primary_context(pipeline: Any, device: int = 0) -> None:
    """Makes a pipeline, bin or element that has not started use the primary CUDA context of a
    device, which PyTorch, CuPy and other software built on the CUDA runtime also use.

    `pipeline` is a PyGObject Gst.Element or the address of a GstElement (an int). Raises TypeError
    for other objects, and TensorError if there is no such device or the pipeline has started.
    """
    call(functions.share_primary_context, address_of(pipeline, "GstElement"), device)


def prefer_gpu_decoders(decodebin: Any, device: int = 0) -> None:
    """Makes a `decodebin` or `uridecodebin` that has not started try the decoders of a GPU before all
    others. By their ranks, some releases of GStreamer prefer decoders in software.

    `decodebin` is a PyGObject Gst.Element or the address of a GstElement (an int). Raises TypeError
    for other objects.
    """
    functions.prefer_gpu_decoders(address_of(decodebin, "GstElement"), device)
