#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""consumers.py [gpu]

Passes tensors to real consumers in a process without PyGObject: the package accepts addresses. The
consumers are NumPy on the CPU and, with `gpu`, PyTorch and CuPy, if they are installed. These read
with a delay, on their own stream, while the pipeline continues. The data is compared with that of
the CPU backend.
"""
import sys

import numpy

import gst_cudatensor
import rawgst

FRAMES = 60
SOURCE = (f"videotestsrc num-buffers={FRAMES} pattern=ball ! "
          "video/x-raw,format=NV12,width=320,height=240,framerate=30/1 ! "
          "cudanormalize width=224 height=224 resize-mode=ultralytics backend={} ! {} ! "
          "appsink name=sink sync=false max-buffers=2")


def samples(backend, caps, prepare=lambda pipeline: None):
    return rawgst.samples(SOURCE.format(backend, caps), prepare)


def expected():
    arrays = []
    for sample in samples("cpu", "other/tensors"):
        tensor = gst_cudatensor.Tensor.from_sample(sample)
        array = numpy.asarray(tensor)
        assert array.ctypes.data == tensor.data_ptr
        arrays.append(array.copy())
    assert len(arrays) == FRAMES, len(arrays)
    return arrays


def check(name, copies, arrays):
    assert len(copies) == len(arrays), (name, len(copies))
    for number, (copy, array) in enumerate(zip(copies, arrays)):
        assert copy.shape == array.shape and copy.dtype == array.dtype, (name, copy.dtype)
        assert copy.tobytes() == array.tobytes(), f"{name}: frame {number} differs"
    print(f"{name}: {len(copies)} frames")


def numpy_kept():
    """Views of all frames, which outlive the pipeline."""
    return [numpy.from_dlpack(gst_cudatensor.Tensor.from_sample(sample))
            for sample in samples("cpu", "other/tensors")]


def tensors_on_gpu():
    for sample in samples("cuda", "other/tensors(memory:CUDAMemory)",
                          gst_cudatensor.share_primary_context):
        tensor = gst_cudatensor.Tensor.from_sample(sample)
        assert tensor.__dlpack_device__()[0] == 2
        yield tensor


def torch_late():
    """Releases each frame while the work that reads it is queued after a slow kernel."""
    import torch

    stream, copies = torch.cuda.Stream(), []
    with torch.cuda.stream(stream):
        for tensor in tensors_on_gpu():
            view = torch.from_dlpack(tensor)
            assert view.data_ptr() == tensor.data_ptr and view.device.type == "cuda"
            torch.cuda._sleep(3_000_000)
            copies.append(view.clone())
    stream.synchronize()
    return [copy.cpu().numpy() for copy in copies]


def torch_kept():
    import torch

    views = [torch.from_dlpack(tensor) for tensor in tensors_on_gpu()]
    return [view.cpu().numpy() for view in views]


def cupy_late():
    import cupy

    stream, copies = cupy.cuda.Stream(non_blocking=True), []
    slow = cupy.zeros((4096, 4096), cupy.float32)
    with stream:
        for tensor in tensors_on_gpu():
            view = cupy.from_dlpack(tensor)
            assert view.data.ptr == tensor.data_ptr
            cupy.sin(slow, out=slow)
            copies.append(view.copy())
    stream.synchronize()
    return [cupy.asnumpy(copy) for copy in copies]


def cupy_array_interface():
    import cupy

    copies = []
    for tensor in tensors_on_gpu():
        view = cupy.asarray(tensor)
        assert view.data.ptr == tensor.data_ptr
        copies.append(view.copy())
    return [cupy.asnumpy(copy) for copy in copies]


def main():
    arrays = expected()
    consumers = [numpy_kept]
    if sys.argv[1:] == ["gpu"]:
        consumers = [torch_late, torch_kept, cupy_late, cupy_array_interface]
    ran = 0
    for consumer in consumers:
        try:
            copies = consumer()
        except ImportError as error:
            print(f"{consumer.__name__}: skipped, {error}")
            continue
        check(consumer.__name__, copies, arrays)
        ran += 1
    sys.exit(0 if ran else 77)


main()
