# SPDX-License-Identifier: LGPL-2.1-or-later
"""A day of two cameras, read as fast as possible: memory and the history's file do not grow, and the
verdicts that are raised and cleared are those of the videos."""
import pathlib
import re
import sqlite3
import tempfile
import time
import urllib.error
from datetime import datetime

import numpy as np

import videos
from running import Monitor
from sanitizers import SANITIZED

DAY = 86400  # seconds
LENGTH = 1800  # seconds of a video, which is repeated
DARK = {'one': (600, 900), 'two': (1200, 1230)}  # seconds of each video
HOLD = 5
RETENTION = 6 * 3600
ROW = 60
LINE = re.compile(r'\S+ (\w+)-mkv: Too dark (since|cleared at) (\S+)')


def make(folder, name):
    """Writes a video with a frame a second and some noise, which is dark for a while. Returns its path."""
    rng = np.random.default_rng(1)
    picture = rng.integers(40, 220, (48, 64))
    begin, end = DARK[name]
    frames = []
    for second in range(LENGTH):
        frame = picture + rng.integers(0, 5, picture.shape)
        frames.append(videos.scaled(frame, 0.1) if begin <= second < end else
                      frame.astype(np.uint8))
    videos.write(folder / f'{name}.mkv', frames, 1)
    return folder / f'{name}.mkv'


def resident(pid):
    """Returns the resident memory in MiB."""
    status = pathlib.Path(f'/proc/{pid}/status').read_text()
    return int(re.search(r'VmRSS:\s+(\d+)', status)[1]) / 1024


class Watch:
    """Samples of the monitor's memory and of the size of its history while it runs."""

    def __init__(self, monitor, history):
        self.monitor, self.history = monitor, history
        self.begin = None
        self.seen = []  # (seconds since the begin, MiB of memory, of the history's file and of its log)

    def look(self):
        camera = self.monitor.cameras()['one-mkv']
        if camera['latest'] is None:
            return 0
        now = camera['latest']['time'] / 1000
        self.begin = self.begin or now
        for path in ('history?points=600', 'recent'):
            self.monitor.get(f'/api/v1/cameras/one-mkv/{path}')
        for path in ('/metrics', '/api/v1/events'):
            self.monitor.get(path)
        sizes = [pathlib.Path(f'{self.history}{end}').stat().st_size / 2**20 for end in ('', '-wal')]
        self.seen.append((now - self.begin, resident(self.monitor.pid), *sizes))
        return now - self.begin

    def maxima(self, begin, end):
        """Returns the greatest memory, file size and log size in these hours."""
        rows = [row for row in self.seen if begin * 3600 <= row[0] < end * 3600]
        assert len(rows) >= 3, f'looked {len(rows)} times from {begin} to {end} h: {self.seen}'
        return [max(values) for values in list(zip(*rows))[1:]]


def expect_no_growth(watch):
    for hours in range(0, 24, 4):
        print('%2d to %2d h: %.1f MB of memory, %.2f MB of history, %.2f MB of its log'
              % (hours, hours + 4, *watch.maxima(hours, hours + 4)))
    _, size, log = watch.maxima(16, 24)
    assert size < 0.5 and log < 5, (size, log)
    if not SANITIZED:  # memory varies by some MB whenever a video begins
        before, after = watch.maxima(8, 14)[0], watch.maxima(16, 24)[0]
        assert after < before + 5, (before, after)


def nights(lines):
    """Returns by camera the times when it became too dark (True), and light again (False)."""
    times = {name: {True: [], False: []} for name in DARK}
    for line in lines:
        if match := LINE.match(line):
            date = datetime.fromisoformat(match[3].rstrip('Z') + '+00:00')
            times[match[1]][match[2] == 'since'].append(date.timestamp())
    return times


def expect_log(times):
    """Checks number and times of the nights. Returns when the first video of each camera began, as one
    camera may be behind the other."""
    begins = {}
    for name, (dark, light) in DARK.items():
        raised, cleared = times[name][True], times[name][False]
        assert len(raised) - len(cleared) in (0, 1) and len(raised) > 0.75 * DAY / LENGTH, times
        begins[name] = raised[0] - dark
        for night, (begin, end) in enumerate(zip(raised, cleared)):
            begin_of_video = begins[name] + night * LENGTH
            assert abs(begin - begin_of_video - dark) < 3, (name, night, begin)
            assert abs(end - begin_of_video - light) < 3, (name, night, end)
    return begins


def expect_events(database, times, oldest):
    """Checks that the history has the events of the log, except those that are too old."""
    for name in DARK:
        events = database.execute(
            "SELECT time / 1000.0, raised FROM event JOIN camera ON camera.number = camera "
            "WHERE id = ? AND verdict = 'too-dark' ORDER BY event.number",
            (name + '-mkv',)).fetchall()
        for up in (True, False):
            logged = [at for at in times[name][up] if at >= oldest]
            kept = [at for at, raised in events if raised == up]
            # The last event may be missing, and old events are not all deleted at once.
            assert len(logged) - 1 <= len(kept) <= len(logged) + 1, (name, kept, logged)
            for at, expected in zip(kept[::-1], times[name][up][::-1]):
                assert 0 <= at - expected < 1, (name, at, expected)


def expect_rows(database, begins, oldest):
    """Checks that each row of the last hours has its frames, and the verdict while it was dark."""
    for name, (dark, light) in DARK.items():
        rows = database.execute(
            'SELECT time / 1000.0 - ?, frames, mean, verdicts FROM measurement JOIN camera '
            'ON camera.number = camera WHERE id = ? ORDER BY time',
            (begins[name], name + '-mkv')).fetchall()
        expected = (begins[name] + rows[-1][0] - oldest) / ROW
        assert expected - 2 <= len(rows) <= expected + 65, (name, len(rows), expected)
        for at, frames, mean, verdicts in rows[1:-1]:
            assert frames in (59, 60, 61), (name, at, frames)
            into = at % LENGTH
            if dark < into and into + ROW < light:
                assert 'too-dark' in verdicts and mean < 40, (name, at, mean, verdicts)
            elif into + ROW < dark or into > light + HOLD + 1:
                assert 'too-dark' not in verdicts and mean > 100, (name, at, mean, verdicts)
        for row, after in zip(rows, rows[1:]):
            assert abs(after[0] - row[0] - ROW) < 0.001, (row, after)


def main(folder):
    folder = pathlib.Path(folder)
    history = folder / 'history.db'
    cameras = [make(folder, name) for name in DARK]
    began = time.monotonic()
    with Monitor('--fast', '--loop', f'--duration={DAY}', '--history', history,
                 f'--retention-days={RETENTION / DAY}', f'--history-interval={ROW}',
                 *cameras) as monitor:
        watch = Watch(monitor, history)
        while monitor.is_running():
            try:
                watch.look()
            except (ConnectionError, urllib.error.URLError) as error:
                assert not isinstance(error, urllib.error.HTTPError), error.read()
                break  # the monitor has ended
    lines = monitor.output
    print('a day in %.1f s' % (time.monotonic() - began))
    expect_no_growth(watch)
    with sqlite3.connect(history) as database:
        times = nights(lines)
        begins = expect_log(times)
        latest = database.execute('SELECT max(time) / 1000.0 FROM measurement').fetchone()[0]
        expect_events(database, times, latest - RETENTION)
        expect_rows(database, begins, latest - RETENTION)


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
