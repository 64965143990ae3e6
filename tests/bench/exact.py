# SPDX-License-Identifier: LGPL-2.1-or-later
"""The exact conversion of a frame in BT.709 with limited range, in float64. Programs compare other
results with it."""
import numpy


def resized(plane, source, target, subsampled):
    """Resizes a plane with bilinear interpolation. `source` and `target` are the sizes (height,
    width) of the picture and of the result. Chroma is sited as in MPEG-2: on the even columns, and
    between the rows."""
    def taps(axis, cosited=False):
        count = plane.shape[axis]
        place = (numpy.arange(target[axis]) + 0.5) * (source[axis] / target[axis]) - 0.5
        if subsampled:
            place = place / 2 if cosited else (place + 0.5) / 2 - 0.5
        low = numpy.floor(place)
        return *(numpy.clip(low + i, 0, count - 1).astype(int) for i in (0, 1)), place - low
    y0, y1, wy = taps(0)
    x0, x1, wx = taps(1, cosited=True)
    rows = plane[y0] + wy[:, None] * (plane[y1] - plane[y0])
    return rows[:, x0] + wx * (rows[:, x1] - rows[:, x0])


def rgb(luma, blue, red, target):
    """Returns the picture in this size (height, width), as an array (height, width, 3) from 0 to
    255."""
    size = luma.shape
    planes = [resized(plane.astype(numpy.float64), size, target, plane is not luma)
              for plane in (luma, blue, red)]
    y = (planes[0] - 16) * 255 / 219
    u, v = ((plane - 128) * 255 / 224 for plane in planes[1:])
    kr, kb = 0.2126, 0.0722
    kg = 1 - kr - kb
    green = y - 2 * (1 - kb) * kb / kg * u - 2 * (1 - kr) * kr / kg * v
    return numpy.clip(numpy.stack((y + 2 * (1 - kr) * v, green, y + 2 * (1 - kb) * u), axis=-1),
                      0, 255)
