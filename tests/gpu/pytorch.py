#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that NVDEC → cudanormalize → PyTorch makes no copy through the host: PyTorch uses the
addresses of the GstMemory, its profiler counts no copy between host and device, and the results
equal those of frames that went through the host.

usage: pytorch.py CLIP [PICTURE.png]

The test runs the code of the application with samples from GStreamer's C functions, because a
Python with PyTorch may not have PyGObject.
"""
import itertools
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "pipelines/apps/pytorch"), str(ROOT / "tests/interop")]
import gst_cudatensor  # noqa: E402
import rawgst  # noqa: E402
from frames import Edges, description_of, tensors_of, write_png  # noqa: E402

WARM, PROFILED = 14, 50
FRAMES = WARM + PROFILED  # must be fewer than the frames of the clip


def samples_of(description):
    return rawgst.samples(description, gst_cudatensor.share_primary_context)


def check_addresses(uri):
    """PyTorch and GStreamer use the same addresses."""
    for sample in itertools.islice(samples_of(description_of(uri, 640)), FRAMES):
        batch = next(tensors_of([sample]))
        assert batch.data_ptr() == rawgst.device_address(sample), "PyTorch's tensor has another address"


def results_of(description):
    """The network's result for each frame, and the device types of the tensors."""
    network, results, kinds = Edges().cuda(), [], set()
    with torch.inference_mode():
        for batch in tensors_of(itertools.islice(samples_of(description), FRAMES)):
            kinds.add(batch.device.type)
            results.append(network(batch.cuda()))
    assert len(results) == FRAMES, f"{len(results)} frames"
    return torch.cat(results), kinds


def check_results(uri):
    on_gpu = description_of(uri, 640)
    through_the_host = on_gpu.replace("backend=cuda", "backend=cpu").replace(
        "other/tensors(memory:CUDAMemory)", "other/tensors")
    results, kinds = results_of(on_gpu)
    expected, host_kinds = results_of(through_the_host)
    assert kinds == {"cuda"} and host_kinds == {"cpu"}, (kinds, host_kinds)
    difference = (results - expected).abs().max().item()
    assert difference == 0.0, f"results differ by {difference}"
    assert results.unique(dim=0).shape[0] > FRAMES // 2, "the frames are all the same"


def events_of(uri):
    """The CUDA events for frames in the middle of a stream."""
    network, batches = Edges().cuda(), tensors_of(samples_of(description_of(uri, 640)))
    with torch.inference_mode():
        for batch in itertools.islice(batches, WARM):
            network(batch)
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
            for batch in itertools.islice(batches, PROFILED):
                network(batch)
            torch.cuda.synchronize()
    return profiler.key_averages()


def check_copies(uri):
    events = events_of(uri)
    copies = {event.key: event.count for event in events if event.key.startswith("Memcpy")}
    kernels = sum(event.count for event in events if "per_pixel" in event.key)
    print(f"{PROFILED} frames: kernels of cudanormalize {kernels}, copies {copies or 'none'}")
    # Copies within the device are from the decoder, which copies pictures out of its surfaces.
    between = {name: count for name, count in copies.items() if "HtoD" in name or "DtoH" in name}
    assert not between, f"copies between host and device: {between}"
    assert kernels >= PROFILED - 8, "the profiler missed cudanormalize"  # a few ran before


def write_picture(uri, path):
    """Writes the same picture as pytorch --size=320 --output."""
    batch = next(tensors_of(samples_of(description_of(uri, 320))))
    write_png(torch.cat((batch[0], Edges().cuda().strength(batch)[0]), 2), path)


def main():
    uri = Path(sys.argv[1]).resolve().as_uri()
    check_addresses(uri)
    check_results(uri)
    check_copies(uri)
    if len(sys.argv) > 2:
        write_picture(uri, sys.argv[2])
    print("PyTorch uses the memory of the buffers, and no data went through the host")


main()
