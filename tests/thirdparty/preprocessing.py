#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares resizes and crops of our elements with Pillow, torchvision and Transformers: 8-bit
pixels must be equal, for frames of a video, for noise, and for random sizes.

CUDATENSOR_TEST_SEED repeats random cases; CUDATENSOR_TEST_BACKEND is the elements' backend.
"""
import math
import os
import sys
import time

from references import need, report
need("preprocessing")

import numpy
from PIL import Image
from torchvision.transforms import InterpolationMode, functional
from transformers.models.clip.image_processing_clip import CLIPImageProcessor

import oracle
from pictures import Picture, as_rgb, letterboxed, need_backend, tensor, video

FILTERS = {"box": Image.BOX, "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC,
           "lanczos": Image.LANCZOS}
SEED = int(os.environ.get("CUDATENSOR_TEST_SEED", time.time_ns() % 1_000_000))
CASES = 60  # random sizes per filter
BYTES = "dtype=uint8 layout=nhwc antialias=true"
VIDEOS = (("pedestrians.webm", 20), ("pedestrians-1080p.mp4", 40))
# Sizes: whole and other factors, larger, the picture's own, a single row or column.
SIZES = ((224, 224), (384, 288), (641, 359), (1024, 1024), (768, 100), (300, 576), (7, 500), (1, 1),
         (900, 1))


def pillow(pixels, width, height, method):
    return numpy.asarray(Image.fromarray(pixels).resize((width, height), FILTERS[method]))


def check_same(ours, theirs, what):
    assert ours.shape == theirs.shape, f"{what}: ours is {ours.shape}, theirs {theirs.shape}"
    difference = numpy.abs(ours.astype(int) - theirs.astype(int))
    assert not difference.any(), (f"{what}: {numpy.count_nonzero(difference)} of {difference.size} "
                                  f"values differ by up to {difference.max()}")


class RandomCases:
    """Makes pictures and sizes, the same for the same seed and topic."""

    def __init__(self, topic):
        self.random = numpy.random.default_rng([SEED, *topic.encode()])

    def length(self, most):
        """Returns a length; small ones are as likely as large ones."""
        return int(2 ** self.random.uniform(0, numpy.log2(most + 1)))

    def pixels(self, width, height, channels=3):
        """Returns a part of a frame, or noise of extreme values."""
        shape = (height, width, 3) if channels == 3 else (height, width)
        frame = as_rgb(video("pedestrians-1080p.mp4", "RGB", 40))
        if width <= frame.shape[1] and height <= frame.shape[0] and self.random.random() < 0.5:
            x, y = (int(self.random.integers(0, free + 1))
                    for free in (frame.shape[1] - width, frame.shape[0] - height))
            part = frame[y:y + height, x:x + width]
            return numpy.ascontiguousarray(part if channels == 3 else part[..., 1])
        if self.random.random() < 0.5:
            return self.random.choice(numpy.array([0, 255], numpy.uint8), shape)
        return self.random.integers(0, 256, shape, numpy.uint8)

    def sizes(self):
        """Returns width and height of a picture and of the result. Newer releases of Pillow filter
        the columns first if a picture is more than a hundred times as high as wide."""
        while True:
            sizes = [self.length(2000), self.length(1100), self.length(700), self.length(700)]
            if sizes[1] <= 100 * sizes[0]:
                return sizes


def oracle_case(method):
    cases = RandomCases(f"oracle {method}")
    for _ in range(CASES):
        width, height, out_width, out_height = (min(size, 300) for size in cases.sizes())
        pixels = cases.pixels(width, height)
        check_same(oracle.resize(pixels, out_width, out_height, method),
                   pillow(pixels, out_width, out_height, method),
                   f"{width}x{height} to {out_width}x{out_height}")
    return f"{CASES} sizes"


def random_case(method, channels):
    cases = RandomCases(f"{method} {channels}")
    for _ in range(CASES):
        width, height, out_width, out_height = cases.sizes()
        pixels = cases.pixels(width, height, channels)
        color = "" if channels == 3 else "color=gray"
        ours = tensor(Picture.of_pixels(pixels),
                      f"{BYTES} method={method} width={out_width} height={out_height} {color}")
        theirs = pillow(pixels, out_width, out_height, method)
        check_same(ours.squeeze(2) if channels == 1 else ours, theirs,
                   f"{width}x{height} to {out_width}x{out_height}")
    return f"{CASES} sizes"


def video_case(name, frame, video_format, method):
    picture = video(name, video_format, frame)
    pixels = as_rgb(picture)
    for width, height in SIZES:
        check_same(tensor(picture, f"{BYTES} method={method} width={width} height={height}"),
                   pillow(pixels, width, height, method), f"to {width}x{height}")
    return f"{len(SIZES)} sizes"


def fitted(pixels, width, height, method, centered):
    """Pastes Pillow's picture where Ultralytics pastes OpenCV's."""
    ratio = min(height / pixels.shape[0], width / pixels.shape[1])
    inner = [max(1, round(length * ratio)) for length in (pixels.shape[1], pixels.shape[0])]
    left, top = ((round((whole - part) / 2 - 0.1) if centered else 0)
                 for whole, part in zip((width, height), inner))
    padded = numpy.full((height, width, 3), 114, numpy.uint8)
    padded[top:top + inner[1], left:left + inner[0]] = pillow(pixels, *inner, method)
    return padded


def letterbox_case(mode, method):
    cases = RandomCases(f"{mode} {method}")
    for _ in range(CASES // 4):
        width, height, out_width, out_height = cases.sizes()
        pixels = cases.pixels(width, height)
        properties = f"antialias=true method={method} resize-mode={mode}"
        theirs = fitted(pixels, out_width, out_height, method, mode == "ultralytics")
        what = f"{width}x{height} into {out_width}x{out_height}"
        picture = Picture.of_pixels(pixels)
        check_same(letterboxed(picture, properties, out_width, out_height), theirs, what)
        check_same(tensor(picture, f"dtype=uint8 layout=nhwc width={out_width} height={out_height} "
                                   f"{properties}"), theirs, what)
    return f"{CASES // 4} sizes"


def torchvision_crop(pixels, edge, width, height, method):
    resized = functional.resize(Image.fromarray(pixels), edge, InterpolationMode(method))
    return numpy.asarray(functional.center_crop(resized, (height, width)))


def transformers_crop(pixels, edge, width, height, method):
    processor = CLIPImageProcessor(
        size={"shortest_edge": edge}, crop_size={"height": height, "width": width},
        resample=FILTERS[method], do_rescale=False, do_normalize=False)
    result = processor(images=pixels, input_data_format="channels_last", data_format="channels_last",
                       return_tensors="np")
    return result["pixel_values"][0].astype(numpy.uint8)


CROPS = {"torchvision": torchvision_crop, "transformers": transformers_crop}


def crop_case(mode, method):
    cases = RandomCases(f"crop {mode} {method}")
    done = 0
    while done < CASES // 4:
        width, height = (1 + cases.length(1000) for _ in range(2))
        edge = cases.length(400)
        if max(width, height) * edge // min(width, height) > 6000 or height > 100 * width:
            continue
        done += 1
        out = [int(cases.random.integers(1, edge + 1)) for _ in range(2)]
        pixels = cases.pixels(width, height)
        what = f"{width}x{height}, shorter edge {edge}, {out[0]}x{out[1]}"
        ours = tensor(Picture.of_pixels(pixels), f"{BYTES} method={method} resize-mode={mode} "
                      f"shortest-edge={edge} width={out[0]} height={out[1]}")
        check_same(ours, CROPS[mode](pixels, edge, *out, method), what)
    return f"{done} sizes"


def region_case(method):
    """A region is cut out with all pixels that it touches, and may begin and end within pixels."""
    cases = RandomCases(f"region {method}")
    picture = video("pedestrians-1080p.mp4", "RGB", 40)
    pixels = as_rgb(picture)
    for number in range(CASES // 4):
        steps = 4 if number % 2 else 1  # per pixel
        x0, x1 = sorted(cases.random.choice(picture.width * steps, 2, replace=False) / steps)
        y0, y1 = sorted(cases.random.choice(picture.height * steps, 2, replace=False) / steps)
        out = [cases.length(300), cases.length(300)]
        left, top = int(x0), int(y0)
        touched = pixels[top:math.ceil(y1), left:math.ceil(x1)]
        theirs = Image.fromarray(touched).resize(
            out, FILTERS[method], (x0 - left, y0 - top, x1 - left, y1 - top))
        ours = tensor(picture, f"{BYTES} method={method} width={out[0]} height={out[1]} "
                               f"regions=list region-list=<{x0},{y0},{x1 - x0},{y1 - y0}>")
        check_same(ours, numpy.asarray(theirs), f"{x0},{y0} to {x1},{y1}, to {out[0]}x{out[1]}")
    return f"{CASES // 4} regions"


def cases():
    for method in FILTERS:
        yield f"the definition, {method}", lambda method=method: oracle_case(method)
        for channels, name in ((3, "RGB"), (1, "GRAY8")):
            yield (f"Pillow's {method}, {name}",
                   lambda method=method, channels=channels: random_case(method, channels))
        for name, frame in VIDEOS:
            for video_format in ("RGB", "NV12"):
                yield (f"Pillow's {method}, {name} as {video_format}",
                       lambda *args, name=name, frame=frame, video_format=video_format,
                       method=method: video_case(name, frame, video_format, method))
        for mode in ("ultralytics", "top-left"):
            yield (f"Pillow's {method}, {mode}",
                   lambda mode=mode, method=method: letterbox_case(mode, method))
        for mode in CROPS:
            yield f"the crop of {mode}, {method}", lambda mode=mode, method=method: crop_case(mode, method)
        yield f"Pillow's {method}, regions", lambda method=method: region_case(method)


def main():
    need_backend("preprocessing")
    print(f"# CUDATENSOR_TEST_SEED={SEED}")
    return report(cases())


sys.exit(main())
