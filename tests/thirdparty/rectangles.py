# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures with a rectangle in each color channel, and the objects that GStreamer's own inference
finds in them with the models of detectors.py."""
import itertools

import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstAnalytics", "1.0")
from gi.repository import GLib, Gst, GstAnalytics

CHANNELS = ("red", "green", "blue")
BACKGROUND = 114  # the pad value, so that rectangles have the same edges at the padding
# The last one has the size of a model's input.
PICTURES = ((1280, 720), (640, 480), (500, 375), (333, 800), (96, 54), (512, 256))
DECODERS = ("ssdtensordec", "ssdobjectdetector")  # the newer name first


def rectangles_of(width, height):
    """Returns x0, y0, x1, y1 for each channel. Two rectangles touch the edges of the picture, and
    all overlap."""
    return ((0, 0, width // 2, height // 3),
            (width // 4, height // 4, width * 3 // 4, height * 2 // 3),
            (width * 2 // 5, height // 5, width, height))


def sample_of(width, height):
    """Returns an RGB picture, whose rows GStreamer pads to multiples of four bytes."""
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


def samples(launch):
    """The output samples of a pipeline for PICTURES."""
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
            yield sample
    finally:
        pipeline.set_state(Gst.State.NULL)


def detect(launch):
    """The output buffers of a pipeline for PICTURES."""
    return (sample.get_buffer() for sample in samples(launch))


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


def detector(model):
    """Returns a launch line of inference with a model and the decoder of its output."""
    # Newer releases detect the layout themselves.
    key = "input-image-format"
    known = Gst.ElementFactory.make("onnxinference").find_property(key)
    layout = f"{key}={'chw' if model.name.startswith('planar') else 'hwc'}" if known else ""
    decoder = next(filter(Gst.ElementFactory.find, DECODERS))
    # The decoder uses the product of a box's right and lower edge as its size.
    return (f"onnxinference model-file={model} {layout} ! "
            f"{decoder} label-file={model.with_name('labels')} size-threshold=1")


def is_installed():
    find = Gst.ElementFactory.find
    return bool(find("onnxinference")) and any(map(find, DECODERS))
