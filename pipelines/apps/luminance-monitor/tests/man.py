#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""man.py PROGRAM

Checks that the manual page has exactly the options, environment variables and exit statuses of --help,
every key of the configuration and every verdict with its rule, and that it formats without a warning.
Checks that docs/settings.md has every key, too."""
import json
import re
import shutil
import subprocess
import sys

import running

PAGE = running.APP / 'docs/luminance-monitor.1'
KEY = r'[a-z][a-z-]*'
FORMATTERS = (['groff', '-t', '-man', '-ww', '-Tutf8'], ['mandoc', '-Tlint'])


def plain(text):
    """Returns the text without font requests, and with plain dashes."""
    text = re.sub(r'\\f[BIPR]', '', text)
    return text.replace(r'\-', '-')


def sections():
    """Returns the lines of each section, by its name."""
    found = {}
    for line in PAGE.read_text().splitlines():
        if line.startswith('.SH '):
            lines = found[line.removeprefix('.SH ').strip('"')] = []
        elif found:
            lines.append(plain(line))
    return found


def terms(lines):
    """Returns the terms that a section explains: the line after each .TP."""
    return [lines[i + 1] for i, line in enumerate(lines) if line == '.TP']


def words(lines, pattern):
    return {word for line in lines for word in re.findall(pattern, line)}


def check_same(what, page, program):
    assert page == program, f'{what}: only in the page {page - program}, only in the program {program - page}'


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


def public_names(kind):
    lines = (running.APP / 'tests/public.txt').read_text().splitlines()
    return [line.removeprefix(f'{kind} ') for line in lines if line.startswith(f'{kind} ')]


def tables_of(lines):
    """Returns by table, with '' for the top level, the keys that the page explains and those it mentions."""
    found = {}
    for part in re.split(r'^\.SS ', '\n'.join(lines), flags=re.M)[1:]:
        title, *rest = part.splitlines()
        name = '' if title == 'Top level' else title.strip('[]')
        found[name] = (words(terms(rest), KEY), words(rest, KEY))
    return found


def is_secret(key, explained):
    """Whether the key names a file or variable with a secret. The page explains such keys once for all
    tables, or beside the key of the secret."""
    name, end = key.rsplit('-', 1) if '-' in key else (key, '')
    return end in ('file', 'env') and (name in ('password', 'token') or key in explained[1])


def check_configuration(page):
    """Checks that the page has every key in its table. names.py checks the list against the program."""
    tables = tables_of(page['CONFIGURATION FILE'])
    keys = public_names('key')
    assert len(keys) > 80, keys
    for name in keys:
        table, _, key = name.rpartition('.')
        if name in tables:
            continue  # the key is a table
        if table.startswith('verdicts.VERDICT') or name == 'verdicts':
            assert key in tables[''][1], name
            continue
        explained = tables[table]
        assert key in explained[0] or is_secret(key, explained), f'{name} is not explained'
    for table, (explained, _) in tables.items():
        known = {name.rpartition('.')[2] for name in keys if name.rpartition('.')[0] == table}
        if table:
            check_same(table, explained - known, set())


def check_settings():
    """Checks that the example of a configuration has every key in its table. For a secret, one of its forms
    suffices; the text explains the others."""
    page = (running.APP / 'docs/settings.md').read_text()
    text = ''.join(path.read_text() for path in sorted((running.APP / 'docs').glob('*.md')))
    example = re.search(r'^```toml\n(.*?)^```', page, re.M | re.S)[1]
    shown, table = {'': set()}, ''
    for line in example.splitlines():
        if title := re.match(r'\[+([\w.-]+)\]+', line):
            table = re.sub(r'^verdicts\..*', 'verdicts', title[1])
        shown.setdefault(table, set()).update(re.findall(KEY, line))
    secret = re.compile(r'(password|token|url|secret)(?:-file|-env)?')
    everywhere = set(re.findall(KEY, ' '.join(re.findall(r'`([^`\n]+)`', text)))) | set().union(*shown.values())
    for name in public_names('key'):
        table, _, key = name.rpartition('.')
        if 'VERDICT' in table or key == 'ca-file' or name in shown:
            assert key in everywhere, f'settings.md lacks {name}'
        elif form := secret.fullmatch(key):
            assert any(secret.sub(r'\1', other) == form[1] for other in shown[table]), f'settings.md lacks {name}'
        else:
            assert key in shown[table], f'settings.md lacks {name}'


def check_verdicts(page):
    verdicts = json.loads((running.APP / 'src/settings/rules.json').read_text())['verdicts']
    titles = {(each['name'], each['title'], each['quantity']) for each in verdicts}
    rows = {tuple(line.split('\t')) for line in page['VERDICTS'] if line.count('\t') == 2}
    check_same('verdicts', rows - {('verdict', 'title', 'value')}, titles)
    named = words([line for line in page['VERDICTS'] if '\t' not in line], r'\bp\d+')
    check_same('percentiles', named, words([value for _, _, value in titles], r'\bp\d+'))
    known = {each['name']: [each['raise'], each['clear'], each['hold']] for each in verdicts}
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
    check_settings()
    check_verdicts(page)
    check_format()


main()
