#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""service.py UNIT PROGRAM

Checks the systemd unit of this build: systemd accepts it, its rights are limited, and its command is right.
PROGRAM: the path of the program in the unit."""
import pathlib
import re
import subprocess
import sys
import tempfile

import running

UNIT, INSTALLED = map(pathlib.Path, sys.argv[1:])
GREATEST_EXPOSURE = 20  # of 100, as `systemd-analyze security` counts


def verify(text, folder):
    """Returns the objections of systemd."""
    unit = folder / UNIT.name
    unit.write_text(text.replace(str(INSTALLED), str(running.PROGRAM)))
    done = subprocess.run(['systemd-analyze', 'verify', '--man=no', unit], capture_output=True,
                          text=True, timeout=60)
    return done.stdout + done.stderr


def check_unit(folder):
    text = UNIT.read_text()
    assert f'ExecStart={INSTALLED} ' in text
    assert re.search(r'^ExecReload=/bin/kill -HUP \$MAINPID$', text, re.MULTILINE)
    # systemd tries again after errors that may be temporary: see listen.py.
    assert re.findall(r'^(Restart\w*)=(.*)$', text, re.MULTILINE) == [
        ('Restart', 'on-failure'), ('RestartSec', '5'), ('RestartPreventExitStatus', '2')]
    assert verify(text, folder) == ''
    for right, wrong in ('DynamicUser=', 'DynamicUsr='), ('MemoryMax=2G', 'MemoryMax=much'):
        assert right in text and verify(text.replace(right, wrong), folder), wrong
    subprocess.run(['systemd-analyze', 'security', '--offline=yes', '--no-pager',
                    f'--threshold={GREATEST_EXPOSURE}', UNIT], check=True, timeout=60,
                   stdout=subprocess.DEVNULL)


def check_command(folder):
    """Checks that the program accepts the command, with the files that systemd would provide."""
    credentials, state = folder / 'credentials', folder / 'state'
    for path in credentials, state:
        path.mkdir()
    loaded = re.findall(r'^LoadCredential=(\w+):(\S+)$', UNIT.read_text(), re.MULTILINE)
    for name, source in loaded:
        (credentials / (f'{name}_gate' if source.endswith('/') else name)).write_text('secret\n')
    config = folder / 'cameras.toml'
    config.write_text('[[cameras]]\nuri = "rtsp://10.0.0.5/"\nuser = "viewer"\n'
                      f'password-file = "{credentials}/passwords_gate"\n')
    command = re.search(r'^ExecStart=(.*)$', UNIT.read_text(), re.MULTILINE)[1]
    for name, value in (('${CREDENTIALS_DIRECTORY}', credentials), ('${STATE_DIRECTORY}', state),
                        ('/etc/luminance-monitor/cameras.toml', config),
                        (str(INSTALLED), running.PROGRAM)):
        assert name in command, command
        command = command.replace(name, str(value))
    done = subprocess.run([*command.split(), '--check'], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and '1 cameras' in done.stdout, done


running.need('systemd-analyze')
with tempfile.TemporaryDirectory() as directory:
    check_unit(pathlib.Path(directory))
    check_command(pathlib.Path(directory))
