# SPDX-License-Identifier: LGPL-2.1-or-later
"""includes.py ROOT: checks the layers of kernels/ and gst/. Every file includes by paths from the
root, and only from its own folder and the layers below. Headers do not include each other in a
loop."""
import pathlib
import re
import sys

SOURCES = {'.h', '.cpp', '.cu', '.cuh'}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
# Each folder and the other folders from which it may include.
BELOW = {
    'kernels': (),
    'kernels/cpu': ('kernels',),
    'kernels/cuda': ('kernels',),
    'gst/util': ('kernels',),
    'gst/analytics': ('kernels', 'gst/util'),
    'gst/modelconfig': ('kernels', 'gst/util'),
    'gst/device': ('kernels', 'gst/util'),
    'gst/cuda': ('kernels', 'gst/util', 'gst/device'),
    'gst/nvmm': ('kernels', 'gst/util', 'gst/analytics'),
    'gst/caps': ('kernels', 'gst/util', 'gst/cuda', 'gst/nvmm'),
    'gst/meta': ('kernels', 'gst/util', 'gst/analytics', 'gst/cuda', 'gst/caps'),
    'gst/base': ('kernels', 'gst/util', 'gst/analytics', 'gst/device', 'gst/cuda', 'gst/nvmm',
                 'gst/caps', 'gst/meta'),
    'gst/tensor': ('kernels', 'gst/util', 'gst/analytics', 'gst/modelconfig', 'gst/nvmm',
                   'gst/caps', 'gst/meta', 'gst/base'),
    'gst/elements': ('kernels', 'gst/util', 'gst/analytics', 'gst/modelconfig', 'gst/device',
                     'gst/nvmm', 'gst/caps', 'gst/meta', 'gst/base', 'gst/tensor'),
    'gst/library': ('kernels', 'gst/util', 'gst/cuda', 'gst/caps', 'gst/meta'),
    'gst/library/frames': ('gst/util', 'gst/caps', 'gst/library'),
    'gst': ('gst/meta', 'gst/nvmm', 'gst/util', 'gst/elements'),
}
MADE = {'config.h'}  # by Meson
FOREIGN_TO_KERNELS = re.compile(r'gst/|glib|gio/|gobject/')
LIBRARY = 'gst/library'
LIBRARY_HEADER = 'gstcudatensor.h'
# Installed headers have no root, so they include each other by name.
INSTALLED = {LIBRARY_HEADER, 'gstcudatensorerrors.h', 'gstcudatensorframes.h',
             'gstcudatensorgeometry.h', 'gstcudatensorhistogram.h', 'gstcudatensorinfo.h'}


def is_beside(path, name):
    return path.parent.as_posix().endswith(LIBRARY) and {path.name, name} <= INSTALLED


class Tree:
    """Sources that include each other by paths from `root`."""

    def __init__(self, root, tops, below):
        self._root, self._below = root, below
        self.files = [path for top in tops for path in (root / top).rglob('*')
                      if path.suffix in SOURCES]

    def faults(self):
        edges = {}
        for path in self.files:
            found = edges.setdefault(str(path.relative_to(self._root)), set())
            for fault in self._faults_of(path, found):
                yield f'{path.relative_to(self._root)} {fault}'
        if loop := loop_in(edges):
            yield 'a loop: ' + ' includes '.join(loop)

    def _faults_of(self, path, found):
        folder = str(path.parent.relative_to(self._root))
        if folder not in self._below:
            yield 'lies in no layer'
            return
        for kind, name in INCLUDE.findall(path.read_text()):
            if kind == '<':
                if fault := foreign_to_kernels(folder, name):
                    yield f'includes <{name}>: {fault}'
            elif name not in MADE and not is_beside(path, name):
                found.add(name)
                if not (self._root / name).exists():
                    yield f'includes "{name}", which is no path from the root'
                elif str(pathlib.Path(name).parent) not in (folder, *self._below[folder]):
                    yield f'includes "{name}", which lies above it'


def loop_in(edges):
    """A loop in the graph; empty if there is none."""
    done = set()

    def search(node, way):
        if node in way:
            return [*way[way.index(node):], node]
        if node in done:
            return []
        done.add(node)
        loops = (search(other, [*way, node]) for other in sorted(edges.get(node, ())))
        return next(filter(None, loops), [])

    return next(filter(None, (search(node, []) for node in sorted(edges))), [])


def foreign_to_kernels(folder, name):
    if folder.startswith('kernels') and FOREIGN_TO_KERNELS.match(name):
        return 'kernels know neither GLib nor GStreamer'
    return ''


def main(root):
    assert loop_in({'a': {'b'}, 'b': {'c', 'd'}, 'd': {'b'}}) == ['b', 'd', 'b']
    assert loop_in({'a': {'b', 'c'}, 'b': {'c'}}) == []
    tree = Tree(root, ('kernels', 'gst'), BELOW)
    found = list(tree.faults())
    print('\n'.join(found) or f'{len(tree.files)} files')
    return len(found) > 0 or len(tree.files) < 100


sys.exit(main(pathlib.Path(sys.argv[1])))
