#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that make the monitor buffer what they send: each is refused with an error, and tried again; a
good camera beside them is undisturbed, and memory stays limited. Then cameras that send nonsense: the
monitor survives all of it."""
import os
import pathlib
import random
import re
import socketserver
import subprocess
import tempfile
import threading

import greedycameras
import mjpegcamera
import running
from running import Monitor, wait_for
from sanitizers import SANITIZED

PATIENCE = 240 if SANITIZED else 120
MAX_MEMORY = 1024  # MiB
ATTEMPTS = pathlib.Path(os.environ['BUILD_DIR']) / 'tests/attempts'
FUZZED = 64 if SANITIZED else 160  # nonsense answers, 32 at a time
TOO_MUCH = 'more than 32 MiB in which no picture ends'
AHEAD = 'more than 32 MiB ahead of what is decoded'
TOO_LARGE = 'more than 40 Mi pixels'
# Errors of the monitor. GStreamer's elements refuse the other cameras with errors of their own, or the
# monitor gives up because no picture comes.
WORDS = {
    **dict.fromkeys(('part', 'declared-part', 'part-head', 'part-heads', 'picture', 'entropy', 'mpegts',
                     'mpegps', 'h264'), TOO_MUCH),
    # Which element exceeds its limit first may vary.
    **dict.fromkeys(('rtp-h264', 'rtp-h265', 'rtp-jpeg', 'rtp-vp8'), f'{TOO_MUCH}|{AHEAD}'),
    **dict.fromkeys(('size', 'progressive-size', 'vp8-size', 'y4m-size'), TOO_LARGE),
    **dict.fromkeys(('rtsp-body', 'rtsp-later'), 'a message of more than 32 MiB'),
    'rtp-burst': AHEAD,
}
AT_ONCE = 4


def encoded(folder, elements, pattern='smpte'):
    file = pathlib.Path(folder) / 'encoded'
    subprocess.run(['gst-launch-1.0', '-q', 'videotestsrc', 'num-buffers=1', f'pattern={pattern}', '!',
                    'video/x-raw,width=320,height=240', '!', *elements.split(), '!', 'filesink',
                    f'location={file}'], check=True, timeout=60)
    return file.read_bytes()


def peak_of(pid):
    status = pathlib.Path(f'/proc/{pid}/status').read_text()
    return int(re.search(r'VmHWM:\s+(\d+)', status)[1]) >> 10


def undisturbed(monitor, before):
    """Checks that the good camera sends more than `before` frames on its first connection, and returns their
    number."""
    good = monitor.cameras()['good']
    assert good['status'] == 'playing' and good['reconnects'] == 0, good
    assert good['frames'] > before, good
    return good['frames']


def all_are_refused(folder, picture, vp8, packet, good):
    http, by_http = greedycameras.http_server(picture, vp8)
    rtsp, by_rtsp = greedycameras.rtsp_server(packet)
    uris = {**{path: f'http://127.0.0.1:{http.port}/{path}' for path in by_http},
            **{path: f'rtsp://127.0.0.1:{rtsp.port}/{path}' for path in by_rtsp}}
    names = list(uris)
    peak = 0
    for names in [names[i:i + AT_ONCE] for i in range(0, len(names), AT_ONCE)]:
        config = folder / 'cameras.toml'
        config.write_text(''.join(f'[[cameras]]\nname = "{name}"\nuri = "{uri}"\n' for name, uri in
                                  [('good', good), *((name, uris[name]) for name in names)]))
        with Monitor('--config', config) as monitor:
            wait_for('the good camera', lambda: monitor.cameras()['good']['frames'] > 0, PATIENCE)
            errors = {}
            def is_known():
                for name, camera in monitor.cameras().items():
                    if camera['error']:
                        errors[name] = camera['error']
                return all(name in errors for name in names)
            wait_for(f'errors of {names}', is_known, PATIENCE)
            frames = undisturbed(monitor, 0)
            wait_for('pictures', lambda: undisturbed(monitor, 0) > frames, PATIENCE)
            for name in names:
                wait_for(f'another try of {name}',
                         lambda name=name: monitor.cameras()[name]['reconnects'] > 0, PATIENCE)
            here = peak_of(monitor.pid)
        for name in names:
            assert re.search(WORDS.get(name, ''), errors.get(name, '')), (name, errors)
        assert SANITIZED or here < MAX_MEMORY, f'{names}: {here} MiB'
        peak = max(peak, here)
    print(f'{len(uris)} greedy cameras are refused; at most {peak} MiB')


class Fuzzed(socketserver.StreamRequestHandler):
    """Answers with a mutated seed. The mutation depends only on the seed and the number of the answer."""
    seeds, seed, lock, answers = [], 0, threading.Lock(), 0

    def handle(self):
        self.rfile.readline(65536)
        with self.lock:
            number = Fuzzed.answers
            Fuzzed.answers += 1
        chance = random.Random(f'{self.seed}/{number}')
        kind, data = self.seeds[number % len(self.seeds)]
        head = f'HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n'.encode()
        if chance.random() < 0.1:
            head = self.changed(bytearray(head), chance)
        try:
            self.wfile.write(bytes(head) + b'\r\n' + bytes(self.changed(bytearray(data), chance)))
        except OSError:
            pass

    @staticmethod
    def changed(data, chance):
        for _ in range(chance.choice((1, 1, 4, 16, 64))):
            at = chance.randrange(len(data))
            what = chance.randrange(5)
            if what == 0:
                data[at] = chance.randrange(256)
            elif what == 1:
                data[at:at + 4] = chance.choice((b'\xff\xff\xff\xff', bytes(4), b'\x7f\xff\xff\xff',
                                                 b'\x80\0\0\0'))
            elif what == 2:
                del data[at:at + chance.randrange(1, 1 + min(4096, len(data)))]
            elif what == 3:
                data[at:at] = data[:chance.randrange(1, 4096)]
            else:
                data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 64)))
            if not data:
                data += b'\0'
        return data


def nonsense_is_survived(folder, picture, seed):
    def stream(elements):
        file = folder / 'seed'
        subprocess.run(['gst-launch-1.0', '-q', 'videotestsrc', 'num-buffers=20', '!',
                        'video/x-raw,width=160,height=128,framerate=25/1', '!', 'videoconvert', '!', *elements.split(), '!', 'filesink',
                        f'location={file}'], check=True, timeout=60)
        return file.read_bytes()
    part = greedycameras.PART
    Fuzzed.seed = seed
    Fuzzed.seeds = [
        (greedycameras.MULTIPART, (part + b'Content-Length: %d\r\n\r\n' % len(picture) + picture + b'\r\n') * 4),
        (greedycameras.MULTIPART, (part + b'\r\n' + picture + b'\r\n') * 4),
        ('video/webm', stream('vp8enc ! webmmux streamable=true')),
        ('video/x-matroska', stream('jpegenc ! matroskamux streamable=true')),
        ('video/mp2t', b''.join(piece for piece, _ in zip(greedycameras.mpegts(), range(4)))),
        ('video/ogg', stream('theoraenc ! oggmux') if has('theoraenc') else picture),
        ('video/quicktime', stream('jpegenc ! qtmux fragment-duration=100 streamable=true')),
        ('video/x-msvideo', stream('jpegenc ! avimux')),
        ('video/x-yuv4mpeg', stream('y4menc') if has('y4menc') else picture),
        ('video/x-flv', b'FLV\1\1\0\0\0\x09\0\0\0\0\x09\0\0\x20\0\0\0\0\0\0\0' + bytes(200)),
    ]
    server = greedycameras.Server(Fuzzed)
    process = subprocess.Popen(  # its status says whether there were frames
        [ATTEMPTS, f'http://127.0.0.1:{server.port}/', str(FUZZED), '1', '32', '1'],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) in (0, 3), (status, seed, error[-2000:])
    peak = usage.ru_maxrss >> 10
    assert SANITIZED or peak < MAX_MEMORY, f'{peak} MiB'
    print(f'{Fuzzed.answers} nonsense answers, seed {seed}; at most {peak} MiB')


def has(element):
    return subprocess.run(['gst-inspect-1.0', element], check=False, capture_output=True).returncode == 0


def main():
    # Fills allocated memory, so that unused allocations count as resident memory, too.
    os.environ['MALLOC_PERTURB_'] = '100'
    seed = running.seed()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        picture = encoded(folder, 'jpegenc')
        vp8 = bytearray(encoded(folder, 'vp8enc'))
        vp8[6:10] = b'\xff\x3f\xff\x3f'  # the width and height in its header
        good = mjpegcamera.Camera([picture, encoded(folder, 'videoflip method=rotate-180 ! jpegenc')])
        packet = encoded(folder, 'videoscale ! video/x-raw,format=I420,width=2000,height=1504 ! jpegenc ! '
                         'rtpjpegpay mtu=65000', 'black')
        assert len(packet) < 65000, len(packet)  # a single packet
        all_are_refused(folder, picture, bytes(vp8), packet, good.uri)
        nonsense_is_survived(folder, picture, seed)


main()
