# SPDX-License-Identifier: LGPL-2.1-or-later
"""Videos made of the clip with faults of cameras. They are lossless, so that numbers are exact."""
import pathlib

import gi
import numpy as np

gi.require_version('Gst', '1.0')
gi.require_version('GstApp', '1.0')
from gi.repository import Gst, GstApp  # noqa: E402, F401

CLIP = pathlib.Path(__file__).resolve().parent / 'media/pedestrians.webm'
WIDTH, HEIGHT = 384, 288
BLACK, WHITE = 16, 235


def clip():
    """Returns the clip's luma, scaled: frames x HEIGHT x WIDTH, uint8, at 10 frames a second."""
    Gst.init(None)
    pipeline = Gst.parse_launch(
        f'filesrc location="{CLIP}" ! matroskademux ! vp8dec ! videoscale ! '
        f'video/x-raw,width={WIDTH},height={HEIGHT} ! videoconvert ! video/x-raw,format=I420 ! '
        'appsink name=sink sync=false')
    sink = pipeline.get_by_name('sink')
    pipeline.set_state(Gst.State.PLAYING)
    frames = []
    while sample := sink.pull_sample():
        data = sample.get_buffer().extract_dup(0, WIDTH * HEIGHT)
        frames.append(np.frombuffer(data, np.uint8).reshape(HEIGHT, WIDTH))
    pipeline.set_state(Gst.State.NULL)
    return np.stack(frames)


def write(path, frames, fps, times=None, pixels='I420'):
    """Writes luma planes as grey video. `times`: in seconds, if frames do not come evenly. With `fps` 0, as
    some cameras declare, frames have no duration. For odd sizes, `pixels` is 'GRAY8'."""
    Gst.init(None)
    height, width = frames[0].shape
    pipeline = Gst.parse_launch(
        f'appsrc name=in format=time caps=video/x-raw,format={pixels},width={width},height={height},'
        f'framerate={fps}/1 ! matroskamux ! filesink location="{path}"')
    source = pipeline.get_by_name('in')
    pipeline.set_state(Gst.State.PLAYING)
    padding = ((0, 0), (0, -width % 4 if pixels == 'GRAY8' else 0))
    chroma = np.full(width * height // 2 if pixels == 'I420' else 0, 128, np.uint8).tobytes()
    for number, frame in enumerate(frames):
        buffer = Gst.Buffer.new_wrapped(np.pad(frame, padding).tobytes() + chroma)
        time = number / fps if times is None else times[number]
        buffer.pts = round(time * Gst.SECOND)
        if fps > 0:
            buffer.duration = Gst.SECOND // fps
        source.emit('push-buffer', buffer)
    source.emit('end-of-stream')
    message = pipeline.get_bus().timed_pop_filtered(
        120 * Gst.SECOND, Gst.MessageType.ERROR | Gst.MessageType.EOS)
    pipeline.set_state(Gst.State.NULL)
    assert message is not None and message.type == Gst.MessageType.EOS, message


def ordinary(count):
    """Returns `count` frames of the clip, which alternates forwards and backwards, so that nothing jumps."""
    frames = clip()
    there_and_back = np.concatenate([frames, frames[-2:0:-1]])
    return [there_and_back[i % len(there_and_back)] for i in range(count)]


def scaled(frame, factor, offset=0.0):
    """Makes a frame brighter or darker, as exposure does: relative to black, and clipped at white."""
    luma = (frame.astype(float) - BLACK) * factor + BLACK + offset
    return np.clip(np.rint(luma), BLACK, WHITE).astype(np.uint8)


def turned(frame, degrees):
    """Turns the camera about its axis, and mirrors the frame beyond its edges."""
    angle = np.deg2rad(degrees)
    y, x = np.indices(frame.shape)
    y, x = y - (HEIGHT - 1) / 2, x - (WIDTH - 1) / 2
    down = np.rint(np.cos(angle) * y + np.sin(angle) * x + (HEIGHT - 1) / 2).astype(int)
    right = np.rint(np.cos(angle) * x - np.sin(angle) * y + (WIDTH - 1) / 2).astype(int)

    def within(place, size):
        place = np.abs(place) % (2 * size - 2)
        return np.minimum(place, 2 * size - 2 - place)

    return frame[within(down, HEIGHT), within(right, WIDTH)]


def part_covered(frame, share, luma, rng):
    """Covers this share of the picture, from the left."""
    frame, columns = frame.copy(), round(share * WIDTH)
    noise = rng.normal(0, 2, (HEIGHT, columns))
    frame[:, :columns] = np.clip(luma + noise, BLACK, WHITE).astype(np.uint8)
    return frame
