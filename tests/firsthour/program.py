# SPDX-License-Identifier: LGPL-2.1-or-later
"""A user's program: prints the shape of a tensor from a pipeline."""
import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

from gst_cudatensor import Tensor  # noqa: E402

Gst.init(None)
pipeline = Gst.parse_launch("videotestsrc num-buffers=1 ! cudanormalize width=64 height=48 ! "
                            "other/tensors ! appsink name=sink")
pipeline.set_state(Gst.State.PLAYING)
tensor = Tensor.from_sample(pipeline.get_by_name("sink").emit("pull-sample"))
print(tuple(tensor.shape))
pipeline.set_state(Gst.State.NULL)
