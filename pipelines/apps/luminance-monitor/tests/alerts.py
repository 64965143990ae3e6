#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the alert rules and their configuration with the tools of Prometheus and Alertmanager."""
import pathlib
import re
import shutil
import subprocess
import tempfile

import running

DEPLOY = running.APP / 'deploy'
FOLDER = DEPLOY / 'prometheus'
TESTS = ('alerts-test.yaml', 'alerts-days-test.yaml')
ALERT = re.compile(r'^ +- alert: (\w+)$.*?severity: (\w+)$', re.MULTILINE | re.DOTALL)

# An optional setting, which the configuration has in a comment.
OPTION = re.compile(r'^( *)# ( *(?:alerting|alertmanagers|- static_configs|- targets|authorization|'
                    r'credentials_file|scheme)\b.*)$', re.MULTILINE)


def accepts(*command, cwd=FOLDER):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)
    return done.returncode == 0, done.stdout + done.stderr


def check_files():
    for command in (('promtool', 'check', 'rules', 'alerts.yaml'),
                    *(('promtool', 'test', 'rules', name) for name in TESTS),
                    ('amtool', 'check-config', 'alertmanager.yaml')):
        good, text = accepts(*command)
        assert good, text


def check_configuration(folder):
    """Checks the configuration as it is, and with the optional settings in use."""
    config = (FOLDER / 'prometheus.yaml').read_text()
    shutil.copy(FOLDER / 'alerts.yaml', folder)
    (folder / 'luminance-monitor.token').write_text('token')
    changed = OPTION.sub(r'\1\2', config)
    assert changed.count('#') == 4, changed  # the remaining comments are prose
    for text in config, changed:
        (folder / 'prometheus.yaml').write_text(text)
        good, said = accepts('promtool', 'check', 'config', 'prometheus.yaml', cwd=folder)
        assert good, said


def check_that_tests_notice(folder):
    """Checks that wrong rules fail their tests."""
    rules = (FOLDER / 'alerts.yaml').read_text()
    shutil.copy(FOLDER / 'alerts-test.yaml', folder)
    for right, wrong in (('for: 2m', 'for: 9m'), ('"too-dark"', '"too-bright"'),
                         ('has been too dark', 'was dark'), ('0.8 *', '0.99 *')):
        assert right in rules
        (folder / 'alerts.yaml').write_text(rules.replace(right, wrong))
        assert not accepts('promtool', 'test', 'rules', 'alerts-test.yaml', cwd=folder)[0], wrong


def check_names():
    """Checks that each alert fires in a test and has a line in the README, and that alertmanager.yaml
    names only alerts that exist."""
    alerts = dict(ALERT.findall((FOLDER / 'alerts.yaml').read_text()))
    assert len(alerts) > 10
    tests = ''.join((FOLDER / name).read_text() for name in TESTS)
    fired = set(re.findall(r'alertname: (\w+)\n +exp_alerts:', tests))
    assert fired == set(alerts), fired ^ set(alerts)
    rows = re.findall(r'^\| (`\w+`(?:, `\w+`)*) \| (critical|warning|info) \|',
                      (DEPLOY / 'README.md').read_text(), re.MULTILINE)
    documented = {name: severity for names, severity in rows
                  for name in re.findall(r'\w+', names)}
    assert documented == alerts, documented.items() ^ alerts.items()
    named = re.findall(r'(?:Many|Monitor|Camera)[A-Z]\w+',
                       (FOLDER / 'alertmanager.yaml').read_text())
    assert named and set(named) <= set(alerts), set(named) - set(alerts)


running.need('promtool', 'amtool')
check_files()
check_names()
for check in check_configuration, check_that_tests_notice:
    with tempfile.TemporaryDirectory() as directory:
        check(pathlib.Path(directory))
