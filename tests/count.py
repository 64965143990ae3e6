#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the numbers of passed, failed and skipped test cases from the logs of `meson test`."""
import json
import pathlib
import re
import sys
from xml.etree import ElementTree


def has(case, *tags):
    return any(case.find(tag) is not None for tag in tags)


def is_skipped(case):
    # If an environment's SetUp() skips, GoogleTest reports the cases as run, but without a time.
    return (has(case, 'skipped') or case.get('status') == 'notrun'
            or case.get('timestamp', '').startswith('1970'))


def parse(log):
    """Meson copies what tests print as it is; XML has no control characters."""
    text = log.read_text(encoding='utf-8', errors='replace')
    return ElementTree.fromstring(re.sub(r'[\x00-\x08\x0b\x0c\x0e-\x1f]', '', text).encode())


def main(folder):
    cases = [case for log in folder.glob('testlog*.junit.xml') for case in parse(log).iter('testcase')]
    programs = [json.loads(line) for log in folder.glob('testlog*.json')
                for line in log.read_text().splitlines()]
    skipped = sum(is_skipped(case) for case in cases)
    failed = sum(has(case, 'failure', 'error') for case in cases)
    # If a program times out, or fails after its last case, no test case is marked as failed.
    bad_programs = sum(program['result'] not in ('OK', 'SKIP', 'EXPECTEDFAIL') for program in programs)
    failed = max(failed, bad_programs)
    if not programs:
        failed = 1
    print(max(0, len(cases) - failed - skipped), failed, skipped)


main(pathlib.Path(sys.argv[1]))
