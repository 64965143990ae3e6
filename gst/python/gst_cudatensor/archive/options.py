# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a job computes, and where."""
from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Optional

from .._frames import check_direction

_PERIOD = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ms|s|min)")
_SECOND = 1_000_000_000
_NANOSECONDS = {"ms": 1_000_000, "s": _SECOND, "min": 60 * _SECOND}
_LEAST_PERIOD = 1000  # ns
_FORMAT = 2  # version of the results' format
#: Options that do not change what a row contains.
_PLACEMENT = ("output", "device", "batch", "concurrency", "num_cpus_per_worker",
              "num_gpus_per_worker", "address", "timeout", "rows_per_file", "retry_errors")


def period_of(every: Optional[str]) -> Optional[int]:
    """Returns the nanoseconds of "1s", "200ms" or "2min"; None for "10 frames", "keyframes" and
    None. Raises ValueError for other texts."""
    if every is None or every == "keyframes" or re.fullmatch(r"\d+ frames", every):
        return None
    match = _PERIOD.fullmatch(every)
    period = round(Fraction(match[1]) * _NANOSECONDS[match[2]]) if match else 0
    if period < _LEAST_PERIOD:
        raise ValueError(f'every is "{every}"; expected for example "1s", "200ms", "10 frames" or '
                         '"keyframes"')
    return period


@dataclass(frozen=True)
class Options:
    """The options of a job. Raises ValueError for values that contradict each other.

    The default of `every` is one row a second for `luminance`, and every frame for networks.
    """

    output: str  #: folder or URI of the results
    model: str  #: "luminance", "embed=module:function" or the path of an ONNX model
    every: Optional[str] = None  #: which frames: "1s", "200ms", "10 frames", "keyframes"
    count: Optional[int] = None  #: number of frames of each file, instead of `every`
    batch: int = 16  #: number of frames per call of the model
    chunk: float = 120.0  #: seconds of video per chunk; longer files are split
    whole_below: int = 8 << 20  #: bytes; smaller files are one chunk, whatever they contain
    longest: float = 3600.0  #: seconds of video to read of a file that does not state its duration
    model_config: Optional[str] = None  #: file with the preprocessing, as for `cudanormalize`
    properties: dict[str, Any] = field(default_factory=dict)  #: properties of `cudanormalize`
    video_direction: str = "auto"  #: how pictures are turned or flipped, as for Frames
    confidence: float = 0.25  #: lowest score of a detection
    columns: Optional[tuple[str, ...]] = None  #: columns of results to keep; None: all
    device: str = "auto"  #: as for Frames: "auto", "cpu", "cuda" or "cuda:1"
    concurrency: Optional[int] = None  #: number of workers; None: as many as fit into the cluster
    num_cpus_per_worker: int = 1
    num_gpus_per_worker: float = 0.0
    address: Optional[str] = None  #: address of a Ray cluster; None: start Ray on this machine
    timeout: float = 30.0  #: seconds without anything read or decoded after which a file has failed
    rows_per_file: int = 5000  #: minimum number of rows of a Parquet file, except the last ones
    retry_errors: Optional[str] = None  #: which chunks with an error to compute again: "all" or "retryable"

    def __post_init__(self) -> None:
        period = period_of(self.every)
        least = {"batch": 1, "chunk": 0.001, "longest": 0.001, "timeout": 0.001, "rows_per_file": 1,
                 "num_cpus_per_worker": 1, "whole_below": 0, "num_gpus_per_worker": 0}
        for name, smallest in least.items():
            if not getattr(self, name) >= smallest:
                raise ValueError(f"{name} is {getattr(self, name)}; expected at least {smallest}")
        for name in ("count", "concurrency"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; expected at least 1")
        check_direction(self.video_direction)
        if self.retry_errors not in (None, "all", "retryable"):
            raise ValueError(f"retry_errors is {self.retry_errors}; expected all or retryable")
        if self.count is not None and self.every is not None:
            raise ValueError("every and count exclude each other")
        if is_luminance(self) and (self.count is not None or self.every and period is None
                                  and self.every != "keyframes"):
            raise ValueError('luminance takes a period such as "1s" or "keyframes" in every, and '
                             "no count")
        if not (is_luminance(self) or function_of(self) or self.model.endswith(".onnx")):
            raise ValueError(f"model is {self.model}; expected luminance, embed=module:function or "
                             "a file that ends in .onnx")


def is_luminance(options: Options) -> bool:
    """Returns whether the job is `luminance`."""
    return options.model == "luminance"


def function_of(options: Options) -> Optional[str]:
    """Returns module:function of an embedding; None for other jobs."""
    match = re.fullmatch(r"embed=([\w.]+:[\w.]+)", options.model)
    return match[1] if match else None


def chunk_length(options: Options) -> Optional[int]:
    """Returns the length of a chunk in ns; None if files are not split, because frames are counted
    from the beginning. The length is a multiple of the period, so that chunks select the same
    frames as the whole file."""
    if options.count is not None or options.every and options.every.endswith(" frames"):
        return None
    length = round(options.chunk * _SECOND)
    period = period_of(options.every) or (_SECOND if is_luminance(options) else None)
    return length if period is None else -(-length // period) * period


def fingerprint(options: Options) -> str:
    """Returns a JSON text of what the rows depend on, with hashes of the model's files."""
    values = {name: value for name, value in asdict(options).items() if name not in _PLACEMENT}
    values["format"] = _FORMAT
    for name in ("model", "model_config"):
        path = Path(getattr(options, name) or "")
        if path.is_file():
            values[name] = [path.name, hashlib.sha256(path.read_bytes()).hexdigest()]
    return json.dumps(values, sort_keys=True)
