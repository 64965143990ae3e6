# SPDX-License-Identifier: LGPL-2.1-or-later
"""The contact sheet: a picture with its faces marked, and below it the faces, aligned."""
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from aligner import SIZE, TEMPLATE
from packaged import packaged

# Sizes in pixels of the sheet. It is drawn FINE times as large, then reduced.
FINE = 2
WIDTH, TALLEST, MARGIN, GAP = 1200, 720, 28, 12
HEADER, CAPTION = 92, 30
COLUMNS, LARGEST_TILE = 8, 200
FONT = packaged("matplotlib", "mpl-data/fonts/ttf/DejaVuSans.ttf")
BACKGROUND, TEXT, FAINT, CONTENT = (26, 28, 33), (237, 237, 232), (158, 163, 171), (255, 194, 8)


class Canvas:
    """Draws in pixels of the sheet."""

    def __init__(self, height):
        self._image = Image.new("RGB", (FINE * WIDTH, FINE * height), BACKGROUND)
        self._draw = ImageDraw.Draw(self._image)

    def paste(self, picture, x, y, width, height):
        size = FINE * width, FINE * height
        self._image.paste(picture.resize(size, Image.Resampling.BICUBIC), (FINE * x, FINE * y))

    def text(self, x, y, size, color, text):
        """Writes on the line y."""
        self._draw.text((FINE * x, FINE * y), text, color, ImageFont.truetype(FONT, FINE * size), "ls")

    def polygon(self, corners, color, width):
        points = [tuple(FINE * corner) for corner in np.asarray(corners)]
        self._draw.line([*points, *points[:2]], color, FINE * width, "curve")

    def dot(self, point, radius, color):
        self._draw.ellipse(self._around(point, radius), color)

    def ring(self, point, radius, color):
        self._draw.ellipse(self._around(point, radius), None, color, round(1.2 * FINE))

    def label(self, point, size, text):
        """Writes a number in the middle of a disk."""
        self.dot(point, 0.72 * size, CONTENT)
        self._draw.text(tuple(FINE * np.asarray(point)), text, BACKGROUND,
                        ImageFont.truetype(FONT, FINE * size), "mm")

    def finished(self):
        return self._image.reduce(FINE)

    @staticmethod
    def _around(point, radius):
        x, y = point
        return [FINE * (x - radius), FINE * (y - radius), FINE * (x + radius), FINE * (y + radius)]


def size_of(picture):
    """Returns the width and the height of the picture in the sheet."""
    scale = min((WIDTH - 2 * MARGIN) / picture.width, TALLEST / picture.height)
    return round(scale * picture.width), round(scale * picture.height)


def draw_picture(canvas, picture, places):
    """Draws the picture, with the outline and the landmarks of each face."""
    width, height = size_of(picture)
    left, scale = (WIDTH - width) // 2, width / picture.width
    canvas.paste(picture, left, HEADER, width, height)
    for number, place in enumerate(places, 1):
        corners = place.outline * scale + (left, HEADER)
        canvas.polygon(corners, CONTENT, 2)
        for point in (place.face.landmarks + 0.5) * scale + (left, HEADER):
            canvas.dot(point, 2.5, CONTENT)
        canvas.label(np.clip(corners[0], (left + 12, HEADER + 12),
                             (left + width - 12, HEADER + height - 12)), 16, str(number))


def tile_size(count):
    columns = min(count, COLUMNS)
    return min((WIDTH - 2 * MARGIN - (columns - 1) * GAP) // columns, LARGEST_TILE)


def draw_tile(canvas, x, y, side, crop, number, place):
    canvas.paste(Image.fromarray(np.clip(np.rint(crop), 0, 255).astype(np.uint8)), x, y, side, side)
    for point in (TEMPLATE + 0.5) * (side / SIZE) + (x, y):
        canvas.ring(point, 5, CONTENT)
    canvas.label((x + 14, y + 14), 16, str(number))
    canvas.text(x, y + side + 20, 13, FAINT, f"{place.angle:+.0f}°, ×{place.scale:.2f}")


def draw(title, subtitle, picture, places, crops):
    """Returns the sheet. `places` has a Place for each crop, and `crops` the shape (N, 112, 112, 3)."""
    side = tile_size(len(places))
    top = HEADER + size_of(picture)[1] + 2 * GAP
    rows = -(-len(places) // COLUMNS)
    canvas = Canvas(top + rows * (side + CAPTION + GAP) + MARGIN - GAP)
    canvas.text(MARGIN, 44, 24, TEXT, title)
    canvas.text(MARGIN, 72, 14, FAINT, subtitle)
    draw_picture(canvas, picture, places)
    for index, (place, crop) in enumerate(zip(places, crops)):
        row, column = divmod(index, COLUMNS)
        draw_tile(canvas, MARGIN + column * (side + GAP), top + row * (side + CAPTION + GAP), side, crop,
                  index + 1, place)
    return canvas.finished()
