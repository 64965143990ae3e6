#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies the files that the Containerfile's build would install from other builds of the same sources.

usage: staged.py PLUGIN_BUILD MONITOR_BUILD FOLDER MESON_OPTION...
    MESON_OPTION: the options of the Containerfile
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

APP = pathlib.Path(__file__).resolve().parents[1]
# The clone of gst-cudatensor from which the image is made; see setup.sh.
CLONE = APP.parents[2]
MONITOR = 'pipelines/apps/luminance-monitor/'  # in the clone, and in its build folder


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True, timeout=300).stdout


def plan(options, tags):
    """Returns where a build with these options installs its files: paths in the installed system, by paths in
    the build folder or of the sources."""
    with tempfile.TemporaryDirectory() as folder:
        output('meson', 'setup', *options, folder, CLONE)
        values = {option['name']: option['value']
                  for option in json.loads(output('meson', 'introspect', '--buildoptions', folder))}
        places = {name: pathlib.Path(values['prefix'], values[name])
                  for name in ('bindir', 'libdir', 'datadir', 'includedir', 'mandir')}
        places.update(libdir_shared=places['libdir'], prefix=pathlib.Path(values['prefix']))
        kinds = json.loads(output('meson', 'introspect', '--install-plan', folder)).values()
        return {source.removeprefix(folder + '/'): entry['destination'].format(**places)
                for kind in kinds for source, entry in kind.items() if entry['tag'] in tags}


def main(plugin_build, monitor_build, stage, *options):
    for source, destination in plan(options, ['runtime']).items():
        target = pathlib.Path(stage + destination)
        target.parent.mkdir(parents=True, exist_ok=True)
        is_monitors = source.startswith(MONITOR)
        shutil.copy2(pathlib.Path(monitor_build if is_monitors else plugin_build,
                                  source.removeprefix(MONITOR)), target)
    # Makes the links by whose short names libraries are found.
    subprocess.run(['/sbin/ldconfig', '-n', f'{stage}/usr/lib'], check=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
