# SPDX-License-Identifier: LGPL-2.1-or-later
"""The frames of videos as batches."""
from __future__ import annotations

import ctypes
import datetime
import operator
import os
import re
import sys
import threading
import time
import weakref
from fractions import Fraction
from typing import Any, Callable, Iterator, Optional, Sequence, Union

from ._geometry import Geometry, Slot
from ._library import (NO_TIME, ErrorCode, FramesInfoStruct, FramesOptionsStruct, TensorError, call,
                       functions)
from ._tensor import TensorData

_SLICE = 100_000_000  # ns between two checks for signals such as Ctrl-C
_LONGEST = 10**9  # seconds
_MOST = 2**63 - 1  # frames
#: How pictures are turned or flipped: "auto", and the values of GstVideoOrientationMethod.
DIRECTIONS = ("auto", "identity", "90r", "180", "90l", "horiz", "vert", "ul-lr", "ur-ll")
_UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}

Every = Union[None, int, float, str, datetime.timedelta]
Seconds = Union[None, int, float, str, datetime.timedelta]


class FramesError(RuntimeError):
    """An error of a source, or of the settings. The message names the cause."""

    def __init__(self, code: ErrorCode, message: str, source: Optional[str] = None):
        super().__init__(message)
        self.code = code  #: the kind of the error
        self.source = source  #: the source as it was passed; None if no single source caused the error

    def __reduce__(self) -> Any:
        return FramesError, (self.code, str(self), self.source)


def _seconds(value: Any, name: str) -> float:
    """Returns a time in seconds. Raises TypeError or ValueError."""
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([0-9.]+)\s*(ms|s|min|h)\s*", value)
        try:
            return float(match[1]) * _UNITS[match[2]] if match else float(value)
        except ValueError:
            raise ValueError(f"{name} is {value!r}: expected seconds, or text such as '1.5s' or "
                             "'200ms'") from None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {value!r}: expected seconds")
    return float(value)


def _whole(value: Any, name: str, most: int) -> int:
    """Returns a number of frames, from 1 to `most`. Raises TypeError or ValueError."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is {value!r}: expected a number of frames")
    number = operator.index(value)
    if not 1 <= number <= most:
        raise ValueError(f"{name} is {number}: expected 1 to {most} frames")
    return number


def _set_every(options: FramesOptionsStruct, every: Any) -> None:
    if every is None:
        return
    if isinstance(every, str):
        if every.strip() in ("keyframes", "keyframe", "key frames"):
            options.keyframes = 1
            return
        frames = re.fullmatch(r"\s*([0-9]+)\s*frames?\s*", every)
        if frames:
            every = int(frames[1])
    if hasattr(every, "__index__"):
        options.every_frames = _whole(every, "every", _MOST)
        return
    options.every = _seconds(every, "every")
    if not 0 < options.every <= _LONGEST:
        raise ValueError(f"every is {every!r}: expected a positive time")


def check_direction(value: Any) -> None:
    """Raises ValueError if `value` is none of DIRECTIONS."""
    if value not in DIRECTIONS:
        raise ValueError(f"video_direction is {value!r}: expected one of {', '.join(DIRECTIONS)}")


def _property_text(value: Any) -> str:
    """Returns a property's value as text for gst-launch-1.0."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if hasattr(value, "__iter__"):
        return "<" + ",".join(_property_text(each) for each in value) + ">"
    return repr(float(value)) if isinstance(value, float) else str(value)


def _strings(values: Sequence[str]) -> Any:
    array = (ctypes.c_char_p * (len(values) + 1))()
    for i, value in enumerate(values):
        array[i] = os.fsencode(value)
    return array


def _printable(name: str) -> str:
    """Returns a name as the texts of errors contain it."""
    return os.fsencode(name).decode(errors="backslashreplace")


class Batch(TensorData):
    """Frames as one tensor, of shape (N, C, H, W) or (N, H, W, C). The last batch of a source has
    only the remaining frames.

    Consumers use it like any Tensor: ``torch.from_dlpack(batch)``, ``numpy.asarray(batch)``.
    """

    # Read on first use: most batches are asked for neither.
    _slots: Optional[list[Slot]] = None
    _times: Optional[tuple[Any, Any]] = None

    @property
    def slots(self) -> list[Slot]:
        """The slot of each frame, as in Tensor."""
        if self._slots is None:
            self._slots = self._read_slots()
        return self._slots

    def __len__(self) -> int:
        """The number of frames."""
        return self.shape[0]

    def _read_times(self) -> tuple[Any, Any]:
        if self._times is None:
            reference = self._open()
            count = self._n_slots
            pts, sources = (ctypes.c_int64 * count)(), (ctypes.c_int * count)()
            functions.get_slot_times(reference.address, count, pts, sources)
            self._times = pts, sources
        return self._times

    @property
    def pts(self) -> Any:
        """The timestamps of the frames: a NumPy array of shape (N,), int64, in ns from the start of
        the source; -1 for a source without a frame, and for a frame that cannot be used."""
        import numpy

        return numpy.array(self._read_times()[0], numpy.int64)

    @property
    def pts_seconds(self) -> Any:
        """The timestamps as a NumPy array of shape (N,), float64, in seconds; NaN for a source
        without a frame."""
        import numpy

        pts = self.pts
        return numpy.where(pts < 0, numpy.nan, pts / 1e9)

    @property
    def sources(self) -> Any:
        """The index of each frame's source: a NumPy array of shape (N,), int64; -1 for a source
        without a frame."""
        import numpy

        return numpy.array(self._read_times()[1], numpy.int64)

    @property
    def geometry(self) -> list[Optional[Geometry]]:
        """The position of each frame's stored picture in the tensor, also how it is turned; None for
        a source without a frame."""
        return [slot.geometry for slot in self.slots]

    def map_boxes(self, boxes: Any, frame: Optional[int] = None, corners: bool = False) -> Any:
        """Maps boxes (x0, y0, x1, y1) from the tensor's pixels to those of the source's picture as it
        is stored. If the picture was turned, a box is the one around the mapped one.

        `boxes` has shape (n, 4) for the frame with the index `frame`. Without `frame`, it has N
        arrays of shape (n, 4), or is one array of shape (N, n, 4). Returns arrays of the same
        shapes; with `corners`, those of the mapped boxes, of shapes (n, 4, 2), like
        Geometry.map_boxes(). Raises ValueError for other shapes, and for a frame without a picture.
        """
        return self._map("boxes", boxes, frame, lambda geometry, of: geometry.map_boxes(of, corners))

    def map_points(self, points: Any, frame: Optional[int] = None) -> Any:
        """Maps points, such as landmarks, from the tensor's pixels to those of the source's picture as
        it is stored.

        `points` has shape (…, 2) for the frame with the index `frame`. Without `frame`, it has N
        arrays of shape (…, 2), or is one array of shape (N, …, 2). Returns NumPy arrays of the same
        shapes, float64. Raises ValueError for other shapes, and for a frame without a picture.
        """
        return self._map("points", points, frame, lambda geometry, of: geometry.map_points(of))

    def _map(self, what: str, values: Any, frame: Optional[int],
             map_with: Callable[[Geometry, Any], Any]) -> Any:
        if frame is not None:
            geometry = self.geometry[frame]
            if geometry is None:
                raise ValueError(f"frame {frame} has no picture")
            return map_with(geometry, values)
        if len(values) != len(self):
            raise ValueError(f"{what} of {len(values)} frames for a batch of {len(self)}: pass frame "
                             "for those of one frame")
        mapped = [self._map(what, each, i, map_with) for i, each in enumerate(values)]
        if hasattr(values, "shape"):
            import numpy

            return numpy.stack(mapped)
        return mapped


def _give_back(address: int, pid: int) -> None:
    """Frees the pipeline, unless this is a forked process, in which its threads do not exist."""
    if os.getpid() == pid:
        functions.frames_unref(address)


class _Pipeline:
    """A GstCudaTensorFrames, which is closed when this object is garbage-collected."""

    #: The first process that has opened a pipeline. Processes forked from it cannot open one.
    opened_by: Optional[int] = None

    def __init__(self, address: int) -> None:
        self.address = address
        _Pipeline.opened_by = os.getpid()
        self.pid = os.getpid()
        self.finalizer = weakref.finalize(self, _give_back, address, self.pid)


class Frames:
    """The frames of a video, a stream or a camera as batches, one after another.

    >>> for batch in Frames("clip.mp4", model_config="preprocessor_config.json", batch=64, every="1s"):
    ...     y = model(torch.from_dlpack(batch))

    `source`: the path of a file, a URI (file, http, https, rtsp), a camera ("/dev/video0"), or a
    list of these. With a list, a batch has one frame of each source, all of the same time.

    `batch`: number of frames per batch, for a single source.

    `every` selects frames. "1s", "200ms", seconds as a float, or a timedelta: the frames shown at
    each multiple of this time from the start, repeated if the time is shorter than a frame. "10
    frames" or the int 10: every tenth frame. "keyframes": key frames. `count` selects this number
    of frames, spread evenly over the clip like numpy.linspace(0, n - 1, count, dtype=int), or all
    if there are fewer. `start` and `stop`, in seconds, select the frames from the one shown at
    `start` to the last one before `stop`.

    `video_direction`: "auto" turns and flips pictures that are not stored upright, as phones record
    them, as the source says; "identity" leaves them, and "90r", "180", "90l", "horiz", "vert",
    "ul-lr" and "ur-ll" turn or flip all. Sizes are those of the picture as it is seen; boxes are
    mapped to the stored one. Raises FramesError if there is no frame at all.

    `width`, `height`: size of the tensor, in pixels; 0 = the source's. `model_config`: a file that
    the model comes with. `properties` are the properties of cudanormalize, or with a list of
    sources cudatensormux, with underscores: resize_mode="ultralytics", dtype="float16",
    mean=[0.485, 0.456, 0.406].

    `device`: "auto" (the GPU if there is one), "cpu", "cuda" or "cuda:1". `live`, for cameras and
    RTSP: "drop" gives the newest frames, "block" all of them. `timeout`: seconds to wait for a
    batch. `progress`: show progress with tqdm, if that is installed and stderr is a terminal.

    The source is opened when the first batch or the format is requested; the object can be pickled
    before that, for example for spawned workers. Threads may share it: each batch goes to one of
    them. The constructor raises TypeError and ValueError for wrong arguments; other methods raise
    FramesError.
    """

    def __init__(self, source: Any, *, batch: int = 1, every: Every = None,
                 count: Optional[int] = None, start: Seconds = None, stop: Seconds = None,
                 width: int = 0, height: int = 0, model_config: Any = None,
                 video_direction: str = "auto", device: str = "auto", live: str = "drop",
                 timeout: Seconds = None, progress: bool = False, **properties: Any) -> None:
        single = isinstance(source, (str, os.PathLike))
        self._sources = [os.fspath(each) for each in ([source] if single else source)]
        self._options: dict[str, Any] = {"batch": batch, "every": every, "count": count, "start": start,
                         "stop": stop, "device": device, "live": live,
                         "video_direction": video_direction}
        self._properties = {**properties, "width": width, "height": height}
        if model_config is not None:
            self._properties["model_config"] = model_config
        self._timeout = None if timeout is None else _seconds(timeout, "timeout")
        if self._timeout is not None and not 0 <= self._timeout <= _LONGEST:
            raise ValueError(f"timeout is {timeout!r}: expected 0 to {_LONGEST} seconds")
        self._progress = progress
        self._reset()
        self._make_options()  # raises the errors of arguments

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._pipeline: Optional[_Pipeline] = None
        self._closed = False
        self._bar: Any = None

    def __getstate__(self) -> dict[str, Any]:
        if self._pipeline is not None:
            raise TypeError("frames that are being read cannot be copied or pickled: pass them on "
                            "before the first batch is read, or make them where they are used")
        return {key: value for key, value in self.__dict__.items()
                if key not in ("_lock", "_pipeline", "_bar")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._reset()
        self.__dict__.update(state)

    # ------------------------------------------------------------------------ opening

    def _make_options(self) -> FramesOptionsStruct:
        given = self._options
        if not isinstance(given["device"], str):
            raise TypeError(f"device is {given['device']!r}: expected 'auto', 'cpu' or 'cuda:0'")
        options = FramesOptionsStruct(device=os.fsencode(given["device"]))
        options.batch = _whole(given["batch"], "batch", 1024)
        _set_every(options, given["every"])
        if given["count"] is not None:
            options.count = _whole(given["count"], "count", _MOST)
        for name in ("start", "stop"):
            if given[name] is not None:
                setattr(options, "has_" + name, 1)
                setattr(options, name, _seconds(given[name], name))
                if not 0 <= getattr(options, name) <= _LONGEST:
                    raise ValueError(f"{name} is {given[name]!r}: expected 0 to {_LONGEST} seconds")
        if given["live"] not in ("drop", "block"):
            raise ValueError(f"live is {given['live']!r}: expected 'drop' or 'block'")
        options.block = given["live"] == "block"
        check_direction(given["video_direction"])
        options.video_direction = os.fsencode(given["video_direction"])
        return options

    def _error(self, error: TensorError, address: Optional[int] = None) -> FramesError:
        index = -1 if address is None else functions.frames_get_failed_source(address)
        if index < 0:
            named = [i for i, name in enumerate(self._sources)
                     if str(error).startswith(_printable(name) + ":")]
            index = named[0] if named else 0 if len(self._sources) == 1 else -1
        return FramesError(error.code, str(error), self._sources[index] if index >= 0 else None)

    def _open(self) -> _Pipeline:
        with self._lock:
            if self._closed:
                raise FramesError(ErrorCode.CLOSED, "the frames are closed")
            if _Pipeline.opened_by not in (None, os.getpid()):
                raise RuntimeError("frames were opened before the process was forked, which the "
                                   "threads of GStreamer do not survive: start the process with the "
                                   "method 'spawn', or open frames only in the new process")
            if self._pipeline is None:
                texts: list[str] = []
                for name, value in self._properties.items():
                    if name not in ("width", "height") or value != 0:
                        texts += [name.replace("_", "-"), _property_text(value)]
                try:
                    self._pipeline = _Pipeline(call(functions.frames_new, _strings(self._sources),
                                                    ctypes.byref(self._make_options()),
                                                    _strings(texts)))
                except TensorError as error:
                    raise self._error(error) from None
            return self._pipeline

    def _wait(self, function: Any, *arguments: Any) -> tuple[Any, _Pipeline]:
        """Calls a function that waits, in slices, so that signals are handled in between. Returns
        its result and the pipeline."""
        pipeline = self._open()
        end = None if self._timeout is None else time.monotonic() + self._timeout
        while True:
            left = _SLICE if end is None else int(1e9 * (end - time.monotonic()))
            try:
                return call(function, pipeline.address, *arguments[:1],
                            max(0, min(left, _SLICE)), *arguments[1:]), pipeline
            except TensorError as error:
                if error.code is not ErrorCode.TIMEOUT:
                    raise self._error(error, pipeline.address) from None
                if left <= _SLICE and end is not None:
                    names = ", ".join(map(_printable, self._sources))
                    raise FramesError(ErrorCode.TIMEOUT, f"{names}: no frame in {self._timeout:g} s",
                                      self._sources[0] if len(self._sources) == 1 else None) from None

    # ---------------------------------------------------------------------- iteration

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        """Returns the next batch. Raises FramesError, and StopIteration at the end."""
        try:
            address, pipeline = self._wait_for_next()
        except BaseException:
            self._end_progress()
            raise
        if not address:
            self._end_progress()
            raise StopIteration
        batch = Batch(address)
        if self._progress:
            self._show_progress(batch)
        return batch

    def _wait_for_next(self) -> tuple[Any, _Pipeline]:
        return self._wait(functions.frames_next)

    def close(self) -> None:
        """Closes the source. Other threads that wait for a batch get a FramesError. Batches remain
        valid."""
        with self._lock:
            self._closed = True
            pipeline, self._pipeline = self._pipeline, None
        if pipeline is not None and pipeline.pid == os.getpid():
            pipeline.finalizer.atexit = False  # it would wait for a decoder that hangs in the next call
            functions.frames_close(pipeline.address)
        self._end_progress()

    def __enter__(self) -> Frames:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        sources = self._sources[0] if len(self._sources) == 1 else self._sources
        return f"<gst_cudatensor.Frames {sources!r}{', closed' if self._closed else ''}>"

    def _count_buffers(self) -> int:
        """Returns a number that stays the same while no buffer passes through the pipeline: it waits
        for the consumer or for the source, or hangs. The first call starts the count."""
        return int(functions.frames_count_buffers(self._open().address))

    # ------------------------------------------------------------------- the source

    def _info(self, source: int = 0) -> FramesInfoStruct:
        info = FramesInfoStruct()
        self._wait(functions.frames_get_info, source, ctypes.byref(info))
        return info

    @property
    def width(self) -> int:
        """Width of the source's frames as they are seen, in pixels: that of the tensor if it is not
        resized. With a list of sources, this is that of the first. Opens the source, like the next
        properties."""
        return int(self._info().width)

    @property
    def height(self) -> int:
        """Height of the source's frames as they are seen, in pixels."""
        return int(self._info().height)

    @property
    def frame_rate(self) -> Optional[Fraction]:
        """Frames per second; None if it is unknown or varies."""
        info = self._info()
        return Fraction(info.frame_rate_n, info.frame_rate_d) if info.frame_rate_n > 0 else None

    @property
    def duration(self) -> Optional[float]:
        """Duration of the source, in seconds; None if it is unknown."""
        duration = self._info().duration
        return None if duration == NO_TIME else duration / 1e9

    # --------------------------------------------------------------------- progress

    def _show_progress(self, batch: Batch) -> None:
        if self._bar is None:
            self._bar = _make_bar(self)
        if self._bar is not False:
            self._bar.update(len(batch))

    def _end_progress(self) -> None:
        if self._bar:
            self._bar.close()
        self._bar = None


def _make_bar(frames: Frames) -> Any:
    """Returns a progress bar; False without tqdm or a terminal."""
    if not sys.stderr.isatty():
        return False
    try:
        from tqdm import tqdm
    except ImportError:
        return False
    return tqdm(unit=" frames", total=frames._options["count"])
