#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the way from a model's file to the tensor: Transformers' and timm's preprocessing and
cudanormalize's model-config read files that Transformers and timm write, and the tensors must be
equal except for the rounding of floating-point numbers. Files for which they cannot be equal must
be refused, with the key in the error.

CUDATENSOR_TEST_SEED repeats random cases; CUDATENSOR_TEST_BACKEND is the elements' backend.
"""
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from references import need, report
need("modelfiles")

import numpy
import timm
import yaml
from PIL import Image
from timm.data import create_transform, resolve_data_config
from timm.models._hub import save_config_for_hf
from ultralytics.data.augment import LetterBox, classify_transforms

from pictures import Gst, Picture, as_rgb, need_backend, tensor, video
from processors import ACCEPTED, HANDWRITTEN, REFUSED, processor_class

SEED = int(os.environ.get("CUDATENSOR_TEST_SEED", time.time_ns() % 1_000_000))
ROUNDING = 255 / 2**20  # levels
RANDOM_CASES = 12
TIMM = {  # names of configurations, and what to change in them
    "resnet18": {}, "mobilenetv3_small_100": {}, "tf_efficientnet_lite0.in1k": {},
    "vit_tiny_patch16_224": {}, "convnext_atto": {}, "efficientnet_b0": {},
    "tf_mobilenetv3_small_minimal_100": {}, "regnety_002": {"interpolation": "lanczos"},
    "mobilenetv2_050": {"interpolation": "box"}, "resnet10t": {"crop_mode": "squash", "crop_pct": 1.0},
    "lcnet_050": {"crop_mode": "border", "crop_pct": 1.0, "mean": (0.5, 0.5, 0.5)},
}


def in_levels(ours, theirs, level):
    assert ours.shape == theirs.shape, f"ours is {ours.shape}, theirs {theirs.shape}"
    difference = numpy.abs(ours.astype(numpy.float64) - theirs.astype(numpy.float64))
    return float((difference / numpy.asarray(level, float).reshape(-1, 1, 1)).max())


def check(ours, theirs, level=1 / 255, most=ROUNDING):
    largest = in_levels(ours, theirs, level)
    assert largest <= most, f"differs by {largest:.2g} of 255"
    return f"{largest:.2g} of 255"


def picture():
    return video("pedestrians.webm", "RGB", 20)


def level_of(processor):
    level = processor.rescale_factor if getattr(processor, "do_rescale", True) else 1.0
    if getattr(processor, "do_normalize", False):
        level = level / numpy.array(processor.image_std)
    if getattr(processor, "do_flip_channel_order", False):
        level = numpy.atleast_1d(level)[::-1]
    return level


def hold(processor, path, frame):
    own_size = "" if getattr(processor, "do_resize", True) else " width=0 height=0"
    ours = tensor(frame, f"model-config={path}{own_size}")
    theirs = processor(images=as_rgb(frame), return_tensors="np")["pixel_values"][0]
    return check(ours, theirs, level_of(processor))


def written_case(name, settings):
    """Transformers writes the file."""
    with tempfile.TemporaryDirectory() as folder:
        processor = processor_class(name)(**settings)
        processor.save_pretrained(folder)
        return hold(processor, Path(folder) / "preprocessor_config.json", picture())


def read_case(name, content):
    """Transformers reads a file with few keys, or with those of old releases."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "preprocessor_config.json"
        path.write_text(json.dumps(content))
        return hold(processor_class(name).from_pretrained(folder), path, picture())


def nested_case(name):
    """Tests the file of a processor of texts and pictures."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "processor_config.json"
        processor = processor_class(name)()
        path.write_text(json.dumps({"processor_class": f"{name}Processor",
                                    "image_processor": json.loads(processor.to_json_string())}))
        return hold(processor, path, picture())


def refused_case(name, settings, key):
    with tempfile.TemporaryDirectory() as folder:
        processor_class(name)(**settings).save_pretrained(folder)
        try:
            tensor(picture(), f"model-config={folder}/preprocessor_config.json")
        except RuntimeError as error:
            assert key in str(error), f"no {key} in: {error}"
            return key
    raise AssertionError("it is accepted")


class Random:
    """Makes pictures and settings, the same for the same seed and topic."""

    def __init__(self, topic):
        self.random = numpy.random.default_rng([SEED, *topic.encode()])

    def length(self, most):
        return int(2 ** self.random.uniform(3, numpy.log2(most)))

    def picture(self, edge):
        """Returns a picture and the lengths of its crop: both at most `edge`, to which its shorter
        edge is resized."""
        while True:
            width, height = self.length(1500), self.length(1000)
            if max(width, height) * edge // min(width, height) <= 4000:
                pixels = self.random.integers(0, 256, (height, width, 3), numpy.uint8)
                crop = {key: int(self.random.integers(1, edge + 1)) for key in ("height", "width")}
                return Picture.of_pixels(pixels), crop

    def filter(self):
        return int(self.random.integers(1, 5))


def random_case(name, settings_of, refusal=None):
    """`settings_of` returns settings for two lengths. `refusal` is the name in the error if a
    picture may be refused."""
    random, refused = Random(name), 0
    for _ in range(RANDOM_CASES):
        edge = random.length(500)
        frame, crop = random.picture(edge)
        settings = {"resample": random.filter(), **settings_of(edge, crop)}
        with tempfile.TemporaryDirectory() as folder:
            processor = processor_class(name)(**settings)
            processor.save_pretrained(folder)
            try:
                hold(processor, f"{folder}/preprocessor_config.json", frame)
            except AssertionError as error:
                raise AssertionError(f"{frame.width}x{frame.height}, {settings}: {error}") from error
            except RuntimeError as error:
                assert refusal and refusal in str(error), error
                refused += 1
    assert refused < RANDOM_CASES / 2, f"{refused} are refused"
    return f"{RANDOM_CASES} files, of which {refused} are refused"


def timm_case(name, changes):
    network = timm.create_model(name, num_classes=2)
    network.pretrained_cfg.update(changes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        save_config_for_hf(network, path)
        config = json.loads(path.read_text())["pretrained_cfg"]
        transform = create_transform(**resolve_data_config(pretrained_cfg=config))
        theirs = transform(Image.fromarray(as_rgb(picture()))).numpy()
        return check(tensor(picture(), f"model-config={path}"), theirs,
                     1 / 255 / numpy.array(config["std"]))


def ultralytics_case(task, reference, most, **more):
    """Tests the metadata of Ultralytics' exports, with `more`."""
    metadata = {"description": f"Ultralytics YOLO11n-{task} model", "author": "Ultralytics",
                "version": "8.3.228", "stride": 32, "task": task, "batch": 1, "imgsz": [320, 320],
                "names": {0: "person"}, "args": {"batch": 1, "half": False}, "channels": 3, **more}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "metadata.yaml"
        path.write_text(yaml.safe_dump(metadata, sort_keys=False))
        return check(tensor(picture(), f"model-config={path}"), reference(as_rgb(picture())), most=most)


def letterbox(pixels, **options):
    made = LetterBox((320, 320), **options)(image=numpy.ascontiguousarray(pixels[..., ::-1]))
    return made[..., ::-1].transpose(2, 0, 1).astype(numpy.float32) / 255


def stretch(pixels):
    """Preprocesses as the predictor of RT-DETR does."""
    return letterbox(pixels, auto=False, scale_fill=True)


def classification(pixels):
    return classify_transforms(320)(Image.fromarray(pixels)).numpy()


RANDOM = (
    ("CLIP", lambda edge, crop: {"size": {"shortest_edge": edge}, "crop_size": crop}),
    ("Bit", lambda edge, crop: {"size": {"shortest_edge": edge}, "crop_size": crop}),
    ("ConvNext", lambda edge, crop: {"size": {"shortest_edge": edge}, "crop_pct": 0.9}),
    ("ViT", lambda edge, crop: {"size": crop}),
    ("Siglip", lambda edge, crop: {"size": crop}),
    ("Sam", lambda edge, crop: {"size": {"longest_edge": edge + 500}, "pad_size": {
        "height": edge + 500, "width": edge + 500}}, "longest_edge"),
)


def cases():
    for name, settings in ACCEPTED:
        yield f"{name} {settings or ''}", lambda n=name, s=settings: written_case(n, s)
    for name, content in HANDWRITTEN:
        yield f"{name} reads {content}", lambda n=name, c=content: read_case(n, c)
    yield "CLIP, nested", lambda: nested_case("CLIP")
    for name, settings, key in REFUSED:
        yield f"{name} {settings or ''} is refused", lambda *_, n=name, s=settings, k=key: refused_case(
            n, s, k)
    for name, *settings in RANDOM:
        yield f"{name}, random", lambda n=name, s=settings: random_case(n, *s)
    for name, changes in TIMM.items():
        yield f"timm's {name} {changes or ''}", lambda n=name, c=changes: timm_case(n, c)
    # OpenCV's resize rounds to whole levels like ours, but in other steps.
    yield "Ultralytics, detection", lambda: ultralytics_case("detect", letterbox, 1.001)
    yield "Ultralytics, RT-DETR", lambda: ultralytics_case("detect", stretch, 1.001,
                                                           head="RTDETRDecoder")
    yield "Ultralytics, RT-DETR before 8.4", lambda: ultralytics_case(
        "detect", stretch, 1.001, description="Ultralytics rtdetr-l model")
    yield "Ultralytics, classification", lambda: ultralytics_case("classify", classification, ROUNDING)


def main():
    need_backend("modelfiles")
    element = Gst.ElementFactory.make("cudanormalize")
    if element.find_property("model-config") is None:
        print("ok 1 - modelfiles # SKIP cudanormalize has no model-config\n1..1")
        return 0
    print(f"# CUDATENSOR_TEST_SEED={SEED}")
    return report(cases())


sys.exit(main())
