# SPDX-License-Identifier: LGPL-2.1-or-later
"""The text detector of rapidocr-onnxruntime, with tensors as input instead of pictures."""
import dataclasses

import numpy as np
from rapidocr_onnxruntime.ch_ppocr_det import TextDetector
from rapidocr_onnxruntime.main import DEFAULT_CFG_PATH
from rapidocr_onnxruntime.utils import read_yaml, reduce_max_side, update_model_path

# rapidocr's postprocessing rounds to whole pixels of a given picture size. With a size that is
# larger than the tensor by this factor, no precision is lost.
FINE = 16


@dataclasses.dataclass(frozen=True)
class Text:
    """A piece of text: four corners in pixels of the upright frame, clockwise, and a score of 0 to
    1."""
    quad: np.ndarray
    score: float


def upright_of(geometry):
    """Returns the width and height of the upright frame, and a matrix of shape (2, 3) that maps the
    stored frame to it. `geometry` is that of a tensor, which has the same directions."""
    axes = np.sign(np.reshape(geometry.matrix, (2, 3))[:, :2])
    stored = np.array([geometry.src_width, geometry.src_height])
    size = np.abs(axes) @ stored
    return size, np.column_stack([axes, np.where(axes.sum(1) < 0, size, 0)])


class Detector:
    """`min_side`: the shorter side, in pixels, to which smaller frames are enlarged; None for the
    default of rapidocr."""

    def __init__(self, min_side=None):
        config = update_model_path(read_yaml(DEFAULT_CFG_PATH))
        self.rapidocr = TextDetector(config["Det"])
        self._longest = config["Global"]["max_side_len"]
        if min_side is not None:
            self.rapidocr.limit_side_len = min_side
        self.mean, self.std = self.rapidocr.mean, self.rapidocr.std

    def tensor_size(self, width, height):
        """Returns the width and height to which rapidocr resizes a frame."""
        blank = np.zeros((height, width), np.uint8)
        if max(width, height) > self._longest:
            blank, _, _ = reduce_max_side(blank, self._longest)
        resized = self.rapidocr.get_preprocess(max(blank.shape)).resize(blank)
        return resized.shape[1], resized.shape[0]

    def probabilities(self, tensor):
        """Returns the probability that a pixel is in text, of shape (1, 1, height, width), for a
        tensor of shape (1, 3, height, width)."""
        return self.rapidocr.infer(tensor)[0]

    def texts(self, probabilities, geometry):
        """Returns a list of Text for a map of probabilities. `geometry` is that of the tensor."""
        _, _, height, width = probabilities.shape
        quads, scores = self.rapidocr.postprocess_op(probabilities, (height * FINE, width * FINE))
        size, matrix = upright_of(geometry)
        found = []
        for quad, score in zip(quads / FINE, scores):
            quad = np.rint(geometry.map_points(quad) @ matrix[:, :2].T + matrix[:, 2])
            kept = self.rapidocr.filter_tag_det_res([quad], tuple(size[::-1]))  # clips, drops small
            found += [Text(quad, float(score)) for quad in kept]
        return found

    def find(self, tensor):
        """Returns the text in a gst_cudatensor.Tensor, as a list of Text."""
        return self.texts(self.probabilities(np.asarray(tensor)), tensor.geometry)
