# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each verdict is raised and cleared on its video, and none on the ordinary clip."""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from datetime import datetime

import numpy as np

import videos

PROGRAM = pathlib.Path(os.environ['BUILD_DIR']) / 'luminance-monitor'
BAD = (20, 60)  # begin and end of the fault, in seconds of the video
LENGTH = 80
LINE = re.compile(r'\S+ \S+: (.+) (since|cleared at) (\S+) '
                  r'\([^:]+: [\d.e+-]+(, (?:above|below) [\d.]+)?\)$')


def covered(frame, rng):
    """A hand or a cloth covers the lens: some light, no picture, and the noise of the sensor."""
    return np.clip(70 + rng.normal(0, 2, frame.shape), 16, 235).astype(np.uint8)


def foggy(frame):
    """The picture is so much out of focus, or in fog, that little of it is left."""
    return np.rint(120 + (frame.astype(float) - 120) * 0.12).astype(np.uint8)


def lit(frame, time, hertz):
    """Light varies by 4 percent, and the exposure is short."""
    return videos.scaled(frame, 0.9 * (1 + 0.04 * np.sin(2 * np.pi * hertz * time)))


def backlit(frame):
    """A quarter of the picture is a window."""
    bright = frame.copy()
    bright[:, :frame.shape[1] // 4] = 240
    return bright


def in_shadow(frame):
    dark = frame.copy()
    dark[:, :frame.shape[1] // 2] = 16
    return dark


def made(change, fps=10):
    """Returns the ordinary video, with `change(frame, time)` applied during the fault."""
    frames = videos.ordinary(LENGTH * fps)
    for i in range(BAD[0] * fps, BAD[1] * fps):
        frames[i] = change(frames[i], i / fps)
    return frames, fps, None


def frozen():
    frames = videos.ordinary(LENGTH * 10)
    for i in range(BAD[0] * 10, BAD[1] * 10):
        frames[i] = frames[BAD[0] * 10]
    return frames, 10, None


def interrupted():
    frames = videos.ordinary(LENGTH * 10)
    kept = [i for i in range(len(frames)) if not BAD[0] * 10 <= i < BAD[1] * 10]
    return [frames[i] for i in kept], 10, [i / 10 for i in kept]


def brighter_for_good():
    frames = videos.ordinary(LENGTH * 10)
    return [videos.scaled(f, 1, 45 if i >= BAD[0] * 10 else 0) for i, f in enumerate(frames)], 10, None


RNG = np.random.default_rng(1)
CHANGED = {'Sudden change': 1}  # raised until the picture is as before
# Each video, and how often it raises and clears its verdict.
CASES = {
    'ordinary': (lambda: made(lambda f, t: f), {}),
    'ordinary at 25': (lambda: made(lambda f, t: f, 25), {}),
    'ordinary at 30': (lambda: made(lambda f, t: f, 30), {}),
    'dark': (lambda: made(lambda f, t: videos.scaled(f, 0.2)), {'Too dark': 1}),
    'night': (lambda: made(lambda f, t: videos.scaled(f, 0.15)), {'Too dark': 1}),
    'black': (lambda: made(lambda f, t: videos.scaled(f, 0)), {'Too dark': 1}),
    'bright': (lambda: made(lambda f, t: videos.scaled(f, 1, 110)), {'Too bright': 1}),
    'covered': (lambda: made(lambda f, t: covered(f, RNG)), {'Low contrast': 1}),
    'foggy': (lambda: made(lambda f, t: foggy(f)), {'Low contrast': 1}),
    'frozen': (frozen, {'Frozen': 1}),
    'interrupted': (interrupted, {'No frames': 1}),
    'mains of 50 Hz': (lambda: made(lambda f, t: lit(f, t, 100.02), 30), {'Flicker': 1}),
    'mains of 60 Hz': (lambda: made(lambda f, t: lit(f, t, 119.97), 25), {'Flicker': 1}),
    'backlit': (lambda: made(lambda f, t: backlit(f)), {'Clipped to white': 1}),
    'in shadow': (lambda: made(lambda f, t: in_shadow(f)), {'Clipped to black': 1}),
    'turned by 20 degrees': (lambda: made(lambda f, t: videos.turned(f, 20)), CHANGED),
    'upside down': (lambda: made(lambda f, t: f[::-1, ::-1]), CHANGED),
    'mostly covered': (lambda: made(lambda f, t: videos.part_covered(f, 0.6, 90, RNG)), CHANGED),
    'lights on for good': (brighter_for_good, CHANGED),
}
STAYS = ('lights on for good',)
SLACK = 3  # seconds: the log has whole ones, and flicker is judged once a second


def watch(path):
    """Returns the changes that the program prints: (title, raised, seconds since the video's begin)."""
    done = subprocess.run([PROGRAM, '--no-web', '--no-history', '--headless', '--fast', path],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done
    lines = done.stdout.splitlines()
    begin = datetime.fromisoformat(lines[0].split()[0].rstrip('Z'))
    found = [LINE.match(line) for line in lines]
    assert all(m[4] for m in found if m and m[2] == 'since'), 'a line without a threshold'
    return [(m[1], m[2] == 'since',
             (datetime.fromisoformat(m[3].rstrip('Z')) - begin).total_seconds())
            for m in found if m]


def check(name, folder):
    make, expected = CASES[name]
    frames, fps, times = make()
    path = pathlib.Path(folder) / f'{name}.mkv'
    videos.write(path, frames, fps, times)
    changes = watch(path)
    path.unlink()
    print(name, changes)
    for raised in (True, False):
        found = collections.Counter(title for title, up, _ in changes if up == raised)
        assert found == ({} if name in STAYS and not raised else expected), (name, raised, found)
    for title, raised, time in changes:
        assert abs(time - BAD[not raised]) <= SLACK, (name, title, time)


with tempfile.TemporaryDirectory() as folder:
    for case in sys.argv[1:] or CASES:
        check(case, folder)
