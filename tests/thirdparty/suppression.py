#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The objects that cudadetections finds are those of Ultralytics' non_max_suppression() for the same random
outputs, in the same order, bit for bit. Corners are multiples of 1/16, which stay exact where Ultralytics moves
the boxes of classes apart, and scores differ, because its order of equal ones is not defined."""
import sys

from references import need, report
need("suppression")

import numpy
import torch
from ultralytics.utils.nms import non_max_suppression

from pictures import BACKEND, Gst, need_backend, samples_of

OUTPUTS = 500
CLASSES, BOXES = 7, 250
SEED = numpy.random.SeedSequence().entropy % 2**32


def random_output(random, dtype):
    """An output of YOLO: boxes that overlap, most of them with low scores."""
    spread = random.choice([60, 600])
    center = random.integers(160, 16 * spread, (2, BOXES)) / 16
    size = random.integers(8, 8 * 60, (2, BOXES)) / 8
    best = random.permutation(2 * BOXES)[:BOXES] / (2 * BOXES)
    scores = random.integers(0, 1000, (CLASSES, BOXES)) / 1000 * best
    scores[random.integers(0, CLASSES, BOXES), numpy.arange(BOXES)] = best
    return numpy.concatenate([center, size, scores])[None].astype(dtype)


def selected(random, dtype):
    """The output of a network that selects its boxes itself: corners, score, class."""
    x0, y0, width, height, *scores = random_output(random, dtype)[0]
    rows = [x0, y0, x0 + width, y0 + height, scores[0], random.integers(0, CLASSES, BOXES)]
    return numpy.stack(rows, axis=1)[None].astype(dtype)


def items_of(structure, field):
    array = structure.get_array(field)[1]
    return [array.get_nth(i) for i in range(array.n_values)]


def objects_of(buffer):
    """Rows of x0, y0, x1, y1, score and class."""
    found = buffer.get_custom_meta("GstCudaTensorDetectionsMeta").get_structure()
    boxes = numpy.array(items_of(found, "boxes")).reshape(-1, 4)
    return numpy.column_stack([boxes, items_of(found, "confidences"), items_of(found, "class-ids")])


def found_in(outputs, properties):
    """Returns our objects in each output."""
    shape = outputs[0].shape
    caps = Gst.Caps.from_string(
        f"other/tensors,format=static,num_tensors=1,types={outputs[0].dtype},framerate=0/1,"
        f"dimensions=(string){':'.join(str(side) for side in reversed(shape))}")
    samples = [Gst.Sample.new(Gst.Buffer.new_wrapped(output.tobytes()), caps, None, None)
               for output in outputs]
    launch = (f"appsrc name=source format=time ! cudadetections width=640 height=640 backend={BACKEND} "
              f"{properties}")
    return [objects_of(sample.get_buffer()) for sample in samples_of(launch, *samples)]


def compare(make, dtype, properties, **options):
    random = numpy.random.default_rng(SEED)
    outputs = [make(random, dtype) for _ in range(OUTPUTS)]
    ours = found_in(outputs, properties)
    assert len(ours) == OUTPUTS, f"{len(ours)} buffers"
    count = 0
    for i, (output, found) in enumerate(zip(outputs, ours)):
        theirs = non_max_suppression(torch.from_numpy(output).float().clone(), **options)[0].numpy()
        assert numpy.array_equal(theirs.astype(float), found), \
            f"seed {SEED}, output {i}:\n{found}\nnot\n{theirs}"
        count += len(found)
    return f"{count} objects"


def cases():
    yield "yolo", lambda: compare(random_output, "float32", "", conf_thres=0.25, iou_thres=0.7)
    yield "yolo, float16", lambda: compare(random_output, "float16", "iou=0.45", iou_thres=0.45)
    yield "yolo, class-agnostic", lambda: compare(
        random_output, "float32", "class-agnostic=true max-objects=20", iou_thres=0.7, agnostic=True, max_det=20)
    yield "yolo, some classes", lambda: compare(
        random_output, "float32", "classes=<1,4> confidence=0.5", conf_thres=0.5, iou_thres=0.7, classes=[1, 4])
    yield "end2end", lambda: compare(selected, "float32", "max-objects=50", max_det=50)


torch.set_num_threads(1)
need_backend("suppression")
sys.exit(report(cases()))
