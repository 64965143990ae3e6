#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests all classes of image and video processors of the installed Transformers. Transformers and
cudanormalize's model-config read files of each class, with changes of all of its keys. Either the
element refuses a file and names class or key, or its tensor equals that of Transformers. With
Pillow, which `antialias` repeats, they are equal except for the rounding of floating-point numbers.
torchvision's resizes of 8-bit pictures round their weights, so they differ from Pillow's by the
steps below.

survey.py [CLASS...]; environment: CUDATENSOR_TEST_SURVEY=FILE writes the result of each file.
"""
import collections
import importlib
import inspect
import json
import os
import pkgutil
import re
import resource
import sys
import tempfile
import warnings
from pathlib import Path

from references import ROOT

WHEELS = ROOT / "build-survey/wheels"  # downloaded by tests/references.sh

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="critical")
sys.path.insert(0, str(WHEELS))
sys.dont_write_bytecode = True
try:
    import torch
    import torchvision
    import transformers
    from transformers.image_processing_utils import BaseImageProcessor
except ImportError as error:
    print(f"ok 1 - survey # SKIP there is no Transformers with PyTorch here: {error}\n1..1")
    sys.exit(0)

import numpy

import surveyfiles
from pictures import Picture, clip, need_backend, tensor

MOST_MEMORY = 8 << 30  # of address space; some classes make huge pictures of small numbers
ROUNDING = 255 / 2**20  # levels
# Differences that torchvision's weights of 16 bits may cause, by Pillow's number of the filter. A
# few values of large pictures may differ by one more.
STEPS = {1: 3, 2: 1, 3: 2, 4: 1}
FEW = 1e-4
LANCZOS = tuple(int(n) for n in torchvision.__version__.split(".")[:2]) >= (0, 27)
SET_SIZE = "set width and height"
REFUSALS = 16  # if so many files of a class are refused for its name, the others are skipped
OWN = ("image_processor_type", "feature_extractor_type", "video_processor_type", "processor_class")


def processors():
    """name → classes with it: torchvision's, Pillow's"""
    found = collections.defaultdict(list)
    for package in pkgutil.iter_modules(importlib.import_module("transformers.models").__path__):
        folder = Path(importlib.import_module("transformers.models").__path__[0]) / package.name
        for path in sorted(folder.glob("*_processing_*.py")):
            if not path.name.startswith(("image_processing_", "video_processing_")):
                continue
            module = importlib.import_module(f"transformers.models.{package.name}.{path.stem}")
            for name, each in inspect.getmembers(module, inspect.isclass):
                own = each.__module__ == module.__name__ and issubclass(each, BaseImageProcessor)
                if own and name.endswith(("Processor", "ProcessorPil", "ProcessorFast")):
                    found[re.sub("(Pil|Fast)$", "", name)].append(each)
    return found


def default_settings(classes):
    for each in classes:
        try:
            return {key: value for key, value in each().to_dict().items() if key not in OWN}
        except Exception:  # pylint: disable=broad-except
            continue
    return None


def keys_of(classes):
    keys = {}
    for each in classes:
        for base in reversed(each.valid_kwargs.__mro__ if hasattr(each.valid_kwargs, "__mro__") else ()):
            keys.update(getattr(base, "__annotations__", {}))
        keys.update(getattr(each.valid_kwargs, "__annotations__", {}))
    return sorted(set(keys) - {"format"})  # a key of annotations


def documented():
    """Returns the classes that docs/models.md lists."""
    page = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    images, videos = re.search(r"^- images: (.*?)^- videos, .*?: (.*?)\.", page, re.M | re.S).groups()

    def names(text, end):
        return {f"{name.strip()}{end}" for name in re.sub(r"\(.*?\)", "", text).split(",")}
    return names(images, "ImageProcessor") | names(videos, "VideoProcessor")


def pictures():
    random = numpy.random.default_rng(5)
    made = []
    for height, width in ((90, 131), (150, 64), (1203, 1490)):
        noise = random.integers(0, 256, (height, width, 3))
        ramp = numpy.add.outer(numpy.arange(height), numpy.arange(width))[..., None] * (1, 2, 3) % 256
        made.append(numpy.where(numpy.arange(width)[:, None] < width // 2, noise, ramp).astype("uint8"))
    return made


def single(values):
    """Returns the tensor of one picture: three axes, or four for a video."""
    if isinstance(values, (list, tuple)):
        values = values[0]
        while isinstance(values, (list, tuple)):
            values = values[0]
    values = numpy.asarray(values)
    while values.ndim > 3 and values.shape[0] == 1:
        values = values[0]
    return values


def sampled(settings):
    """Returns how many frames of a video a file asks for; 0 if it does not tell."""
    return settings.get("do_sample_frames") and settings.get("num_frames") or 0


def frames_of(settings, pixels):
    """Returns a video of as many frames as the file asks for, otherwise of two."""
    return numpy.stack([pixels[::-1] if i % 2 else pixels for i in range(sampled(settings) or 2)])


def theirs(each, settings, pixels):
    """Returns Transformers' tensor."""
    processor = each.from_dict(json.loads(json.dumps(settings)))
    if getattr(processor, "apply_ocr", False):
        processor.apply_ocr = False  # would also read text
    if each.__name__.endswith("VideoProcessor"):
        frames = frames_of(settings, pixels)
        made = processor(videos=[frames], do_sample_frames=bool(sampled(settings)),
                         video_metadata=[{"total_num_frames": len(frames), "fps": 10.0}],
                         return_tensors="pt")
        values = made["pixel_values_videos" if "pixel_values_videos" in made else "pixel_values"]
        assert len(values) == 1
        video = numpy.asarray(values[0])
        assert video.shape[0] == len(frames), f"a video of {len(frames)} frames is {video.shape}"
        return processor, video
    made = processor(pixels, return_tensors="pt")  # `images`, or `videos` of one frame
    return processor, single(made["pixel_values"])


def level_of(processor):
    def get(key):
        return getattr(processor, key, None)
    level = get("rescale_factor") if get("do_rescale") else 1.0
    if get("do_normalize"):
        level = level / numpy.atleast_1d(numpy.array(get("image_std"), float))
    if get("do_flip_channel_order"):
        level = numpy.atleast_1d(level)[::-1]
    return numpy.asarray(level, float).reshape(-1, 1, 1)


def differs(each, settings, pixels, ours):
    """Returns why the tensors differ; None if they are equal. Raises the exceptions of
    Transformers."""
    processor, values = theirs(each, settings, pixels)
    if values.shape != ours.shape:
        return f"{each.__name__} has {values.shape}, we {ours.shape}"
    torchvisions = processor.backend != "pil" if hasattr(processor, "backend") else False
    filtered = getattr(processor, "do_resize", True)
    code = getattr(processor, "resample", 2)
    code = 2 if code is None else int(code)
    if torchvisions and filtered and code == 1 and not LANCZOS:
        return None  # an older torchvision uses another filter
    most = STEPS.get(code, 0) + 0.01 if torchvisions and filtered else ROUNDING
    with numpy.errstate(all="ignore"):
        steps = numpy.abs(values.astype(float) - ours) / abs(level_of(processor))
    largest = steps.max()
    few = torchvisions and (steps > most).mean() <= FEW and largest <= most + 1
    return None if few or largest <= most else f"{each.__name__} differs by {largest:.3g} of 255"


def ours_of(path, settings, pixels, is_video, properties=""):
    properties = f"model-config={path} {properties}"
    if not is_video:
        return tensor(Picture.of_pixels(numpy.ascontiguousarray(pixels)), properties)
    frames = [Picture.of_pixels(frame) for frame in frames_of(settings, pixels)]
    return clip(frames, properties + ("" if sampled(settings) else " frames-per-tensor=2"))


class Survey:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "preprocessor_config.json"
        self.pictures = pictures()
        self.counts = collections.Counter()
        self.taken = set()
        self.log = open(os.environ.get("CUDATENSOR_TEST_SURVEY", os.devnull), "w", encoding="utf-8")

    def compare(self, name, classes, settings, pixels, properties=""):
        """Returns "exact" or "wrong" and why, or "refused" and the error."""
        is_video = name.endswith("VideoProcessor")
        ours = ours_of(self.path, settings, pixels, is_video, properties)
        raised, compared = "", 0
        for each in classes:
            try:
                difference = differs(each, settings, pixels, ours)
                compared += 1
            except Exception as error:  # pylint: disable=broad-except
                raised = f"{each.__name__} raises {type(error).__name__}: {str(error)[:100]}"
                continue
            if difference:
                return "wrong", difference
        if not compared and settings.get("resample") == 4 and "NotImplementedError" in raised:
            return "refused", raised  # torchvision has no such filter
        return ("exact", "") if compared else ("wrong", raised)

    def sized(self, name, classes, settings, pixels):
        """The same with the size of Transformers' tensor, which the element requires."""
        for each in classes:
            try:
                height, width = theirs(each, settings, pixels)[1].shape[-2:]
            except Exception:  # pylint: disable=broad-except
                continue
            what, why = self.compare(name, classes, settings, pixels,
                                     f"width={width} height={height}")
            return ("sized", "") if what == "exact" else (what, why)
        return "wrong", "Transformers makes no tensor of any size"

    def outcome(self, name, classes, settings, pixels):
        """Returns "refused", "exact", "sized" or "wrong", and why."""
        self.path.write_text(json.dumps(settings), encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self.compare(name, classes, settings, pixels)
            except RuntimeError as error:
                reason = str(error).split("preprocessor_config.json: ", 1)[-1].splitlines()[0]
                if not re.match(r"[\w.]+(=| is absent)|.*a resized picture of .* is smaller than", reason):
                    return "wrong", f"no key in the error: {error}"
                if SET_SIZE not in reason:
                    return "refused", reason
            return self.sized(name, classes, settings, pixels)

    def walk(self, name, classes):
        """Returns the counts of a class, and the wrong files."""
        counts, wrong = collections.Counter(), []
        defaults = default_settings(classes)
        by_name = 0  # files that are refused because of the class
        for title, settings, large in surveyfiles.files(name, defaults, keys_of(classes)):
            for pixels in self.pictures if large else self.pictures[:2]:
                what, why = self.outcome(name, classes, settings, pixels)
                if what != "exact":
                    break
            counts[what] += 1
            by_name += what == "refused" and re.match(r"\w+_type=", why) is not None
            print(name, title, what, why, sep="\t", file=self.log, flush=True)
            if what == "wrong":
                wrong.append(f"{title}: {why}")
            if by_name > REFUSALS and by_name == counts.total():
                break
        self.counts.update(counts)
        self.counts["classes"] += 1
        if counts["exact"] + counts["sized"] > 0:
            self.taken.add(name)
        return counts, wrong


def main():
    need_backend("survey")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    torch.set_num_threads(1)
    print(f"# transformers {transformers.__version__}, torch {torch.__version__}, "
          f"torchvision {torchvision.__version__}")
    survey, failed = Survey(), 0
    found = processors()
    wanted = sys.argv[1:] or sorted(found)
    for count, name in enumerate(wanted, 1):
        counts, wrong = survey.walk(name, found[name])
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {count} - {name}: {counts['exact']} files exact, "
              f"{counts['sized']} with a size, {counts['refused']} refused, {counts['wrong']} wrong",
              flush=True)
        for line in wrong[:5]:
            print(f"  {line}")
    if not sys.argv[1:]:
        count += 1
        other = documented() ^ survey.taken
        failed += bool(other)
        print(f"{'not ok' if other else 'ok'} {count} - the documented classes are those that are "
              f"taken {' '.join(sorted(other))}")
    c = survey.counts
    print(f"# {c['classes']} classes, of which {len(survey.taken)} are taken; files: {c['exact']} exact, "
          f"{c['sized']} exact with a size, {c['refused']} refused, {c['wrong']} wrong")
    print(f"1..{count}")
    return 1 if failed else 0


sys.exit(main())
