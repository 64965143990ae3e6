#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies what the Containerfile's build would install out of another build of the same files.

usage: staged.py BUILD_DIR FOLDER MESON_OPTION...    the options are those of the Containerfile
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True, timeout=300).stdout


def plan(options, tags):
    """Where the files of a build are installed that has these options: paths in its folder, or of
    the sources, to those of the installed system."""
    with tempfile.TemporaryDirectory() as folder:
        output('meson', 'setup', *options, folder, ROOT)
        values = {option['name']: option['value']
                  for option in json.loads(output('meson', 'introspect', '--buildoptions', folder))}
        places = {name: pathlib.Path(values['prefix'], values[name])
                  for name in ('bindir', 'libdir', 'datadir', 'includedir', 'mandir')}
        places.update(libdir_shared=places['libdir'], prefix=pathlib.Path(values['prefix']))
        kinds = json.loads(output('meson', 'introspect', '--install-plan', folder)).values()
        return {source.removeprefix(folder + '/'): entry['destination'].format(**places)
                for kind in kinds for source, entry in kind.items() if entry['tag'] in tags}


def main(build, stage, *options):
    for source, destination in plan(options, ['runtime']).items():
        target = pathlib.Path(stage + destination)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(pathlib.Path(build, source), target)
    # A library is found by its short name.
    subprocess.run(['/sbin/ldconfig', '-n', f'{stage}/usr/lib'], check=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
