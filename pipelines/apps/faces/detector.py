# SPDX-License-Identifier: LGPL-2.1-or-later
"""The face detector: MTCNN, of the package mtcnn-runtime."""
import dataclasses

import numpy as np
from mtcnnruntime import MTCNN

# The shorter side of the smallest face, in pixels. Smaller faces would take more time, and have too few
# pixels for a slot of 112×112.
SMALLEST = 40
# The least probability of a face, in each of the three networks.
THRESHOLDS = [0.7, 0.8, 0.9]


@dataclasses.dataclass(frozen=True)
class Face:
    """A face: its box (x0, y0, x1, y1) and its landmarks of shape (5, 2), in pixels of the picture, and
    a score of 0 to 1. The landmarks are the left and the right eye, the nose, and the left and the
    right corner of the mouth, as the picture shows them; 0 is the center of the first pixel."""
    box: np.ndarray
    landmarks: np.ndarray
    score: float


class Detector:
    def __init__(self):
        self._mtcnn = MTCNN()

    def find(self, picture):
        """Returns the faces in an RGB picture of shape (height, width, 3), from left to right."""
        if min(picture.shape[:2]) <= SMALLEST:
            return []
        try:
            boxes, landmarks = self._mtcnn.detect(np.ascontiguousarray(picture[..., ::-1]),
                                                  SMALLEST, THRESHOLDS)
        except ValueError as error:
            # What mtcnn-runtime gives for a picture in which its first network finds nothing.
            if "need at least one array" not in str(error):
                raise
            return []
        faces = [Face(box[:4], points.reshape(2, 5).T.astype(float), float(box[4]))
                 for box, points in zip(boxes, landmarks)]
        return sorted(faces, key=lambda face: face.box[0])
