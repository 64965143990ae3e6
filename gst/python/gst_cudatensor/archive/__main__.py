# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command python -m gst_cudatensor.archive."""
from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import Any, Optional, Sequence

_EPILOG = """A second run with the same options computes only what is missing. The exit status is 0
if all chunks have rows, also those with an error; 1 if the job failed; 2 for wrong options."""


class _Parser(argparse.ArgumentParser):
    def convert_arg_line_to_args(self, arg_line: str) -> list[str]:
        """Returns the line as an argument; none for a blank line, which would name the working
        directory."""
        return [arg_line] if arg_line.strip() else []


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        "python -m gst_cudatensor.archive", fromfile_prefix_chars="@", epilog=_EPILOG,
        description="Measures or embeds the video files of an archive, on one machine or a Ray "
                    "cluster, and writes the results as Parquet. Needs the extra archive of the wheel.")
    add = parser.add_argument
    add("sources", nargs="+", metavar="SOURCE", help="a file, a folder, an s3:// or http:// URI, or "
        "@FILE with one of these on each line")
    add("--output", required=True, metavar="DIR", help="folder or URI of the results")
    add("--model", required=True, help="luminance, a file MODEL.onnx, or embed=module:function")
    add("--every", help='which frames: "1s", "200ms", "10 frames", "keyframes"; luminance: the '
        "length of an interval, default 1s")
    add("--count", type=int, help="number of frames of each file, spread evenly")
    add("--batch", type=int, help="number of frames per call of the model")
    add("--chunk", type=float, metavar="SECONDS", help="length of the parts of longer files")
    add("--whole-below", type=int, metavar="BYTES", help="size below which files are never split")
    add("--longest", type=float, metavar="SECONDS", help="how much video to read from files that do "
        "not state their duration")
    add("--model-config", metavar="FILE", help="file with the preprocessing, as for cudanormalize")
    add("--set", action="append", default=[], metavar="NAME=VALUE", dest="properties",
        help="a property of cudanormalize")
    add("--video-direction", metavar="DIRECTION", help="how pictures are turned or flipped: auto (the "
        "default; as each file says), identity, 90r, 180, 90l, horiz, vert, ul-lr or ur-ll")
    add("--confidence", type=float, help="lowest score of a detection")
    add("--columns", metavar="NAME,…", help="columns of results to keep")
    add("--device", help="auto, cpu, cuda or cuda:N")
    add("--concurrency", type=int, metavar="N", help="number of workers")
    add("--num-cpus-per-worker", type=int, metavar="N", help="number of cores per worker")
    add("--num-gpus-per-worker", type=float, metavar="N", help="GPUs per worker, for example 0.25")
    add("--address", help="address of a Ray cluster; default: start Ray on this machine")
    add("--timeout", type=float, metavar="SECONDS", help="time without anything read or "
        "decoded after which a file has failed")
    add("--retry-errors", nargs="?", const="all", metavar="all|retryable", help="compute the "
        "chunks with an error again: all, or those whose error may have passed")
    add("--rows-per-file", type=int, metavar="N", help="minimum number of rows of a Parquet file")
    return parser


def _property(text: str) -> tuple[str, Any]:
    name, found, value = text.partition("=")
    if not found:
        raise ValueError(f"--set {text}: expected NAME=VALUE")
    values = [_value(part) for part in value.strip("<>").split(",")]
    return name.replace("-", "_"), values if "," in value else values[0]


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _with_value(arguments: Sequence[str]) -> list[str]:
    """Returns the arguments, changed so that --retry-errors does not take a source that follows as
    its value."""
    following = [*arguments[1:], ""]
    return [f"{this}=all" if this == "--retry-errors" and then not in ("all", "retryable") else this
            for this, then in zip(arguments, following)]


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command. Returns the exit status."""
    words = _with_value(sys.argv[1:] if arguments is None else arguments)
    given = {name: value for name, value in vars(_parser().parse_args(words)).items()
             if value is not None}
    sources = given.pop("sources")
    try:
        from .options import Options
        from .pipeline import run
    except ImportError as error:
        print(f"error: {error}; install the wheel with its extra: pip install 'WHEEL[archive]'", file=sys.stderr)
        return 1
    try:
        given["properties"] = dict(map(_property, given["properties"]))
        if "columns" in given:
            given["columns"] = tuple(given["columns"].split(","))
        options = Options(**given)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    try:
        done = run(sources, options)
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {getattr(error, 'cause', None) or error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1
    except Exception as error:  # pylint: disable=broad-except
        if not type(error).__module__.startswith("ray."):
            raise
        print(f"error: {error}", file=sys.stderr)  # with the traceback of the worker
        return 1
    print(", ".join(f"{field.name}: {getattr(done, field.name)}"
                    for field in dataclasses.fields(done)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
