# SPDX-License-Identifier: LGPL-2.1-or-later
"""Passes video to PyTorch without leaving the GPU: NVDEC decodes, cudanormalize makes the tensors,
and the network reads them in place. Needs a GPU, PyTorch, PyGObject and the package of gst/python.
"""
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
                        help="a file or a URI (default: a short clip)")
    parser.add_argument("--model", metavar="FILE",
                        help="a TorchScript network for (1, 3, H, W) (default: an edge filter)")
    parser.add_argument("--output", metavar="FILE",
                        help="write the last tensor and its edges as PNG")
    parser.add_argument("--size", type=int, default=640, metavar="PIXELS",
                        help="height and width of the tensor (default: %(default)s)")
    return parser.parse_args()


def samples_of(pipeline):
    """Yields the samples of the appsink. If an element fails, exits with its error."""
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
    # Elements and PyTorch then use the same CUDA context, in which both can use an address.
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
        sys.exit(f"pytorch: '{arguments.source}' sent no frame")
    torch.cuda.synchronize()
    print(f"{frames} frames, {frames / (time.monotonic() - begin):.1f} frames/s; "
          f"result of the last frame: {result.flatten()[:8].tolist()}")


def main():
    arguments = parse_arguments()
    if not torch.cuda.is_available():
        sys.exit("pytorch: PyTorch finds no usable GPU")
    Gst.init(None)
    try:
        run(arguments)
    except (GLib.Error, gst_cudatensor.TensorError, OSError) as error:
        sys.exit(f"pytorch: {error}")


main()
