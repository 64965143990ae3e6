# SPDX-License-Identifier: LGPL-2.1-or-later
"""Zero-copy access to GStreamer tensors from PyTorch, CuPy, NumPy and other frameworks.

>>> tensor = gst_cudatensor.Tensor.from_sample(appsink.emit("pull-sample"))
>>> torch.from_dlpack(tensor)       # on the tensor's device, GPU or CPU
>>> numpy.asarray(tensor)           # on the CPU

Frames opens files, streams and cameras without a pipeline of your own:

>>> for batch in gst_cudatensor.Frames("clip.mp4", batch=64, every="1s", width=640, height=640):
...     torch.from_dlpack(batch)

Histogram.from_message() reads the messages of cudahistogram.

The package is a thin wrapper of libgstcudatensor-1.0; see its header for details.
"""
from ._frames import Batch, Frames, FramesError
from ._geometry import Geometry, Slot
from ._histogram import Histogram, is_histogram
from ._library import ErrorCode, TensorError
from ._tensor import Tensor, prefer_gpu_decoders, share_primary_context

__all__ = ["Batch", "ErrorCode", "Frames", "FramesError", "Geometry", "Histogram", "Slot", "Tensor", "TensorError", "is_histogram",
           "prefer_gpu_decoders", "share_primary_context"]
__version__ = "0.1.0"
