# SPDX-License-Identifier: LGPL-2.1-or-later
"""Aligns faces by their landmarks, in cudanormalize."""
import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GObject, Gst, GstVideo  # noqa: E402

from failure import Failure  # noqa: E402
from gst_cudatensor import Tensor  # noqa: E402

SIZE = 112
# Where ArcFace expects the landmarks in a picture of this size; 0 is the center of the first pixel.
TEMPLATE = np.array([[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366],
                     [41.5493, 92.3655], [70.7299, 92.2041]])
PATIENCE = 30 * Gst.SECOND


def numbers(values):
    array = GObject.ValueArray.new(0)
    for value in values:
        array.append(float(value))
    return array


def frame_of(picture):
    """Returns a buffer with an RGB picture. GStreamer's rows begin at multiples of four bytes."""
    height, width, _ = picture.shape
    rows = np.pad(picture.reshape(height, width * 3), ((0, 0), (0, -width * 3 % 4)))
    return Gst.Buffer.new_wrapped(rows.tobytes())


def add_face(frame, face):
    left, top = np.maximum(np.floor(face.box[:2]), 0).astype(int).tolist()
    right, bottom = np.ceil(face.box[2:]).astype(int).tolist()
    meta = GstVideo.buffer_add_video_region_of_interest_meta(
        frame, "face", left, top, max(right - left, 1), max(bottom - top, 1))
    points = Gst.Structure.new_empty("points")
    points.set_array("x", numbers(face.landmarks[:, 0]))
    points.set_array("y", numbers(face.landmarks[:, 1]))
    meta.add_param(points)


def align(picture, faces):
    """Returns the faces in an RGB picture as a gst_cudatensor.Tensor of float32 and shape
    (number of faces, 112, 112, 3), from 0 to 255."""
    height, width, _ = picture.shape
    template = ",".join(map(str, TEMPLATE.ravel().tolist()))
    pipeline = Gst.parse_launch(
        f"appsrc name=frames caps=video/x-raw,format=RGB,width={width},height={height},framerate=0/1 ! "
        f"cudanormalize width={SIZE} height={SIZE} layout=nhwc scale=1 regions=meta "
        f"max-batch={len(faces)} region-align=<{template}> ! other/tensors ! appsink name=tensors")
    frame = frame_of(picture)
    for face in faces:
        add_face(frame, face)
    try:
        pipeline.set_state(Gst.State.PLAYING)
        pipeline.get_by_name("frames").emit("push-buffer", frame)
        pipeline.get_by_name("frames").emit("end-of-stream")
        sample = pipeline.get_by_name("tensors").emit("try-pull-sample", PATIENCE)
        if sample is None:
            raise Failure(error_of(pipeline))
        batch = Tensor.from_sample(sample)
        if batch.left_out:
            raise Failure(f"{batch.left_out} faces cannot be aligned")
        return batch
    finally:
        pipeline.set_state(Gst.State.NULL)


def error_of(pipeline):
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    return message.parse_error()[0].message if message is not None else "no tensor has come"
