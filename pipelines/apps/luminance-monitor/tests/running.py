# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the monitor of the build in $BUILD_DIR, and Prometheus, while a test needs them."""
import json
import os
import pathlib
import queue
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

APP = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = pathlib.Path(os.environ.get('BUILD_DIR', '')) / 'luminance-monitor'
SKIPPED = 77


def need(*programs):
    """Skips the test if one of the programs is not in PATH."""
    for program in programs:
        if shutil.which(program) is None:
            print(f'skipped: there is no {program}')
            sys.exit(SKIPPED)


def seed():
    """Returns and prints the seed of a test's random cases. LUMINANCE_TEST_SEED, if it is set, repeats a
    failed run."""
    chosen = int(os.environ.get('LUMINANCE_TEST_SEED', random.randrange(2**32)))
    print(f'LUMINANCE_TEST_SEED={chosen}', flush=True)
    return chosen


def wait_for(what, condition, seconds=60):
    """Waits until `condition()` returns a true value, and returns it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f'{what}: not within {seconds} s')


class Process:
    """A program that runs until the end of a `with`. A thread reads and keeps its output."""

    def __init__(self, command):
        self.output = []
        self._killed = False
        self._lines = queue.Queue()
        self._process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        self.pid = self._process.pid
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self.output.append(line)
            self._lines.put(line)
        self._lines.put(None)

    def wait_for_line(self, pattern, seconds=60):
        """Waits for a line that matches, and returns the match. Raises AssertionError if none comes."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                self.stop()
                raise AssertionError(f'no "{pattern}":\n{"".join(self.output)}')
            if match := re.search(pattern, line):
                return match

    def is_running(self):
        return self._process.poll() is None

    def stop(self):
        """Ends the program with SIGTERM, and returns its exit status."""
        self._process.terminate()
        try:
            return self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            self._reader.join()
            self._process.stdout.close()

    def kill(self):
        self._killed = True
        self._process.kill()
        self._process.wait()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        status = self.stop()
        if kind is not None:
            sys.stderr.write(''.join(self.output[-100:]))
        else:
            expected = (-9,) if self._killed else (0, -15)
            assert status in expected, (status, self.output[-20:])


class Monitor(Process):
    def __init__(self, *arguments, token=None, history=None):
        """`history`: with 'default', the monitor keeps its usual history; otherwise only with --history."""
        history = [] if '--history' in arguments or history == 'default' else ['--no-history']
        super().__init__([PROGRAM, '--headless', '--listen=127.0.0.1:0', *history, *arguments])
        self.token = token
        self.address = self.wait_for_line(r'Serving (http://[\d.:]+)')[1]

    def target(self):
        """Returns host and port, as Prometheus wants them."""
        return self.address.removeprefix('http://')

    def get(self, path):
        request = urllib.request.Request(self.address + path)
        if self.token is not None:
            request.add_header('Authorization', f'Bearer {self.token}')
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    def cameras(self):
        """Returns the cameras by id."""
        answer = json.loads(self.get('/api/v1/cameras'))
        return {camera['id']: camera for camera in answer['cameras']}


class Prometheus(Process):
    """A Prometheus with this configuration file, and its data in `folder`."""

    def __init__(self, config, folder):
        super().__init__([
            'prometheus', f'--config.file={config}', f'--storage.tsdb.path={folder}/data',
            '--web.listen-address=127.0.0.1:0', '--log.level=info'])
        self.address = 'http://' + self.wait_for_line(r'msg="Listening on" address=([\d.:]+)')[1]
        wait_for('Prometheus', self.is_ready)

    def is_ready(self):
        try:
            with urllib.request.urlopen(self.address + '/-/ready', timeout=60):
                return True
        except urllib.error.URLError:
            return False

    def ask(self, path, **parameters):
        """Returns the data of an answer. Raises AssertionError with Prometheus' text if it is an error."""
        url = f'{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}'
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return json.load(answer)['data']
        except urllib.error.HTTPError as error:
            raise AssertionError(f'{parameters}: {error.read().decode()}') from error

    def query(self, expression):
        return self.ask('query', query=expression)['result']

    def target(self):
        """Returns the only target."""
        targets = wait_for('a target', lambda: self.ask('targets')['activeTargets'])
        assert len(targets) == 1, targets
        return targets[0]

    def alerts(self, name):
        """Returns the firing alerts of this name."""
        return [alert for alert in self.ask('alerts')['alerts']
                if alert['labels']['alertname'] == name and alert['state'] == 'firing']


def shipped_prometheus(folder, target, token=None):
    """Writes the configuration and alerts of deploy/prometheus for `target`, with short intervals. Returns
    the path of the configuration."""
    deploy = APP / 'deploy/prometheus'
    config = (deploy / 'prometheus.yaml').read_text()
    config, targets = re.subn(r"'127.0.0.1:8080'", f"'{target}'", config)
    config, intervals = re.subn(r'15s', '1s', config)
    assert (targets, intervals) == (1, 2), config
    if token is not None:
        config, lines = re.subn(r'# (authorization:\n *)# (  credentials_file)', r'\1\2', config)
        assert lines == 1, config
        (folder / 'luminance-monitor.token').write_text(token + '\n')
    alerts = re.sub(r'for: \w+', 'for: 2s', (deploy / 'alerts.yaml').read_text())
    (folder / 'alerts.yaml').write_text(alerts)
    (folder / 'prometheus.yaml').write_text(config)
    return folder / 'prometheus.yaml'
