#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests gst_cudatensor.Frames on a GPU: frames that are selected before NVDEC equal, byte for byte,
the frames with the same timestamps among all frames; the GPU decodes, even if a software decoder
has a higher rank; batches stay on the GPU.

usage: frames.py CLIP
"""
import sys

import numpy
import torch

from gst_cudatensor import Frames, FramesError

CHOICES = [{"every": "1s"}, {"every": "250ms"}, {"every": 7}, {"every": "keyframes"}, {"count": 16},
           {"count": 1}, {"start": 2.05}, {"start": 1.9, "stop": 4.1}, {"start": 3, "every": "500ms"},
           {"count": 5, "start": 1}]
TENSORS = [{"dtype": "float16", "resize_mode": "ultralytics"}, {"color": "yuv", "dtype": "uint8"}]


def frames_of(clip, **options):
    """Returns the frames as bytes by their timestamps, in the order of arrival."""
    found = []
    with Frames(clip, batch=16, width=320, height=320, device="cuda", **options) as frames:
        for batch in frames:
            tensor = torch.from_dlpack(batch)
            assert tensor.is_cuda and tensor.shape[0] == len(batch) <= 16, tensor.shape
            found += zip(batch.pts.tolist(), map(numpy.ndarray.tobytes, tensor.cpu().numpy()))
    return found


def picks_are_frames_of_all(clip):
    for tensors in TENSORS:
        every = dict(frames_of(clip, **tensors))
        assert len(every) > 70, len(every)
        for choice in CHOICES:
            found = frames_of(clip, **choice, **tensors)
            assert found and [pts for pts, _ in found] == sorted(pts for pts, _ in found), choice
            for pts, frame in found:
                assert every[pts] == frame, (choice, tensors, pts)
            print(f"{choice} {tensors}: {len(found)} frames")


def no_software_decoder_is_loaded():
    with open("/proc/self/maps", encoding="utf-8") as file:
        loaded = file.read()
    for library in ("libavcodec", "libopenh264"):
        assert library not in loaded, library


def unknown_gpus_are_errors(clip):
    try:
        next(Frames(clip, device="cuda:99"))
    except FramesError as error:
        print(error)
    else:
        raise AssertionError("no error")


picks_are_frames_of_all(sys.argv[1])
no_software_decoder_is_loaded()
unknown_gpus_are_errors(sys.argv[1])
