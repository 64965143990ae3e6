#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Maps boxes that GStreamer's own inference finds after cudaletterbox to the picture of the camera.

A picture with a rectangle in each color channel goes through `cudaletterbox ! onnxinference` and
the decoder of GStreamer's SSD detectors. The models of detectors.py look for the rectangles.
Their boxes, mapped back with the geometry meta, must match the rectangles of the picture to half a
pixel of the letterbox.
"""
import itertools
import sys
import tempfile
from pathlib import Path


def skip(why):
    print(f"ok 1 - onnxinference # SKIP {why}\n1..1")
    sys.exit(0)


try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstAnalytics", "1.0")
    from gi.repository import GLib, Gst, GstAnalytics
    from detectors import write_detectors
except (ImportError, ValueError) as error:
    skip(error)

CHANNELS = ("red", "green", "blue")
BACKGROUND = 114  # the pad value, so that rectangles have the same edges at the padding
PICTURES = ((1280, 720), (640, 480), (500, 375), (333, 800), (96, 54))
MODES = ("affine", "ultralytics", "top-left")
DECODERS = ("ssdtensordec", "ssdobjectdetector")  # the newer name first
# The additional tolerance of an edge in pixels, by format: between two chroma samples it is a ramp.
BLUR = {"RGB": 0, "NV12": 1}


def rectangles_of(width, height):
    """x0, y0, x1, y1 for each channel. Two touch the edges of the picture, and all overlap."""
    return ((0, 0, width // 2, height // 3),
            (width // 4, height // 4, width * 3 // 4, height * 2 // 3),
            (width * 2 // 5, height // 5, width, height))


def sample_of(width, height):
    """A picture of RGB, whose rows GStreamer pads to multiples of four bytes."""
    rows = bytearray()
    for y in range(height):
        row = bytearray([BACKGROUND]) * (3 * width) + bytes(-3 * width % 4)
        for channel, (x0, y0, x1, y1) in enumerate(rectangles_of(width, height)):
            if y0 <= y < y1:
                row[3 * x0 + channel:3 * x1:3] = b"\xff" * (x1 - x0)
        rows += row
    caps = Gst.Caps.from_string(f"video/x-raw,format=RGB,width={width},height={height},"
                                "framerate=0/1,pixel-aspect-ratio=12/11")
    return Gst.Sample.new(Gst.Buffer.new_wrapped(bytes(rows)), caps, None, None)


def error_of(pipeline):
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    return " ".join(str(part) for part in message.parse_error()) if message else "no buffer came"


def detect(launch):
    """The output buffers of a pipeline for PICTURES."""
    pipeline = Gst.parse_launch(launch)
    camera, sink = pipeline.get_by_name("camera"), pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    try:
        for size in PICTURES:
            camera.emit("push-sample", sample_of(*size))
        camera.emit("end-of-stream")
        for _ in PICTURES:
            sample = sink.emit("try-pull-sample", 20 * Gst.SECOND)
            if sample is None:
                raise RuntimeError(error_of(pipeline))
            yield sample.get_buffer()
    finally:
        pipeline.set_state(Gst.State.NULL)


def boxes_of(buffer):
    """label → x0, y0, x1, y1 from the decoder, in pixels of the letterbox."""
    relations = GstAnalytics.buffer_get_analytics_relation_meta(buffer)
    boxes = {}
    for at in itertools.count():
        found, detection = relations.get_od_mtd(at)
        if not found:
            return boxes
        _, x, y, width, height, score = detection.get_location()
        label = GLib.quark_to_string(detection.get_obj_type())
        if label not in CHANNELS or label in boxes or score < 0.99:
            raise RuntimeError(f"{label}, with a score of {score}, beside {sorted(boxes)}")
        boxes[label] = (x, y, x + width, y + height)


def geometry_of(buffer):
    """sx, tx, sy, ty from the letterbox back to the picture."""
    fields = buffer.get_custom_meta("GstCudaTensorGeometryMeta").get_structure()
    _, inverse = fields.get_array("inverse")
    return [inverse.get_nth(i) for i in (0, 2, 4, 5)]


def check(buffer, width, height, blur):
    """The problem with the boxes of a picture, or None. `blur`: as in BLUR."""
    sx, tx, sy, ty = geometry_of(buffer)
    allowed = (sx / 2 + blur + 1e-6, sy / 2 + blur + 1e-6) * 2
    boxes = boxes_of(buffer)
    if sorted(boxes) != sorted(CHANNELS):
        return f"{width}x{height}: boxes of {sorted(boxes)}"
    for label, expected in zip(CHANNELS, rectangles_of(width, height)):
        x0, y0, x1, y1 = boxes[label]
        mapped = (sx * x0 + tx, sy * y0 + ty, sx * x1 + tx, sy * y1 + ty)
        if any(abs(m - e) > a for m, e, a in zip(mapped, expected, allowed)):
            return f"{width}x{height}: {label} {expected} was found at {mapped}"
    return None


def launch_line(source, mode, model):
    # Newer releases detect the layout themselves.
    key = "input-image-format"
    known = Gst.ElementFactory.make("onnxinference").find_property(key)
    layout = f"{key}={'chw' if model.name.startswith('planar') else 'hwc'}" if known else ""
    decoder = next(filter(Gst.ElementFactory.find, DECODERS))
    # The decoder uses the product of a box's right and lower edge as its size.
    return (f"appsrc name=camera format=time ! videoconvert ! video/x-raw,format={source} ! "
            f"cudaletterbox resize-mode={mode} ! onnxinference model-file={model} {layout} ! "
            f"{decoder} label-file={model.with_name('labels')} size-threshold=1 ! "
            "appsink name=sink sync=false")


def wrong_with(source, model, mode):
    """A line for each picture with a wrong box, or for the error."""
    try:
        found = detect(launch_line(source, mode, model))
        lines = [check(b, *size, BLUR[source]) for b, size in zip(found, PICTURES)]
    except RuntimeError as error:
        lines = [str(error)]
    return [line for line in lines if line]


def main():
    Gst.init(None)
    find = Gst.ElementFactory.find
    if not find("onnxinference") or not any(map(find, DECODERS)):
        skip("onnxinference or a decoder for its output is not installed")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        cases = list(itertools.product(BLUR, write_detectors(Path(folder)), MODES))
        for number, (source, model, mode) in enumerate(cases, 1):
            wrong = wrong_with(source, model, mode)
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {number} - {source}, {model.stem}, {mode}")
            print(*(f"  {line}\n" for line in wrong), sep="", end="")
    print(f"1..{len(cases)}")
    return 1 if failed else 0


sys.exit(main())
