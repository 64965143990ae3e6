#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the lines and the code of docs/detections.md with GStreamer's own inference.

The camera's pictures have a rectangle in each color channel, which the models of detectors.py find.
After cudarestore, the boxes must match the rectangles in the camera's pictures, and so must the
outlines that GStreamer draws there. A second network classifies crops of the boxes by color.
"""
import itertools
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def skip(why):
    print(f"ok 1 - detections # SKIP {why}\n1..1")
    sys.exit(0)


try:
    from rectangles import (CHANNELS, PICTURES, boxes_of, detect, detector, is_installed,
                            rectangles_of, samples)
    import numpy
    import onnx.parser
    from detectors import INPUTS, write_detectors
    from onnx.reference import ReferenceEvaluator
    from gi.repository import Gst
    import gst_cudatensor
except (ImportError, ValueError) as error:
    skip(error)

PAGE = (Path(__file__).resolve().parents[2] / "docs/detections.md").read_text()
CAMERA = "filesrc location=pipelines/media/pedestrians.webm ! decodebin"
NETWORK = "onnxinference model-file=detector.onnx ! ssdobjectdetector label-file=labels.txt"
PICTURE = "video/x-raw,format=RGB,width=512,height=256"
MODES = ("ultralytics", "affine", "top-left")

# The color of each crop of a batch: the channel with the highest mean.
CLASSIFIER = """
<ir_version: 8, opset_import: ["": 13]>
colors (float[n, 3, h, w] crops) => (int64[n] color) {
  means = ReduceMean<axes = [2, 3], keepdims = 0>(crops)
  color = ArgMax<axis = 1, keepdims = 0>(means)
}
"""


def replaced(text, *pairs):
    for old, new in pairs:
        if old not in text:
            raise RuntimeError(f"docs/detections.md has no '{old}' in: {text}")
        text = text.replace(old, new)
    return text


def line(number, model, mode, end, new_end):
    """Returns a launch line of the page with onnxinference, with another source, model, mode and
    end."""
    lines = re.findall(r"^gst-launch-1\.0 (.* onnxinference .*)$", PAGE, re.M)
    _, _, width, height = INPUTS[model.stem]
    return replaced(
        lines[number], (CAMERA, "appsrc name=camera format=time"),
        (NETWORK, detector(model)), ("ultralytics", mode),
        (PICTURE, f"video/x-raw,format=RGB,width={width},height={height}"), (end, new_end))


def tolerance_of(model, width, height):
    """Returns the tolerance: half a pixel of the network's picture, and half of one of the
    camera's. At the edge of the picture, boxes are clipped."""
    _, _, columns, rows = INPUTS[model.stem]
    return 0.5 * max(width / columns, height / rows) + 0.5


def wrong_boxes(boxes, width, height, allowed):
    if sorted(boxes) != sorted(CHANNELS):
        return f"{width}x{height}: boxes of {sorted(boxes)}"
    for label, expected in zip(CHANNELS, rectangles_of(width, height)):
        if any(abs(b - e) > allowed for b, e in zip(boxes[label], expected)):
            return f"{width}x{height}: {label} {expected} was found at {boxes[label]}"
    return None


def check_boxes(model, mode):
    """Checks the boxes and the frames after cudarestore."""
    end = " ! videoconvert ! objectdetectionoverlay ! videoconvert ! autovideosink"
    frames = detect(line(0, model, mode, end, " ! appsink name=sink sync=false"))
    for frame, (width, height) in zip(frames, PICTURES):
        if frame.get_size() != (3 * width + 3) // 4 * 4 * height:
            yield f"{width}x{height}: {frame.get_size()} bytes"
        yield wrong_boxes(boxes_of(frame), width, height, tolerance_of(model, width, height))


def pixels_of(png):
    """The picture of a PNG file, of shape (height, width, 3)."""
    pipeline = Gst.parse_launch("appsrc name=file ! pngdec ! videoconvert ! video/x-raw,format=RGB ! "
                                "appsink name=sink sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    pipeline.get_by_name("file").emit("push-buffer", png.copy_deep())
    pipeline.get_by_name("file").emit("end-of-stream")
    sample = pipeline.get_by_name("sink").emit("try-pull-sample", 20 * Gst.SECOND)
    shape = sample.get_caps().get_structure(0)
    _, width = shape.get_int("width")
    _, height = shape.get_int("height")
    data = sample.get_buffer().extract_dup(0, sample.get_buffer().get_size())
    pipeline.set_state(Gst.State.NULL)
    rows = numpy.frombuffer(data, numpy.uint8).reshape(height, -1)
    return rows[:, :3 * width].reshape(height, width, 3)


def is_outline(pixels, axis, at, begin, end, allowed):
    """Returns whether there is a white line at most `allowed` pixels from `at`, and none farther
    away. The line is two pixels wide."""
    def white(offset):
        index = at + offset
        if not 0 <= index < pixels.shape[axis]:
            return False
        side = pixels.take(index, axis)[begin:end]
        return (side >= 250).all(axis=-1).mean() > 0.8
    near = range(-allowed, allowed + 1)
    far = [sign * (allowed + more) for sign in (-1, 1) for more in (2, 3)]
    return any(map(white, near)) and not any(map(white, far))


def wrong_outline(pixels, box, allowed):
    x0, y0, x1, y1 = box
    sides = [(1, x0, y0 + 6, y1 - 6), (1, x1, y0 + 6, y1 - 6),
             (0, y0, x0 + 6, x1 - 6), (0, y1, x0 + 6, x1 - 6)]
    for axis, at, begin, end in sides:
        on_edge = at <= 0 or at >= pixels.shape[axis]
        if not on_edge and not is_outline(pixels, axis, at, begin, end, allowed):
            return f"no outline at {'yx'[axis]}={at}"
    return None


def check_outlines(model, mode):
    """Checks the outlines in the picture that the complete line shows. Small pictures have no room
    for them."""
    end = "objectdetectionoverlay ! videoconvert ! autovideosink"
    overlay = ("objectdetectionoverlay draw-labels=false ! videoconvert ! video/x-raw,format=RGB ! "
               "pngenc ! appsink name=sink sync=false")
    files = detect(line(0, model, mode, end, overlay))
    for png, (width, height) in zip(files, PICTURES):
        pixels = pixels_of(png)
        if pixels.shape != (height, width, 3):
            yield f"the PNG has the shape {pixels.shape}"
        allowed = math.floor(tolerance_of(model, width, height))
        for label, box in zip(CHANNELS, rectangles_of(width, height)):
            wrong = min(width, height) > 200 and wrong_outline(pixels, box, allowed)
            yield f"{width}x{height}: {label} {box}: {wrong}" if wrong else None


def check_crops(model, mode):
    """Checks that the second network finds each crop's color, which is the object's label."""
    colors = ReferenceEvaluator(onnx.parser.parse_model(CLASSIFIER))
    launch = line(1, model, mode, "fakesink silent=false -v", "other/tensors ! appsink name=sink "
                  "sync=false").replace("cudanormalize ", "cudanormalize backend=cpu ")
    for sample, (width, height) in zip(samples(launch), PICTURES):
        batch = gst_cudatensor.Tensor.from_sample(sample)
        slots = [slot for slot in batch.slots if slot.valid]
        crops = numpy.from_dlpack(batch)[:len(slots)]
        found = [CHANNELS[color] for color in colors.run(None, {"crops": crops})[0]]
        labels = [slot.detection_type for slot in slots]
        if found != labels or sorted(labels) != sorted(CHANNELS):
            yield f"{width}x{height}: objects {labels}, colors of their crops {found}"
        if [slot.detection_id for slot in slots] != [0, 1, 2]:
            yield f"{width}x{height}: ids {[slot.detection_id for slot in slots]}"
        yield None


def check_program(model, mode):
    """Checks the page's program, which prints the objects of a clip, with two frames with
    rectangles."""
    program = next(block for block in re.findall(r"```python\n(.*?)```", PAGE, re.S)
                   if "GstAnalytics" in block)
    _, _, width, height = INPUTS[model.stem]
    quoted = re.sub(r'"\s*\n\s*"', "", program)
    source = ("videotestsrc num-buffers=2 pattern=solid-color foreground-color=0xffff0000 ! "
              "video/x-raw,format=RGB,width=320,height=240")
    quoted = replaced(quoted, (CAMERA, source), (NETWORK, detector(model)),
                      ("ultralytics", mode),
                      (PICTURE, f"video/x-raw,format=RGB,width={width},height={height}"))
    shown = subprocess.run([sys.executable, "-W", "ignore", "-c", quoted], check=True, text=True,
                           timeout=60, stdout=subprocess.PIPE).stdout.splitlines()
    expected = "red 0 0 320 240 1.00"
    if len(shown) != 2 or not all(text.endswith(expected) for text in shown):
        yield f"the program printed {shown}, not '{expected}' twice"


def check_c(_model, _mode):
    """Checks that the C function compiles without a warning."""
    code = re.search(r"```c\n(.*?)```", PAGE, re.S)[1]
    flags = subprocess.run(["pkg-config", "--cflags", "gstreamer-video-1.0"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    done = subprocess.run(["cc", "-Wall", "-Werror", "-fsyntax-only", *flags, "-x", "c", "-"],
                          input=code + "void (*used)(GstBuffer *) = print_objects;\n", text=True,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        yield done.stderr


def wrong_with(check, model, mode):
    """A line for each fault, or for the error."""
    try:
        return [fault for fault in check(model, mode) if fault]
    except (RuntimeError, subprocess.SubprocessError) as error:
        return [str(error)]


def main():
    Gst.init(None)
    if not is_installed() or not Gst.ElementFactory.find("objectdetectionoverlay"):
        skip("onnxinference, a decoder for its output or an overlay is not installed")
    with tempfile.TemporaryDirectory() as folder:
        models = write_detectors(Path(folder))
        cases = [*itertools.product((check_boxes, check_outlines, check_crops), models, MODES),
                 (check_program, models[1], MODES[0]), (check_c, models[1], MODES[0])]
        failed = 0
        for number, (check, model, mode) in enumerate(cases, 1):
            wrong = wrong_with(check, model, mode)
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {number} - {check.__name__[6:]}, {model.stem}, "
                  f"{mode}")
            print(*(f"  {text}\n" for text in wrong), sep="", end="")
    print(f"1..{len(cases)}")
    return 1 if failed else 0


sys.exit(main())
