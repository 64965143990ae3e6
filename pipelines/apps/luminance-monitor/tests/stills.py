# SPDX-License-Identifier: LGPL-2.1-or-later
"""A frozen picture is found after each encoder, with or without a clock in it; a camera that looks at a
still scene is not reported as frozen.

    stills.py                      the clips for which CI has time
    stills.py --all                all clips
    stills.py --table              the table of docs/verdicts.md, computed here independently
    stills.py --night SECONDS      a still night of this length, at 5 frames a second"""
import pathlib
import subprocess
import sys
import tempfile

import gi
import numpy as np

import videos
from running import PROGRAM

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402

SECONDS = 60
FPS = 25
X264 = 'x264enc {} ! h264parse'
# Encoders with settings like those of cameras.
ENCODERS = {
    'x264 CBR of 1 Mbit/s': X264.format('bitrate=1000'),
    'x264 zerolatency': X264.format('tune=zerolatency speed-preset=ultrafast'),
    'VP8': 'vp8enc',
    'JPEG': 'jpegenc',
    'x264 of a constant quantizer': X264.format('pass=quant quantizer=23 speed-preset=veryfast'),
    'x265': 'x265enc speed-preset=ultrafast ! h265parse',
    'x264 CBR, key frame every 2 s':
        X264.format('bitrate=500 key-int-max=50 tune=zerolatency speed-preset=veryfast'),
}
CLOCKS = ('JPEG', 'x264 zerolatency', 'x264 CBR of 1 Mbit/s')
# After these encoders, little is left of the noise of a sensor.
STARVED = {
    'x264 of 200 kbit/s':
        X264.format('bitrate=200 key-int-max=50 tune=zerolatency speed-preset=veryfast'),
    'JPEG of quality 40': 'jpegenc quality=40',
    'VP8 of 256 kbit/s': 'vp8enc',
    'x264 of a quantizer of 35':
        X264.format('pass=quant quantizer=35 key-int-max=50 speed-preset=veryfast'),
}
SEGMENTS = dict(a=(0, 0, 2, 10), b=(0, 8, 11, 10), c=(9, 8, 20, 10), d=(18, 0, 20, 10),
                e=(9, 0, 20, 2), f=(0, 0, 11, 2), g=(9, 0, 11, 10))
DIGITS = 'abcdef bc abged abgcd fgbc afgcd afgedc abc abcdefg abcdfg'.split()


def with_clock(frame, second):
    """Draws the time of day at the top left, as cameras do."""
    frame = frame.copy()
    for place, digit in enumerate(f'{second // 3600:02}{second // 60 % 60:02}{second % 60:02}'):
        for segment in DIGITS[int(digit)]:
            top, left, bottom, right = SEGMENTS[segment]
            x = 8 + 14 * place
            frame[8 + top:8 + bottom, x + left:x + right] = videos.WHITE
    return frame


def still(clock=False):
    """Yields frames of one picture, with a running clock if `clock` is set."""
    picture = videos.clip()[0]
    for number in range(SECONDS * FPS):
        yield with_clock(picture, 3590 + number // FPS) if clock else picture


def camera(light, noise, count, seed=1):
    """Yields frames of a sensor with this light and noise, which looks at a still scene."""
    picture = videos.clip()[0].astype(np.float32)
    picture = (picture - videos.BLACK) * light + videos.BLACK + 2
    rng = np.random.default_rng(seed)
    for _ in range(count):
        grain = rng.standard_normal(picture.shape, np.float32)
        yield np.clip(np.rint(picture + noise * grain), 0, 255).astype(np.uint8)


def encode(path, frames, encoder, fps=FPS):
    frames = iter(frames)
    first = next(frames)
    height, width = first.shape
    chroma = np.full(width * height // 2, 128, np.uint8).tobytes()
    pipeline = Gst.parse_launch(
        f'appsrc name=in format=time block=true max-bytes=10000000 caps=video/x-raw,format=I420,'
        f'width={width},height={height},framerate={fps}/1 ! {encoder} ! matroskamux ! '
        f'filesink location="{path}"')
    source = pipeline.get_by_name('in')
    pipeline.set_state(Gst.State.PLAYING)
    number = 0
    while first is not None:
        buffer = Gst.Buffer.new_wrapped(first.tobytes() + chroma)
        buffer.pts, buffer.duration = number * Gst.SECOND // fps, Gst.SECOND // fps
        source.emit('push-buffer', buffer)
        first, number = next(frames, None), number + 1
    source.emit('end-of-stream')
    message = pipeline.get_bus().timed_pop_filtered(
        3600 * Gst.SECOND, Gst.MessageType.ERROR | Gst.MessageType.EOS)
    pipeline.set_state(Gst.State.NULL)
    assert message is not None and message.type == Gst.MessageType.EOS, message


def is_there(encoder):
    return all(Gst.ElementFactory.find(part.split()[0]) for part in encoder.split('!'))


def reports(path, timeout=300):
    """Returns the lines in which the monitor reports a frozen picture."""
    done = subprocess.run([PROGRAM, '--no-web', '--no-history', '--headless', '--fast', path],
                          capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done
    return [line for line in done.stdout.splitlines() if 'Frozen' in line]


def blocks_of(path):
    """Returns the means of the blocks of each frame, like watch/blocks.h: frames x 192."""
    pipeline = Gst.parse_launch(f'filesrc location="{path}" ! matroskademux ! decodebin ! '
                                'videoconvert ! video/x-raw,format=I420 ! '
                                'appsink name=sink sync=false max-buffers=4')
    sink = pipeline.get_by_name('sink')
    pipeline.set_state(Gst.State.PLAYING)
    rows = (2 * np.arange(192) + 1) * videos.HEIGHT // 384
    columns = (2 * np.arange(256) + 1) * videos.WIDTH // 512
    frames = []
    while sample := sink.emit('pull-sample'):
        data = sample.get_buffer().extract_dup(0, videos.WIDTH * videos.HEIGHT)
        luma = np.frombuffer(data, np.uint8).reshape(videos.HEIGHT, videos.WIDTH)
        frames.append(luma[np.ix_(rows, columns)].reshape(12, 16, 16, 16).mean((1, 3)).ravel())
    pipeline.set_state(Gst.State.NULL)
    return np.array(frames, np.float32)


def distances(blocks):
    """Returns for each frame after 30 seconds the distance to the nearest of 10 to 30 seconds before."""
    found = []
    for number in range(30 * FPS, len(blocks)):
        apart = np.abs(blocks[number - 30 * FPS:number - 10 * FPS] - blocks[number])
        same = apart <= 0.5
        mean = np.where(same, apart, 0).mean(1)
        found.append(mean[same.sum(1) >= 173].min(initial=1))
    return np.array(found)


def show(name, path):
    apart = distances(blocks_of(path))
    print(f'| {name} | {apart.min():.3f} | {np.median(apart):.3f} '
          f'| {"yes" if reports(path) else "no"} |', flush=True)


def clips(is_whole):
    """Yields name, encoder, frames and whether they are frozen, of all clips, or of those for CI."""
    for name, encoder in ENCODERS.items():
        yield name, encoder, still(), True
        if name in (CLOCKS if is_whole else CLOCKS[:2]):
            yield name + ', a clock', encoder, still(True), True
    for light, noise in ((0.12, 0.5), (0.12, 1), (1, 1))[:3 if is_whole else 1]:
        for name, encoder in list(STARVED.items())[:None if is_whole else 2]:
            scene = f'{"day" if light == 1 else "night"} with a noise of {noise}'
            yield f'{scene}: {name}', encoder, camera(light, noise, SECONDS * FPS), False


def encoded_clips(folder, is_whole):
    """Encodes the clips, and yields name, path and whether the picture is frozen."""
    path = pathlib.Path(folder) / 'clip.mkv'
    for name, encoder, frames, is_still in clips(is_whole):
        if is_there(encoder):
            encode(path, frames, encoder)
            yield name, path, is_still
        else:
            print(f'{name}: not tested, an element is missing')


def night(folder, seconds):
    """Checks that a still night is never reported as frozen."""
    for name, encoder in STARVED.items():
        path = pathlib.Path(folder) / 'night.mkv'
        encode(path, camera(0.12, 0.7, seconds * 5), encoder, 5)
        found = reports(path, 7200)
        print(f'{seconds} s of night, {name}: {len(found)}', flush=True)
        assert not found, found


def main(arguments):
    Gst.init(None)
    with tempfile.TemporaryDirectory() as folder:
        if arguments[:1] == ['--night']:
            return night(folder, int(arguments[1]))
        for name, path, is_still in encoded_clips(folder, arguments in (['--table'], ['--all'])):
            if arguments == ['--table']:
                show(name, path)
                continue
            found = reports(path)
            print(f'{name}: {found}', flush=True)
            assert (len(found) == 1) == is_still and len(found) <= 1, (name, found)


main(sys.argv[1:])
