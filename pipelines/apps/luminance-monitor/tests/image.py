#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the Containerfile without a container: its packages exist, those of the build contain what Meson
looks for, those of the image contain what the program and the plugin load, and its Meson command installs
what it copies."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

import running
import staged

PLUGINS = pathlib.Path(os.environ['GST_PLUGIN_PATH_1_0'])
TEXT = (running.APP / 'deploy/Containerfile').read_text().replace('\\\n', ' ')
PACKAGES = re.search(r"RUN bash -e -c '(\..*?setup.sh; mapfile [^;]*);", TEXT)[1]
ENTRY, = re.findall(r'ENTRYPOINT \["(\S+)"\]', TEXT)
# Elements that decode and measure; other codecs need more.
ELEMENTS = ('uridecodebin', 'videoconvert', 'clocksync', 'videoconvertscale',
            'appsink', 'jpegenc', 'rtspsrc', 'souphttpsrc', 'v4l2src', 'matroskademux', 'vp8dec')


def output(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True, timeout=300, **more).stdout


def is_debian_12():
    text = pathlib.Path('/etc/os-release').read_text()
    return 'VERSION_ID="12"' in text and 'ID=debian' in text


def closure(packages):
    """Returns all packages that an empty Debian gets with these. Fails if one of them does not exist."""
    text = output('apt-get', 'install', '--simulate', '--no-install-recommends',
                  '-o', 'Dir::State::status=/dev/null', *packages)
    return {line.split()[1] for line in text.splitlines() if line.startswith('Inst ')}


def strangers(paths, packages):
    """Returns the files that belong to none of the packages."""
    # Packages may list a file below /lib, although /lib is a link to /usr/lib.
    names = {name: path for path in paths for real in {path, os.path.realpath(path)}
             for name in (real, real.removeprefix('/usr'))}
    done = subprocess.run(['dpkg', '-S', *names], capture_output=True, text=True, timeout=120)
    owners = dict(reversed(line.split(': ')) for line in done.stdout.splitlines())
    known = {path for name, path in names.items()
             if any(owner.split(':')[0] in packages for owner in owners.get(name, '').split(', '))}
    return set(paths) - known


def libraries(program):
    text = output('ldd', program)
    assert 'not found' not in text, text
    paths = re.findall(r'=> (/\S+)', text)
    return [path for path in paths if 'libgstcudatensor' not in path]


def check_running(packages):
    plugin = PLUGINS / 'libgstcudatensor.so'
    files = [path for what in (running.PROGRAM, plugin) for path in libraries(what)]
    files += [re.search(r'Filename +(\S+)', output('gst-inspect-1.0', element))[1]
              for element in ELEMENTS]
    assert not strangers(files, packages), strangers(files, packages)
    # The check finds a missing package.
    assert strangers(files, packages - {'libsqlite3-0'})


def check_building(packages):
    build = (running.APP / 'meson.build').read_text()
    modules = re.findall(r"'([\w.-]+)'", re.findall(r'foreach name : \[(.*?)\]', build, re.S)[-1])
    assert 'sqlite3' in modules, modules
    files = [output('pkg-config', '--variable=pcfiledir', module).strip() + f'/{module}.pc'
             for module in modules]
    assert not strangers(files, packages), strangers(files, packages)


def check_meson():
    """Checks that a build with the Containerfile's options installs what is copied into the image."""
    setup = shlex.split(re.search(r'meson setup [^;]*', TEXT)[0].replace('"$GPU"', 'disabled'))
    assert setup[-1] == 'build', setup
    tags = re.search(r'meson install .*--tags ([\w,-]+)', TEXT)[1].split(',')
    installed = set(staged.plan(setup[2:-1], tags).values())
    for name in r'/usr/lib/\S+/gstreamer-1.0/libgstcudatensor.so', \
            r'/usr/lib/libgstcudatensor-1.0.so\S*', re.escape(ENTRY):
        assert any(re.fullmatch(name, path) for path in installed), (name, installed)
    # No file is installed where the image has a link to a folder, such as /lib.
    assert all(path.startswith('/usr/') for path in installed), installed


if not is_debian_12():
    print('skipped: the image is of Debian 12')
    sys.exit(running.SKIPPED)
if not (staged.CLONE / staged.MONITOR).exists():
    print('skipped: the image is made of a clone of gst-cudatensor')
    sys.exit(running.SKIPPED)
running.need('apt-get', 'ldd', 'meson', 'gst-inspect-1.0')
if subprocess.run(['pkg-config', '--exists', 'libhwy', 'tbb', 'yaml-0.1'], check=False).returncode != 0:
    print('skipped: what the plugin is built with is not installed')
    sys.exit(running.SKIPPED)
building = output('bash', '-c', f'{PACKAGES}; echo {re.search("need_packages ([^;]*)", TEXT)[1]}',
                  cwd=staged.CLONE)
running_on = re.search(r'--no-install-recommends install ([^&\n]*)', TEXT)[1]
check_building(closure(building.split()))
check_running(closure(running_on.split()))
check_meson()
