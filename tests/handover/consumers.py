#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""consumers.py [gpu]

Tensors in the hands of real consumers, in a process without PyGObject: the package takes addresses.
NumPy on the CPU; with `gpu` PyTorch and CuPy, each as far as it is installed, late on a stream of
their own while the pipeline goes on.  What they read is compared with what the CPU computes.
"""
import ctypes
import sys
from ctypes import byref, c_char_p, c_int, c_uint64, c_void_p

import numpy

import gst_cudatensor

SECOND = 10**9
FRAMES = 60
SOURCE = (f"videotestsrc num-buffers={FRAMES} pattern=ball ! "
          "video/x-raw,format=NV12,width=320,height=240,framerate=30/1 ! "
          "cudanormalize width=224 height=224 resize-mode=ultralytics backend={} ! {} ! "
          "appsink name=sink sync=false max-buffers=2")


def load():
    """libgstreamer, with what is used of it and of GObject."""
    library = ctypes.CDLL("libgstreamer-1.0.so.0")
    for name, result, *arguments in (
            ("gst_init", None, c_void_p, c_void_p),
            ("gst_parse_launch", c_void_p, c_char_p, c_void_p),
            ("gst_bin_get_by_name", c_void_p, c_void_p, c_char_p),
            ("gst_element_set_state", c_int, c_void_p, c_int),
            ("gst_object_unref", None, c_void_p),
            ("gst_mini_object_unref", None, c_void_p)):
        getattr(library, name).restype = result
        getattr(library, name).argtypes = arguments
    library.gst_init(None, None)
    return library


GST = load()


def samples(backend, caps, prepare=lambda pipeline: None):
    """The address of each sample of the pipeline, which is good until the next."""
    pipeline = GST.gst_parse_launch(SOURCE.format(backend, caps).encode(), None)
    assert pipeline, "there is no plugin"
    prepare(pipeline)
    sink = GST.gst_bin_get_by_name(pipeline, b"sink")
    GST.gst_element_set_state(pipeline, 4)  # PLAYING
    while True:
        sample = c_void_p()
        GST.g_signal_emit_by_name(c_void_p(sink), c_char_p(b"try-pull-sample"),
                                  c_uint64(20 * SECOND), byref(sample))
        if not sample.value:
            break
        yield sample.value
        GST.gst_mini_object_unref(sample)
    GST.gst_element_set_state(pipeline, 1)  # NULL
    GST.gst_object_unref(sink)
    GST.gst_object_unref(pipeline)


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
        assert copy.tobytes() == array.tobytes(), f"{name}: frame {number} is another"
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
    """Each frame is let go while the work that reads it is queued behind something slow."""
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
