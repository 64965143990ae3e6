# SPDX-License-Identifier: LGPL-2.1-or-later
"""A camera with a password over RTSP: it is watched, lost and found again, which does not disturb other
cameras, and its password is shown nowhere."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import wave

import gi

import running
import videos
from running import Monitor, wait_for

try:
    gi.require_version('GstRtspServer', '1.0')
except ValueError:
    print('skipped: there is no gst-rtsp-server')
    sys.exit(running.SKIPPED)

PASSWORD = 'ge/he@im & more'
TOKEN = 'query-token-0815'
SERVER = pathlib.Path(__file__).with_name('rtspcamera.py')
CLIP = running.APP / 'tests/media/pedestrians.webm'


class Camera(running.Process):
    """A camera in a process of its own, so that it can be killed."""

    def __init__(self, port=0):
        super().__init__([sys.executable, SERVER, str(port), PASSWORD])
        self.port = int(self.wait_for_line(r'port (\d+)')[1])


def configuration(folder, port):
    password = folder / 'password'
    password.write_text(PASSWORD + '\n')
    wrong = folder / 'wrong'
    wrong.write_text('another-' + PASSWORD)
    address = f'rtsp://127.0.0.1:{port}/live?token={TOKEN}'
    text = (f'[[cameras]]\nname = "Door"\nuri = "{address}"\nuser = "viewer"\n'
            f'password-file = "password"\n'
            f'[[cameras]]\nname = "Wrong"\nuri = "{address}"\nuser = "viewer"\n'
            f'password-file = "wrong"\n'
            f'[[cameras]]\nname = "Clip"\nuri = "{CLIP}"\n')
    file = folder / 'cameras.toml'
    file.write_text(text)
    return file


def expect_no_secret(text, where):
    for secret in (PASSWORD, PASSWORD.replace(' ', '%20'), 'ge%2Fhe', TOKEN, 'another-'):
        assert secret not in text, f'{secret!r} in {where}'


def expect_no_secrets(monitor, history):
    for path in ('/', '/api/v1/cameras', '/api/v1/cameras/door', '/api/v1/cameras/door/recent',
                 '/api/v1/cameras/door/history', '/api/v1/events', '/metrics'):
        expect_no_secret(monitor.get(path), path)
    expect_no_secret(''.join(monitor.output), 'what it prints')
    command = pathlib.Path(f'/proc/{monitor.pid}/cmdline').read_bytes().decode()
    expect_no_secret(command, 'ps')
    for file in history.parent.glob('history.db*'):
        expect_no_secret(file.read_bytes().decode('latin-1'), file.name)


def main(folder):
    folder = pathlib.Path(folder)
    history = folder / 'history.db'
    camera = Camera()
    monitor = Monitor('--config', configuration(folder, camera.port), '--history', history,
                      '--loop', '--history-interval', '1', '--set', 'no-frames.raise=2')
    with monitor:
        status = lambda name: monitor.cameras()[name]['status']
        frames = lambda name: monitor.cameras()[name]['frames']
        wait_for('the camera', lambda: frames('door') > 10)
        wait_for('a refusal', lambda: 'wrong user or password (401' in
                 monitor.cameras()['wrong']['error'])
        # The first rate counts from the camera's answer, and frames may come later.
        wait_for('its rate', lambda: abs((monitor.cameras()['door']['fps'] or 0) - 10) < 3)
        assert monitor.cameras()['door']['location'] == f'rtsp://127.0.0.1:{camera.port}/live'
        expect_no_secrets(monitor, history)

        port = camera.port
        camera.kill()
        wait_for('the loss', lambda: status('door') == 'waiting')
        wait_for('a verdict', lambda: [v['name'] for v in monitor.cameras()['door']['verdicts']]
                 == ['no-frames'])
        before, since = frames('clip'), time.monotonic()
        wait_for('frames of the other camera', lambda: frames('clip') > before + 20)
        assert time.monotonic() - since < 10, 'the other camera was held up'
        assert monitor.cameras()['clip']['reconnects'] == 0

        before = frames('door')
        camera = Camera(port)
        wait_for('the camera again', lambda: frames('door') > before + 10, 120)
        wait_for('no verdict', lambda: not any(
            v['name'] == 'no-frames' for v in monitor.cameras()['door']['verdicts']))
        door = monitor.cameras()['door']
        assert door['reconnects'] > 0 and door['error'] == '', door
        expect_no_secrets(monitor, history)
    camera.stop()
    print(''.join(monitor.output))


def passwords_in_the_command_are_refused():
    done = subprocess.run([running.PROGRAM, 'rtsp://viewer:geheim@127.0.0.1:1/live'], text=True,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 2 and 'geheim' not in done.stdout + done.stderr, done
    assert done.stderr.count('\n') == 1 and 'command line' in done.stderr, done.stderr


def sound_without_video_is_an_error(folder):
    path = pathlib.Path(folder) / 'sound.wav'
    with wave.open(str(path), 'wb') as sound:
        sound.setparams((1, 2, 8000, 0, 'NONE', ''))
        sound.writeframes(bytes(16000))
    done = subprocess.run([running.PROGRAM, '--headless', '--no-web', '--no-history', path],
                          text=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 3 and 'no video that can be decoded' in done.stdout, done


def a_gap_in_a_file_is_no_error(folder):
    path = pathlib.Path(folder) / 'gap.mkv'
    videos.write(path, videos.ordinary(20), 10, [i / 10 + 20 * (i >= 10) for i in range(20)])
    done = subprocess.run([running.PROGRAM, '--headless', '--no-web', '--no-history', path],
                          text=True, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0 and 'No frames cleared at' in done.stdout, done


os.environ.setdefault('GST_DEBUG_NO_COLOR', '1')
passwords_in_the_command_are_refused()
with tempfile.TemporaryDirectory() as temporary:
    sound_without_video_is_an_error(temporary)
    a_gap_in_a_file_is_no_error(temporary)
    main(temporary)
