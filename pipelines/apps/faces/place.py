# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where an aligned face lies in its picture, by the geometry of its slot."""
import dataclasses
import math

import numpy as np

from aligner import SIZE, TEMPLATE
from detector import Face


@dataclasses.dataclass(frozen=True)
class Place:
    face: Face
    outline: np.ndarray  #: the corners of the slot, of shape (4, 2), in pixels of the picture
    angle: float  #: degrees by which the face is turned clockwise
    scale: float  #: from pixels of the picture to pixels of the slot
    distance: float  #: from the landmarks to the template, in pixels of the slot: root mean square


def place_of(face, geometry):
    a, _, _, b, _, _ = geometry.inverse
    scale = 1 / math.hypot(a, b)
    # Pixels of metas begin at their edge, landmarks at the center of the first pixel.
    expected = geometry.map_points(TEMPLATE + 0.5) - 0.5
    distance = scale * math.sqrt(((expected - face.landmarks) ** 2).sum(1).mean())
    outline, = geometry.map_boxes(np.array([[0.0, 0.0, SIZE, SIZE]]), corners=True)
    return Place(face, outline, math.degrees(math.atan2(b, a)), scale, distance)
