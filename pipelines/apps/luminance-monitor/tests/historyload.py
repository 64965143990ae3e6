#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""historyload.py [--bench [SECONDS [CAMERAS [ROW]]] | --day]: a monitor with cameras and a month of
history, in rows of ROW seconds, while readers request all of it: each gets all of it, or is told when to
retry, and other clients are answered. With --bench, for a machine that is otherwise idle, there are 200
readers: other clients are answered at once, and no camera is reported as silent. With --day, the monitor
reads a day of 32 cameras as fast as possible, and no verdict is raised."""
import collections
import http.client
import json
import pathlib
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error

import videos
from running import PROGRAM, Monitor, wait_for

DAY, BENCH = sys.argv[1:] == ['--day'], sys.argv[1:2] == ['--bench']
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 12 if BENCH else 5
CAMERAS = 32 if DAY else int(sys.argv[3]) if len(sys.argv) > 3 else 4
ROW = float(sys.argv[4]) if len(sys.argv) > 4 else 60
READERS = 200 if BENCH or DAY else 40
DAYS = 30
FPS = 1 if DAY else 5
# Limit for the median duration of /healthz in seconds; 200 readers in Python take most of the CPU time. The
# test only shows that nothing waits for a reader, which takes ten seconds.
MEDIAN = 0.08 if BENCH or DAY else 2
FILL = """
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :rows - 1)
INSERT INTO measurement SELECT :camera, (:end - (:rows - i) * :length) * 1000, :length, 25, 100 + i % 50,
  99, 155, 40.5, 20, 101, 220, 0.01 * (i % 3), 0.02, CASE WHEN i % 500 < 5 THEN 'too-dark' ELSE '' END
FROM n
"""


def fill(history, names):
    """Writes a month of rows into the tables that the program creates. It also creates their summaries."""
    subprocess.run([PROGRAM, '--headless', '--no-web', '--duration=1', '--history', history, videos.CLIP],
                   check=True, capture_output=True, timeout=60)
    with sqlite3.connect(history) as database:
        for table in 'measurement', 'summary', 'event', 'incident', 'camera':
            database.execute(f'DELETE FROM {table}')
        end = time.time() // ROW * ROW
        for number, name in enumerate(names, 1):
            database.execute('INSERT INTO camera (number, id, name) VALUES (?, ?, ?)', (number, name, name))
            database.execute(FILL, {'rows': int(DAYS * 86400 / ROW), 'camera': number,
                                    'length': ROW, 'end': end})


class Readers:
    """Readers that repeat their request as soon as it is answered, or after the time in Retry-After."""

    def __init__(self, monitor, cameras):
        self.monitor, self.cameras = monitor, cameras
        self.statuses = collections.Counter()
        self.rows = set()
        self.problems = []
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._read, args=(i,)) for i in range(READERS)]

    def _read(self, index):
        camera = self.cameras[index % len(self.cameras)]
        try:
            connection = http.client.HTTPConnection(self.monitor.target(), timeout=120)
            while not self._is_over.is_set():
                now = int(time.time() * 1000)
                connection.request('GET', f'/api/v1/cameras/{camera}/history?points=1000'
                                   f'&from={now - DAYS * 86400000}&to={now}')
                answer = connection.getresponse()
                body = answer.read()
                with self._lock:
                    self.statuses[answer.status] += 1
                    if answer.status == 200:
                        self.rows.add(body.count(b'"time"'))
                if answer.status == 503:
                    self._is_over.wait(float(answer.headers['Retry-After']))
        except (OSError, http.client.HTTPException, TypeError) as error:
            self.problems.append(repr(error))

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        for thread in self._threads:
            thread.join()


def has_to_go_on(monitor, end):
    """Whether to continue: with --day, until the slowest camera has all frames of a day."""
    if not DAY:
        return time.monotonic() < end
    return min(camera['frames'] for camera in monitor.cameras().values()) < 86400 * FPS


def watch(monitor, readers, seconds):
    """Requests /healthz again and again, and returns how long each answer took, in seconds."""
    took = []
    end = time.monotonic() + seconds
    while has_to_go_on(monitor, end) or readers.statuses[200] < READERS:
        begin = time.monotonic()
        assert json.loads(monitor.get('/healthz'))['status'] == 'ok'
        took.append(time.monotonic() - begin)
        time.sleep(0.05)
        assert DAY or time.monotonic() < end + 120, readers.statuses
    return took


def export(history):
    """Exports the history while the readers are active."""
    lines = subprocess.run([PROGRAM, '--history', history, '--export', 'csv'], check=True,
                           capture_output=True, timeout=300).stdout.count(b'\n')
    assert lines > CAMERAS * DAYS * 86400 / ROW * 0.98, lines


def stalled(monitor):
    """Returns the connection of a reader that requests a large answer and reads none of it."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    host, port = monitor.target().split(':')
    reader.connect((host, int(port)))
    reader.sendall(b'GET /api/v1/cameras/camera-0/history?from=0&points=5000 HTTP/1.1\r\n'
                   b'Host: localhost\r\n\r\n')
    return reader


def status_of(monitor):
    """Returns the status of another request for the history, and its Retry-After."""
    try:
        monitor.get('/api/v1/events')
        return 200, None
    except urllib.error.HTTPError as error:
        return error.code, error.headers['Retry-After']


def refuses_too_many(folder):
    """Requests for the history may take half of the connections, until the clients have read their answers
    or disconnect."""
    history, config = folder / 'full.db', folder / 'full.toml'
    config.write_text('loop = true\n[web]\nmax-connections = 20\n'
                      '[[cameras]]\nname = "camera-0"\nuri = "camera.mkv"\n')
    fill(history, ['camera-0'])
    with Monitor('--history', history, '--config', config) as monitor:
        readers = [stalled(monitor) for _ in range(10)]
        wait_for('a refusal', lambda: status_of(monitor) == (503, '1'))
        assert json.loads(monitor.get('/healthz'))['status'] == 'ok'
        for reader in readers[:3]:
            reader.close()
        wait_for('room', lambda: status_of(monitor) == (200, None))
        for reader in readers[3:]:
            reader.close()


def main(folder):
    folder = pathlib.Path(folder)
    video, history = folder / 'camera.mkv', folder / 'history.db'
    videos.write(video, videos.ordinary(40 if not DAY else 1800), FPS)
    config = folder / 'cameras.toml'
    names = [f'camera-{i}' for i in range(CAMERAS)]
    config.write_text('loop = true\n' + ''.join(
        f'[[cameras]]\nname = "{name}"\nuri = "{video}"\n' for name in names))
    fill(history, names)
    with Monitor('--history', history, f'--history-interval={ROW}', '--config', config,
                 *(['--fast'] if DAY else [])) as monitor:
        wait_for('frames', lambda: all(c['frames'] > 10 for c in monitor.cameras().values()))
        before = sum(camera['frames'] for camera in monitor.cameras().values())
        begin = time.monotonic()
        with Readers(monitor, names) as readers:
            exporting = threading.Thread(target=export, args=(history,))
            exporting.start()
            took = watch(monitor, readers, SECONDS)
            exporting.join()
        seconds = time.monotonic() - begin
        cameras = monitor.cameras()
        events = json.loads(monitor.get('/api/v1/events'))['events']
    frames = sum(camera['frames'] for camera in cameras.values()) - before
    print(f'{dict(readers.statuses)} answers in {seconds:.1f} s, rows {sorted(readers.rows)}; /healthz '
          f'{1000 * statistics.median(took):.1f} ms, at most {1000 * max(took):.0f} ms; '
          f'{frames / seconds / CAMERAS:.2f} frames/s a camera')
    assert not readers.problems, readers.problems[:3]
    assert set(readers.statuses) <= {200, 503}, readers.statuses
    assert all(500 <= rows <= 1001 for rows in readers.rows), readers.rows
    silent = [event for event in events if DAY or event['verdict'] == 'no-frames']
    assert not (BENCH or DAY) or not silent and not any('no-frames' in line or 'No frames' in line
                                  for line in monitor.output), (silent, monitor.output)
    # Checks the log, too: the events of the API may be of another time than these frames.
    assert not DAY or not any(' since ' in line for line in monitor.output), monitor.output
    assert all(camera['status'] == 'playing' for camera in cameras.values()), cameras
    assert statistics.median(took) < MEDIAN, sorted(took)
    refuses_too_many(folder)


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
