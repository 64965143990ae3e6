# SPDX-License-Identifier: LGPL-2.1-or-later
"""Converts video to tensors for the detector, each with its frame."""
import os
import re
import stat
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import GLib, Gst, GstApp  # noqa: E402,F401  GstApp: appsink's methods

from failure import Failure, Lost, Missing  # noqa: E402

POLL = 100 * Gst.MSECOND
# The number of seconds within which a stream must close.
PATIENCE = 3
# The values of the tag image-orientation that exchange width and height.
EXCHANGES = ("rotate-90", "rotate-270", "flip-rotate-90", "flip-rotate-270")
# The number of frames of a camera that are kept until their tensors have been processed.
LIVE_FRAMES = 4


def quoted(text):
    """Returns `text` quoted as the value of a property in a description."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def decoder_of(source):
    """Returns elements that decode the video of a camera device, a file or a URI."""
    # With narrower caps, uridecodebin would reject decoders whose pad templates have additional
    # caps.
    return (f"uridecodebin name=decoder uri={quoted(uri_of(source))} expose-all-streams=false "
            "caps=video/x-raw(ANY)")


def uri_of(source):
    if not source:
        raise Failure("SOURCE is empty; it must be a camera device, a file or a URI")
    if Gst.uri_is_valid(source):
        if source.startswith("file:"):
            check_file(Gst.uri_get_location(source))
        return source
    is_device = stat.S_ISCHR(check_file(source))
    return f"v4l2://{source}" if is_device else Gst.filename_to_uri(source)


def check_file(path):
    """Returns the mode of a file. A pipe is not opened, because that waits for its writer."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise Failure(f"'{path}' does not exist; SOURCE must be a camera device, a file or a "
                      "URI") from None
    except OSError as error:
        raise Failure(f"'{path}' cannot be opened: {error.strerror}") from None
    if stat.S_ISDIR(status.st_mode):
        raise Failure(f"'{path}' is a directory")
    if stat.S_ISSOCK(status.st_mode):
        raise Failure(f"'{path}' is a socket")
    if not os.access(path, os.R_OK):
        raise Failure(f"'{path}' cannot be read: Permission denied")
    if stat.S_ISREG(status.st_mode) and status.st_size == 0:
        raise Failure(f"'{path}' is empty")
    return status.st_mode


def shown(uri):
    """Returns the URI without user name, password and query; for a file, its path."""
    if uri.startswith("file:"):
        return Gst.uri_get_location(uri)
    # Removes up to the last @, because passwords may contain unescaped slashes and @.
    return re.sub("//.*@", "//", uri).partition("?")[0]


def list_of(values):
    return '"<' + ",".join(str(float(value)) for value in values) + '>"'


def pipeline_of(description):
    try:
        return Gst.parse_launch_full(description, None, Gst.ParseFlags.FATAL_ERRORS)
    except GLib.Error as error:
        raise Failure(error.message) from None


def raise_error_of(pipeline):
    """Raises a Failure if an element has posted an error."""
    wanted = Gst.MessageType.ERROR | Gst.MessageType.ELEMENT
    while (message := pipeline.get_bus().pop_filtered(wanted)) is not None:
        if message.type == Gst.MessageType.ELEMENT:
            pipeline.missing = missing_plugin(message) or getattr(pipeline, "missing", None)
            continue
        error, debug = message.parse_error()
        text = f"{message.src.get_name()}: {error.message}" + (f"\n{debug}" if debug else "")
        if error.matches(Gst.CoreError.quark(), Gst.CoreError.MISSING_PLUGIN):
            text = getattr(pipeline, "missing", None) or text
        if (decoder := pipeline.get_by_name("decoder")) is not None:
            uri = decoder.get_property("uri")
            text = f"'{shown(uri)}': {text.replace(uri, shown(uri))}"
        missing = error.matches(Gst.ResourceError.quark(), Gst.ResourceError.NOT_FOUND)
        raise (Missing if missing else Failure)(text)


def missing_plugin(message):
    """Returns what GStreamer lacks to play the video; None for other messages."""
    fields = message.get_structure()
    if fields.get_name() != "missing-plugin" or "audio" in fields.to_string():
        return None
    return (f"no {fields.get_string('name')} is installed; on Debian, the package gstreamer1.0-libav "
            "has decoders for most formats, gstreamer1.0-plugins-bad most others")


def set_up(_pipeline, _bin, element):
    """Sets a property of multipartdemux, which otherwise waits for more streams: cameras that send
    JPEG over HTTP have only one."""
    factory = element.get_factory()
    if factory is not None and factory.get_name() == "multipartdemux":
        element.set_property("single-stream", True)


class Stream:
    """Iterates over pairs of samples: a tensor, and its frame in BGR or None. Both are upright, as
    the tags of the video say.

    `video`: elements that produce video, in the syntax of gst-launch-1.0.
    `tensor_size`: a function from the width and height of a frame to those of the tensor, or a
    fixed (width, height) into which frames are letterboxed.
    Uses the newest frame of live video, and every frame of other video. Raises Lost if an element
    fails or if no frame arrives for `timeout` seconds (0: no limit).
    """

    def __init__(self, video, tensor_size, mean, std, with_frames=True, timeout=15):
        self.stopped = self.blocked = False
        self._timeout = timeout * Gst.SECOND
        self._fixed_size = None if callable(tensor_size) else tensor_size
        self._size_of = tensor_size
        self._stored_size = None  # of the video's frames: width, height
        self._orientations = {}  # in the tags, by their scope
        # deinterlace passes interlaced frames through if it does not support their format.
        description = (
            f"{video} ! videoconvert ! deinterlace fields=top ! tee name=tee "
            f"tee. ! cudanormalize name=normalize color=bgr video-direction=auto "
            f"interlaced=as-progressive mean={list_of(mean)} std={list_of(std)} ! other/tensors ! "
            "appsink name=tensors async=false sync=false max-buffers=1")
        if with_frames:
            description += (" tee. ! cudaletterbox video-direction=auto interlaced=as-progressive ! "
                            "video/x-raw,format=BGR ! appsink name=frames async=false sync=false "
                            "max-buffers=1")
        self._pipeline = pipeline_of(description)
        self._pipeline.connect("deep-element-added", set_up)
        self._normalize = self._pipeline.get_by_name("normalize")
        self._tensors = self._pipeline.get_by_name("tensors")
        self._frames = self._pipeline.get_by_name("frames")
        # Without preroll, frames arrive before the pipeline plays. A full sink would then wait while it holds
        # the lock that it needs to start playing.
        self._entry = self._pipeline.get_by_name("tee").get_static_pad("sink")
        self._gate = self._entry.add_probe(
            Gst.PadProbeType.BLOCK | Gst.PadProbeType.BUFFER, lambda *_: Gst.PadProbeReturn.OK)
        self._set_size()

    def start(self, position=0):
        """Starts to play at a position in ns."""
        if self._pause() == Gst.StateChangeReturn.NO_PREROLL:
            for sink, kept in ((self._tensors, 1), (self._frames, LIVE_FRAMES)):
                if sink is not None:
                    sink.set_properties(drop=True, max_buffers=kept)
        if position > 0 and not self._pipeline.seek_simple(
                Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE, position):
            raise Failure("SOURCE cannot start at another position than its beginning")
        self._pipeline.set_state(Gst.State.PLAYING)  # a failure is also posted as a message
        self._entry.remove_probe(self._gate)

    def stop(self):
        """Ends the iteration; may be called from a signal handler."""
        self.stopped = True

    def backend(self):
        return self._normalize.get_property("active-backend").value_nick

    def close(self):
        """Closes the pipeline, within PATIENCE: a source that waits for data, for example from a
        pipe, cannot be stopped."""
        closing = threading.Thread(target=self._pipeline.set_state, args=(Gst.State.NULL,),
                                   daemon=True)
        closing.start()
        closing.join(PATIENCE)
        self.blocked = closing.is_alive()

    def __iter__(self):
        while (tensor := self._next(self._tensors)) is not None:
            if self._frames is None:
                yield tensor, None
                continue
            frame = self._frame_of(tensor)
            if frame is not None:
                yield tensor, frame

    def _set_size(self):
        if self._fixed_size is not None:
            width, height = self._fixed_size
            self._normalize.set_properties(width=width, height=height, resize_mode="ultralytics")
            return
        pad = self._normalize.get_static_pad("sink")
        pad.add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, self._follow)

    def _follow(self, _pad, info):
        """Follows the size and the orientation of the frames. A tag of the stream wins."""
        event = info.get_event()
        if event.type == Gst.EventType.STREAM_START:
            self._orientations = {}
        elif event.type == Gst.EventType.TAG:
            tags = event.parse_tag()
            self._orientations[tags.get_scope()] = tags.get_string("image-orientation")[1]
        elif event.type == Gst.EventType.CAPS:
            frame = event.parse_caps().get_structure(0)
            self._stored_size = frame.get_int("width")[1], frame.get_int("height")[1]
        else:
            return Gst.PadProbeReturn.OK
        if self._stored_size is not None:
            found = [self._orientations.get(scope)
                     for scope in (Gst.TagScope.STREAM, Gst.TagScope.GLOBAL)]
            exchanges = (found[0] or found[1]) in EXCHANGES
            width, height = self._size_of(*self._stored_size[::-1 if exchanges else 1])
            self._normalize.set_properties(width=width, height=height)
        return Gst.PadProbeReturn.OK

    def _pause(self):
        # Runs in a thread, because it may block forever on what a source opens, for example the writer of a
        # named pipe.
        results = []
        self._opening = threading.Thread(
            target=lambda: results.append(self._pipeline.set_state(Gst.State.PAUSED)), daemon=True)
        self._opening.start()
        polls = 0
        while self._opening.is_alive() and not self.stopped:
            self._opening.join(POLL / Gst.SECOND)
            if self._opening.is_alive():
                self._check(polls := polls + 1)
        if not results:
            raise Lost("interrupted before the source was opened")
        result, = results
        while result == Gst.StateChangeReturn.ASYNC and not self.stopped:
            self._check(polls := polls + 1)
            result, _, _ = self._pipeline.get_state(POLL)
        self._expect_no_error()
        return result

    def _expect_no_error(self):
        try:
            raise_error_of(self._pipeline)
        except Failure as failure:
            raise Lost(str(failure)) from None

    def _check(self, polls):
        """Raises Lost if an element has failed, or after too many polls without a sample. Counts
        polls instead of time, so that a stopped and continued program does not time out."""
        self._expect_no_error()
        if 0 < self._timeout <= polls * POLL:
            decoder = self._pipeline.get_by_name("decoder")
            source = f"'{shown(decoder.get_property('uri'))}'" if decoder is not None else "SOURCE"
            raise Lost(f"{source} has sent no frame for {self._timeout // Gst.SECOND} s")

    def _next(self, sink):
        """Returns the sink's next sample; None at the end."""
        polls = 0
        while not self.stopped:
            sample = sink.try_pull_sample(POLL)
            if sample is not None:
                return sample
            if sink.get_property("eos"):
                self._expect_no_error()
                return None
            self._check(polls := polls + 1)
        return None

    def _frame_of(self, tensor):
        """Returns the frame of a tensor; None if the frame was dropped."""
        pts = tensor.get_buffer().pts
        while (frame := self._next(self._frames)) is not None and frame.get_buffer().pts < pts:
            pass
        return frame if frame is not None and frame.get_buffer().pts == pts else None
