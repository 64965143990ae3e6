# SPDX-License-Identifier: LGPL-2.1-or-later
"""A monitor that is killed while it writes its history, and restarted with the same file: all rows that
could be read before are kept, and it continues. Also if the disk is missing for a while."""
import os
import pathlib
import random
import sqlite3
import subprocess
import tempfile
import time

import numpy as np

import running
import videos
from running import Monitor, wait_for

ROUNDS = 8


def rows_of(history):
    """Returns the number of frames by camera and time, as another process reads them."""
    if not history.exists():
        return {}
    database = sqlite3.connect(f'file:{history}?mode=ro', uri=True, timeout=60)
    try:
        return {(camera, time): frames for camera, time, frames in database.execute(
            'SELECT id, time, frames FROM measurement JOIN camera ON number = camera')}
    except sqlite3.OperationalError as error:
        assert 'no such table' in str(error), error  # the monitor is just starting
        return {}
    finally:
        database.close()


def check_integrity(history):
    database = sqlite3.connect(history, timeout=60)
    assert database.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
    database.close()


def exported(history):
    done = subprocess.run([running.PROGRAM, '--history', history, '--export', 'csv'], check=False,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout.splitlines()[1:]


def expect_kept(before, history, what):
    after = rows_of(history)
    lost = [row for row, frames in before.items() if after.get(row, -1) < frames]
    assert not lost, f'{what}: {len(lost)} rows of {len(before)} are lost: {lost[:3]}'
    return after


def a_kill_loses_no_written_rows(video, history, seed):
    """The monitor reads a video as fast as possible and writes many rows at once, one per second of video."""
    random.seed(seed)
    before = {}
    for number in range(ROUNDS):
        what = f'round {number}, seed {seed}'
        with Monitor('--fast', '--loop', '--history', history, '--history-interval=1',
                     video) as monitor:
            wait_for('rows', lambda: len(rows_of(history)) > len(before) + 50)
            time.sleep(random.uniform(0, 0.5))
            before = expect_kept(before, history, what)
            monitor.kill()
        if number % 2 == 0:  # then the first process to open the file only reads
            assert len(exported(history)) >= len(before), what
        check_integrity(history)
        before = expect_kept(before, history, what)
    print(f'{len(before)} rows through {ROUNDS} kills')


def a_kill_loses_only_the_latest_interval(video, history):
    """The monitor reads a video in real time, like a camera: a row is written when its time is over, or soon
    after."""
    with Monitor('--loop', '--history', history, '--history-interval=1', video) as monitor:
        wait_for('rows', lambda: len(rows_of(history)) >= 5)
        latest = lambda: max(time for _, time in rows_of(history)) / 1000
        behind = min(time.time() - latest() for _ in range(20) if time.sleep(0.2) is None)
        monitor.kill()
    times = sorted(time for _, time in rows_of(history))
    assert {b - a for a, b in zip(times, times[1:])} == {1000}, times
    # The limit covers the length of a row, an interval that begins at its end, and late frames.
    print(f'{behind:.1f} s behind')
    assert behind < 5, behind
    check_integrity(history)


def a_write_error_is_reported_once(video, folder):
    history, away = folder / 'disk/history.db', folder / 'away'
    history.parent.mkdir()
    with Monitor('--loop', '--history', history, '--history-interval=1', video) as monitor:
        wait_for('rows', lambda: len(rows_of(history)) >= 2)
        history.parent.rename(away)
        monitor.wait_for_line(f'history {history}: ')
        time.sleep(3)
        assert sum('history' in line for line in monitor.output) == 1, monitor.output
        before = rows_of(away / history.name)
        away.rename(history.parent)
        monitor.wait_for_line('the history can be written again')
        wait_for('rows', lambda: len(rows_of(history)) > len(before) + 3)
    times = sorted(time for _, time in expect_kept(before, history, 'the disk was missing'))
    assert {b - a for a, b in zip(times, times[1:])} == {1000}, times


def main(folder):
    folder = pathlib.Path(folder)
    video = folder / 'video.mkv'
    rng = np.random.default_rng(1)
    videos.write(video, [rng.integers(16, 235, (48, 64)).astype(np.uint8) for _ in range(600)], 5)
    seed = running.seed()
    a_kill_loses_no_written_rows(video, folder / 'fast.db', seed)
    a_kill_loses_only_the_latest_interval(video, folder / 'live.db')
    a_write_error_is_reported_once(video, folder)


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
