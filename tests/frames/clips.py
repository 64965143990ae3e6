# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes clips with all kinds of groups of pictures, and decodes all of their frames."""
import re

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst

SIZE = 32
#: Name, frames, frame rate, encoder, container. Frames differ from each other.
_X264 = "x264enc bitrate=300 threads=1 speed-preset=fast "
CLIPS = {
    "ip.mp4": (70, "10/1", _X264 + "bframes=0 key-int-max=10 option-string=scenecut=0", "mp4mux"),
    "b.mp4": (90, "25/1", _X264 + "bframes=3 b-pyramid=true key-int-max=15", "mp4mux"),
    "open.mp4": (120, "30/1", _X264 + "bframes=3 key-int-max=12 "
                 "option-string=open-gop=1:scenecut=0", "mp4mux"),
    "long.mp4": (150, "30000/1001", _X264 + "bframes=2 key-int-max=600", "mp4mux"),
    "open.ts": (100, "25/1", _X264 + "bframes=3 key-int-max=20 option-string=open-gop=1",
                "h264parse ! mpegtsmux"),
    "b.ts": (100, "25/1", _X264 + "bframes=2 key-int-max=10 option-string=scenecut=0",
             "h264parse ! mpegtsmux"),
    # Pictures have SEI messages for the buffering period.
    "hrd.ts": (100, "25/1", _X264 + "bframes=2 key-int-max=10 option-string=nal-hrd=vbr",
               "h264parse ! mpegtsmux"),
    "b.mkv": (100, "24/1", _X264 + "bframes=2 key-int-max=16 option-string=scenecut=0",
              "h264parse ! matroskamux"),
    "fragmented.mp4": (60, "20/1", _X264 + "bframes=2 key-int-max=10 option-string=scenecut=0",
                       "mp4mux fragment-duration=500"),
    "seeks.mp4": (1500, "25/1", _X264 + "bframes=3 key-int-max=50", "mp4mux"),
    # Seeks find no other random access points.
    "onegop.mp4": (1200, "25/1", _X264 + "bframes=2 key-int-max=9999 option-string=scenecut=0",
                   "mp4mux"),
    # Timestamps are in ms, so two or three frames have the same one. Without POC, their order is
    # unknown if it differs from the decoding order.
    "equal.mkv": (90, "2400/1", _X264 + "bframes=0 key-int-max=12", "h264parse ! matroskamux"),
    # More frames have the same time than the reader can wait for.
    "burst.mkv": (120, "30000/1", "vp8enc deadline=1 keyframe-max-dist=50", "matroskamux"),
    # All pictures are marked as key frames, as muxers do if durations vary.
    "marked.webm": (60, "15/1", "vp8enc deadline=1 keyframe-max-dist=20", "webmmux"),
    "interlaced.mp4": (60, "25/1", _X264 + "interlaced=true bframes=2 key-int-max=10", "mp4mux"),
    "vp8.webm": (80, "10/1", "vp8enc deadline=1 keyframe-max-dist=9 auto-alt-ref=true "
                 "lag-in-frames=8", "webmmux"),
    "vp9.webm": (60, "15/1", "vp9enc deadline=1 cpu-used=8 keyframe-max-dist=12 lag-in-frames=8",
                 "webmmux"),
    "mjpeg.avi": (40, "10/1", "jpegenc", "avimux"),
    "raw.mkv": (30, "10/1", "identity", "matroskamux"),
    "theora.ogg": (50, "10/1", "theoraenc keyframe-force=8 keyframe-freq=8", "oggmux"),
    "h265.mp4": (90, "25/1", "x265enc bitrate=300 key-int-max=16 speed-preset=ultrafast "
                 "option-string=bframes=3:scenecut=0:log-level=none", "h265parse ! mp4mux"),
    "h264.avi": (60, "25/1", _X264 + "bframes=0 key-int-max=10 option-string=scenecut=0", "avimux"),
}
#: Number of key frames of clips whose encoder sets them at a fixed distance.
KEYFRAMES = {"ip.mp4": 7, "b.ts": 10, "b.mkv": 7, "fragmented.mp4": 6, "h264.avi": 6, "h265.mp4": 6,
             "equal.mkv": 8, "marked.webm": 3, "onegop.mp4": 1, "mjpeg.avi": 40, "raw.mkv": 30}


def run(description):
    """Runs a pipeline until its end."""
    pipeline = Gst.parse_launch(description)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        120 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message is None or message.type == Gst.MessageType.ERROR:
        raise RuntimeError(f"{description}: {message and message.parse_error()}")


def mark_all(path):
    """Sets the flag of key frames in all simple blocks of a Matroska file with one track."""
    data = bytearray(path.read_bytes())
    blocks = list(re.finditer(rb"\xa3(?:[\x80-\xff]|[\x40-\x7f].|[\x20-\x3f]..)\x81..[\x00\x80]",
                              data, re.DOTALL))
    assert blocks
    for block in blocks:
        data[block.end() - 1] |= 0x80
    path.write_bytes(data)


def make(folder, name):
    """Makes a clip, if it is missing, and returns its path."""
    path = folder / name
    frames, rate, encoder, muxer = CLIPS[name]
    if not path.exists():
        run(f"videotestsrc pattern=zone-plate kx2=4 ky2=4 kt=3 num-buffers={frames} ! "
            f"video/x-raw,format=I420,width=96,height=64,framerate={rate} ! "
            f"{encoder} ! {muxer} ! filesink location={path}")
        if name == "marked.webm":
            mark_all(path)
    return path


def decode(path, properties=""):
    """Decodes all frames with cudanormalize after decodebin. Returns a list of their timestamps in
    ns and one of their tensors' bytes."""
    pipeline = Gst.parse_launch(
        f"filesrc location={path} ! decodebin ! cudanormalize backend=cpu width={SIZE} "
        f"height={SIZE} qos=false {properties} ! appsink name=sink sync=false max-buffers=4")
    pipeline.set_state(Gst.State.PLAYING)
    times, tensors = [], []
    while sample := pipeline.get_by_name("sink").emit("pull-sample"):
        buffer = sample.get_buffer()
        times.append(sample.get_segment().to_stream_time(Gst.Format.TIME, buffer.pts))
        tensors.append(buffer.extract_dup(0, buffer.get_size()))
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message:
        raise RuntimeError(message.parse_error()[0].message)
    return times, tensors
