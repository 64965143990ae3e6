#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Uses the package's own GStreamer and the system's, through PyGObject, at the same time in one
process. The package must not take samples and elements of the system's GStreamer.

usage: coexist.py before|after CLIP    PyGObject is imported before or after the package
"""
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "interop"))


def system_gstreamer():
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    from gi.repository import Gst, GstVideo
    Gst.init(None)
    return Gst, GstVideo


if sys.argv[1] == "before":
    Gst, _ = system_gstreamer()
    import gst_cudatensor
else:
    import gst_cudatensor
    Gst, _ = system_gstreamer()
import rawgst  # noqa: E402

CLIP = Path(sys.argv[2]).resolve()


def system_samples(counted):
    """Decodes the clip with the system's GStreamer."""
    pipeline = Gst.parse_launch(f"filesrc location={CLIP} ! decodebin ! videoconvert ! "
                                "appsink name=sink sync=false max-buffers=4")
    pipeline.set_state(Gst.State.PLAYING)
    while sample := pipeline.get_by_name("sink").emit("pull-sample"):
        counted.append(sample.get_buffer().get_size())
    pipeline.set_state(Gst.State.NULL)


def check_refused(function, thing):
    try:
        function(thing)
    except TypeError as error:
        assert "another GStreamer" in str(error) and "GST_CUDATENSOR_SYSTEM=1" in str(error), error
    else:
        sys.exit(f"{thing!r} is not refused")


def main():
    counted = []
    thread = threading.Thread(target=system_samples, args=[counted])
    thread.start()
    tensors = [gst_cudatensor.Tensor.from_sample(sample).shape for sample in rawgst.samples(
        f"filesrc location={CLIP} ! decodebin ! cudanormalize width=64 height=64 ! other/tensors ! "
        "appsink name=sink sync=false max-buffers=4")]
    thread.join()
    assert len(tensors) == len(counted) > 10, (len(tensors), len(counted))

    pipeline = Gst.parse_launch("videotestsrc num-buffers=1 ! appsink name=sink")
    pipeline.set_state(Gst.State.PLAYING)
    sample = pipeline.get_by_name("sink").emit("pull-sample")
    for thing in (sample, hash(sample)):
        check_refused(gst_cudatensor.Tensor.from_sample, thing)
    for thing in (pipeline, hash(pipeline)):
        check_refused(gst_cudatensor.share_primary_context, thing)
    pipeline.set_state(Gst.State.NULL)


main()
