# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds text in the pictures of a camera, a file or a URI. cudanormalize makes the tensors,
rapidocr's detector finds the text, and the geometry meta maps the boxes back to the frame."""
import argparse
import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path

signal.signal(signal.SIGINT, signal.SIG_DFL)  # exits at once, until a stream has started

import gi  # noqa: E402
import numpy as np  # noqa: E402

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

from detector import Detector  # noqa: E402
from failure import Failure, Lost  # noqa: E402
from gst_cudatensor import Tensor  # noqa: E402
from output import Closed, Film, Frame, Picture, Window, display  # noqa: E402
from stream import Stream, decoder_of, shown, uri_of  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
CLIP = ROOT / "pipelines/media/pedestrians.webm"
SIGN = 3.8  # seconds


def number(kind, low):
    """Returns a parser for numbers that are at least `low`."""
    def parse(text):
        value = kind(text)
        if not low <= value < float("inf"):
            raise ValueError
        return value
    parse.__name__ = f"number (at least {low:g})"  # shown by argparse
    return parse


def size_of(text):
    """Returns '640x480' as (640, 480)."""
    width, height = (int(side) for side in text.split("x"))
    if width % 32 or height % 32 or min(width, height) <= 0:
        raise argparse.ArgumentTypeError(f"{text}: width and height must be multiples of 32")
    return width, height


def output_of(text):
    if not text.lower().endswith((".jpg", ".jpeg", ".png", ".webm")):
        raise argparse.ArgumentTypeError(f"'{text}' must end in .jpg, .png or .webm")
    if not os.path.isdir(os.path.dirname(text) or "."):
        raise argparse.ArgumentTypeError(f"the folder of '{text}' does not exist")
    return text


def set_example(arguments):
    """Sets the source to a frame of the clip in which the detector finds only the sign. In other
    frames it also takes people for text, with scores as high."""
    arguments.source = str(CLIP)
    if arguments.start is None and arguments.frames is None:
        arguments.start, arguments.frames = SIGN, 1


def parse_arguments():
    parser = argparse.ArgumentParser(prog="text-detect", description=__doc__)
    parser.add_argument("source", nargs="?", metavar="SOURCE",
                        help="a camera device, a file or a URI (default: a frame with a sign)")
    parser.add_argument("--output", type=output_of, metavar="FILE",
                        help="write the frame with the most text as .jpg or .png, or all frames "
                             "as .webm")
    parser.add_argument("--json", action="store_true",
                        help="print a line of JSON per frame: pts (ns), quads (pixels), scores")
    parser.add_argument("--headless", action="store_true", help="do not open a window")
    parser.add_argument("--frames", type=number(int, 1), metavar="N", help="stop after N frames")
    parser.add_argument("--timeout", type=number(int, 0), default=15, metavar="SECONDS",
                        help="fail if SOURCE sends no frame for this time (default: %(default)s); "
                             "0: no limit")
    parser.add_argument("--start", type=number(float, 0), metavar="SECONDS",
                        help="position in a file at which to start")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--min-side", type=number(int, 32), default=1088, metavar="PIXELS",
                      help="enlarge frames whose shorter side is smaller (default: %(default)s; "
                           "rapidocr uses 736 for documents)")
    size.add_argument("--size", type=size_of, metavar="WIDTHxHEIGHT",
                      help="letterbox every frame into a tensor of this size")
    arguments = parser.parse_args()
    if arguments.source is None:
        set_example(arguments)
    if arguments.start is None:
        arguments.start = 0
    if arguments.output is None and not arguments.json:
        arguments.output = os.path.join(os.environ.get("BUILD_DIR", ROOT / "build-scripts"),
                                        "text-detect.jpg")
    return arguments


def outputs_of(arguments):
    if arguments.output is not None:
        is_film = arguments.output.lower().endswith(".webm")
        yield (Film if is_film else Picture)(arguments.output)
    if display() is not None and not arguments.headless:
        yield Window()


class Report:
    """Prints the results as text or as JSON."""

    def __init__(self, as_json):
        self._as_json = as_json
        self._begin = time.monotonic()
        self.frames = self._with_text = 0
        self._shape = None

    def add(self, pts, texts, shape):
        self.frames += 1
        self._with_text += bool(texts)
        self._shape = shape
        known = pts != Gst.CLOCK_TIME_NONE
        if self._as_json:
            print(json.dumps({"pts": pts if known else None,
                              "quads": [text.quad.tolist() for text in texts],
                              "scores": [round(text.score, 4) for text in texts]}), flush=True)
            return
        when = f"{pts / Gst.SECOND:8.2f} s" if known else f"frame {self.frames:4}"
        for text in texts:
            corners = "  ".join(f"({x:.0f}, {y:.0f})" for x, y in text.quad)
            print(f"{when}  score {text.score:.2f} at {corners}", flush=True)

    def end(self, backend, output):
        log = sys.stderr if self._as_json else sys.stdout
        seconds = time.monotonic() - self._begin
        shape = "×".join(str(n) for n in self._shape)
        print(f"{self.frames} frames, {self.frames / seconds:.1f} frames/s; {self._with_text} "
              f"frames with text; tensor {shape}, backend {backend}", file=log)
        if output is not None:
            print(f"Wrote {output}", file=log)


def detect(arguments, detector, stream, outputs):
    """Processes all frames. If the source fails, still writes the results up to then."""
    report = Report(arguments.json)
    lost = None
    try:
        look(arguments, detector, stream, outputs, report)
    except Lost as why:
        lost = why
    if report.frames > 0:
        for output in outputs:
            output.finish()
        report.end(stream.backend(), arguments.output)
    if lost is not None:
        raise lost
    if report.frames == 0 and not stream.stopped:
        raise Failure(f"'{shown(uri_of(arguments.source))}' sent no frame")


def look(arguments, detector, stream, outputs, report):
    with contextlib.suppress(Closed):
        for tensor_sample, frame_sample in stream:
            tensor = Tensor.from_sample(tensor_sample)
            texts = detector.find(tensor)
            report.add(tensor_sample.get_buffer().pts, texts, np.shape(tensor))
            if frame_sample is not None:
                frame = Frame.from_sample(frame_sample)
                frame.draw(texts)
                for output in outputs:
                    output.write(frame, texts)
            if report.frames == arguments.frames:
                break


def stop_on_signals(stream):
    """Makes the first SIGINT or SIGTERM end the stream, and the second one the program."""
    def stop(number, _frame):
        signal.signal(number, signal.SIG_DFL)
        stream.stop()
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, stop)


def close(stream):
    """Closes the stream. Ends the program if a thread of GStreamer still waits for the source,
    because nothing can stop that thread."""
    failure = sys.exc_info()[1]
    stream.close()
    if not stream.blocked:
        return
    if failure is not None:
        print(f"text-detect: {failure}", file=sys.stderr)
    for log in sys.stdout, sys.stderr:
        log.flush()
    os._exit(0 if failure is None else 1)


def run(arguments):
    video = decoder_of(arguments.source)
    detector = Detector(arguments.min_side)
    with contextlib.ExitStack() as stack:
        outputs = []
        for output in outputs_of(arguments):
            stack.callback(output.close)
            outputs.append(output)
        stream = Stream(video, arguments.size or detector.tensor_size, detector.mean,
                        detector.std, with_frames=bool(outputs), timeout=arguments.timeout)
        stack.callback(close, stream)
        stop_on_signals(stream)
        stream.start(round(arguments.start * Gst.SECOND))
        detect(arguments, detector, stream, outputs)


def main():
    arguments = parse_arguments()
    Gst.init(None)
    try:
        run(arguments)
    except Failure as failure:
        sys.exit(f"text-detect: {failure}")
    except BrokenPipeError:  # the reader of the output has exited
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


main()
