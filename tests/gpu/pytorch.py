#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""NVDEC → cudanormalize → PyTorch without a copy by the host: PyTorch's addresses are those of the
GstMemory, its profiler counts no copy between host and device, and results are those of frames that
went through the host.

usage: pytorch.py CLIP [PICTURE.png]    (with GStreamer's libraries, the plugin and gst_cudatensor to be found)

The application's own code runs on samples from GStreamer's C functions: an interpreter that has
PyTorch need not have PyGObject.
"""
import ctypes
import sys
from ctypes import c_char_p, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "gst/python"), str(ROOT / "pipelines/apps/pytorch")]
import gst_cudatensor  # noqa: E402
from frames import Edges, description_of, tensors_of, write_png  # noqa: E402

SECOND = 10**9
NULL, PLAYING = 1, 4
MAP_READ, MAP_CUDA = 1, 1 << 17
WARM, PROFILED = 20, 60


class MapInfo(ctypes.Structure):
    _fields_ = [("memory", c_void_p), ("flags", c_int), ("data", c_void_p), ("size", c_size_t),
                ("maxsize", c_size_t), ("reserved", c_void_p * 8)]


def function(library, name, result, *arguments):
    declared = getattr(library, name)
    declared.restype, declared.argtypes = result, arguments
    return declared


gst = ctypes.CDLL("libgstreamer-1.0.so.0")
app = ctypes.CDLL("libgstapp-1.0.so.0")
init = function(gst, "gst_init", None, c_void_p, c_void_p)
parse_launch = function(gst, "gst_parse_launch", c_void_p, c_char_p, c_void_p)
by_name = function(gst, "gst_bin_get_by_name", c_void_p, c_void_p, c_char_p)
set_state = function(gst, "gst_element_set_state", c_int, c_void_p, c_int)
get_buffer = function(gst, "gst_sample_get_buffer", c_void_p, c_void_p)
buffer_map = function(gst, "gst_buffer_map", c_int, c_void_p, ctypes.POINTER(MapInfo), c_int)
buffer_unmap = function(gst, "gst_buffer_unmap", None, c_void_p, ctypes.POINTER(MapInfo))
unref = function(gst, "gst_mini_object_unref", None, c_void_p)
object_unref = function(gst, "gst_object_unref", None, c_void_p)
pull = function(app, "gst_app_sink_try_pull_sample", c_void_p, c_void_p, c_uint64)


def address_in(sample):
    """Where the sample's data lies on the device, as GStreamer says."""
    buffer, info = get_buffer(sample), MapInfo()
    assert buffer_map(buffer, ctypes.byref(info), MAP_READ | MAP_CUDA)
    buffer_unmap(buffer, ctypes.byref(info))
    return info.data


class Pipeline:
    def __init__(self, description):
        self._pipeline = parse_launch(description.encode(), None)
        assert self._pipeline, description
        gst_cudatensor.share_primary_context(self._pipeline)
        self._sink = by_name(self._pipeline, b"sink")
        self.addresses = []

    def samples(self, most):
        """Each until the next one is asked for."""
        set_state(self._pipeline, PLAYING)
        for _ in range(most):
            sample = pull(self._sink, 20 * SECOND)
            if not sample:
                return
            self.addresses.append(address_in(sample))
            yield sample
            unref(sample)

    def close(self):
        set_state(self._pipeline, NULL)
        object_unref(self._sink)
        object_unref(self._pipeline)


def network_results(uri, most):
    """Of all frames: the network's, and the addresses of both sides."""
    pipeline, network = Pipeline(description_of(uri, 640)), Edges().cuda()
    results, addresses = [], []
    with torch.inference_mode():
        for batch in tensors_of(pipeline.samples(most)):
            addresses.append(batch.data_ptr())
            results.append(network(batch))
            del batch
    assert addresses == pipeline.addresses, "PyTorch has the tensors elsewhere"
    assert len(addresses) == most, f"{len(addresses)} frames"
    pipeline.close()
    return torch.cat(results)


def write_picture(uri, path):
    """What pytorch --picture writes."""
    pipeline = Pipeline(description_of(uri, 640))
    batch = next(tensors_of(pipeline.samples(1)))
    write_png(torch.cat((batch[0], Edges().cuda().strength(batch)[0]), 2), path)
    pipeline.close()


def copies_in(events):
    """How often each kind of copy was counted."""
    return {event.key: event.count for event in events if event.key.startswith("Memcpy")}


def profiled(uri):
    """Events of frames in the middle of a stream."""
    pipeline, network = Pipeline(description_of(uri, 640)), Edges().cuda()
    batches = tensors_of(pipeline.samples(WARM + PROFILED))
    with torch.inference_mode():
        for _ in range(WARM):
            network(next(batches))
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
            for _ in range(PROFILED):
                network(next(batches))
            torch.cuda.synchronize()
    pipeline.close()
    return profiler.key_averages()


def through_the_host(uri, most):
    """The network's results of tensors that the CPU backend made of the same decoder's frames."""
    description = description_of(uri, 640).replace("backend=cuda", "backend=cpu").replace(
        "other/tensors(memory:CUDAMemory)", "other/tensors")
    pipeline, network, results = Pipeline(description), Edges().cuda(), []
    for batch in tensors_of(pipeline.samples(most)):
        assert batch.device.type == "cpu"
        results.append(network(batch.cuda()))
    pipeline.close()
    return torch.cat(results)


def main():
    init(None, None)
    uri = Path(sys.argv[1]).resolve().as_uri()
    results = network_results(uri, WARM + PROFILED)
    difference = (results - through_the_host(uri, WARM + PROFILED)).abs().max().item()
    assert difference == 0.0, f"results differ by {difference}"
    assert results.unique(dim=0).shape[0] > PROFILED, "the frames are all the same"
    events = profiled(uri)
    copies = copies_in(events)
    kernels = sum(event.count for event in events if "per_pixel" in event.key)
    print(f"{PROFILED} frames: kernels of cudanormalize {kernels}, copies {copies or 'none'}")
    between = {name: count for name, count in copies.items() if "HtoD" in name or "DtoH" in name}
    assert not between, f"copies between host and device: {between}"
    assert kernels >= PROFILED - 8, "the profiler did not see cudanormalize"
    if len(sys.argv) > 2:
        write_picture(uri, sys.argv[2])
    print("PyTorch has the memory of the buffers, and nothing went through the host")


main()
