# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures for our elements, and the elements' outputs."""
import dataclasses
import functools
import os
import re
import sys

import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
import gst_cudatensor
import numpy

from references import ROOT

BACKEND = os.environ.get("CUDATENSOR_TEST_BACKEND", "auto")
MEDIA = ROOT / "pipelines/media"


@dataclasses.dataclass(frozen=True)
class Picture:
    sample: Gst.Sample
    width: int
    height: int

    @classmethod
    def of_sample(cls, sample):
        structure = sample.get_caps().get_structure(0)
        return cls(sample, structure.get_value("width"), structure.get_value("height"))

    @classmethod
    def of_pixels(cls, array):
        """Returns a sample of an array of height and width, and of three channels if it is RGB."""
        height, width, *channels = array.shape
        used = width * (channels[0] if channels else 1)
        rows = numpy.zeros((height, (used + 3) // 4 * 4), numpy.uint8)
        rows[:, :used] = array.reshape(height, -1)
        caps = Gst.Caps.from_string(f"video/x-raw,format={'RGB' if channels else 'GRAY8'},"
                                    f"width={width},height={height},framerate=0/1")
        return cls(Gst.Sample.new(Gst.Buffer.new_wrapped(rows.tobytes()), caps, None, None),
                   width, height)


def need_backend(name):
    """Skips the test if there is no such device."""
    Gst.init(None)
    try:
        tensor(Picture.of_pixels(numpy.zeros((2, 2), numpy.uint8)), "color=gray")
    except RuntimeError as error:
        if BACKEND != "cuda":
            raise
        print(f"ok 1 - {name} # SKIP {str(error).splitlines()[0]}\n1..1")
        sys.exit(0)


def samples_of(launch, *samples):
    """Returns the output of a pipeline. `samples`: input of its appsrc `source`."""
    pipeline = Gst.parse_launch(f"{launch} ! appsink name=sink sync=false")
    sink = pipeline.get_by_name("sink")
    try:
        started = pipeline.set_state(Gst.State.PLAYING) != Gst.StateChangeReturn.FAILURE
        source = pipeline.get_by_name("source") if started and samples else None
        for sample in samples:
            source.emit("push-sample", sample)
        if source is not None:
            source.emit("end-of-stream")
        while started and (pulled := sink.emit("try-pull-sample", 60 * Gst.SECOND)) is not None:
            yield pulled
        if error := pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR):
            raise RuntimeError(" ".join(str(part) for part in error.parse_error()))
    finally:
        pipeline.set_state(Gst.State.NULL)


def sample_of(launch, *samples):
    """Returns a pipeline's only output for some samples."""
    made = list(samples_of(launch, *samples))
    assert len(made) == 1, f"{len(made)} buffers came"
    return made[0]


@functools.cache
def samples(name, video_format):
    """Returns the frames of one of the repository's videos."""
    return list(samples_of(f"filesrc location={MEDIA / name} ! decodebin ! videoconvert ! "
                           f"video/x-raw,format={video_format}"))


def video(name, video_format, frame):
    return Picture.of_sample(samples(name, video_format)[frame])


def quoted(properties):
    return re.sub(r"=(<[^>]*>)", r'="\1"', properties)


def clip(pictures, properties):
    """Returns cudanormalize's only output for some pictures."""
    sample = sample_of(f"appsrc name=source ! cudanormalize backend={BACKEND} "
                       f"{quoted(properties)} ! other/tensors", *(p.sample for p in pictures))
    return numpy.array(gst_cudatensor.Tensor.from_sample(sample))


def tensor(picture, properties):
    """Returns cudanormalize's output for a picture, without the dimension N."""
    return clip([picture], properties)[0]


def letterboxed(picture, properties, width, height):
    """Returns cudaletterbox's output as an array of RGB pixels."""
    sample = sample_of(
        f"appsrc name=source ! cudaletterbox backend={BACKEND} {quoted(properties)} ! "
        f"video/x-raw,format=RGB,width={width},height={height}", picture.sample)
    buffer = sample.get_buffer()
    flat = numpy.frombuffer(buffer.extract_dup(0, buffer.get_size()), numpy.uint8)
    return flat.reshape(height, -1)[:, :3 * width].reshape(height, width, 3).copy()


def as_rgb(picture):
    """Returns cudaletterbox's output at the picture's own size as an array of RGB pixels."""
    return letterboxed(picture, "", picture.width, picture.height)
