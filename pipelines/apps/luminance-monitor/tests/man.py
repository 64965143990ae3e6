#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""man.py PROGRAM

The manual page: it has the options, the environment and the exit statuses of --help and no others,
every key of the configuration and every verdict with its rule, and formats without a warning."""
import re
import shutil
import subprocess
import sys

import running

PAGE = running.APP / 'docs/luminance-monitor.1'
FORMATTERS = (['groff', '-t', '-man', '-ww', '-Tutf8'], ['mandoc', '-Tlint'])


def plain(text):
    """Without the fonts and with the dashes of the page."""
    text = re.sub(r'\\f[BIPR]', '', text)
    return text.replace(r'\-', '-')


def sections():
    """The lines of each, by its name."""
    found = {}
    for line in PAGE.read_text().splitlines():
        if line.startswith('.SH '):
            lines = found[line.removeprefix('.SH ').strip('"')] = []
        elif found:
            lines.append(plain(line))
    return found


def terms(lines):
    """What a section explains: the line after each .TP."""
    return [lines[i + 1] for i, line in enumerate(lines) if line == '.TP']


def words(lines, pattern):
    return {word for line in lines for word in re.findall(pattern, line)}


def check_same(what, page, program):
    assert page == program, f'{what}: only in the page {page - program}, only there {program - page}'


def check_against_help(page, text):
    option = r'(?<![\w-])--?[a-z][\w-]*'
    listed = text.split('Options:')[1].split('\n\n')[0]
    check_same('options', words(terms(page['OPTIONS']), option),
               words(re.findall(r'^  (-\S+)', listed, re.M), option))
    mentioned = words(sum(page.values(), []), r'(?<![\w-])--[a-z][\w-]*')
    check_same('options', mentioned - words(terms(page['OPTIONS']), option), set())
    variable = r'LUMINANCE_MONITOR_[A-Z]+'
    check_same('variables', words(terms(page['ENVIRONMENT']), variable), words([text], variable))
    statuses = text.split('Exit status:')[1]
    check_same('exit statuses', words(terms(page['EXIT STATUS']), r'\d'),
               words([statuses], r'(?<!\w)\d(?!\w)'))
    check_same('signals of --help', words([text], r'SIG[A-Z]+') - words(terms(page['SIGNALS']),
                                                                       r'SIG[A-Z]+'), set())


def check_configuration(page):
    reader = ''.join((running.APP / f'src/settings/{name}.cpp').read_text()
                     for name in ('credentials', 'notifications', 'reader', 'rulereader'))
    keys = set(re.findall(r'\b(?:table|Table)\S*?\.(?:read|text|with|find)\("([\w-]+)"', reader))
    keys |= set(re.findall(r'{"(tls-[\w-]+)"', reader))
    keys |= set(re.findall(
        r'read_(?:secret|server|prefix|time|optional<\w+>)\(table, "([\w-]+)"', reader))
    assert len(keys) > 20, keys
    named = words(page['CONFIGURATION FILE'], r'[a-z][\w-]*')
    assert keys - {'cameras', 'web', 'history'} <= named, keys - named
    for table in ('[web]', '[history]', '[notifications]', '[[notifications.webhooks]]',
                  '[notifications.mail]', '[notifications.mqtt]', '[[cameras]]'):
        assert f'.SS {table}' in page['CONFIGURATION FILE'], table


def check_verdicts(page):
    rules = (running.APP / 'src/settings/rules.cpp').read_text()
    known = {name: list(map(float, numbers.split(', '))) for name, numbers in re.findall(
        r'{"([\w-]+)",[^{]*?{true, ([\d., ]+)}}', rules)}
    assert len(known) == 12, known
    shown = {}
    for line in page['VERDICTS']:
        cells = line.split('\t')
        if len(cells) == 4 and cells[0] != 'verdict':
            shown[cells[0]] = list(map(float, cells[1:]))
    assert shown == known, (shown, known)


def check_format():
    ran = 0
    for command in FORMATTERS:
        if shutil.which(command[0]) is None:
            continue
        done = subprocess.run([*command, PAGE], check=False, capture_output=True, text=True,
                              timeout=60)
        said = done.stderr + (done.stdout if command[0] == 'mandoc' else '')
        assert done.returncode == 0 and said == '', said
        ran += 1
    print(f'{ran} formatters say nothing')


def main():
    text = subprocess.run([sys.argv[1], '--help'], check=True, capture_output=True, text=True,
                          timeout=60).stdout
    page = sections()
    for name in ('NAME', 'SYNOPSIS', 'DESCRIPTION', 'FILES', 'EXAMPLES', 'SEE ALSO'):
        assert page[name], name
    check_against_help(page, text)
    check_configuration(page)
    check_verdicts(page)
    check_format()


main()
