# SPDX-License-Identifier: LGPL-2.1-or-later
"""The numbers in the API and in /metrics are those of the frames, which are computed here independently."""
import csv
import io
import pathlib
import re
import subprocess
import tempfile

import videos
from lumas import expect_same, statistics_of
from running import PROGRAM, Monitor, wait_for

FPS = 20
INTERVALS = 5  # to compare
SAMPLE = re.compile(r'^(luminance_\w+){(.*)} (\S+)$')


def metrics_of(text, camera):
    """Returns the metrics of a camera, by name and the other labels."""
    found = {}
    for line in text.splitlines():
        match = SAMPLE.match(line)
        if match and f'camera="{camera}"' in match[2]:
            labels = re.sub(rf'camera="{camera}",?', '', match[2]).rstrip(',')
            found[match[1], labels] = float(match[3])
    return found


def expect_metrics(metrics, latest, camera):
    wanted = {
        ('luminance_mean_luma', ''): latest['mean'],
        ('luminance_stddev_luma', ''): latest['stddev'],
        ('luminance_clipped_ratio', 'bound=\"low"'): latest['clipped_low'],
        ('luminance_clipped_ratio', 'bound=\"high"'): latest['clipped_high'],
        ('luminance_frames_per_second', ''): camera['fps'],
        ('luminance_reconnects_total', ''): camera['reconnects'],
        **{('luminance_percentile_luma', f'percentile="{percent}"'): latest[name]
           for percent, name in ((1, 'p1'), (5, 'p5'), (50, 'median'), (95, 'p95'), (99, 'p99'))},
        ('luminance_min_luma', ''): latest['min'], ('luminance_max_luma', ''): latest['max']}
    for key, value in wanted.items():
        assert metrics[key] == value, (key, metrics[key], value)


def look(monitor, seen):
    """Returns the camera and its metrics for an interval that is not in `seen`, or None."""
    camera = monitor.cameras()['numbers-mkv']
    metrics = metrics_of(monitor.get('/metrics'), camera['id'])
    after = monitor.cameras()['numbers-mkv']
    if camera['latest'] is None or camera['latest'] != after['latest']:
        return None  # an interval ended between the requests
    if camera['latest']['frames'] > FPS + 1:
        return None  # longer than a second: the machine was busy
    return None if camera['latest']['time'] in seen else (camera, metrics)


def main(folder):
    frames = videos.ordinary(12 * FPS)
    path = pathlib.Path(folder) / 'numbers.mkv'
    videos.write(path, frames, FPS)
    seen = set()
    with Monitor('--loop', path) as monitor:
        while len(seen) < INTERVALS:
            camera, metrics = wait_for('an interval', lambda: look(monitor, seen))
            latest = camera['latest']
            seen.add(latest['time'])
            first = round(latest['stream_time_ns'] * FPS / 1e9)
            assert latest['frames'] > 0
            wanted = statistics_of(frames[first:first + latest['frames']])
            expect_same(latest, wanted, f'frames from {first}')
            expect_metrics(metrics, latest, camera)
            print(f'frames {first} to {first + latest["frames"]}: mean {latest["mean"]}')


def max_fps_limits_frames(folder, fps):
    """With --max-fps=2, two of 20 frames per second are measured in a video of 10 seconds; also if the video
    does not declare its rate."""
    path, history = pathlib.Path(folder) / 'some.mkv', pathlib.Path(folder) / f'{fps}.db'
    videos.write(path, videos.ordinary(10 * FPS), fps, [i / FPS for i in range(10 * FPS)])
    run = lambda *words: subprocess.run([PROGRAM, f'--history={history}', *words], timeout=120,
                                        check=True, capture_output=True, text=True).stdout
    run('--headless', '--no-web', '--fast', '--max-fps=2', '--history-interval=1', path)
    frames = sum(int(row['frames']) for row in csv.DictReader(io.StringIO(run('--export=csv'))))
    assert 20 <= frames <= 21, (fps, frames)


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
    max_fps_limits_frames(temporary, FPS)
    max_fps_limits_frames(temporary, 0)
