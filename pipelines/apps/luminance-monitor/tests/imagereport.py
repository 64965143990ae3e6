#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the results of image.sh into image-report.md, which has a section for each architecture.

usage: imagereport.py ARCHITECTURE LOG
"""
import pathlib
import re
import subprocess
import sys
import time

REPORT = pathlib.Path(__file__).with_name('image-report.md')
HEAD = '''# The container image, built and started

Written by `image.sh --report`, with a section for each architecture.
'''


def value(log, name):
    found = re.search(rf'^{name}: (.*)$', log, re.M)
    return found[1] if found else '–'


def commit():
    run = lambda *words: subprocess.run(['git', '-C', REPORT.parent, *words], check=True, capture_output=True,
                                        text=True).stdout.strip()
    return run('rev-parse', '--short=7', 'HEAD') + ('-dirty' if run('status', '--porcelain', '-uno') else '')


def section(architecture, log):
    passed, failed, skipped = re.findall(r'^(\d+) passed, (\d+) failed, (\d+) skipped$', log, re.M)[-1]
    lines = [f'## {architecture}', '', f'{value(log, "way")}.', '',
             '| passed | failed | skipped | size | built in | tried in | commit | date |',
             '|---|---|---|---|---|---|---|---|',
             f'| {passed} | {failed} | {skipped} | {value(log, "size")} | {value(log, "built")} | '
             f'{value(log, "tried")} | {commit()} | {time.strftime("%Y-%m-%d", time.gmtime())} |', '']
    lines += [f'- {line}' for line in log.splitlines() if re.match(r'ok |not ok |skipped: ', line)]
    return '\n'.join(lines) + '\n'


def main(architecture, log):
    text = REPORT.read_text() if REPORT.exists() else HEAD
    sections = {part.split('\n')[0]: f'## {part.strip()}\n' for part in text.split('\n## ')[1:]}
    sections[architecture] = section(architecture, pathlib.Path(log).read_text())
    REPORT.write_text('\n'.join([HEAD, *(sections[name] for name in sorted(sections))]))


main(*sys.argv[1:])
