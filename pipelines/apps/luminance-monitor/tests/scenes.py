# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that are moved, covered or out of focus are found; ordinary changes of light and weather are not
mistaken for these faults.

    scenes.py                 the cases for which CI has time
    scenes.py --table         all cases, as docs/verdicts.md shows them
    scenes.py --table NAME    the cases whose names contain NAME"""
import os
import pathlib
import subprocess
import sys

import gi
import numpy as np

gi.require_version('Gst', '1.0')
gi.require_version('GstApp', '1.0')
from gi.repository import Gst, GstApp  # noqa: E402, F401

CLIP = pathlib.Path(__file__).resolve().parent / 'media/pedestrians-1080p.mp4'
PROGRAM = pathlib.Path(os.environ['BUILD_DIR']) / 'tests/scenes'
LEFT, RIGHT = 240, 1680  # columns of the clip's picture, between black bars
WIDTH, HEIGHT = RIGHT - LEFT, 1080
APART = 2  # seconds between pictures
LEARN = 75  # pictures to learn from
FAULT, AFTER = 45, 35  # pictures with a fault, and after it
SCENE = ('moved', 'covered', 'blurred')
RNG = np.random.default_rng(1)
NOISE = RNG.normal(0, 1, 3 * WIDTH * HEIGHT).astype(np.float32)
Y, X = np.indices((HEIGHT, WIDTH), dtype=np.float32)


def clip():
    """Returns the luma of frames of the clip that are 0.7 s apart, forwards and backwards."""
    Gst.init(None)
    pipeline = Gst.parse_launch(
        f'filesrc location="{CLIP}" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! '
        'appsink name=sink sync=false max-buffers=4')
    sink = pipeline.get_by_name('sink')
    pipeline.set_state(Gst.State.PLAYING)
    frames = []
    while sample := sink.pull_sample():
        data = sample.get_buffer()
        luma = np.frombuffer(data.extract_dup(0, data.get_size()), np.uint8).reshape(HEIGHT, -1)
        frames.append(luma[:, LEFT:RIGHT].astype(np.float32))
    pipeline.set_state(Gst.State.NULL)
    frames = frames[::7]
    return frames + frames[-2:0:-1]


def noise(sigma):
    begin = RNG.integers(2 * WIDTH * HEIGHT)
    return sigma * NOISE[begin:begin + WIDTH * HEIGHT].reshape(HEIGHT, WIDTH)


# Lasting changes, which are applied once to each frame.

def turned(degrees):
    """Turns a frame about its middle, and mirrors it beyond its edges."""
    angle = np.deg2rad(degrees)
    y, x = Y - (HEIGHT - 1) / 2, X - (WIDTH - 1) / 2

    def within(place, size):
        place = np.abs(np.rint(place + (size - 1) / 2).astype(int)) % (2 * size - 2)
        return np.minimum(place, 2 * size - 2 - place)
    down = within(np.cos(angle) * y + np.sin(angle) * x, HEIGHT)
    right = within(np.cos(angle) * x - np.sin(angle) * y, WIDTH)
    return lambda frame: frame[down, right]


def shifted(share, axis=1):
    def change(frame):
        length = round(share * frame.shape[axis])
        pad = [(0, length if i == axis else 0) for i in (0, 1)]
        padded = np.pad(frame, pad, 'reflect')
        return padded[:, length:] if axis else padded[length:]
    return change


def blurred(sigma):
    """Blurs a frame with a Gaussian. `sigma` is in pixels."""
    def along(frame, axis):
        size = 2 ** int(np.ceil(np.log2(frame.shape[axis] + 8 * sigma)))
        frequencies = np.fft.rfftfreq(size)
        shape = [-1 if i == axis else 1 for i in (0, 1)]
        filter_ = np.exp(-2 * (np.pi * sigma * frequencies) ** 2).reshape(shape)
        margin = size - frame.shape[axis]
        pad = [(margin // 2, margin - margin // 2) if i == axis else (0, 0) for i in (0, 1)]
        wide = np.fft.irfft(np.fft.rfft(np.pad(frame, pad, 'reflect' if margin < frame.shape[axis]
                                               else 'symmetric'), axis=axis) * filter_, axis=axis)
        return wide.take(range(margin // 2, margin // 2 + frame.shape[axis]), axis)
    return lambda frame: along(along(frame, 0), 1).astype(np.float32)


CLOTH = 110 + 35 * np.sin(X / 17 + Y / 60) * np.sin(Y / 13) + 20 * np.sin(X / 90) * np.sin(Y / 70)
MATERIALS = {'dark': 25 + 0 * X, 'grey': 110 + 0 * X, 'cloth': CLOTH}


def covered(share, material):
    def change(frame):
        frame, columns = frame.copy(), round(share * WIDTH)
        frame[:, :columns] = MATERIALS[material][:, :columns]
        return frame
    return change


def exposed(change, factor):
    """Applies the change, and multiplies the light, as automatic exposure does."""
    return lambda frame: np.clip(change(frame) * factor, 16, 235)


def dirty(spots, opacity):
    """Adds dirt on the glass, which is far out of focus."""
    rng, mask = np.random.default_rng(3), 0 * X
    for _ in range(spots):
        y, x, size = rng.uniform(0, HEIGHT), rng.uniform(0, WIDTH), rng.uniform(40, 110)
        mask = np.maximum(mask, np.exp(-np.sqrt(((Y - y) ** 2 + (X - x) ** 2) / 2) / size))
    return lambda frame: frame * (1 - opacity * mask) + 60 * opacity * mask


def darker(factor):
    return lambda frame: 16 + factor * (frame - 16)


def infrared(frame):
    """Infrared lamps light the middle; plants are bright, and contrasts differ from those by day."""
    light = np.exp(-(((Y - 540) / 700) ** 2 + ((X - 720) / 800) ** 2))
    return 20 + (np.interp(frame, [0, 60, 100, 140, 200, 255], [30, 140, 110, 90, 180, 235]) - 20) * light


# Transient changes: functions of (frame, seconds) that return a frame.

def rain(frame, _):
    frame = frame.copy()
    for y, x, length in zip(RNG.integers(0, 1000, 600), RNG.integers(9, 1436, 600),
                            RNG.integers(20, 60, 600)):
        frame[y:y + length, x:x + 2] = frame[y:y + length, x:x + 2] / 2 + 100
    return frame


def snow(frame, _):
    frame = frame.copy()
    for y, x, size in zip(RNG.integers(8, 1070, 1500), RNG.integers(8, 1430, 1500),
                          RNG.integers(2, 8, 1500)):
        frame[y - size:y + size, x - size:x + size] = 220
    return frame


def with_clock(frame, _):
    frame = frame.copy()
    frame[20:60, 20:500] = RNG.integers(0, 2, (5, 60)).repeat(8, 0).repeat(8, 1) * 200 + 20
    return frame


def swinging(frame, seconds):
    """Simulates automatic exposure that does not settle."""
    return np.clip(16 + (frame - 16) * (1.1 + 0.5 * np.sin(seconds / 5)), 16, 235)


def shaking(frame, _):
    return np.roll(frame, tuple(RNG.integers(-2, 3, 2)), (0, 1))


def headlights(frame, seconds):
    """A car passes every 10 s."""
    x = (seconds % 10 / 8 + RNG.uniform(-0.1, 0.1)) * WIDTH
    return frame + 230 * np.exp(-((Y - 600) ** 2 + (X - x) ** 2) / 2 / 90 ** 2) + \
        60 * np.exp(-((Y - 700) ** 2 / 2 / 80 ** 2 + (X - x) ** 2 / 2 / 300 ** 2))


def lorry(length):
    """A lorry stands before a third of the scene for `length` seconds, once a minute."""
    def change(frame, seconds):
        if seconds % 60 >= length:
            return frame
        frame = frame.copy()
        frame[300:, 400:1100] = CLOTH[300:, 400:1100] + 60
        return frame
    return change


def dusk(length):
    """The light falls to a twelfth in `length` seconds."""
    return lambda frame, seconds: darker(12 ** -min(1, seconds / length))(frame)


def night(length, twilight, light):
    """Dusk and dawn take `twilight` seconds each. In the dark, the gain of a camera makes noise."""
    def change(frame, seconds):
        depth = np.clip(min(seconds, length - seconds) / max(twilight, 1), 0, 1)
        return darker(light ** depth)(frame) + noise(2 * depth)
    return change


def switched(change, begin):
    return lambda frame, seconds: change(frame) if seconds >= begin else frame


def usual(frame, _=None):
    return frame


class Film:
    """Pictures made of the clip, with noise."""

    def __init__(self, frames, sigma):
        self._frames, self._sigma, self._number = frames, sigma, 0

    def picture(self, change, seconds):
        frame = self._frames[self._number % len(self._frames)]
        self._number += 1
        made = change(frame, seconds) + noise(self._sigma)
        return np.clip(np.rint(made), 0, 255).astype(np.uint8)

    def made(self, change):
        """Returns a film with a lasting change."""
        return Film([change(frame) for frame in self._frames], self._sigma)


class Theatre:
    """The program that judges films."""

    def __init__(self):
        self._process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._say(f'size {WIDTH} {HEIGHT}')

    def _say(self, line):
        self._process.stdin.write(f'{line}\n'.encode())
        self._process.stdin.flush()

    def play(self, command, parts):
        """Judges parts, [(film, change, count)]. Returns the verdicts as [(name, is raised, seconds)]."""
        self._say(f'{command} {sum(count for _, _, count in parts)}')
        seconds = 0
        for film, change, count in parts:
            for i in range(count):
                self._process.stdin.write(film.picture(change, i * APART).tobytes())
            seconds += count * APART
        self._process.stdin.flush()
        changes = []
        while (line := self._process.stdout.readline().split()) and line[0] != b'end':
            changes.append((line[0].decode(), line[1] == b'raised', int(line[2])))
        assert line, 'the program has ended'
        return changes

    def close(self):
        """Ends the program, and returns its report of the times that thumbnails and judgements took."""
        self._process.stdin.close()
        text = self._process.stdout.read().decode().strip()
        assert self._process.wait() == 0
        return text


# Name, lasting change, expected verdict, and whether CI has time for it.
FAULTS = [
    *((f'turned by {d}°', turned(d), 'moved', d in (10, 180)) for d in (2, 5, 10, 20, 45, 90, 180)),
    *((f'shifted by 1/{n} of the width', shifted(1 / n), 'moved', n == 16) for n in (64, 32, 16, 8, 4)),
    ('shifted by 1/16 of the height', shifted(1 / 16, 0), 'moved', False),
    *((f'blurred, σ {s}', blurred(s), 'blurred', s in (2, 8)) for s in (1, 2, 4, 8, 16, 32, 64)),
    *((f'{share:.0%} covered, {material}', covered(share, material), 'covered',
       (share, material) in ((0.3, 'grey'), (0.5, 'cloth'), (1, 'grey')))
      for material in MATERIALS for share in (0.15, 0.3, 0.5, 0.7, 1)),
    ('50% covered, dark, exposure adapts', exposed(covered(0.5, 'dark'), 1.5), 'covered', False),
    ('dirt, 25 spots', dirty(25, 0.75), 'covered', False),
    ('dirt, 60 spots', dirty(60, 0.75), 'covered', False),
    ('dirt, 60 thick spots', dirty(60, 0.95), 'covered', False),
]
MINUTE = 60 // APART
# Name, parts of (lasting change, transient change, number of pictures), and whether CI has time for it.
ORDINARY = [
    ('the clip, 10 min', [(usual, usual, 10 * MINUTE)], True),
    ('rain', [(usual, rain, 3 * MINUTE)], True),
    ('snow', [(usual, snow, 3 * MINUTE)], True),
    ('fog: contrast times 0.3', [(lambda f: 120 + (f - 120) * 0.3, usual, 3 * MINUTE)], False),
    ('a clock in the picture', [(usual, with_clock, 3 * MINUTE)], False),
    ('exposure swings', [(usual, swinging, 3 * MINUTE)], True),
    ('shaking by 2 pixels', [(usual, shaking, 3 * MINUTE)], False),
    ('a lorry stands for 5 s each minute', [(usual, lorry(5), 5 * MINUTE)], True),
    ('a lorry stands for 20 s each minute', [(usual, lorry(20), 5 * MINUTE)], False),
    ('dusk in 60 min', [(usual, dusk(3600), 65 * MINUTE), (usual, usual, 3 * MINUTE)], False),
    ('dusk in 6 min, and lights on', [(usual, dusk(360), 8 * MINUTE), (usual, usual, 3 * MINUTE)],
     True),
    *((f'a night of {hours * 60:g} min, {light:g} of the light, dusk and dawn of {twilight / 60:g} min',
       [(usual, night(hours * 3600, twilight, light), round(60 * hours) * MINUTE),
        (usual, usual, 4 * MINUTE)], in_ci)
      for hours, twilight, light, in_ci in (
          (1 / 12, 0, 0.12, False), (1 / 12, 60, 0.14, False), (1 / 4, 120, 0.08, True),
          (1 / 2, 600, 0.12, False), (1, 1200, 0.1, False), (3, 1800, 0.08, False),
          (10, 2700, 0.12, False), (10, 2700, 0.04, False))),
    ('light times 0.1', [(darker(0.1), usual, 3 * MINUTE)], False),
    ('light times 0.03', [(darker(0.03), usual, 3 * MINUTE)], False),
    ('headlights at night', [(darker(0.15), headlights, 5 * MINUTE)], True),
    ('dusk, then infrared lamps, then day',
     [(usual, dusk(360), 7 * MINUTE), (infrared, usual, 8 * MINUTE), (usual, usual, 3 * MINUTE)], True),
    ('infrared lamps at once, then day', [(infrared, usual, 8 * MINUTE), (usual, usual, 3 * MINUTE)],
     False),
]


def scene_verdicts(changes):
    return [change for change in changes if change[0] in SCENE]


def others(changes):
    return sorted({name for name, raised, _ in changes if raised and name not in SCENE})


def show_fault(theatre, film, name, change, expected):
    """Prints a row of the table. Returns what is wrong, or None."""
    changes = theatre.play('case', [(film.made(change), usual, FAULT), (film, usual, AFTER)])
    scene = scene_verdicts(changes)
    raised = [(verdict, at) for verdict, up, at in scene if up]
    cleared = [at - FAULT * APART for _, up, at in scene if not up]
    text = ', '.join(f'`{verdict}` after {at} s' for verdict, at in raised if at < FAULT * APART)
    also = ', '.join(f'`{verdict}`' for verdict in others(changes))
    print(f'| {name} | {text or "missed"} | {also} |', flush=True)
    if [verdict for verdict, _ in raised] != [expected]:
        return f'{name}: {scene}'
    if len(cleared) != 1 or cleared[0] <= 0:
        return f'{name}: not cleared: {scene}'
    return None


def show_ordinary(theatre, film, name, parts):
    changes = theatre.play('case', [(film.made(change), comes, count) for change, comes, count in parts])
    scene = scene_verdicts(changes)
    text = ', '.join(f'`{verdict}` after {at} s' for verdict, up, at in scene if up)
    also = ', '.join(f'`{verdict}`' for verdict in others(changes))
    print(f'| {name} | {text or "none"} | {also} |', flush=True)
    return f'{name}: {scene}' if scene else None


def main(arguments):
    everything = '--table' in arguments
    wanted = [argument for argument in arguments if not argument.startswith('--')]

    def is_chosen(name, in_ci):
        return (everything or in_ci) and (not wanted or any(part in name for part in wanted))
    frames, wrong = clip(), []
    day = Film(frames, 1)
    for light, film, ordinary in (
            ('by day', day, ORDINARY),
            ('at night: a tenth of the light, noise of 3', Film(day.made(darker(0.1))._frames, 3),
             [('a still night, 30 min', [(usual, usual, 30 * MINUTE)], True)])):
        theatre = Theatre()
        assert scene_verdicts(theatre.play('learn', [(film, usual, LEARN)])) == []
        print(f'\n| {light} | verdict of the scene | others |\n|---|---|---|')
        for name, change, expected, in_ci in FAULTS:
            if is_chosen(name, in_ci and film is day):
                if fault := show_fault(theatre, film, name, change, expected):
                    wrong += [fault] if in_ci and film is day else []
        print(f'\n| {light}, and no fault | verdict of the scene | others |\n|---|---|---|')
        for name, parts, in_ci in ordinary:
            if is_chosen(name, in_ci):
                wrong += filter(None, [show_ordinary(theatre, film, name, parts)])
        print(f'\n{theatre.close()}')
    assert not wrong, '\n'.join(wrong)


main(sys.argv[1:])
