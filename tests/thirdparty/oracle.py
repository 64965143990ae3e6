# SPDX-License-Identifier: LGPL-2.1-or-later
"""The filtered resize in NumPy, written from its definition: the tables of weights in float64, and
the two passes over 8-bit pixels in integers."""
import math

import numpy


def sinc(x):
    return 1.0 if x == 0 else math.sin(x * math.pi) / (x * math.pi)


def box(x):
    return 1.0 if -0.5 < x <= 0.5 else 0.0


def bilinear(x):
    return max(0.0, 1.0 - abs(x))


def bicubic(x):
    a, x = -0.5, abs(x)
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def lanczos(x):
    return sinc(x) * sinc(x / 3) if -3 <= x < 3 else 0.0


FILTERS = {"box": (box, 0.5), "bilinear": (bilinear, 1.0), "bicubic": (bicubic, 2.0),
           "lanczos": (lanczos, 3.0)}


def table(source, n, method, begin=0.0, length=None):
    """Returns for each of n results the first sample, and the weights in units of 2**-22."""
    function, support = FILTERS[method]
    length = source if length is None else length
    scale = length / n
    spread = max(scale, 1.0)
    for k in range(n):
        center = begin + (k + 0.5) * scale
        first = max(0, int(center - support * spread + 0.5))
        last = min(source, int(center + support * spread + 0.5))
        weights = [function((j + first - center + 0.5) * (1.0 / spread))
                   for j in range(last - first)]
        total = 0.0
        for weight in weights:
            total += weight
        if total != 0:
            weights = [weight / total for weight in weights]
        yield first, [int(w * (1 << 22) + (-0.5 if w < 0 else 0.5)) for w in weights]


def one_pass(pixels, rows):
    """Filters the first dimension of an array of bytes."""
    result = numpy.empty((len(rows), *pixels.shape[1:]), numpy.uint8)
    for k, (first, weights) in enumerate(rows):
        taps = pixels[first:first + len(weights)].astype(numpy.int64)
        total = numpy.tensordot(numpy.array(weights, numpy.int64), taps, 1) + (1 << 21)
        result[k] = numpy.clip(total >> 22, 0, 255)
    return result


def resize(picture, width, height, method, area=None):
    """Resizes an array of height, width and channels. `area`: the part of it to resize, as left,
    top, right and bottom."""
    left, top, right, bottom = area or (0, 0, picture.shape[1], picture.shape[0])
    if (width, left, right) != (picture.shape[1], 0, picture.shape[1]):
        rows = list(table(picture.shape[1], width, method, left, right - left))
        picture = one_pass(picture.swapaxes(0, 1), rows).swapaxes(0, 1)
    if (height, top, bottom) != (picture.shape[0], 0, picture.shape[0]):
        picture = one_pass(picture, list(table(picture.shape[0], height, method, top, bottom - top)))
    return picture
