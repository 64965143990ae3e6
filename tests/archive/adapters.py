#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the code of docs/adapters.md, with NeMo Curator, and with a replica of vLLM's documented
registry of video loaders, because vLLM's wheel is too large for a test."""
import re
import sys
import types
import uuid
from pathlib import Path

import rig

rig.need("adapters")

import numpy  # noqa: E402

from gst_cudatensor import Frames  # noqa: E402

PAGE = (rig.ROOT / "docs/adapters.md").read_text()
COUNT = 79  # frames of the clip, ten per second


def code(title):
    """Returns the Python code below a heading."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)[1]
    return re.search(r"```python\n(.*?)```", section, re.S)[1]


def load(title):
    """Returns the names that the code defines, as a module that pickle and dataclasses can find."""
    module = types.ModuleType("adapter_for_" + title.replace(" ", "_"))
    sys.modules[module.__name__] = module
    exec(compile(code(title), f"docs/adapters.md, {title}", "exec"), vars(module))
    return module


def frames_of(**selected):
    with Frames(str(rig.CLIP), device="cpu", layout="nhwc", dtype="uint8", **selected) as frames:
        return numpy.concatenate([numpy.array(batch) for batch in frames])


class Registry:
    """vLLM's registry: a decorator that registers a class by a name, and load(), which creates an
    object."""

    def __init__(self):
        self.classes = {}

    def register(self, name, **_):
        return lambda kind: self.classes.setdefault(name, kind)

    def load(self, name):
        return self.classes[name]()


def vllm_gets_its_frames():
    video = types.ModuleType("vllm.multimodal.video")
    video.VIDEO_LOADER_REGISTRY, video.VideoLoader = Registry(), type("VideoLoader", (), {})
    sys.modules.update({"vllm": types.ModuleType("vllm"), "vllm.multimodal.video": video,
                        "vllm.multimodal": types.ModuleType("vllm.multimodal")})
    load("vLLM")
    loader = video.VIDEO_LOADER_REGISTRY.load("gst_cudatensor")
    data = rig.CLIP.read_bytes()
    every = frames_of()
    for options, expected in (({"num_frames": 8}, 8), ({"num_frames": 500}, COUNT), ({}, COUNT),
                              ({"num_frames": 32, "fps": 2}, 15), ({"num_frames": 4, "fps": 2}, 4),
                              ({"num_frames": 1}, 1)):
        frames, about = loader.load_bytes(data, device="cpu", **options)
        indices = numpy.linspace(0, COUNT - 1, expected, dtype=int)
        numpy.testing.assert_array_equal(frames, every[indices], err_msg=str(options))
        assert about["frames_indices"] == indices.tolist(), (options, about)
        assert (about["total_num_frames"], about["fps"]) == (COUNT, 10), about
        assert about["do_sample_frames"] == (expected == COUNT)
    try:
        loader.load_bytes(b"no video", device="cpu")
    except RuntimeError:
        return f"{frames.shape} of {frames.dtype}"
    raise AssertionError("no error for what is no video")


def nemo_curator_gets_its_frames():
    from nemo_curator.tasks.video import Clip, Video, VideoTask

    stage = load("NeMo Curator").FramesStage(target_fps=2, target_res=(48, 64))
    clips = [Clip(uuid.uuid4(), "clip", (0, 7.9), buffer=buffer)
             for buffer in (rig.CLIP.read_bytes(), b"no video", None)]
    task = VideoTask(dataset_name="test", data=Video(Path("clip"), clips=clips))
    (done,) = stage.process_batch([task])
    (signature,) = done.data.clips[0].extracted_frames
    frames = done.data.clips[0].extracted_frames[signature]
    assert signature.endswith("sequence-2000"), signature
    numpy.testing.assert_array_equal(frames, frames_of(every="500ms", width=64, height=48))
    assert not done.data.clips[0].errors
    for clip in done.data.clips[1:]:
        assert clip.buffer is None and clip.errors["frame_extraction"] and not clip.extracted_frames
    return f"{frames.shape} of {frames.dtype}"


if __name__ == "__main__":
    sys.exit(rig.report([(case.__name__.replace("_", " "), case)
                         for case in (vllm_gets_its_frames, nemo_curator_gets_its_frames)]))
