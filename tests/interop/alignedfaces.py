#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Faces that region-align aligns, compared with InsightFace's norm_crop, written in NumPy from its
definition: Umeyama's similarity by a singular value decomposition, and a bilinear warp in float64 whose
samples are at whole numbers. $CUDATENSOR_TEST_SEED repeats a run.

OpenCV's warpAffine, which norm_crop calls, rounds to whole levels: it differs from both by 0.2 levels on
average."""
import os
import random
import unittest

import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GObject, Gst, GstVideo  # noqa: E402
import numpy  # noqa: E402
from gst_cudatensor import Tensor  # noqa: E402

SIZE = 112
ARCFACE = numpy.array([[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366],
                       [41.5493, 92.3655], [70.7299, 92.2041]])
SEED = int(os.environ.get("CUDATENSOR_TEST_SEED", random.randrange(2**31)))


def umeyama(points, template):
    """The 2×3 matrix of the similarity without reflection with the least squared error."""
    p, q = points - points.mean(0), template - template.mean(0)
    u, s, v = numpy.linalg.svd(q.T @ p / len(p))
    signs = numpy.array([1.0, numpy.sign(numpy.linalg.det(u) * numpy.linalg.det(v))])
    turn = u @ numpy.diag(signs) @ v * (s @ signs / p.var(0).sum())
    return numpy.column_stack([turn, template.mean(0) - turn @ points.mean(0)])


def warp(picture, matrix, pad):
    """The slot of a matrix from the picture to the slot, with samples at whole numbers."""
    turn = numpy.linalg.inv(matrix[:, :2])
    grid = numpy.stack(numpy.meshgrid(range(SIZE), range(SIZE)), -1)
    x, y = numpy.moveaxis((grid - matrix[:, 2]) @ turn.T, -1, 0)
    left, top = numpy.floor(x).astype(int), numpy.floor(y).astype(int)
    height, width, _ = picture.shape
    slot = numpy.zeros((SIZE, SIZE, 3))
    for i, across in enumerate((left + 1 - x, x - left)):
        for j, down in enumerate((top + 1 - y, y - top)):
            column, row = left + i, top + j
            inside = (0 <= column) & (column < width) & (0 <= row) & (row < height)
            taps = picture[row.clip(0, height - 1), column.clip(0, width - 1)].astype(float)
            slot += numpy.where(inside[..., None], taps, pad) * (across * down)[..., None]
    return slot


def numbers(values):
    array = GObject.ValueArray.new(0)
    for value in values:
        array.append(float(value))
    return array


def add_face(frame, points):
    meta = GstVideo.buffer_add_video_region_of_interest_meta(frame, "face", 0, 0, 4, 4)
    parameter = Gst.Structure.new_empty("points")
    for name, axis in ("x", points[:, 0]), ("y", points[:, 1]):
        parameter.set_array(name, numbers(axis))
    meta.add_param(parameter)


def aligned(picture, faces, properties=""):
    """The batch of a picture with faces."""
    height, width, _ = picture.shape
    template = ",".join(map(repr, ARCFACE.ravel().tolist()))
    pipeline = Gst.parse_launch(
        f"appsrc name=source caps=video/x-raw,format=RGB,width={width},height={height},framerate=0/1 ! "
        f"cudanormalize backend=cpu width={SIZE} height={SIZE} layout=nhwc scale=1 regions=meta "
        f"max-batch={len(faces)} region-align=<{template}> {properties} ! appsink name=sink")
    pipeline.set_state(Gst.State.PLAYING)
    frame = Gst.Buffer.new_wrapped(picture.tobytes())
    for points in faces:
        add_face(frame, points)
    source = pipeline.get_by_name("source")
    source.emit("push-buffer", frame)
    source.emit("end-of-stream")
    sample = pipeline.get_by_name("sink").emit("try-pull-sample", 20 * Gst.SECOND)
    assert sample is not None, pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    batch = Tensor.from_sample(sample)
    pipeline.set_state(Gst.State.NULL)
    return batch


def random_picture(rng):
    return rng.integers(0, 256, (4 * rng.integers(30, 80), 4 * rng.integers(30, 80), 3), numpy.uint8)


def random_face(rng, picture):
    """Landmarks of a turned face, somewhat off the template. It may leave the picture."""
    height, width, _ = picture.shape
    angle, scale = rng.uniform(-3, 3), numpy.exp2(rng.uniform(-1, 1.5))
    c, s = scale * numpy.cos(angle), scale * numpy.sin(angle)
    center = rng.uniform((0, 0), (width, height))
    return (ARCFACE - 56) @ numpy.array([[c, s], [-s, c]]) + center + rng.normal(0, 2, (5, 2))


class AlignedFaces(unittest.TestCase):
    def test_equal_norm_crop(self):
        rng = numpy.random.default_rng(SEED)
        for _ in range(20):
            picture = random_picture(rng)
            faces = [random_face(rng, picture) for _ in range(3)]
            batch = aligned(picture, faces)
            for points, slot, info in zip(faces, numpy.asarray(batch), batch.slots):
                difference = abs(slot - warp(picture, umeyama(points, ARCFACE), 114))
                self.assertLess(difference.mean(), 0.01)
                self.assertLess(difference.max(), 0.25)
                self.assertEqual(info.roi_type, "face")

    def test_are_aligned_as_the_picture_is_seen(self):
        """The landmarks are those of the stored picture. The seen one is mirrored."""
        rng = numpy.random.default_rng(SEED + 1)
        seen = random_picture(rng)
        face = random_face(rng, seen)
        stored = face * (-1, 1) + (seen.shape[1] - 1, 0)
        batch = aligned(numpy.ascontiguousarray(seen[:, ::-1]), [stored], "video-direction=horiz")
        difference = abs(numpy.asarray(batch)[0] - warp(seen, umeyama(face, ARCFACE), 114))
        self.assertLess(difference.mean(), 0.01)

    def test_landmarks_are_mapped_back(self):
        """Samples are at whole numbers in the parameter, and half a pixel further in the geometry."""
        rng = numpy.random.default_rng(SEED + 2)
        picture = random_picture(rng)
        face = random_face(rng, picture)
        batch = aligned(picture, [face])
        matrix = umeyama(face, ARCFACE)
        mapped = face @ matrix[:, :2].T + matrix[:, 2]
        self.assertTrue(numpy.allclose(batch.map_points(mapped + 0.5, slot=0), face + 0.5))


if __name__ == "__main__":
    print(f"CUDATENSOR_TEST_SEED={SEED}")
    Gst.init(None)
    unittest.main(verbosity=2)
