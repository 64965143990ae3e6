#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sizes.py ROOT: checks that files of src/ and page/ have less than 500 lines, and C++ functions less
than 60. Universal Ctags counts these from the line of the name to the line of the closing brace."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

MOST_IN_FILE, MOST_IN_FUNCTION = 499, 59
FILES = {'.h', '.cpp', '.js', '.css', '.html'}
SKIPPED = 77


def functions(*paths):
    """Returns the file, the name and the number of lines of each function."""
    done = subprocess.run(['ctags', '-R', '--languages=C++', '--langmap=C++:+.h', '--c++-kinds=f', '--fields=+ne',
                           '--output-format=json', '-f', '-', *map(str, paths)],
                          check=True, capture_output=True, text=True)
    tags = [json.loads(line) for line in done.stdout.splitlines()]
    return [(tag['path'], tag['name'], tag['end'] - tag['line'] + 1) for tag in tags if tag.get('end')]


def counts_lines():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, 'sample.cpp')
        file.write_text('template <class T> int\nf(T t) {\n' + '  t("}");\n' * 57 + '}\nstruct A {\n  void g() {}\n};\n')
        assert [found[1:] for found in functions(file)] == [('f', 59), ('g', 1)], functions(file)


def main(root):
    counts_lines()
    files = [path for folder in ('src', 'page') for path in (root / folder).rglob('*') if path.suffix in FILES]
    found = [f'{path}: {count} lines, not under {MOST_IN_FILE + 1}' for path in files
             if (count := path.read_text().count('\n')) > MOST_IN_FILE]
    measured = functions(root / 'src')
    found += [f'{path}: {name}() has {lines} lines, not under {MOST_IN_FUNCTION + 1}'
              for path, name, lines in measured if lines > MOST_IN_FUNCTION]
    print('\n'.join(found) or f'{len(files)} files, {len(measured)} functions')
    return len(found) > 0 or len(files) < 150 or len(measured) < 1000


if shutil.which('ctags') is None:
    print('skipped: there is no ctags')
    sys.exit(SKIPPED)
sys.exit(main(pathlib.Path(sys.argv[1])))
