# SPDX-License-Identifier: LGPL-2.1-or-later
"""The faces of the benchmarks; works.cpp has the same."""
import numpy as np


def face_matrices(size, faces, width, height):
    """Similarities that align faces of 60 to 140 pixels all over the picture, each at an angle of its
    own: (faces, 2, 3), from the picture to the slot in continuous coordinates."""
    number = np.arange(faces)
    scale = size / (60 + 80 * (number % 9) / 8)
    angle = 0.12 * (number % 11 - 5)
    c, s = scale * np.cos(angle), scale * np.sin(angle)
    x, y = width * (0.1 + 0.1 * (number % 8)), height * (0.1 + 0.1 * (number // 8 % 8))
    return np.stack([c, s, size / 2 - c * x - s * y,
                     -s, c, size / 2 + s * x - c * y], 1).reshape(faces, 2, 3)


def at_samples(matrices):
    """The same matrices for software whose samples are at whole numbers, such as OpenCV."""
    samples = matrices.copy()
    samples[:, :, 2] += 0.5 * (matrices[:, :, 0] + matrices[:, :, 1] - 1)
    return samples
