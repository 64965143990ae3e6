#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that cannot be opened: attempts of each kind leak no thread, no descriptor and no memory,
and end in an error that says what is wrong.

usage: attempts.py [ATTEMPTS-OF-EACH-KIND [KIND …]]    (by default 100 of every kind)
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import running
from sanitizers import SANITIZED

PROGRAM = pathlib.Path(os.environ['BUILD_DIR']) / 'tests/attempts'
SERVER = pathlib.Path(__file__).with_name('badcameras.py')
AT_ONCE = 4  # kinds tested in parallel; most of their time is waiting
REPORTS = 3  # per kind; the first one comes after pools, caches and libraries were set up
# Limit of the growth per attempt: smaller than any object of the monitor that could leak. GStreamer 1.22
# leaks 48 bytes per HTTP session (gst_soup_session_finalize() does not chain up to GObject's).
BYTES = 200
SLACK = 1 << 18
# Number of cameras at a time, and seconds that each has to answer.
HALF_OPEN = ('64', '1')
ORDINARY = ('16', '30')


def certificate(folder):
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                    'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=camera', '-addext',
                    'subjectAltName=IP:127.0.0.1', '-keyout', f'{folder}/key.pem', '-out',
                    f'{folder}/cert.pem'], check=True, capture_output=True, timeout=60)


def picture(folder):
    """Writes the picture that the cameras send."""
    subprocess.run(['gst-launch-1.0', '-q', 'videotestsrc', 'num-buffers=1', '!', 'jpegenc', '!',
                    'filesink', f'location={folder}/picture.jpeg'], check=True, timeout=60)


def attempt(kind, uri, words, attempts):
    rest = HALF_OPEN if 'half-open' in kind else ORDINARY
    polled = ['1'] if 'snapshot' in kind else []
    done = subprocess.run([PROGRAM, uri, str(attempts), str(REPORTS), *rest, *polled], check=False,
                          text=True, capture_output=True, timeout=300 + attempts)
    assert done.returncode == 0, f'{kind}: {done}'
    lines = [line.split(maxsplit=4) for line in done.stdout.splitlines()]
    made, threads, descriptors, size = zip(*([int(n) for n in line[:4]] for line in lines))
    print(f'{kind}: {made[-1]} attempts; threads {threads}, descriptors {descriptors}, '
          f'KB {tuple(n >> 10 for n in size)}: {lines[-1][4]}', flush=True)
    assert made[-1] >= attempts
    # On a busy machine, the threads of the latest attempts may still be ending: the minimum shows leaks.
    assert min(threads[1:]) <= threads[0] + 4, f'{kind}: threads {threads}'
    assert min(descriptors[1:]) <= descriptors[0] + 4, f'{kind}: descriptors {descriptors}'
    grown = min(size[1:]) - size[0]
    assert SANITIZED or grown < SLACK + BYTES * (made[-1] - made[0]), f'{kind}: {size}'
    assert 'CRITICAL' not in done.stderr, done.stderr
    for line in lines:
        assert re.search(words, line[4]), f'{kind}: expected an error like {words!r}, got {line[4]!r}'


def main(attempts, kinds):
    with tempfile.TemporaryDirectory() as folder:
        certificate(folder)
        picture(folder)
        with running.Process([sys.executable, SERVER, folder]) as server:
            server.wait_for_line('ready')
            cameras = [line.rstrip('\n').split(' ', 2) for line in server.output[:-1]]
            wanted = [camera for camera in cameras if not kinds or camera[0] in kinds]
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(lambda camera: attempt(*camera, attempts), wanted))


running.need('openssl')
main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, sys.argv[2:])
