#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the numbers of passed, failed and skipped test cases from the logs of `meson test`, then a line
for each program that has failed: its name, its result and the cases that failed."""
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
    """Parses a log. Meson copies control characters from the output of tests, but XML forbids them."""
    text = log.read_text(encoding='utf-8', errors='replace')
    return ElementTree.fromstring(re.sub(r'[\x00-\x08\x0b\x0c\x0e-\x1f]', '', text).encode())


def name_of(program):
    """Returns the name without the prefix of the project, "luminance-monitor:"."""
    return program['name'].split(':', 1)[-1]


def failed_cases(suites, program):
    """Returns the failed cases of a program that prints GoogleTest's format or TAP. Their suites are named
    "PROJECT.PROGRAM" or "PROJECT.PROGRAM.SUITE"."""
    suite_name = f"{program['name'].split(':', 1)[0]}.{program['name']}"
    return [case.get('name') for suite in suites for case in suite.findall('testcase')
            if f"{suite.get('name')}.".startswith(f"{suite_name}.") and has(case, 'failure', 'error')]


def main(folder):
    suites = [suite for log in folder.glob('testlog*.junit.xml') for suite in parse(log).iter('testsuite')]
    cases = [case for suite in suites for case in suite.findall('testcase')]
    programs = [json.loads(line) for log in folder.glob('testlog*.json')
                for line in log.read_text().splitlines()]
    bad_programs = [each for each in programs if each['result'] not in ('OK', 'SKIP', 'EXPECTEDFAIL')]
    skipped = sum(is_skipped(case) for case in cases)
    # If a program times out, or fails after its last case, no test case is marked as failed.
    failed = max(sum(has(case, 'failure', 'error') for case in cases), len(bad_programs))
    if not programs:
        failed = 1
    print(max(0, len(cases) - failed - skipped), failed, skipped)
    for program in bad_programs:
        print(f"{name_of(program)}: {program['result']}", *failed_cases(suites, program)[:10])


main(pathlib.Path(sys.argv[1]))
