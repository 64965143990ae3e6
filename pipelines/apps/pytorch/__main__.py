# SPDX-License-Identifier: LGPL-2.1-or-later
"""Video to PyTorch on the GPU all the way: NVDEC decodes, cudanormalize makes the tensors, and the
network gets them where they are. Needs a GPU, PyTorch, PyGObject and the package in gst/python."""
import argparse
import sys
import time
from pathlib import Path

import gi
import gst_cudatensor
import torch

from frames import Edges, description_of, tensors_of, write_png

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import GLib, Gst, GstApp  # noqa: E402,F401  GstApp: appsink's methods

CLIP = Path(__file__).resolve().parents[2] / "media/pedestrians-1080p.mp4"


def parse_arguments():
    parser = argparse.ArgumentParser(prog="pytorch", description=__doc__)
    parser.add_argument("source", nargs="?", default=str(CLIP), metavar="SOURCE",
                        help="a file or URI; default: a short clip")
    parser.add_argument("--model", metavar="FILE", help="a TorchScript network for (1, 3, H, W)")
    parser.add_argument("--output", metavar="FILE",
                        help="write the last tensor, and its edges, as a PNG")
    parser.add_argument("--size", type=int, default=640, metavar="PIXELS", help="H and W (640)")
    return parser.parse_args()


def samples_of(pipeline):
    """The appsink's, to the end. Exits with what an element has failed with."""
    sink, bus = pipeline.get_by_name("sink"), pipeline.get_bus()
    while True:
        sample = sink.try_pull_sample(100 * Gst.MSECOND)
        if sample is not None:
            yield sample
        elif (message := bus.pop_filtered(Gst.MessageType.ERROR)) is not None:
            error, details = message.parse_error()
            sys.exit(f"pytorch: {error.message}\n{details}")
        elif sink.get_property("eos"):
            return


def run(arguments):
    uri = arguments.source
    if not Gst.uri_is_valid(uri):
        uri = Gst.filename_to_uri(uri)
    network = torch.jit.load(arguments.model) if arguments.model else Edges()
    network = network.cuda().eval()
    pipeline = Gst.parse_launch(description_of(uri, arguments.size))
    # Elements and PyTorch then work in one context, in which addresses mean the same.
    gst_cudatensor.share_primary_context(pipeline)
    pipeline.set_state(Gst.State.PLAYING)
    begin, frames, result = time.monotonic(), 0, None
    try:
        with torch.inference_mode():
            for batch in tensors_of(samples_of(pipeline)):
                result = network(batch)
                frames += 1
            if arguments.output and frames > 0:
                edges = Edges().cuda().strength(batch)
                write_png(torch.cat((batch[0], edges[0]), 2), arguments.output)
    finally:
        pipeline.set_state(Gst.State.NULL)
    if frames == 0:
        sys.exit(f"pytorch: '{arguments.source}' gave no frame")
    torch.cuda.synchronize()
    print(f"{frames} frames, {frames / (time.monotonic() - begin):.1f} frames/s; "
          f"of the last: {result.flatten()[:8].tolist()}")


def main():
    arguments = parse_arguments()
    if not torch.cuda.is_available():
        sys.exit("pytorch: there is no GPU that PyTorch can use")
    Gst.init(None)
    try:
        run(arguments)
    except (GLib.Error, gst_cudatensor.TensorError, OSError) as error:
        sys.exit(f"pytorch: {error}")


main()
