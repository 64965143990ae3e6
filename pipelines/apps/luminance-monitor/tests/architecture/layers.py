#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""layers.py ROOT: checks the layers of src/. Every file includes by paths from src/, and only from its
own folder and the layers below. A header and its source count as one file, and files do not include
each other in a loop. Of gst-cudatensor, only gstcudatensor.h is included, and only as an installed
header. No two headers define a type of the same name: in one namespace, the linker takes them for the
same, and what one allocates is read as the other."""
import pathlib
import re
import sys

# Each folder and the other folders from which it may include.
BELOW = {
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
MADE = re.compile(r'\w+-resources\.h')  # by Meson
LIBRARY_HEADER = 'gstcudatensor.h'
OF_THE_LIBRARY = re.compile(r'gstcudatensor|gst/(?:analytics|base/(?!gst)|caps|cuda|meta|nvmm|util)/|kernels/')
# At the begin of a line, where nothing encloses it but a namespace.
TYPE = re.compile(r'^(?:struct|class|union|enum class|enum) (\w+)(?: final)?(?: :[^:;{][^;{]*)? ?\{', re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def unit_of(path):
    return str(path.with_suffix(''))


def faults_of(path, root, found):
    """What is wrong with the includes of a file. Adds the units that it includes to `found`."""
    folder = str(path.parent.relative_to(root))
    if folder not in BELOW:
        yield 'lies in no layer'
        return
    for kind, name in INCLUDE.findall(path.read_text()):
        if OF_THE_LIBRARY.match(name) and (kind, name) != ('<', LIBRARY_HEADER):
            yield f'includes {name}: of gst-cudatensor, there is only <{LIBRARY_HEADER}>'
        elif kind == '<' and (root / name).exists():
            yield f'includes <{name}>, which is a file of its own'
        elif kind == '"' and not MADE.fullmatch(name):
            found.add(unit_of(pathlib.Path(name)))
            if not (root / name).exists():
                yield f'includes "{name}", which is no path from src/'
            elif str(pathlib.Path(name).parent) not in (folder, *BELOW[folder]):
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


def types_defined_twice(files):
    where = {}
    for path in files:
        if path.suffix == '.h':
            for name in TYPE.findall(path.read_text()):
                where.setdefault(name, []).append(path.name)
    assert len(where) > 50, where
    return [f'{name} is defined in {" and in ".join(sorted(names))}'
            for name, names in sorted(where.items()) if len(names) > 1]


def main(root):
    assert loop_in({'a': {'b'}, 'b': {'c', 'd'}, 'd': {'b'}}) == ['b', 'd', 'b']
    assert loop_in({'a': {'b', 'c'}, 'b': {'c'}}) == []
    files = [path for path in root.rglob('*') if path.suffix in ('.h', '.cpp')]
    edges, found = {}, []
    for path in files:
        unit = unit_of(path.relative_to(root))
        below = edges.setdefault(unit, set())
        found += [f'{path.relative_to(root)} {fault}' for fault in faults_of(path, root, below)]
        below.discard(unit)
    if loop := loop_in(edges):
        found.append('a loop: ' + ' includes '.join(loop))
    found += types_defined_twice(files)
    print('\n'.join(found) or f'{len(files)} files')
    return len(found) > 0 or len(files) < 100


sys.exit(main(pathlib.Path(sys.argv[1]) / 'src'))
