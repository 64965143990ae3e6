# SPDX-License-Identifier: LGPL-2.1-or-later
"""A history that cannot be written, because the disk is full or its folder is missing: the API, /healthz,
/metrics and the stream report it. When it can be written again, all of them report that, and the pending
records are written."""
import json
import os
import pathlib
import re
import resource
import sqlite3
import stat
import tempfile
import urllib.request

import videos
from running import PROGRAM, Monitor, Process, wait_for

SETTINGS = ('--loop', '--history-interval=1')


class Limited(Monitor):
    """A monitor whose files can be kept from growing, as by a full disk. Its files are small and grow with
    each row, apart from parts that SQLite overwrites."""

    def __init__(self, *arguments, env=()):  # pylint: disable=super-init-not-called
        Process.__init__(self, ['env', *env, 'sh', '-c', 'trap "" XFSZ; exec "$@"', 'sh', PROGRAM,
                                '--headless', '--listen=127.0.0.1:0', *arguments])
        self.token = None
        self.address = self.wait_for_line(r'Serving (http://[\d.:]+)')[1]

    def limit(self, size):
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def metrics_of(monitor):
    return {name: float(value) for name, value in re.findall(
        r'^luminance_(history_\w+) (\S+)$', monitor.get('/metrics'), re.MULTILINE)}


def error_of(monitor):
    return json.loads(monitor.get('/api/v1/cameras'))['history_error']


def expect_fine(monitor):
    assert json.loads(monitor.get('/healthz')) == {'status': 'ok'}
    assert metrics_of(monitor)['history_failing'] == 0
    assert error_of(monitor) == ''


def expect_trouble(monitor, history):
    wait_for('trouble', lambda: metrics_of(monitor)['history_failing'] == 1)
    assert json.loads(monitor.get('/healthz')) == {'status': 'ok', 'history': 'failing'}
    assert str(history) in error_of(monitor), error_of(monitor)
    assert metrics_of(monitor)['history_write_failures_total'] >= 1
    wait_for('pending records', lambda: metrics_of(monitor)['history_pending_records'] >= 3)
    with urllib.request.urlopen(monitor.address + '/api/v1/stream', timeout=60) as stream:
        errors = []
        while len(errors) < 2:  # from `cameras`, then from an `update`
            event = stream.readline()
            if event in (b'event: cameras\n', b'event: update\n'):
                data = json.loads(stream.readline().removeprefix(b'data: '))
                errors.append(data['history_error'])
    assert all(str(history) in error for error in errors), errors
    assert monitor.is_running()


def rows_of(history):
    database = sqlite3.connect(f'file:{history}?mode=ro', uri=True, timeout=60)
    try:
        return [time for time, in database.execute('SELECT time FROM measurement ORDER BY time')]
    finally:
        database.close()


def a_full_disk_is_reported(folder, video):
    history = folder / 'full.db'
    with Limited(*SETTINGS, '--history', history, video) as monitor:
        wait_for('rows', lambda: history.exists() and len(rows_of(history)) >= 2)
        expect_fine(monitor)
        monitor.limit(1)
        expect_trouble(monitor, history)
        monitor.limit(resource.RLIM_INFINITY)
        wait_for('the end of the trouble', lambda: metrics_of(monitor)['history_failing'] == 0)
        expect_fine(monitor)
        assert metrics_of(monitor)['history_dropped_records_total'] == 0
        assert metrics_of(monitor)['history_write_failures_total'] >= 1, 'the counter was reset'
    times = rows_of(history)
    assert [b - a for a, b in zip(times, times[1:])] == [1000] * (len(times) - 1), times
    lines = [line for line in monitor.output if 'history' in line]
    assert len(lines) == 2 and str(history) in lines[0] and 'can be written again' in lines[1], lines


def a_missing_folder_is_reported(folder, video):
    """The default history: a file is in the place of its folder."""
    data = folder / 'data'
    data.write_text('')
    history = data / 'luminance-monitor/history.db'
    with Limited(*SETTINGS, video, env=[f'XDG_DATA_HOME={data}']) as monitor:
        expect_trouble(monitor, history)
        data.unlink()
        wait_for('the end of the trouble', lambda: metrics_of(monitor)['history_failing'] == 0)
        expect_fine(monitor)
        wait_for('rows', lambda: len(rows_of(history)) >= 3)
        for path, mode in ((history.parent, 0o700), (history, 0o600),
                           (f'{history}-wal', 0o600), (f'{history}-shm', 0o600)):
            assert stat.S_IMODE(os.stat(path).st_mode) == mode, (path, oct(os.stat(path).st_mode))


def without_history_nothing_is_reported(video):
    with Monitor('--loop', video) as monitor:
        assert not metrics_of(monitor) and error_of(monitor) == ''


def main(folder):
    video = folder / 'camera.mkv'
    videos.write(video, videos.ordinary(40), 5)
    a_full_disk_is_reported(folder, video)
    a_missing_folder_is_reported(folder, video)
    without_history_nothing_is_reported(video)


with tempfile.TemporaryDirectory() as temporary:
    main(pathlib.Path(temporary))
