# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that send pictures on request: the monitor measures exactly what they send; they may require a
password, fail and come back; and polling them leaks nothing."""
import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import time

import gi
import numpy as np

import running
from sanitizers import SANITIZED
from snapshotcamera import OTHER, PASSWORD, USER, Camera, png
from running import PROGRAM, Monitor, wait_for

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402

FAST, SLOW = 0.2, 1  # seconds between pictures
PATIENCE = 180
POLLS = 10  # seconds of polling, in which nothing may grow
MANY = 8    # cameras


def jpeg(width, height, pattern):
    """Returns a picture that GStreamer encoded, as (type, data), and its luma."""
    Gst.init(None)
    pipeline = Gst.parse_launch(
        f'videotestsrc num-buffers=1 pattern={pattern} ! video/x-raw,format=I420,width={width},'
        f'height={height} ! jpegenc ! tee name=t ! queue ! appsink name=jpeg t. ! queue ! '
        'jpegdec ! video/x-raw,format=I420 ! appsink name=luma')
    pipeline.set_state(Gst.State.PLAYING)
    data, luma = (pipeline.get_by_name(name).emit('pull-sample').get_buffer() for name in ('jpeg', 'luma'))
    data, luma = data.extract_dup(0, data.get_size()), luma.extract_dup(0, width * height)
    pipeline.set_state(Gst.State.NULL)
    return ('image/jpeg', data), np.frombuffer(luma, np.uint8)


def gray_png(width, height):
    luma = np.random.default_rng(7).integers(30, 200, (height, width)).astype(np.uint8)
    return ('image/png', png(width, height, [row.tobytes() for row in luma])), luma.ravel()


def write(folder, cameras):
    """Writes a configuration of cameras: (name, URI, interval, other lines). Returns its path."""
    (folder / 'password').write_text(PASSWORD)
    config = folder / 'cameras.toml'
    config.write_text('\n'.join(line for name, uri, interval, *more in cameras for line in (
        '[[cameras]]', f'name = "{name}"', f'uri = "{uri}"', f'snapshot-interval = {interval}', *more, '')))
    return config


CREDENTIALS = f'user = "{USER}"\npassword-file = "password"'


def histogram_of(luma):
    return np.bincount(luma, minlength=256)


def camera_of(monitor, name):
    return monitor.cameras()[name]


def playing(monitor, name, frames=1):
    def is_so():
        camera = camera_of(monitor, name)
        return camera['status'] == 'playing' and camera['frames'] >= frames and camera
    return wait_for(f'pictures of {name}', is_so, PATIENCE)


def expect_measured(monitor, name, luma):
    """Checks that the measurements of a camera that always sends the same picture are those of it."""
    latest = wait_for(f'numbers of {name}', lambda: camera_of(monitor, name)['latest'], PATIENCE)
    assert latest['pixels'] == latest['frames'] * luma.size, (name, latest)
    wanted = histogram_of(luma) * latest['frames']
    assert latest['histogram'] == wanted.tolist(), (name, latest)
    assert abs(latest['mean'] - luma.mean(dtype=np.float64)) < 1e-9, (name, latest)


def pictures_are_measured(folder):
    first, luma = jpeg(320, 240, 'smpte')
    camera = Camera([first])
    gray, gray_luma = gray_png(80, 60)
    tiny, tiny_luma = jpeg(16, 16, 'black')
    config = write(folder, [
        ('plain', camera.uri('/plain?token=query-secret'), FAST), ('close', camera.uri('/close'), FAST),
        ('basic', camera.uri('/basic'), FAST, CREDENTIALS),
        ('digest', camera.uri('/digest'), FAST, CREDENTIALS),
        ('redirect', camera.uri('/redirect'), FAST),
        ('gray', Camera([gray]).uri('/'), FAST), ('tiny', Camera([tiny]).uri('/'), FAST),
        ('limited', camera.uri('/limited'), FAST, 'max-fps = 1'), ('slow', camera.uri('/rare'), 10)])
    with Monitor('--config', config) as monitor:
        for name in ('plain', 'close', 'basic', 'digest', 'redirect', 'gray', 'tiny'):
            playing(monitor, name, 20)
            expect_measured(monitor, name, {'gray': gray_luma, 'tiny': tiny_luma}.get(name, luma))
        limited = playing(monitor, 'limited', 3)
        assert limited['frames'] < camera.times('/limited') / 2, limited
        # Its only picture so far counts until the next one: no-frames allows for the interval.
        rare = playing(monitor, 'slow')
        assert rare['frames'] == 1 and rare['rules'][0]['raise'] == 20, rare
        assert playing(monitor, 'plain')['rules'][0]['raise'] == 5
        asked = {path: camera.times(path) for path in ('/plain', '/close', '/basic', '/digest')}
        before = camera_of(monitor, 'plain')['frames']
        time.sleep(4)
        rate = (camera_of(monitor, 'plain')['frames'] - before) / 4
        assert SANITIZED or 3.5 < rate < 6, f'{rate} pictures a second'
        assert all(camera.times(path) >= times + 5 for path, times in asked.items()), asked
        for name in ('plain', 'basic', 'digest'):
            assert camera_of(monitor, name)['reconnects'] == 0, camera_of(monitor, name)
        shown = monitor.get('/api/v1/cameras') + monitor.get('/metrics') + ''.join(monitor.output)
    for secret in (PASSWORD, 'query-secret'):
        assert secret not in shown, secret
    # Cameras that keep their connection have one each; /close has one for each request.
    extra = camera.connections - camera.times('/close')
    assert extra <= 8, f'expected 8 kept connections at most, got {extra} of {camera.connections}'
    # The monitor sends the password when the camera requires it, and then with each request.
    for path, prefix in (('/basic', 'Basic '), ('/digest', 'Digest ')):
        given = [authorization for seen, authorization in camera.seen if seen == path]
        assert given[0] is None and all(word.startswith(prefix) for word in given[1:] if word), given
        refused = len(given) - given.count(None)
        assert refused >= len(given) - 2, f'{path}: {given.count(None)} of {len(given)} without password'
    assert all(word is None for seen, word in camera.seen if seen in ('/plain', '/redirect'))
    print(f'{sum(asked.values())} requests, {extra} connections kept')


def sizes_and_formats_change(folder):
    pictures, lumas = zip(jpeg(320, 240, 'smpte'), jpeg(64, 48, 'white'), gray_png(80, 60),
                          jpeg(640, 480, 'ball'))
    camera = Camera(list(pictures))
    config = write(folder, [('changing', camera.uri('/changing'), FAST)])
    histograms = [histogram_of(luma) for luma in lumas]
    seen, wrong = set(), []
    with Monitor('--interval=0.1', '--config', config) as monitor:
        def all_seen():
            data = camera_of(monitor, 'changing')
            latest = data['latest']
            if latest is not None and latest['frames'] == 1:
                found = [i for i, histogram in enumerate(histograms)
                         if histogram.tolist() == latest['histogram']]
                seen.update(found)
                wrong.extend([] if found else [latest])
            return len(seen) == len(pictures) and data['frames'] >= 20
        wait_for('all pictures', all_seen, PATIENCE)
        assert not wrong, wrong[0]
        assert camera_of(monitor, 'changing')['reconnects'] == 0, camera_of(monitor, 'changing')
    print('sizes and formats change without a new connection')


def certificate(folder):
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                    'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=camera', '-addext',
                    'subjectAltName=IP:127.0.0.1', '-keyout', f'{folder}/key.pem', '-out',
                    f'{folder}/cert.pem'], check=True, capture_output=True, timeout=60)
    return folder / 'cert.pem', folder / 'key.pem'


def expect_errors(monitor, words):
    """Checks that each camera has its error and no picture, and is tried again."""
    for name, expected in words.items():
        error = wait_for(f'an error of {name}', lambda name=name: camera_of(monitor, name)['error'],
                         PATIENCE)
        assert expected in error, (name, error)
    for name in words:
        wait_for(f'another try of {name}', lambda name=name: camera_of(monitor, name)['reconnects'] > 0,
                 PATIENCE)
        assert camera_of(monitor, name)['frames'] == 0, name


def failures_are_named(folder):
    camera = Camera([jpeg(320, 240, 'smpte')[0]])
    other = Camera(camera.pictures, OTHER)
    camera.away = other.uri('/secret-path?key=secret-key')
    secure = Camera(camera.pictures, tls=certificate(folder))
    words = {
        '401': 'authentication required (401)', '403': 'access denied (403)',
        '404': 'picture not found (404)', '503': 'the camera reports an error (503)',
        '204': 'the camera refused the request (204)',
        'html': 'the camera sends text/html, not a picture (JPEG or PNG)',
        'empty': 'the camera sent nothing', 'short': 'the picture was cut short',
        'hollow': 'the picture cannot be decoded', 'broken': 'the picture cannot be decoded',
        'silent': 'no response within 10 s', 'slow': 'no complete picture within 20 s',
        'circle': 'too many redirects',
        'away': f'redirect to {OTHER}:{other.port}, which is not followed',
        'elsewhere': 'redirect to another protocol (file:), which is not followed'}
    cameras = [(name, camera.uri(f'/{name}'), SLOW) for name in words]
    wrong = ['user = "viewer"', 'password-file = "wrong"']
    (folder / 'wrong').write_text('wrong-password')
    config = write(folder, cameras + [
        ('wrong-basic', camera.uri('/basic'), SLOW, *wrong),
        ('wrong-digest', camera.uri('/digest'), SLOW, *wrong),
        ('allowed', camera.uri('/away'), SLOW, CREDENTIALS, f'redirect-hosts = ["{OTHER}"]'),
        ('refused', 'http://127.0.0.1:1/', SLOW), ('tls', secure.uri('/'), SLOW),
        ('cut', camera.uri('/cut'), SLOW)])
    config.write_text(config.read_text() +
                      f'[[cameras]]\nname = "video"\nuri = "{camera.uri("/video")}"\n')
    words |= {'wrong-basic': 'wrong user or password (401)',
              'wrong-digest': 'wrong user or password (401)',
              'refused': '127.0.0.1:1 refused the connection',
              'tls': f'the TLS certificate of 127.0.0.1:{secure.port} is not trusted: unknown issuer',
              'video': 'set its snapshot-interval'}
    with Monitor('--config', config) as monitor:
        expect_errors(monitor, words)
        for name in 'allowed', 'cut':
            playing(monitor, name, 3)
        shown = monitor.get('/api/v1/cameras') + monitor.get('/metrics') + ''.join(monitor.output)
    camera.let_go.set()
    for secret in (PASSWORD, 'wrong-password', 'secret-path', 'secret-key'):
        assert secret not in shown, secret
    assert other.seen and all(word is None for _, word in other.seen), other.seen[:3]
    print(f'{len(words)} failures are named')


def too_much_is_refused(folder):
    camera = Camera([jpeg(320, 240, 'smpte')[0]])
    camera.bomb = png(40000, 40000)
    # A picture that declares a greater size than it has, behind segments that hide its header from some.
    jpeg_data = camera.pictures[0][1]
    head = jpeg_data.index(b'\xff\xc0') + 5
    camera.jpeg_bomb = (jpeg_data[:2] + (b'\xff\xe2' + struct.pack('>H', 60002) + bytes(60000)) * 8 +
                        jpeg_data[2:head] + struct.pack('>HH', 60000, 60000) + jpeg_data[head + 4:])
    words = {'huge': 'the picture is larger than 32 MiB', 'endless': 'the picture is larger than 32 MiB',
             'heads': 'the head of the response is too large', 'bomb': 'the picture has more than 64 Mi pixels',
             'jpeg-bomb': 'the picture has more than 64 Mi pixels'}
    config = write(folder, [(name, camera.uri(f'/{name}'), SLOW) for name in (*words, 'two')])
    with Monitor('--config', config) as monitor:
        expect_errors(monitor, words)
        playing(monitor, 'two', 3)
        status = pathlib.Path(f'/proc/{monitor.pid}/status').read_text()
    camera.let_go.set()
    peak = int(re.search(r'VmHWM:\s+(\d+)', status)[1]) >> 10
    assert SANITIZED or peak < 400, f'{peak} MiB'
    print(f'{len(words)} cameras send too much; at most {peak} MiB')


def a_camera_comes_back(folder):
    camera = Camera([jpeg(320, 240, 'smpte')[0]])
    config = write(folder, [('flaky', camera.uri('/flaky'), SLOW)])
    with Monitor('--config', config) as monitor:
        playing(monitor, 'flaky', 2)
        camera.failing.add('/flaky')
        data = wait_for('the status waiting', lambda: camera_of(monitor, 'flaky')['status'] == 'waiting' and
                        camera_of(monitor, 'flaky'), PATIENCE)
        assert data['error'] == 'the camera reports an error (503)', data
        frames, asked = data['frames'], camera.times('/flaky')
        time.sleep(8)
        pauses = camera.times('/flaky') - asked
        assert 1 <= pauses <= 4, f'expected 1 to 4 tries in 8 s, as pauses grow, got {pauses}'
        camera.failing.clear()
        data = playing(monitor, 'flaky', frames + 2)
        assert data['error'] in (None, '') and data['reconnects'] >= 1, data
    print(f'a camera that fails comes back; {pauses} tries in 8 s')


def a_repeated_picture_is_frozen(folder):
    still = Camera([jpeg(320, 240, 'smpte')[0]])
    config = write(folder, [('still', still.uri('/still'), SLOW)])
    with Monitor('--config', config) as monitor:
        wait_for('the verdict frozen', lambda: 'frozen' in json.dumps(
            camera_of(monitor, 'still')['verdicts']), PATIENCE)
    print('a repeated picture is frozen')


def held_by(pid):
    return (len(os.listdir(f'/proc/{pid}/task')), len(os.listdir(f'/proc/{pid}/fd')),
            int(re.search(r'RssAnon:\s+(\d+)', pathlib.Path(f'/proc/{pid}/status').read_text())[1]))


def polling_leaks_nothing(folder):
    camera = Camera([jpeg(320, 240, 'smpte')[0]])
    config = write(folder, [(f'camera-{i}', camera.uri('/close' if i % 2 else '/digest'), FAST,
                             CREDENTIALS) for i in range(MANY)])
    with Monitor('--config', config) as monitor:
        for i in range(MANY):
            playing(monitor, f'camera-{i}', 10)
        samples, asked = [], len(camera.seen)
        for _ in range(POLLS):
            samples.append(held_by(monitor.pid))
            time.sleep(1)
        polls = len(camera.seen) - asked
        threads, descriptors, memory = zip(*samples)
        half = POLLS // 2
        assert max(threads[half:]) <= max(threads[:half]) + 2, threads
        assert max(descriptors[half:]) <= max(descriptors[:half]) + MANY, descriptors
        assert SANITIZED or min(memory[half:]) < min(memory[:half]) + 4096, memory
        begin = time.monotonic()
    took = time.monotonic() - begin
    assert took < 10, f'expected an end within 10 s, got {took}'
    print(f'{polls} polls: threads {set(threads)}, descriptors {set(descriptors)}, ended in {took:.1f} s')


def settings_are_checked(folder):
    def check(more, *arguments):
        config = folder / 'checked.toml'
        config.write_text(f'[[cameras]]\n{more}\n')
        return subprocess.run([PROGRAM, '--check', '--config', config, *arguments], check=False,
                              capture_output=True, text=True, timeout=60)
    for more, expected in (
            ('uri = "rtsp://a/"\nsnapshot-interval = 1', 'needs a uri that begins with http:// or https://'),
            ('uri = "a.mkv"\nsnapshot-interval = 1', 'needs a uri that begins'),
            ('uri = "http://a/"\nsnapshot-interval = 0.1', 'must be between 0.2 and 3600'),
            ('uri = "http://a/"\nsnapshot-interval = 3601', 'must be between 0.2 and 3600'),
            ('uri = "http://a/"\nsnapshot-interval = "1"', 'is not a number')):
        done = check(more)
        assert done.returncode == 2 and 'cameras[0].snapshot-interval' in done.stderr, (more, done)
        assert expected in done.stderr and done.stderr.count('\n') == 1, done.stderr
    assert check('uri = "HTTPS://a/"\nsnapshot-interval = 3600').returncode == 0
    print('settings are checked')


def main():
    running.need('openssl')
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for test in (settings_are_checked, pictures_are_measured, sizes_and_formats_change,
                     a_camera_comes_back, a_repeated_picture_is_frozen, polling_leaks_nothing,
                     too_much_is_refused, failures_are_named):
            test(folder)


main()
