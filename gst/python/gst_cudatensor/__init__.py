# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors of a GStreamer pipeline for PyTorch, CuPy, NumPy and others, without a copy.

>>> tensor = gst_cudatensor.Tensor.from_sample(appsink.emit("pull-sample"))
>>> torch.from_dlpack(tensor)       # on the GPU or the CPU, wherever the tensor is
>>> numpy.asarray(tensor)           # on the CPU

A thin layer over libgstcudatensor-1.0, whose header says more.
"""
from ._geometry import Geometry, Slot
from ._library import ErrorCode, TensorError
from ._tensor import Tensor, share_primary_context

__all__ = ["ErrorCode", "Geometry", "Slot", "Tensor", "TensorError", "share_primary_context"]
__version__ = "0.1.0"
