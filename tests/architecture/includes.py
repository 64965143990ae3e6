# SPDX-License-Identifier: LGPL-2.1-or-later
"""includes.py ROOT: the layers of kernels/ and gst/. Every file includes by paths from the root, and
only its own folder and those below it. luminance-monitor includes by paths from its src/, and of the
rest of the repository only the library's header."""
import pathlib
import re
import sys

SOURCES = {'.h', '.cpp', '.cu', '.cuh'}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
# Each folder, and those that it may include besides itself.
BELOW = {
    'kernels': (),
    'kernels/cpu': ('kernels',),
    'kernels/cuda': ('kernels',),
    'gst/util': ('kernels',),
    'gst/cuda': ('kernels', 'gst/util'),
    'gst/caps': ('kernels', 'gst/util', 'gst/cuda'),
    'gst/meta': ('kernels', 'gst/util', 'gst/cuda', 'gst/caps'),
    'gst/base': ('kernels', 'gst/util', 'gst/cuda', 'gst/caps', 'gst/meta'),
    'gst/elements': ('kernels', 'gst/util', 'gst/cuda', 'gst/caps', 'gst/meta', 'gst/base'),
    'gst/library': ('kernels', 'gst/util', 'gst/cuda', 'gst/caps', 'gst/meta'),
    'gst': ('gst/meta', 'gst/util', 'gst/elements'),
}
MADE = {'config.h'}  # by Meson
# Where they are installed there is no root: they include each other by name.
INSTALLED = {f'gst/library/{name}' for name in (
    'gstcudatensor.h', 'gstcudatensorerrors.h', 'gstcudatensorhistogram.h')}
FOREIGN_TO_KERNELS = re.compile(r'gst/|glib|gio/|gobject/')


MONITOR = 'pipelines/apps/luminance-monitor/src'
MADE_FOR_MONITOR = {'page-resources.h'}


def is_installed_with(name, path):
    return {str(path), str(path.parent / name)} <= INSTALLED


def faults(root, path):
    folder = str(path.parent.relative_to(root))
    if folder not in BELOW:
        yield 'lies in no layer'
        return
    for kind, name in INCLUDE.findall(path.read_text()):
        if kind == '<':
            if folder.startswith('kernels') and FOREIGN_TO_KERNELS.match(name):
                yield f'includes <{name}>: kernels know neither GLib nor GStreamer'
        elif name not in MADE and not is_installed_with(name, path.relative_to(root)):
            if not (root / name).exists():
                yield f'includes "{name}", which is no path from the root'
            elif str(pathlib.Path(name).parent) not in (folder, *BELOW[folder]):
                yield f'includes "{name}", which lies above it'


def monitor_faults(root, path):
    foreign = {path.relative_to(root / 'gst/library').as_posix()
               for path in (root / 'gst/library').glob('*.h')} - {'gstcudatensor.h'}
    for kind, name in INCLUDE.findall(path.read_text()):
        if kind == '<':
            if name in foreign or (root / name).exists():
                yield f'includes <{name}>: of the repository, the monitor has gstcudatensor.h alone'
        elif name not in MADE_FOR_MONITOR and not (root / MONITOR / name).exists():
            yield f'includes "{name}", which is no path from its src/'


def sources_in(folder):
    return [path for path in folder.rglob('*') if path.suffix in SOURCES]


def main(root):
    files = [path for top in ('kernels', 'gst') for path in sources_in(root / top)]
    monitor = sources_in(root / MONITOR)
    found = [f'{path.relative_to(root)} {fault}'
             for paths, check in ((files, faults), (monitor, monitor_faults))
             for path in paths for fault in check(root, path)]
    print('\n'.join(found) or f'{len(files)} files, {len(monitor)} of the monitor')
    return len(found) > 0 or len(files) < 100 or len(monitor) < 100


sys.exit(main(pathlib.Path(sys.argv[1])))
