#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the manifests with kubectl, checks them against the schemas of Kubernetes and of the operator and
against each other, and has the program check their configuration. $LUMINANCE_TEST_KUBERNETES: folder of
the Python packages with the schemas."""
import base64
import copy
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import running

sys.path.insert(0, os.environ.get('LUMINANCE_TEST_KUBERNETES', ''))
try:
    import kubernetes_validate
    import yaml
    from cloudcoil.models.prometheus_operator import v1 as operator
except ImportError as error:
    print(f'skipped: {error}')
    sys.exit(running.SKIPPED)

DEPLOY = running.APP / 'deploy'
FOLDER = DEPLOY / 'kubernetes'
GROUPS = sorted(path.name for path in (FOLDER / 'groups').iterdir())
VERSIONS = ('1.25', '1.37')
SECRET_COMMAND = re.compile(r'^kubectl -n (\S+) create secret .*$', re.MULTILINE)


def kubectl(*arguments, cwd=None):
    done = subprocess.run(['kubectl', *arguments], cwd=cwd, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done
    assert not done.stderr, done.stderr  # kustomize warns about deprecated fields
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def built(folder):
    return kubectl('kustomize', str(folder))


def secrets(namespace):
    """Returns the secrets that the README's commands would create in the namespace, by name."""
    readme = (DEPLOY / 'README.md').read_text()
    commands = [m[0] for m in SECRET_COMMAND.finditer(readme) if m[1] == namespace]
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for command in commands:
            command = re.sub(r'"\$\(.*?\)"', 'secret', command)
            words = shlex.split(command)[1:]
            for file in re.findall(r'--from-file=(\S+)', command):
                (pathlib.Path(folder) / file).write_text('password')
            made += kubectl(*words, '--dry-run=client', '-o', 'yaml', cwd=folder)
    assert all(document['metadata']['namespace'] == namespace for document in made)
    return {document['metadata']['name']: document for document in made}


def differences(given, understood, path=''):
    """Returns the paths that a model left out of a document, because it does not know their names."""
    if isinstance(given, dict):
        return [found for key, value in given.items()
                for found in ([f'{path}.{key}'] if key not in understood
                              else differences(value, understood[key], f'{path}.{key}'))]
    if isinstance(given, list):
        return [found for i, value in enumerate(given)
                for found in differences(value, understood[i], f'{path}[{i}]')]
    return []


def validate(document):
    """Raises an exception if the document is invalid."""
    if document['apiVersion'] == 'monitoring.coreos.com/v1':
        model = getattr(operator, document['kind']).model_validate(document)
        left_out = differences(document, model.model_dump(by_alias=True, mode='json'))
        if left_out:
            raise ValueError(f'unknown: {left_out}')
        return
    for version in VERSIONS:
        kubernetes_validate.validate(document, version, strict=True)


def refused(document, path, key, value):
    """Whether the document is invalid if `key` at `path` is `value`."""
    wrong = copy.deepcopy(document)
    part = wrong
    for step in path:
        part = part[step]
    part[key] = value
    try:
        validate(wrong)
    except Exception:  # four libraries raise different ones
        return True
    return False


def only(documents, kind):
    found = [document for document in documents if document['kind'] == kind]
    assert len(found) == 1, (kind, len(found))
    return found[0]


def check_that_mistakes_are_found(documents, rules):
    """Checks that validate() rejects these mistakes."""
    container = ('spec', 'template', 'spec', 'containers', 0)
    deployment = only(documents, 'Deployment')
    monitor = only(documents, 'PodMonitor')
    for document, path, key, value in (
            (deployment, container, 'volumeMount', []),
            (deployment, (*container, 'livenessProbe', 'httpGet'), 'paht', '/'),
            (deployment, (*container, 'securityContext'), 'readOnlyRootFilesystem', 'yes'),
            (deployment, ('spec',), 'replicas', 'one'),
            (only(documents, 'Service'), ('spec',), 'port', []),
            (next(d for d in documents if d['kind'] == 'NetworkPolicy'), ('spec',), 'egres', []),
            (monitor, ('spec', 'podMetricsEndpoints', 0), 'prot', 'http'),
            (monitor, ('spec', 'podMetricsEndpoints', 0, 'authorization'), 'credential', {}),
            (monitor, ('spec',), 'podMetricsEndpoints', 'http'),
            (only(rules, 'PrometheusRule'), ('spec', 'groups', 0, 'rules', 0), 'fro', '1m'),
            (only(rules, 'PrometheusRule'), ('spec', 'groups', 0), 'rules', 'none')):
        assert not refused(document, (), 'kind', document['kind'])
        assert refused(document, path, key, value), (document['kind'], path, key)


def check_pod(pod):
    """Checks what a namespace with the restricted policy requires, and more. Returns the ports' names."""
    assert pod['automountServiceAccountToken'] is False
    context = pod['securityContext']
    assert context['runAsNonRoot'] and context['seccompProfile']['type'] == 'RuntimeDefault'
    container, = pod['containers']
    context = container['securityContext']
    assert context['readOnlyRootFilesystem'] and not context['allowPrivilegeEscalation']
    assert context['capabilities'] == {'drop': ['ALL']}
    volumes = [volume['name'] for volume in pod['volumes']]
    mounted = [mount['name'] for mount in container['volumeMounts']]
    assert sorted(volumes) == sorted(mounted), (volumes, mounted)
    ports = [port['name'] for port in container['ports']]
    for probe in ('startupProbe', 'livenessProbe', 'readinessProbe'):
        assert container[probe]['httpGet'] == {'path': '/healthz', 'port': ports[0]}, probe
    return ports


def check_names(documents, made):
    """Checks that all references between manifests name parts that exist."""
    deployment = only(documents, 'Deployment')
    template = deployment['spec']['template']
    ports = check_pod(template['spec'])
    labels = template['metadata']['labels'].items()
    service, monitor = only(documents, 'Service'), only(documents, 'PodMonitor')
    selectors = [deployment['spec']['selector']['matchLabels'], service['spec']['selector'],
                 monitor['spec']['selector']['matchLabels']]
    for policy in (d['spec'] for d in documents if d['kind'] == 'NetworkPolicy'):
        selectors.append(policy['podSelector']['matchLabels'])
        for rule in policy.get('ingress', []):
            assert {port['port'] for port in rule['ports']} <= set(ports), rule
    assert all(selector.items() <= labels for selector in selectors), selectors
    assert {port['targetPort'] for port in service['spec']['ports']} <= set(ports)
    assert monitor['spec']['jobLabel'] in template['metadata']['labels']
    for endpoint in monitor['spec']['podMetricsEndpoints']:
        credentials = endpoint['authorization']['credentials']
        assert endpoint['port'] in ports
        assert credentials['key'] in made[credentials['name']]['data'], credentials
    for volume in template['spec']['volumes']:
        if 'secret' in volume:
            assert volume['secret']['secretName'] in made, volume
        if 'configMap' in volume:
            assert volume['configMap']['name'] == only(documents, 'ConfigMap')['metadata']['name']
        if 'persistentVolumeClaim' in volume:
            claim = only(documents, 'PersistentVolumeClaim')['metadata']['name']
            assert volume['persistentVolumeClaim']['claimName'] == claim
    namespace = only(documents, 'Namespace')['metadata']['name']
    assert all(document['metadata'].get('namespace', namespace) == namespace
               for document in documents)


def lay_out(documents, made, root):
    """Writes the files of the container's volumes below `root`. Returns their paths in the container."""
    pod = only(documents, 'Deployment')['spec']['template']['spec']
    volumes = {volume['name']: volume for volume in pod['volumes']}
    paths = []
    for mount in pod['containers'][0]['volumeMounts']:
        folder = root / mount['mountPath'].lstrip('/')
        folder.mkdir(parents=True)
        paths.append(mount['mountPath'] + '/')
        volume = volumes[mount['name']]
        if 'configMap' in volume:
            for name, text in only(documents, 'ConfigMap')['data'].items():
                # The files that it names are below `root`, too.
                text = re.sub(r'"(/run/[^"]*)"', rf'"{root}\1"', text)
                (folder / name).write_text(text)
        if 'secret' in volume:
            for name, data in made[volume['secret']['secretName']]['data'].items():
                (folder / name).write_bytes(base64.b64decode(data))
    return paths


def run_check(documents, root, paths):
    """Has the program check the container's arguments. Returns its exit status and output."""
    container = only(documents, 'Deployment')['spec']['template']['spec']['containers'][0]
    within = re.compile(f'(?<==)(?={"|".join(paths)})')
    arguments = [within.sub(str(root), argument) for argument in container['args']]
    done = subprocess.run([running.PROGRAM, *arguments, '--check'], capture_output=True,
                          text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def check_configuration(documents, made):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        paths = lay_out(documents, made, root)
        status, text = run_check(documents, root, paths)
        assert (status, text) == (0, '2 cameras, settings are valid\n'), (status, text)
        config = root / 'etc/luminance-monitor/cameras.toml'
        config.write_text(config.read_text().replace('password-file', 'pasword-file'))
        status, text = run_check(documents, root, paths)
        assert status == 2 and 'pasword-file' in text, (status, text)


def check_group(name, rules):
    documents = built(FOLDER / 'groups' / name)
    made = secrets(f'cameras-{name}')
    for document in [*documents, *made.values()]:
        validate(document)
    check_names(documents, made)
    check_configuration(documents, made)
    check_that_mistakes_are_found(documents, rules)
    return documents


def limits(documents):
    container = only(documents, 'Deployment')['spec']['template']['spec']['containers'][0]
    return container['resources']['limits']


running.need('kubectl')
alerts = built(FOLDER / 'rules')
validate(only(alerts, 'PrometheusRule'))
tested = yaml.safe_load((DEPLOY / 'prometheus/alerts.yaml').read_text())
assert only(alerts, 'PrometheusRule')['spec'] == tested, 'the rules differ from alerts.yaml'
groups = {name: check_group(name, alerts) for name in GROUPS}
assert {name for name in GROUPS if 'nvidia.com/gpu' in limits(groups[name])} == {'hall'}
