# SPDX-License-Identifier: LGPL-2.1-or-later
"""includes.py ROOT: checks the layers of kernels/, gst/ and luminance-monitor. Every file includes
by paths from the root of its tree, and only from its own folder and the layers below. Headers do
not include each other in a loop; for the monitor, a header and its source count as one file. From
the rest of the repository, the monitor includes only the library's header. No two headers of the
monitor define a type of the same name: in one namespace, the linker takes them for the same, and
what one allocates is read as the other."""
import pathlib
import re
import sys

SOURCES = {'.h', '.cpp', '.cu', '.cuh'}
# At the begin of a line, where nothing encloses it but a namespace.
TYPE = re.compile(r'^(?:struct|class|union|enum class|enum) (\w+)(?: final)?(?: :[^:;{][^;{]*)? ?\{', re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
# Each folder and the other folders from which it may include.
BELOW = {
    'kernels': (),
    'kernels/cpu': ('kernels',),
    'kernels/cuda': ('kernels',),
    'gst/util': ('kernels',),
    'gst/analytics': ('kernels', 'gst/util'),
    'gst/modelconfig': ('kernels', 'gst/util'),
    'gst/cuda': ('kernels', 'gst/util'),
    'gst/nvmm': ('kernels', 'gst/util', 'gst/analytics'),
    'gst/caps': ('kernels', 'gst/util', 'gst/cuda', 'gst/nvmm'),
    'gst/meta': ('kernels', 'gst/util', 'gst/analytics', 'gst/cuda', 'gst/caps'),
    'gst/base': ('kernels', 'gst/util', 'gst/analytics', 'gst/modelconfig', 'gst/cuda', 'gst/nvmm',
                 'gst/caps', 'gst/meta'),
    'gst/elements': ('kernels', 'gst/util', 'gst/analytics', 'gst/modelconfig', 'gst/cuda',
                     'gst/nvmm', 'gst/caps', 'gst/meta', 'gst/base'),
    'gst/frames': ('gst/util',),
    'gst/library': ('kernels', 'gst/util', 'gst/cuda', 'gst/caps', 'gst/meta', 'gst/frames'),
    'gst': ('gst/meta', 'gst/nvmm', 'gst/util', 'gst/elements'),
}
MONITOR = 'pipelines/apps/luminance-monitor/src'
BELOW_IN_MONITOR = {
    'settings': (),
    'watch': ('settings',),
    'log': ('watch',),
    'discovery': ('log',),
    'capture': ('settings', 'watch'),
    'history': ('settings', 'watch', 'log'),
    'notify': ('settings', 'watch', 'log'),
    'metrics': ('watch', 'history', 'notify'),
    'web': ('settings', 'watch', 'log', 'capture', 'history', 'notify', 'metrics'),
    '.': ('settings', 'watch', 'log', 'discovery', 'capture', 'history', 'notify', 'metrics', 'web'),
}
MADE = {'config.h', 'page-resources.h'}  # by Meson
FOREIGN_TO_KERNELS = re.compile(r'gst/|glib|gio/|gobject/')
LIBRARY = 'gst/library'
LIBRARY_HEADER = 'gstcudatensor.h'
# Installed headers have no root, so they include each other by name.
INSTALLED = {LIBRARY_HEADER, 'gstcudatensorerrors.h', 'gstcudatensorframes.h',
             'gstcudatensorgeometry.h', 'gstcudatensorhistogram.h'}


def is_beside(path, name):
    return path.parent.as_posix().endswith(LIBRARY) and {path.name, name} <= INSTALLED


class Tree:
    """Sources that include each other by paths from `root`. `unit_of`: the unit of a file in the
    search for loops."""

    def __init__(self, root, tops, below, fault_of_foreign, unit_of):
        self._root, self._below, self._fault_of_foreign = root, below, fault_of_foreign
        self._unit_of = unit_of
        self.files = [path for top in tops for path in (root / top).rglob('*')
                      if path.suffix in SOURCES]

    def faults(self):
        edges = {}
        for path in self.files:
            unit = self._unit_of(path.relative_to(self._root))
            found = edges.setdefault(unit, set())
            for fault in self._faults_of(path, found):
                yield f'{path.relative_to(self._root)} {fault}'
            found.discard(unit)
        if loop := loop_in(edges):
            yield 'a loop: ' + ' includes '.join(loop)

    def _faults_of(self, path, found):
        folder = str(path.parent.relative_to(self._root))
        if folder not in self._below:
            yield 'lies in no layer'
            return
        for kind, name in INCLUDE.findall(path.read_text()):
            if kind == '<':
                if fault := self._fault_of_foreign(folder, name):
                    yield f'includes <{name}>: {fault}'
            elif name not in MADE and not is_beside(path, name):
                found.add(self._unit_of(pathlib.Path(name)))
                if not (self._root / name).exists():
                    yield f'includes "{name}", which is no path from the root'
                elif str(pathlib.Path(name).parent) not in (folder, *self._below[folder]):
                    yield f'includes "{name}", which lies above it'


def types_defined_twice(tree):
    where = {}
    for path in tree.files:
        if path.suffix != '.h':
            continue
        for name in TYPE.findall(path.read_text()):
            where.setdefault(name, []).append(path.name)
    assert len(where) > 50, where
    return [f'{name} is defined in {" and in ".join(sorted(names))}'
            for name, names in sorted(where.items()) if len(names) > 1]


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


def foreign_to_monitor(root):
    def fault(_folder, name):
        if (root / name).exists() or (name != LIBRARY_HEADER and (root / LIBRARY / name).exists()):
            return f'of the repository, the monitor has {LIBRARY_HEADER} alone'
        return ''
    return fault


def main(root):
    assert loop_in({'a': {'b'}, 'b': {'c', 'd'}, 'd': {'b'}}) == ['b', 'd', 'b']
    assert loop_in({'a': {'b', 'c'}, 'b': {'c'}}) == []
    trees = [Tree(root, ('kernels', 'gst'), BELOW, foreign_to_kernels, str),
             Tree(root / MONITOR, ('.',), BELOW_IN_MONITOR, foreign_to_monitor(root),
                  lambda path: str(path.with_suffix('')))]
    found = [fault for tree in trees for fault in tree.faults()] + types_defined_twice(trees[1])
    print('\n'.join(found) or ', '.join(f'{len(tree.files)} files' for tree in trees))
    return len(found) > 0 or any(len(tree.files) < 100 for tree in trees)


sys.exit(main(pathlib.Path(sys.argv[1])))
