# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures a file frame by frame with cudahistogram."""
from __future__ import annotations

import ctypes
from typing import ClassVar, Iterator, Optional

from .._library import NO_TIME, HistogramStruct, call, functions
from .chunks import LONGEST_BELIEVED, SECOND
from .faults import EndsEarly, MediaError
from .opened import ELEMENT, EOS, ERROR, OpenedFile, unref

_MOST_STUCK = 1000  # frames that may have the same timestamp
_TAIL = 2 * SECOND  # how much longer the sound may be

_LINE = ("uridecodebin name=source caps=video/x-raw(ANY) expose-all-streams=false ! "
         "cudahistogram name=histogram interval=0 backend={backend} cuda-device-id={gpu} ! "
         "fakesink sync=false")


def check_end(last: int, duration: Optional[int]) -> None:
    """Raises EndsEarly if the last frame is at `last`, in ns, and the file states a longer
    duration."""
    if duration is not None and last < duration - max(_TAIL, duration // 50):
        raise EndsEarly(f"the video ends at {last / SECOND:.1f} s, of {duration / SECOND:.1f} s that "
                        "the file states")


def check_length(time: int, duration: Optional[int], longest: float) -> None:
    """Raises MediaError if a file does not end: if a frame at `time`, in ns, is more than `longest`
    seconds after the stated duration, or after 0 if that is missing or not credible."""
    is_stated = duration is not None and duration <= LONGEST_BELIEVED
    limit = longest + (duration / SECOND if is_stated else 0)
    if time > limit * SECOND:
        raise MediaError(f"does not end after {limit:g} s of video")


class Player(OpenedFile):
    """A pipeline that measures a file.

    `timeout` is that of Patience. `device` measures, and decodes if it can: "cpu", "cuda",
    "cuda:1", or "auto" (a GPU if there is one).
    """

    #: The CUDA context of the last file's decoders, by device. The driver creates and destroys the contexts
    #: of a machine one at a time, which would limit many workers with short files.
    _cuda_contexts: ClassVar[dict[str, int]] = {}

    def __init__(self, source: str, timeout: float, device: str = "cpu") -> None:
        kind, _, number = device.partition(":")
        super().__init__(_LINE.format(backend=kind, gpu=number or -1), source, timeout)
        self._device = device
        if kind != "cpu":
            with self.element("source") as address:
                functions.prefer_gpu_decoders(address, int(number or 0))
            if device in self._cuda_contexts:
                self.set_context(self._cuda_contexts[device])

    def __exit__(self, *exception: object) -> None:
        self._keep_context()
        super().__exit__(*exception)

    def _keep_context(self) -> None:
        """Keeps the CUDA context for the next file, unless there was an error, of which it may be
        the cause."""
        if self._device == "cpu":
            return
        context = None if self.has_failed else self.context("gst.cuda.context")
        last = self._cuda_contexts.pop(self._device, None)
        if last is not None:
            unref(last)
        if context is not None:
            self._cuda_contexts[self._device] = context

    def histograms(self, begin: int, stop: Optional[int],
                   keyframes: bool = False) -> Iterator[HistogramStruct]:
        """Yields the histogram of each frame whose stream time, in ns, is at least `begin` and less
        than `stop` (None: the end of the file). The struct is valid until the next one. With
        `keyframes`, only key frames are decoded, if the container marks them."""
        if begin or keyframes:
            self.set("histogram", "post-messages", "false")
            self.open()
            self.set("histogram", "post-messages", "true")
            self.seek(begin, keyframes)
        self.play()
        struct, last, stuck = HistogramStruct(), 0, 0
        while self._next(struct):
            stuck = stuck + 1 if struct.stream_time <= last else 0
            last = struct.stream_time
            if last == NO_TIME or stuck > _MOST_STUCK:
                raise MediaError("the frames have no timestamps, or the same one")
            if stop is not None and last >= stop:
                return
            if last >= begin:
                yield struct
        if not keyframes:
            check_end(last, self.known_duration())

    def _next(self, struct: HistogramStruct) -> bool:
        """Fills `struct` with the next frame's histogram. Returns False at the end of the file."""
        while True:
            message = self.pop(ELEMENT | ERROR | EOS)
            kind = self.kind(message)
            if kind == ERROR:
                raise self.error(message)
            try:
                if kind == EOS:
                    return False
                if functions.is_histogram(message):
                    call(functions.histogram_parse, message, ctypes.byref(struct))
                    return True
            finally:
                unref(message)
