# SPDX-License-Identifier: LGPL-2.1-or-later
"""Faces that region-align aligns, beside those of InsightFace's norm_crop: OpenCV's warpAffine with the
matrix of Umeyama's similarity. tests/interop/alignedfaces.py compares them with a warp in float64."""
import sys

from references import ROOT, need, report

need("faces")

import cv2  # noqa: E402
import gi  # noqa: E402
import numpy  # noqa: E402

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

sys.path.insert(0, str(ROOT / "tests" / "interop"))
from alignedfaces import ARCFACE, SEED, SIZE, aligned, random_face, umeyama  # noqa: E402

CLIP = ROOT / "pipelines" / "media" / "pedestrians.webm"


def frames(count):
    """The first frames of the clip, as arrays."""
    pipeline = Gst.parse_launch(f"filesrc location={CLIP} ! decodebin ! videoconvert ! "
                                "video/x-raw,format=RGB ! appsink name=sink sync=false max-buffers=2")
    pipeline.set_state(Gst.State.PLAYING)
    for _ in range(count):
        sample = pipeline.get_by_name("sink").emit("try-pull-sample", 20 * Gst.SECOND)
        size = sample.get_caps().get_structure(0)
        buffer = sample.get_buffer()
        yield numpy.frombuffer(buffer.extract_dup(0, buffer.get_size()), numpy.uint8).reshape(
            size.get_int("height")[1], size.get_int("width")[1], 3)
    pipeline.set_state(Gst.State.NULL)


def equal_norm_crop():
    rng = numpy.random.default_rng(SEED)
    differences = []
    for picture in frames(10):
        faces = [random_face(rng, picture) for _ in range(4)]
        slots = numpy.asarray(aligned(picture, faces, "pad-value=0"))
        for points, slot in zip(faces, slots):
            crop = cv2.warpAffine(picture, umeyama(points, ARCFACE), (SIZE, SIZE), borderValue=0.0)
            differences.append(abs(slot - crop).mean())
    assert max(differences) < 1, f"CUDATENSOR_TEST_SEED={SEED}: {max(differences)} levels"
    return f"{numpy.mean(differences):.2f} levels on average, {max(differences):.2f} at most"


Gst.init(None)
sys.exit(report([("aligned faces equal InsightFace's norm_crop", equal_norm_crop)]))
