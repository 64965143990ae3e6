#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""links.py ROOT: every link in a document of the repository leads to a file that is there, and to a
heading of it."""
import functools
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
LINK = re.compile(r'!?\[[^\]]*\]\(([^)\s]+)\)')
FENCE = re.compile(r'^```.*?^```$', re.M | re.S)


def documents():
    """Those of the repository: not what was built or fetched."""
    listed = subprocess.run(['git', '-C', ROOT, 'ls-files', '--cached', '--others',
                             '--exclude-standard', '*.md'], check=False, capture_output=True,
                            text=True)
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.split('\n') if name and (ROOT / name).exists()]
    return [path for path in ROOT.rglob('*.md')
            if not path.relative_to(ROOT).parts[0].startswith(('build', '.'))]


@functools.cache
def anchors(path):
    """Of a document's headings, as they are linked to."""
    heads = re.findall(r'^#+ (.*)$', FENCE.sub('', path.read_text()), re.M)
    return {re.sub(r'[^\w\- ]', '', head.lower()).replace(' ', '-') for head in heads}


def faults(path):
    for target in LINK.findall(FENCE.sub('', path.read_text())):
        if '://' in target or target.startswith('mailto:'):
            continue
        name, _, anchor = target.partition('#')
        place = (path.parent / name).resolve() if name else path
        if not place.exists():
            yield f'{target}: no such file'
        elif anchor and place.suffix == '.md' and anchor not in anchors(place):
            yield f'{target}: no such heading'


def main():
    paths = documents()
    found = [f'{path.relative_to(ROOT)}: {fault}' for path in paths for fault in faults(path)]
    print('\n'.join(found) or f'{len(paths)} documents')
    sys.exit(len(found) > 0 or len(paths) < 5)


main()
