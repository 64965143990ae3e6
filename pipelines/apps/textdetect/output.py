# SPDX-License-Identifier: LGPL-2.1-or-later
"""Outputs for frames with boxes: a picture, a video file or a window.

Each has write(frame, texts), finish(), called after the last frame, and close(), always called.
"""
import dataclasses
import os
import time

import cv2
import gi
import numpy as np

gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

from failure import Failure, Missing  # noqa: E402
from stream import POLL, pipeline_of, quoted, raise_error_of  # noqa: E402

COLOR = (0, 230, 255)
# The limit of bytes in the queue for a slow encoder or display.
WAITING = 1 << 26
# Sinks by the environment variables that name a display.
WINDOWS = {"DISPLAY": "ximagesink", "WAYLAND_DISPLAY": "waylandsink"}


def display():
    """Returns the environment variable that names a display; None if there is no display."""
    return next((name for name in WINDOWS if os.environ.get(name)), None)


class Closed(Exception):
    """The window was closed."""


@dataclasses.dataclass
class Frame:
    """A frame to draw on, in BGR: height×width×3 bytes."""
    picture: np.ndarray
    caps: Gst.Caps
    pts: int

    @classmethod
    def from_sample(cls, sample):
        buffer, caps = sample.get_buffer(), sample.get_caps()
        info = GstVideo.VideoInfo.new_from_caps(caps)
        meta = GstVideo.buffer_get_video_meta(buffer)
        stride = meta.stride[0] if meta is not None else info.stride[0]
        data = np.frombuffer(buffer.extract_dup(0, buffer.get_size()), np.uint8)
        picture = np.ndarray((info.height, info.width, 3), np.uint8, data, strides=(stride, 3, 1))
        return cls(picture.copy(), caps, buffer.pts)

    def to_sample(self, pts):
        height, width, _ = self.picture.shape
        rows = np.pad(self.picture.reshape(height, width * 3), ((0, 0), (0, -width * 3 % 4)))
        buffer = Gst.Buffer.new_wrapped(rows.tobytes())
        buffer.pts = pts
        return Gst.Sample.new(buffer, self.caps, None, None)

    def draw(self, texts):
        """Draws boxes and scores."""
        thick = max(1, round(min(self.picture.shape[:2]) / 400))
        for text in texts:
            corners = np.rint(text.quad).astype(np.int32)
            cv2.polylines(self.picture, [corners], True, COLOR, thick, cv2.LINE_AA)
            left, top = corners.min(axis=0).tolist()
            bottom = corners[:, 1].max().item()
            has_room = top > 16 * thick
            place = left, top - 4 * thick if has_room else bottom + 14 * thick
            for color, width in ((0, 0, 0), 3 * thick), (COLOR, thick):
                cv2.putText(self.picture, f"{text.score:.2f}", place, cv2.FONT_HERSHEY_SIMPLEX,
                            0.4 * thick, color, width, cv2.LINE_AA)


class Picture:
    """Keeps the frame with the most text, and writes it to a file."""

    def __init__(self, path):
        self._path = path
        self._amount = self._picture = None

    def write(self, frame, texts):
        amount = len(texts), sum(text.score for text in texts)
        if self._amount is None or amount > self._amount:
            self._amount, self._picture = amount, frame.picture

    def finish(self):
        if not cv2.imwrite(self._path, self._picture):
            raise Failure(f"cannot write '{self._path}'")

    def close(self):
        pass


class Playback:
    """Plays the frames into `sink`, elements in the syntax of gst-launch-1.0."""

    def __init__(self, sink):
        self._pipeline = pipeline_of(f"appsrc name=source format=time ! videoconvert ! {sink}")
        self._source = self._pipeline.get_by_name("source")
        self._first = None
        self._pipeline.set_state(Gst.State.PLAYING)

    def write(self, frame, _texts):
        raise_error_of(self._pipeline)
        while self._source.get_current_level_bytes() > WAITING:
            time.sleep(0.01)
            raise_error_of(self._pipeline)
        if self._first is None:
            self._first = frame.pts
        known = frame.pts != Gst.CLOCK_TIME_NONE
        self._source.push_sample(frame.to_sample(frame.pts - self._first if known else frame.pts))

    def close(self):
        self._pipeline.set_state(Gst.State.NULL)


class Film(Playback):
    """Writes the frames to a file."""

    def __init__(self, path):
        super().__init__(f"vp8enc deadline=1 ! webmmux ! filesink location={quoted(path)}")

    def finish(self):
        self._source.end_of_stream()
        bus = self._pipeline.get_bus()
        while bus.timed_pop_filtered(POLL, Gst.MessageType.EOS) is None:
            raise_error_of(self._pipeline)


class Window(Playback):
    """Shows the frames. write() raises Closed when the user has closed the window."""

    def __init__(self):
        super().__init__(WINDOWS[display()] + " sync=false")

    def write(self, frame, texts):
        try:
            super().write(frame, texts)
        except Missing:  # the error of the sinks for a closed window
            raise Closed from None

    def finish(self):
        pass
