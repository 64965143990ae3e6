#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real networks in cudainference: its outputs are those of Python's onnxruntime for the same tensors,
bit for bit. The networks are those of PyPI's rapidocr-onnxruntime, which read text: one has an output of
a known shape, and one of a shape that its model does not tell."""
import contextlib
import itertools
import sys
from pathlib import Path

from references import need, report
need("inference")

import numpy
import onnxruntime
import rapidocr_onnxruntime

from pictures import MEDIA, need_backend, samples_of

MODELS = Path(rapidocr_onnxruntime.__file__).parent / "models"
DIRECTION = MODELS / "ch_ppocr_mobile_v2.0_cls_infer.onnx"
DETECTOR = MODELS / "ch_PP-OCRv4_det_infer.onnx"
CLIP = f"filesrc location={MEDIA / 'pedestrians.webm'} ! decodebin"
FRAMES = 3
HEADER = 128  # bytes of a flexible tensor


def bytes_of(sample):
    buffer = sample.get_buffer()
    return buffer.extract_dup(0, buffer.get_size())


def shape_of(sample):
    """The shape of the only tensor, the outermost dimension first."""
    sides = sample.get_caps().get_structure(0).get_value("dimensions").split(":")
    return [int(side) for side in reversed(sides)]


def first(launch):
    with contextlib.closing(samples_of(launch)) as samples:
        return list(itertools.islice(samples, FRAMES))


def references(model, tensors):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, ["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    for sample in tensors:
        tensor = numpy.frombuffer(bytes_of(sample), numpy.float32).reshape(shape_of(sample))
        yield session.run(None, {name: tensor})[0]


def compare(model, normalize):
    """Returns the last output of the network. `normalize`: the properties of cudanormalize."""
    source = f"{CLIP} ! cudanormalize {normalize}"
    element = f"cudainference model={model} provider=cpu n-threads=1"
    found = first(f"{source} ! {element}")
    assert len(found) == FRAMES, f"{len(found)} buffers"
    for sample, expected in zip(found, references(model, first(source)), strict=True):
        caps = sample.get_caps().get_structure(0)
        flexible = caps.get_value("format") == "flexible"
        output = bytes_of(sample)
        if flexible:
            sides = numpy.frombuffer(output[12:76], numpy.uint32)
            shape, output = sides[sides > 0][::-1].tolist(), output[HEADER:]
        else:
            shape = shape_of(sample)
        assert shape == list(expected.shape), f"{shape}, not {expected.shape}"
        assert output == expected.tobytes(), "the outputs differ"
    return caps, expected


def check_known_shapes():
    caps, scores = compare(DIRECTION, "width=192 height=48 color=bgr mean=<0.5> std=<0.5>")
    assert caps.get_value("dimensions") == "2:1", caps.to_string()
    assert abs(scores.sum() - 1) < 1e-5
    return f"scores {scores.round(3).tolist()}"


def check_batch():
    caps, scores = compare(DIRECTION, "width=192 height=48 color=bgr mean=<0.5> std=<0.5> "
                                      "regions=tiles tile-columns=3 tile-rows=2")
    assert caps.get_value("dimensions") == "2:6" and scores.shape == (6, 2), caps.to_string()


def check_open_shapes():
    caps, mask = compare(DETECTOR, "width=640 height=480 color=bgr mean=<0.485,0.456,0.406> "
                                   "std=<0.229,0.224,0.225>")
    assert caps.get_value("format") == "flexible" and mask.shape == (1, 1, 480, 640)


need_backend("inference")
sys.exit(report({"known shapes": check_known_shapes, "batch": check_batch,
                 "open shapes": check_open_shapes}.items()))
