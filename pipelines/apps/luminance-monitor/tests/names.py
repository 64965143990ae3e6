#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""names.py [--write]

Compares the names that users of the monitor rely on with public.txt, or writes them there: options,
configuration keys, environment variables, exit statuses, the API, CSV, SQL, metrics, verdicts and
alerts. The names are taken from the program while it plays a clip; the sources and the documents only
suggest which configuration keys and which paths to try."""
import http.client
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import urllib.parse

from running import APP, PROGRAM, Monitor, wait_for
from videos import CLIP

LIST = pathlib.Path(__file__).with_name('public.txt')
TOKEN, USER, PASSWORD = 'a-token', 'someone', 'a-password'
CONFIG = f"""
[web]
token = '{TOKEN}'
user = '{USER}'
password = '{PASSWORD}'
[history]
interval = 1
[verdicts]
too-dark = {{ raise = 200, hold = 0, schedule = [{{ from = '06:00', to = '18:00', hold = 0 }}] }}
[[notifications.webhooks]]
url = 'http://127.0.0.1:1/'
[[cameras]]
uri = '{CLIP}'
id = 'clip'
"""


# Values of the keys that a table must have, as TOML.
NEEDED = {'uri': f"'{CLIP}'", 'url': "'http://localhost'", 'server': "'smtp://localhost'",
          'from': "'a@b'", 'to': "['a@b']", 'broker': "'mqtt://localhost'"}
TIMES = {'from': "'20:00'", 'to': "'06:00'"}  # in a schedule


def run(*arguments, **environment):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **environment}, check=False)


def command_line_names():
    text = run('--help').stdout
    options = text.split('Options:')[1].split('\n\n')[0]
    for names in re.findall(r'^  (-\S+)', options, re.MULTILINE):
        yield from (f'option {name}' for name in names.split(','))
    for backend in re.findall(r'\w+', re.search(r'measured: (.*)', options)[1]):
        if 'backend' not in run('--check', '--backend', backend, str(CLIP)).stderr:
            yield f'choice --backend {backend}'
    for export in re.search(r'--export TEXT:{(.*)}', options)[1].split(','):
        yield f'choice --export {export}'
    for name in set(re.findall(r'LUMINANCE_MONITOR_[A-Z]+', text)):
        if f'{name} is empty' in run('--check', str(CLIP), **{name: ''}).stderr:
            yield f'environment {name}'
    statuses = re.search(r'Exit status:(.*?)\.\n', text, re.DOTALL)[1]
    yield from (f'exit {status}' for status in re.findall(r'(?<!\w)\d(?!\w)', statuses))


def suggested_keys():
    """Returns words that may be keys: quoted words in the sources that read settings, and in the rules."""
    folder = APP / 'src/settings'
    text = ''.join(file.read_text() for file in (*folder.glob('*.cpp'), folder / 'rules.json'))
    words = set(re.findall(r'"([a-z][a-z-]*)"', text))
    return words | {f'{word}-{suffix}' for word in words for suffix in ('file', 'env')}


def keys_of(header, prefix, config):
    """Yields the keys of a table. Each suggested key gets a list as its value: each run, the program rejects
    the type of another known key, and at last an unknown key."""
    unchecked, values = suggested_keys(), {}
    while True:
        lines = [f'{key} = {values.get(key, "[1]")}' for key in sorted(unchecked | set(values))]
        config.write_text('\n'.join([header, *lines]))
        message = run('--check', '--config', config).stderr
        key, problem = re.search(rf'{config}: {re.escape(prefix)}([a-z-]+)(?:\[0\])? (.*)',
                                 message).groups()
        if problem == 'is unknown':
            return
        if problem.startswith('is missing'):
            values[key] = (TIMES if 'schedule' in prefix else NEEDED)[key]
            continue
        yield key
        unchecked.remove(key)


def configuration_names(folder):
    config = folder / 'keys.toml'
    for name, header, prefix in (('', '', ''), ('web.', '[web]', 'web.'),
                                 ('history.', '[history]', 'history.'),
                                 ('cameras.', '[[cameras]]', 'cameras[0].'),
                                 ('notifications.', '[notifications]', 'notifications.'),
                                 ('notifications.webhooks.', '[[notifications.webhooks]]',
                                  'notifications.webhooks[0].'),
                                 ('notifications.mail.', '[notifications.mail]', 'notifications.mail.'),
                                 ('notifications.mqtt.', '[notifications.mqtt]', 'notifications.mqtt.'),
                                 ('verdicts.VERDICT.', '[verdicts.frozen]', 'verdicts.frozen.'),
                                 ('verdicts.VERDICT.schedule.', '[[verdicts.frozen.schedule]]',
                                  'verdicts.frozen.schedule[0].')):
        yield from (f'key {name}{key}' for key in keys_of(header, prefix, config))
    yield from (f'verdict {key}' for key in keys_of('[verdicts]', 'verdicts.', config))


def answer_to(monitor, path, method='GET', document=None, **fields):
    """Returns status and body. `document` is posted as JSON, `fields` as a form."""
    connection = http.client.HTTPConnection(monitor.target(), timeout=60)
    headers = {'Authorization': f'Bearer {TOKEN}'}
    if fields:
        headers = {'Content-Type': 'application/x-www-form-urlencoded'}
    body = json.dumps(document) if document is not None else urllib.parse.urlencode(fields)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    status, body = answer.status, answer.read()
    connection.close()
    return status, body


def fields_of(value, path=''):
    if isinstance(value, list):
        for item in value:
            yield from fields_of(item, f'{path}[]')
    elif isinstance(value, dict):
        for name, item in value.items():
            yield f'{path}.{name}'.lstrip('.')
            yield from fields_of(item, f'{path}.{name}')


def json_names(name, text):
    return {f'field {name} {field}' for field in fields_of(json.loads(text))}


def is_parameter(monitor, path, name):
    """Whether the parameter is known: an invalid value is rejected, or matches nothing."""
    status, body = answer_to(monitor, f'{path}?{name}=-')
    if status == 200 and path.endswith('.csv'):
        return body.count(b'\n') == 1  # only the line with the columns' names
    return status == 400 or not next(iter(json.loads(body).values()))


# Paths that accept only POST, and the document to post.
POSTED = {'/api/v1/notifications/test': None, '/api/v1/cameras/ID/reference': None,
          '/api/v1/cameras/ID/maintenance': {'comment': 'a new lamp'}}


def path_names(monitor):
    """Yields the documented paths that exist, with the parameters and fields of each."""
    answer_to(monitor, '/api/v1/cameras/clip/maintenance', 'POST', {})  # so that cameras have its fields
    documented = re.findall(r'^\| `(/[^`]*)` \|', (APP / 'docs/API.md').read_text(), re.MULTILINE)
    assert len(documented) > 10, documented
    incident = str(json.loads(answer_to(monitor, '/api/v1/incidents')[1])['incidents'][0]['id'])
    for path, _, query in (entry.partition('?') for entry in documented):
        at = path.replace('ID', incident if '/incidents/' in path else 'clip')
        if path == '/api/v1/stream':
            yield from stream_names(monitor)
        elif path in POSTED:
            status, body = answer_to(monitor, at, 'POST', POSTED[path])
            if status == 200:
                yield f'path {path}'
                yield from json_names(path, body)
        elif path == '/logout':
            if answer_to(monitor, path, 'POST', any='')[0] == 303:
                yield f'path {path}'
        elif exists(monitor, at):
            yield f'path {path}'
            for name in re.findall(r'(\w+)=', query):
                if is_parameter(monitor, at, name):
                    yield f'parameter {path} {name}'
            if path.startswith('/api/') and not path.endswith(('.csv', '.jpg')):
                yield from json_names(path, answer_to(monitor, at)[1])


def exists(monitor, path):
    """Whether the path exists. At first, cameras and incidents have no picture, and cameras have no reference
    for minutes: these paths answer 404, too."""
    status, body = answer_to(monitor, path)
    return status not in (404, 405) or b'has no picture' in body


def stream_names(monitor):
    """Yields the names of the first event of the stream and of a few more."""
    connection = http.client.HTTPConnection(monitor.target(), timeout=60)
    connection.request('GET', '/api/v1/stream', headers={'Authorization': f'Bearer {TOKEN}'})
    stream = connection.getresponse()
    assert stream.status == 200, stream.status
    yield 'path /api/v1/stream'
    kinds = []
    while kinds.count('update') < 3 or 'heartbeat' not in kinds:
        event = stream.readline().decode().removeprefix('event: ').strip()
        yield f'event {event}'
        yield from json_names(f'event {event}', stream.readline().removeprefix(b'data: '))
        assert stream.readline() == b'\n'
        kinds.append(event)
    connection.close()


def login_names(monitor):
    for fields in ({'token': TOKEN}, {'user': USER, 'password': PASSWORD}):
        if answer_to(monitor, '/login', 'POST', **fields)[0] == 303:
            yield from (f'parameter /login {name}' for name in fields)
    yield from json_names('error', answer_to(monitor, '/nowhere')[1])


def metric_names(text):
    types = dict(re.findall(r'^# TYPE (\w+) (\w+)$', text, re.MULTILINE))
    labels = {name: set() for name in types}
    for sample, of_sample in re.findall(r'^(\w+)(?:{(.*)})? \S+$', text, re.MULTILINE):
        name = sample if sample in types else re.sub('_(bucket|sum|count)$', '', sample)
        for label, value in re.findall(r'(\w+)="([^"]*)"', of_sample):
            labels[name].add(label)
            if label in ('status', 'verdict', 'percentile', 'bound', 'channel'):
                yield f'label {label}={value}'
    for name, kind in types.items():
        yield ' '.join([f'metric {name} {kind}', *sorted(labels[name])])


def has_all(monitor):
    """Whether the camera has an interval, a verdict, its event, and a row with frames."""
    camera = json.loads(answer_to(monitor, '/api/v1/cameras/clip')[1])
    rows = json.loads(answer_to(monitor, '/api/v1/cameras/clip/history')[1])['rows']
    events = json.loads(answer_to(monitor, '/api/v1/events')[1])['events']
    return (camera['latest'] and camera['verdicts'] and events
            and any(row['frames'] for row in rows))


def served_names(folder):
    config, history = folder / 'monitor.toml', folder / 'history.db'
    config.write_text(CONFIG)
    with Monitor('--config', config, '--loop', '--history', history) as monitor:
        wait_for('a verdict and a row', lambda: has_all(monitor))
        yield from path_names(monitor)
        yield from login_names(monitor)
        yield from metric_names(answer_to(monitor, '/metrics')[1].decode())
    yield from history_names(history)
    yield from failing_names()


def failing_names():
    """Yields the fields of /healthz while the history cannot be written: here, its folder is missing."""
    os.environ['XDG_DATA_HOME'] = '/dev/null'
    with Monitor('--interval=1', str(CLIP), history='default') as monitor:
        yield from json_names('/healthz', answer_to(monitor, '/healthz')[1])


def history_names(history):
    for choice, kind in (('csv', 'csv'), ('incidents', 'csv incidents')):
        header = run('--export', choice, '--history', history).stdout.splitlines()[0]
        yield from (f'{kind} {column}' for column in header.split(','))
    with sqlite3.connect(f'file:{history}?mode=ro', uri=True) as database:
        yield from (f'sql {table}.{column}' for table, column in database.execute(
            "SELECT s.name, c.name FROM sqlite_schema s, pragma_table_info(s.name) c "
            "WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite%'"))


def alert_names():
    rules = (APP / 'deploy/prometheus/alerts.yaml').read_text()
    yield from (f'alert {name}' for name in re.findall(r'- alert: (\w+)$', rules, re.MULTILINE))


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        names = {*command_line_names(), *configuration_names(folder), *served_names(folder),
                 *alert_names()}
    if sys.argv[1:] == ['--write']:
        LIST.write_text('\n'.join(sorted(names)) + '\n')
        return
    public = set(LIST.read_text().splitlines())
    for name in sorted(public - names):
        print(f'removed: {name}')
    for name in sorted(names - public):
        print(f'added: {name}')
    sys.exit(public != names)


main()
