#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The monitor reads its configuration again on SIGHUP, or when a file changes. Cameras are added, removed and
changed while others continue; a wrong file changes nothing; passwords and certificates are read again."""
import http.client
import json
import os
import pathlib
import pty
import shutil
import signal
import sqlite3
import ssl
import subprocess
import tempfile
import time
import urllib.error

import running
from access import make_identity
from running import Monitor, wait_for
from videos import CLIP


def config(*cameras, more=''):
    """Returns the TOML of cameras, which are (name, more lines)."""
    text = 'loop = true\n' + more + '\n'
    for name, lines in cameras:
        text += f'[[cameras]]\nname = "{name}"\nuri = "{CLIP}"\nmax-fps = 5\n{lines}\n'
    return text


def reload(monitor, file, text, expected):
    file.write_text(text)
    os.kill(monitor.pid, signal.SIGHUP)
    return monitor.wait_for_line(expected)


def plays(monitor, *names):
    def is_so():
        cameras = monitor.cameras()
        return list(cameras) == list(names) and all(
            camera['status'] == 'playing' and camera['latest'] for camera in cameras.values()
        ) and cameras
    return wait_for(f'{names} play', is_so)


class Reader:
    """Events of the stream as (name, data)."""

    def __init__(self, monitor):
        self._connection = http.client.HTTPConnection(monitor.target(), timeout=60)
        self._connection.request('GET', '/api/v1/stream')
        self._answer = self._connection.getresponse()

    def next(self, wanted):
        """Returns the data of the next event of this name."""
        while line := self._answer.readline():
            if line == f'event: {wanted}\n'.encode():
                return json.loads(self._answer.readline().removeprefix(b'data: '))
        raise AssertionError(f'no {wanted}')

    def close(self):
        self._connection.close()


def rows_of(history):
    database = sqlite3.connect(f'file:{history}?mode=ro', uri=True, timeout=60)
    try:
        return dict(database.execute('SELECT id, SUM(frames) FROM measurement JOIN camera '
                                     'ON number = camera GROUP BY id'))
    finally:
        database.close()


def cameras_come_and_go(folder):
    file, history = folder / 'cameras.toml', folder / 'history.db'
    file.write_text(config(('one', ''), ('two', ''), ('three', '')))
    with Monitor('--config', file, '--history', history) as monitor:
        before = plays(monitor, 'one', 'two', 'three')
        reader = Reader(monitor)
        assert len(reader.next('cameras')['cameras']) == 3
        line = reload(monitor, file, config(('four', ''), ('three', 'redirect-hosts = ["a"]'),
                                            ('one', '')), 'configuration reloaded: (.*)')[1]
        assert line == '1 cameras added, 1 removed, 1 changed, 1 unchanged', line
        named = [camera['id'] for camera in reader.next('cameras')['cameras']]
        assert named == ['four', 'three', 'one'], named
        reader.close()
        after = plays(monitor, 'four', 'three', 'one')
        assert after['one']['since'] == before['one']['since'], 'one was restarted'
        assert after['one']['frames'] > before['one']['frames'] and after['one']['reconnects'] == 0
        assert after['three']['since'] > before['three']['since'], 'three was not restarted'
        metrics = monitor.get('/metrics')
        assert 'camera="two"' not in metrics and 'luminance_pixel_luma_count{camera="four"}' in metrics
        wait_for('two points', lambda: len(
            json.loads(monitor.get('/api/v1/cameras/one/recent'))['points']) > 1)
        # The open row of the removed camera is written at once, not after a minute.
        wait_for('the row of the removed camera', lambda: rows_of(history).get('two'))
        for path in ('/api/v1/cameras/two', '/api/v1/cameras/two/still.jpg'):
            try:
                raise AssertionError(monitor.get(path))
            except urllib.error.HTTPError as error:
                assert error.code == 404, error
        for _ in range(5):  # signals may follow at once
            os.kill(monitor.pid, signal.SIGHUP)
        monitor.wait_for_line('0 cameras added, 0 removed, 0 changed, 3 unchanged')
        frames = {name: camera['frames'] for name, camera in monitor.cameras().items()}
    kept = rows_of(history)
    assert kept['one'] >= frames['one'] and kept['four'] >= frames['four'], (kept, frames)
    assert kept['three'] > frames['three'], 'the frames before the change are missing'


def rules_change_without_a_reconnection(folder):
    """A camera of which only the rules change continues, and its verdicts are judged by the new rules."""
    file, dark = folder / 'rules.toml', 'verdicts.too-dark = { raise = 200, hold = 0 }'
    file.write_text(config(('one', ''), ('two', dark)))

    def verdicts(monitor, name):
        return {verdict['name']: verdict for verdict in monitor.cameras()[name]['verdicts']}

    def frames(monitor):
        return {name: camera['frames'] for name, camera in monitor.cameras().items()}

    with Monitor('--config', file, '--interval=1') as monitor:
        before = plays(monitor, 'one', 'two')
        raised = wait_for('two is dark', lambda: verdicts(monitor, 'two').get('too-dark'))
        reader = Reader(monitor)
        reader.next('cameras')
        line = reload(monitor, file, config(('two', dark.replace('200', '210')), ('one', dark)),
                      'configuration reloaded: (.*)')[1]
        assert line == '0 cameras added, 0 removed, 2 changed, 0 unchanged', line
        wait_for('one is dark', lambda: verdicts(monitor, 'one').get('too-dark'))
        stands = verdicts(monitor, 'two')['too-dark']
        assert stands['since'] == raised['since'] and stands['threshold'] == 210, (raised, stands)
        wait_for('the rule in the stream', lambda: any(
            rule['name'] == 'too-dark' and rule['raise'] == 210
            for camera in reader.next('update')['cameras'] if camera['id'] == 'two'
            for rule in camera['rules']))
        reader.close()
        # The verdict is off at every hour.
        halves = ', '.join(f'{{ from = "{a}:00", to = "{b}:00", enabled = false }}'
                           for a, b in (('00', '12'), ('12', '00')))
        reload(monitor, file, config(('two', f'verdicts.too-dark = {{ schedule = [{halves}] }}'), ('one', dark)),
               '0 cameras added, 0 removed, 1 changed, 1 unchanged')
        (end,) = [line for line in monitor.output if ' two: Too dark cleared at ' in line]
        assert end.rstrip().endswith(', no longer judged)'), end
        assert 'too-dark' not in verdicts(monitor, 'two') and 'too-dark' in verdicts(monitor, 'one')
        seen = frames(monitor)
        wait_for('more frames', lambda: all(count > seen[name] for name, count in frames(monitor).items()))
        for name, camera in monitor.cameras().items():
            assert camera['since'] == before[name]['since'] and camera['reconnects'] == 0, camera
            assert camera['frames'] > before[name]['frames'], 'the camera was restarted'


def wrong_files_change_nothing(folder):
    file = folder / 'cameras.toml'
    right = config(('one', ''))
    file.write_text(right)
    with Monitor('--config', file, '/dev/null/not-there.mp4', '--interval=1') as monitor:
        before = monitor.cameras()
        for text, named in (('[[cameras]', 'line 1'), (config(('one', 'max-fps = -1')), 'line'),
                            (config(('one', 'nonsense = 1')), 'nonsense is unknown'),
                            (config(('one', ''), more='[web]\ntoken-file = "gone"\n'), 'gone'),
                            (config(('one', ''), more='[web]\ntls-certificate = "gone"\n'), 'TLS')):
            reload(monitor, file, text, f'configuration not reloaded: .*{named}')
        file.unlink()
        os.kill(monitor.pid, signal.SIGHUP)
        assert 'cameras.toml' in monitor.wait_for_line('configuration not reloaded: (.*)')[1]
        assert list(monitor.cameras()) == list(before)
        line = reload(monitor, file, right.replace('loop', 'interval = 5\nloop') +
                      '[history]\ninterval = 50\n[web]\nmax-connections = 50\n', 'configuration reloaded: (.*)')[1]
        assert line.endswith('; changes that need a restart: web.max-connections, history.interval'), line


def status_of(monitor, token):
    monitor.token = token
    try:
        monitor.get('/api/v1/cameras')
        return 200
    except urllib.error.HTTPError as error:
        return error.code


def tokens_are_read_again(folder):
    file, token = folder / 'cameras.toml', folder / 'token'
    text = config(('one', ''), more='[web]\ntoken-file = "token"\n')
    file.write_text(text)
    token.write_text('first\n')
    with Monitor('--config', file) as monitor:
        assert status_of(monitor, 'first') == 200 and status_of(monitor, 'second') == 401
        connection = http.client.HTTPConnection(monitor.target(), timeout=60)
        connection.request('GET', '/api/v1/stream', headers={'Authorization': 'Bearer first'})
        stream = connection.getresponse()
        token.write_text('second\n')
        reload(monitor, file, text, '0 changed, 1 unchanged')
        assert status_of(monitor, 'first') == 401 and status_of(monitor, 'second') == 200
        try:
            while stream.read1():
                pass  # until the server closes the stream
        except http.client.IncompleteRead:
            pass
        connection.close()
        token.write_text('\n')
        assert 'is empty' in reload(monitor, file, text, 'configuration not reloaded: (.*)')[1]
        assert status_of(monitor, 'second') == 200


def certificates_are_read_again(folder):
    file = folder / 'cameras.toml'
    text = config(('one', ''), more='[web]\ntls-certificate = "tls.pem"\ntls-key = "tls.key"\n')
    file.write_text(text)
    identities = [make_identity(folder, name) for name in ('first', 'second')]

    def install(certificate, key):
        shutil.copy(certificate, folder / 'tls.pem')
        shutil.copy(key, folder / 'tls.key')

    def shown(port):
        return ssl.get_server_certificate(('127.0.0.1', port), timeout=60)

    install(*identities[0])
    with running.Process([running.PROGRAM, '--headless', '--listen=127.0.0.1:0', '--no-history',
                          '--config', file]) as monitor:
        port = int(monitor.wait_for_line(r'Serving https://127.0.0.1:(\d+)/')[1])
        assert shown(port) == identities[0][0].read_text()
        install(*identities[1])  # the monitor notices the change itself
        monitor.wait_for_line('configuration reloaded')
        assert shown(port) == identities[1][0].read_text()
        install(identities[0][0], identities[1][1])  # certificate and key do not match
        assert 'certificate' in reload(monitor, file, text, 'configuration not reloaded: (.*)')[1]
        assert shown(port) == identities[1][0].read_text()
        install(*identities[0])
        reload(monitor, file, text, 'configuration reloaded')
        assert shown(port) == identities[0][0].read_text()


def count(monitor, text):
    return sum(text in line for line in monitor.output)


def files_are_watched(folder):
    """The monitor notices changes without a signal, in whatever way the files are written."""
    folder = folder / 'watched'
    folder.mkdir()
    file, token = folder / 'cameras.toml', folder / 'token'
    web = '[web]\ntoken-file = "token"\n'
    file.write_text(config(('one', ''), more=web))
    token.write_text('first')
    with Monitor('--config', file, token='first') as monitor:
        plays(monitor, 'one')
        file.write_text(config(('one', ''), ('two', ''), more=web))  # overwritten in place
        monitor.wait_for_line('1 cameras added, 0 removed, 0 changed, 1 unchanged')
        new = folder / '.cameras.toml.swp'
        new.write_text(config(('two', ''), more=web))
        os.replace(new, file)  # replaced, as by editors
        monitor.wait_for_line('0 cameras added, 1 removed, 0 changed, 1 unchanged')
        token.unlink()
        token.write_text('second')
        monitor.wait_for_line('0 cameras added, 0 removed, 0 changed, 1 unchanged')
        assert status_of(monitor, 'first') == 401 and status_of(monitor, 'second') == 200
        text = config(('three', ''), more=web)
        with open(file, 'w', encoding='utf-8') as half:  # written in two parts
            half.write(text[:text.index(str(CLIP)) + 3])
            half.flush()
            assert 'line' in monitor.wait_for_line('configuration not reloaded: (.*)')[1]
            time.sleep(7)  # the monitor looks again after five seconds
            assert count(monitor, 'not reloaded') == 1, monitor.output
            assert list(monitor.cameras()) == ['two']
            half.write(text[text.index(str(CLIP)) + 3:])
        monitor.wait_for_line('1 cameras added, 1 removed, 0 changed, 0 unchanged')
        file.unlink()
        monitor.wait_for_line('configuration not reloaded: .*cameras.toml')
        file.write_text(config(('three', ''), more='[web]\ntoken-file = "later"\n'))
        assert 'later' in monitor.wait_for_line('configuration not reloaded: (.*)')[1]
        (folder / 'later').write_text('third')
        monitor.wait_for_line('0 cameras added, 0 removed, 0 changed, 1 unchanged')
        assert status_of(monitor, 'third') == 200
        reloads = count(monitor, 'reloaded')
        (folder / 'neighbour').write_text('nobody names it')
        time.sleep(7)
        assert count(monitor, 'reloaded') == reloads, monitor.output


def links_of_a_configmap_are_followed(folder):
    """Kubernetes replaces the link `..data` in a ConfigMap's volume, to which the file's link leads."""
    folder = folder / 'volume'
    for name, cameras in (('..first', ('one',)), ('..second', ('one', 'two'))):
        (folder / name).mkdir(parents=True)
        (folder / name / 'cameras.toml').write_text(
            'loop = true\n' +
            ''.join(f'[[cameras]]\nname = "{camera}"\nuri = "{CLIP}"\nmax-fps = 5\n' for camera in cameras))
    (folder / '..data').symlink_to('..first')
    (folder / 'cameras.toml').symlink_to('..data/cameras.toml')
    with Monitor('--config', folder / 'cameras.toml') as monitor:
        (folder / '..data_tmp').symlink_to('..second')
        os.replace(folder / '..data_tmp', folder / '..data')
        shutil.rmtree(folder / '..first')
        monitor.wait_for_line('1 cameras added, 0 removed, 0 changed, 1 unchanged')


def the_monitor_ends_with_its_terminal(folder):
    """The monitor ends when its terminal is closed, although that sends SIGHUP. It writes its open rows."""
    history = folder / 'terminal.db'
    ours, theirs = pty.openpty()

    def begin_session():
        os.setsid()
        import fcntl
        import termios
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    with subprocess.Popen([running.PROGRAM, '--headless', '--no-web', '--loop', '--history', history,
                           CLIP], stdin=theirs, stdout=subprocess.PIPE, text=True,
                          preexec_fn=begin_session) as process:
        os.close(theirs)
        for line in process.stdout:
            if 'playing' in line:
                break
        os.kill(process.pid, signal.SIGHUP)
        for line in process.stdout:
            if 'configuration reloaded' in line:
                break
        os.close(ours)
        assert process.wait(60) == 0, process.returncode
    assert sum(rows_of(history).values()) > 0


with tempfile.TemporaryDirectory() as name:
    for test in (cameras_come_and_go, rules_change_without_a_reconnection, wrong_files_change_nothing,
                 tokens_are_read_again, certificates_are_read_again, files_are_watched,
                 links_of_a_configmap_are_followed, the_monitor_ends_with_its_terminal):
        print(test.__name__, flush=True)
        test(pathlib.Path(name))
