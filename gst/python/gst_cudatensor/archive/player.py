# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file that cudahistogram measures frame by frame."""
from __future__ import annotations

import ctypes
from typing import ClassVar, Iterator, Optional

from .._library import NO_TIME, HistogramStruct, call, functions
from .chunks import LONGEST_BELIEVED, SECOND
from .faults import EndsEarly, MediaError
from .opened import ELEMENT, EOS, ERROR, OpenedFile, unref

_MOST_STUCK = 1000  # frames that may have the same timestamp
_TAIL = 2 * SECOND  # by which sound may be longer

_LINE = ("uridecodebin name=source caps=video/x-raw(ANY) expose-all-streams=false ! "
         "cudahistogram name=histogram interval=0 backend={backend} cuda-device-id={gpu} ! "
         "fakesink sync=false")


def check_end(last: int, duration: Optional[int]) -> None:
    """Raises EndsEarly if a file whose last frame is at `last` says that it is longer, in ns."""
    if duration is not None and last < duration - max(_TAIL, duration // 50):
        raise EndsEarly(f"the video ends at {last / SECOND:.1f} s, of {duration / SECOND:.1f} s that "
                        "the file states")


def check_length(time: int, duration: Optional[int], longest: float) -> None:
    """Raises MediaError if a file has no end: with a frame at `time` in ns, after `longest` seconds
    where it states no duration that can be believed, and that much after the duration it states."""
    is_stated = duration is not None and duration <= LONGEST_BELIEVED
    limit = longest + (duration / SECOND if is_stated else 0)
    if time > limit * SECOND:
        raise MediaError(f"does not end after {limit:g} s of video")


class Player(OpenedFile):
    """A pipeline that measures a file.

    `timeout`: as of Patience. `device`: what measures, and decodes if it can: "cpu", "cuda", "cuda:1",
    or "auto", which is a GPU if there is one.
    """

    #: Of the decoders of the last file, by device. The driver makes and ends the CUDA contexts of a
    #: machine one at a time, which would limit many workers with short files.
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
        """For the next file. After an error, the context may be the cause."""
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
        """The histogram of each frame whose stream time is from `begin` up to `stop` (None: the end
        of the file), in ns. The struct is valid until the next one. `keyframes`: only key
        frames are decoded, where the container tells them."""
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
        """Fills `struct` with the next frame's histogram; False at the end of the file."""
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
