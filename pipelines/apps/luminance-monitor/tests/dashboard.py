# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Grafana dashboard: its Prometheus queries, and checks that its parts fit together."""
import json
import re

import running

VALUES = {'instance': '.*', 'camera': '.*', '__rate_interval': '5s', '__range': '1h'}
REFERENCE = re.compile(r'\$\{?(\w+)\}?')


def load():
    return json.loads((running.APP / 'deploy/grafana/dashboard.json').read_text())


def panels(dashboard):
    return [panel for panel in dashboard['panels'] if panel['type'] != 'row']


def filled(expression):
    return REFERENCE.sub(lambda match: VALUES[match[1]], expression)


def of_variable(query):
    """Returns the expression in label_values(metric, label) or query_result(expression)."""
    return re.fullmatch(r'(?:label_values|query_result)\((.*?)(?:, \w+)?\)', query)[1]


def expressions():
    """Yields (title or name, PromQL) of panels, annotations and variables."""
    dashboard = load()
    for panel in panels(dashboard):
        for target in panel['targets']:
            yield panel['title'], filled(target['expr'])
    for annotation in dashboard['annotations']['list']:
        yield annotation['name'], filled(annotation['expr'])
    for variable in dashboard['templating']['list']:
        if variable['type'] == 'query':
            yield variable['name'], filled(of_variable(variable['query']['query']))


def check_layout(dashboard):
    """Checks that no panel covers another or extends beyond the page."""
    taken = set()
    for panel in dashboard['panels']:
        at = panel['gridPos']
        cells = {(x, y) for x in range(at['x'], at['x'] + at['w'])
                 for y in range(at['y'], at['y'] + at['h'])}
        assert cells and at['x'] + at['w'] <= 24 and not cells & taken, panel['title']
        taken |= cells


def check_references(dashboard):
    """Checks that the variables and data sources in use exist, and that names and ids are unique."""
    names = {variable['name'] for variable in dashboard['templating']['list']}
    # $1 is no variable, but a group of a regular expression in a transformation.
    used = {name for name in REFERENCE.findall(json.dumps(dashboard['panels'])) if not name.isdigit()}
    assert used <= names | {'__rate_interval', '__range'}, used - names
    assert names <= set(REFERENCE.findall(json.dumps(dashboard))), names
    ids = [panel['id'] for panel in dashboard['panels']]
    assert len(set(ids)) == len(ids), ids
    for panel in panels(dashboard):
        assert panel['title'] and panel['description'], panel['id']
        references = [target['refId'] for target in panel['targets']]
        assert references and len(set(references)) == len(references), panel['title']
        for part in [panel, *panel['targets']]:
            assert part['datasource'] == {'type': 'prometheus', 'uid': '${datasource}'}, part


if __name__ == '__main__':
    check_layout(load())
    check_references(load())
    assert len(list(expressions())) > 20
