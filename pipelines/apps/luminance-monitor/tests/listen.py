#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The program refuses to listen beyond this machine without authentication, and reports an address on which
it cannot listen."""
import pathlib
import socket
import subprocess
import tempfile
import threading
import time

import running
from videos import CLIP

WRONG_SETTINGS, CANNOT_LISTEN = 2, 4


def end_of(*arguments):
    """Returns the exit status and the error, as a string if it is one line, otherwise as a list of lines."""
    done = subprocess.run([running.PROGRAM, '--headless', '--no-history', '--duration=0', *arguments, CLIP],
                          capture_output=True, text=True, timeout=120, check=False)
    lines = done.stderr.splitlines()
    return done.returncode, lines[0] if len(lines) == 1 else lines


def remote_access_needs_authentication(folder):
    token, config = folder / 'token', folder / 'c.toml'
    token.write_text('secret\n')
    for address in ('0.0.0.0:0', ':0', '[::]:0', '[::ffff:0.0.0.0]:0'):
        for more in ((), ('--check',)):
            status, error = end_of('--listen', address, *more)
            assert status == WRONG_SETTINGS, (address, status, error)
            for way in ('--token-file', '--user', '--allow-anonymous', 'web.allow-anonymous', 'web.listen'):
                assert way in error, error
    # Which address the name stands for is known only when the program listens.
    name = socket.gethostname()
    if not socket.gethostbyname(name).startswith('127.'):
        status, error = end_of('--listen', f'{name}:0')
        assert status == WRONG_SETTINGS and '--allow-anonymous' in error, (name, error)
    for fine in (['--listen=0.0.0.0:0', '--allow-anonymous'], ['--listen=localhost:0'],
                 ['--listen=127.0.0.2:0'], ['--listen=0.0.0.0:0', f'--token-file={token}'],
                 ['--listen=0.0.0.0:0', '--user=a', f'--password-file={token}'],
                 ['--listen=0.0.0.0:0', '--no-web']):
        assert end_of(*fine)[0] == 0, fine
    config.write_text('[web]\nlisten = "0.0.0.0:0"\nallow-anonymous = true\n')
    assert end_of('--config', config) == (0, []), end_of('--config', config)
    config.write_text('[web]\nlisten = "0.0.0.0:0"\nallow-anonymous = false\n')
    assert end_of('--config', config)[0] == WRONG_SETTINGS


def a_busy_port_is_tried_again():
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        status, error = end_of(f'--listen=127.0.0.1:{port}')
        assert status == CANNOT_LISTEN and str(port) in error and 'in use' in error, (status, error)
        status, error = end_of('--listen=192.0.2.1:0', '--allow-anonymous')
        assert status == CANNOT_LISTEN and '192.0.2.1' in error, (status, error)
        begin = threading.Timer(1, taken.close)
        begin.start()
        assert end_of(f'--listen=127.0.0.1:{port}') == (0, []), 'the port was free after a second'
        begin.join()


begin = time.monotonic()
with tempfile.TemporaryDirectory() as directory:
    remote_access_needs_authentication(pathlib.Path(directory))
a_busy_port_is_tried_again()
print(f'{time.monotonic() - begin:.0f} s')
