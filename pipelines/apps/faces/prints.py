# SPDX-License-Identifier: LGPL-2.1-or-later
"""The default picture: prints of two portraits on a table, in several sizes and turned by several
angles.

The portraits are in the public domain, as works of the government of the United States: Eileen Collins,
by NASA, of scikit-image's sample data, and Grace Hopper, by the Navy, of Matplotlib's.
"""
from PIL import Image, ImageOps

from packaged import packaged

WIDTH, HEIGHT = 1920, 1080
TABLE = (58, 62, 70)
PAPER = (240, 238, 232)
BORDER = 0.04  # of a print's width
# Packages, files, and the part that is printed: left, top, right, bottom.
COLLINS = "skimage", "data/astronaut.png", (80, 0, 380, 360)
HOPPER = "matplotlib", "mpl-data/sample_data/grace_hopper.jpg", (36, 0, 512, 571)
# Prints: the portrait, the place of its center, its width, the degrees by which it is turned clockwise,
# and whether it is mirrored.
PRINTS = ((HOPPER, (250, 320), 340, -14, False), (COLLINS, (255, 800), 300, 24, False),
          (COLLINS, (700, 280), 400, 9, True), (HOPPER, (640, 800), 260, 33, False),
          (HOPPER, (1130, 310), 300, 19, True), (COLLINS, (1090, 790), 400, -28, False),
          (COLLINS, (1610, 290), 330, -35, False), (HOPPER, (1560, 770), 400, 6, False))


def portrait(package, file, box):
    return Image.open(packaged(package, file)).convert("RGB").crop(box)


def printed(source, width, mirrored):
    """Returns a portrait of a width with a white border."""
    picture = portrait(*source)
    picture = picture.resize((width, round(width * picture.height / picture.width)),
                             Image.Resampling.LANCZOS)
    return ImageOps.expand(ImageOps.mirror(picture) if mirrored else picture,
                           round(BORDER * width), PAPER)


def table():
    """Returns the picture."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), TABLE)
    for source, center, width, angle, mirrored in PRINTS:
        turned = printed(source, width, mirrored).convert("RGBA").rotate(
            -angle, Image.Resampling.BICUBIC, expand=True)
        place = center[0] - turned.width // 2, center[1] - turned.height // 2
        picture.paste(turned, place, turned)
    return picture
