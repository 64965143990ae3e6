#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""install.py BUILD_ROOT LIBRARIES PREFIX BINDIR LIBDIR MANDIR DATADIR UNITDIR

Checks what `meson install` installs: the program, which contains the page, the manual page, the systemd
unit, which has the path of the program, and the example configuration, all settings of which are valid.
LIBRARIES: folder of gst-cudatensor's library, unless the build installs it."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import running

BUILD, LIBRARIES = sys.argv[1:3]
PREFIX = pathlib.Path(sys.argv[3])
BIN, LIB, MAN, DATA, UNITS = (PREFIX / folder for folder in sys.argv[4:])


def run(*command):
    return subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True,
                          timeout=300)


def check_program(program):
    assert os.access(program, os.X_OK), program
    done = run(program, '--version')
    assert done.returncode == 0 and done.stdout.startswith('luminance-monitor '), done
    running.PROGRAM = program
    with running.Monitor('--no-history', '--loop', running.APP / 'tests/media/pedestrians.webm'
                         ) as monitor:
        for path in '/', '/page.js', '/style.css':
            assert monitor.get(path).strip() == (
                running.APP / 'page' / (path[1:] or 'index.html')).read_text().strip(), path


def check_example(program, example, folder):
    """Checks the example as it is, and with all commented settings in use."""
    text = example.read_text()
    done = run(program, '--config', example, '--check')
    assert done.returncode == 0 and '2 cameras' in done.stdout, done
    whole, lines = re.subn(r'^# ((?:\[|[\w.-]+ = ).*)$', r'\1', text, flags=re.M)
    assert lines > 20, lines
    secrets = folder / 'secrets'
    secrets.mkdir()
    for name in re.findall(r'luminance-monitor\.service/([\w-]+)"', whole):
        (secrets / name).write_text('https://host/secret\n' if 'url' in name else 'secret\n')
    whole = whole.replace('/run/credentials/luminance-monitor.service', str(secrets))
    config = folder / 'whole.toml'
    config.write_text(whole)
    done = run(program, '--config', config, '--check')
    assert done.returncode == 0 and '3 cameras' in done.stdout, done
    config.write_text(whole.replace('max-connections = 512', 'max-connexions = 512'))
    assert run(program, '--config', config, '--check').returncode == 2


def main():
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        root = folder / 'root'
        done = subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild'], check=False,
                              env={**os.environ, 'DESTDIR': str(root)}, capture_output=True,
                              text=True, timeout=300)
        assert done.returncode == 0, done
        at = {what: root / path.relative_to('/') for what, path in (
            ('program', BIN / 'luminance-monitor'),
            ('page', MAN / 'man1/luminance-monitor.1'),
            ('unit', UNITS / 'luminance-monitor.service'),
            ('example', DATA / 'doc/luminance-monitor/cameras.toml'))}
        for path in at.values():
            assert path.exists(), (path, done.stdout)
        os.environ['LD_LIBRARY_PATH'] = LIBRARIES or str(root / LIB.relative_to('/'))
        check_program(at['program'])
        unit = at['unit'].read_text()
        assert f'\nExecStart={BIN}/luminance-monitor --headless ' in unit and not re.search('@[A-Z]+@', unit), unit
        assert at['page'].read_text() == (running.APP / 'docs/luminance-monitor.1').read_text()
        check_example(at['program'], at['example'], folder)


running.need('meson')
if LIBRARIES and not pathlib.Path(LIBRARIES, 'libgstcudatensor-1.0.so.0').exists():
    print('skipped: gst-cudatensor is not installed')
    sys.exit(running.SKIPPED)
main()
