#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A real Prometheus scrapes a monitor of two cameras: checks numbers, alerts, the dashboard and the token."""
import pathlib
import re
import subprocess
import tempfile

import dashboard
import running
import videos

TOKEN = 'a-token-for-programs'
DARK = 15  # seconds in a video of 40
METRIC = re.compile(r'`((?:luminance|process)_\w+)`')


def cameras(folder):
    """Configures an ordinary camera and one that is dark at first, and again after a while. The webhook has
    no receiver: it is there for the metrics of notifications."""
    frames = videos.ordinary(400)
    ordinary, dark = folder / 'ordinary.mkv', folder / 'dark.mkv'
    videos.write(ordinary, frames, 10)
    videos.write(dark, [videos.scaled(frame, 0.1 if i < DARK * 10 else 1)
                        for i, frame in enumerate(frames)], 10)
    config = folder / 'cameras.toml'
    config.write_text(f'''loop = true
[verdicts]
too-dark = {{ hold = 0.5 }}
[[notifications.webhooks]]
url = "http://127.0.0.1:1/"
[[cameras]]
name = "Ordinary \\"camera\\" \\\\ 1"
uri = "{ordinary}"
[[cameras]]
name = "Dark"
uri = "{dark}"
''')
    return f'--config={config}'


def samples(text):
    """Returns the samples of the text format as {series: number}. A series is name and labels as written."""
    pairs = (line.rsplit(' ', 1) for line in text.splitlines() if not line.startswith('#'))
    return {series: float(number) for series, number in pairs}


def expected(camera):
    """Returns the numbers of a camera in the API, by the series of the metrics."""
    latest = camera['latest']
    of = f'{{camera="{camera["id"]}"'
    values = {f'luminance_{name}_luma{of}}}': latest[name]
              for name in ('mean', 'stddev', 'min', 'max')}
    for percentile, name in ((1, 'p1'), (5, 'p5'), (50, 'median'), (95, 'p95'), (99, 'p99')):
        values[f'luminance_percentile_luma{of},percentile="{percentile}"}}'] = latest[name]
    for bound in ('low', 'high'):
        values[f'luminance_clipped_ratio{of},bound="{bound}"}}'] = latest[f'clipped_{bound}']
    values[f'luminance_frames_per_second{of}}}'] = camera['fps']
    values[f'luminance_reconnects_total{of}}}'] = camera['reconnects']
    for status in ('connecting', 'playing', 'waiting', 'ended'):
        values[f'luminance_camera_status{of},status="{status}"}}'] = camera['status'] == status
    return values


def compare_with_api(monitor):
    """Checks that between two equal answers of the API, the metrics have the same numbers, bit for bit."""
    def same():
        before = monitor.cameras()
        text = samples(monitor.get('/metrics'))
        after = monitor.cameras()
        if any(before[name]['latest'] != after[name]['latest'] for name in before):
            return None
        assert all(camera['latest'] for camera in after.values())
        return after, text
    running.wait_for('cameras have pictures',
                     lambda: all(c['latest'] for c in monitor.cameras().values()))
    api, text = running.wait_for('metrics between two equal answers', same)
    for camera in api.values():
        for series, value in expected(camera).items():
            assert text[series] == value, (series, text[series], value)
        raised = {series.split('verdict="')[1].split('"')[0] for series, value in text.items()
                  if series.startswith(f'luminance_verdict{{camera="{camera["id"]}"') and value}
        assert raised == {verdict['name'] for verdict in camera['verdicts']}, (raised, camera)


def check_text(monitor):
    text = monitor.get('/metrics')
    checked = subprocess.run(['promtool', 'check', 'metrics'], input=text, text=True,
                             capture_output=True, timeout=60)
    assert checked.returncode == 0 and not checked.stderr, checked
    exposed = set(re.findall(r'^# TYPE (\w+)', text, re.MULTILINE))
    documented = set(METRIC.findall((running.APP / 'docs/METRICS.md').read_text()))
    assert exposed == documented, exposed ^ documented
    assert 'name="Ordinary \\"camera\\" \\\\ 1"' in text, text


def check_scrapes(prometheus, monitor):
    """Checks that all values that Prometheus has stored were in the API at some time, bit for bit."""
    said = {name: {} for name in monitor.cameras()}  # means, by the time of their interval

    def listen(count):
        for name, camera in monitor.cameras().items():
            if camera['latest']:
                said[name][camera['latest']['time']] = camera['latest']['mean']
        return all(len(means) >= count for means in said.values())
    running.wait_for('ten intervals', lambda: listen(10))
    for name, means in said.items():
        stored = prometheus.query(f'luminance_mean_luma{{camera="{name}"}}[5s]')[0]['values']
        values = {float(value) for _, value in stored}
        assert len(values) >= 3 and values <= set(means.values()), (values, means)
    target = prometheus.target()
    assert target['health'] == 'up' and not target['lastError'], target


def check_rules(prometheus):
    groups = prometheus.ask('rules')['groups']
    rules = [rule for group in groups for rule in group['rules']]
    assert len(rules) > 10
    for rule in rules:
        assert rule['health'] == 'ok' and not rule.get('lastError'), rule


def check_alert(prometheus, monitor):
    """Checks that the dark camera's alert fires and resolves, and that the other camera has none."""
    alert = running.wait_for('CameraTooDark', lambda: prometheus.alerts('CameraTooDark'), 120)
    assert [a['labels']['name'] for a in alert] == ['Dark'], alert
    assert alert[0]['annotations']['summary'] == 'Dark is too dark', alert
    assert re.search(r'since 20\d\d-', alert[0]['annotations']['description']), alert
    check_dashboard(prometheus)
    running.wait_for('its end', lambda: not prometheus.alerts('CameraTooDark'), 120)
    assert not any(v['name'] == 'too-dark' for v in monitor.cameras()['dark']['verdicts'])
    firing = {alert['labels']['alertname'] for alert in prometheus.ask('alerts')['alerts']
              if alert['state'] == 'firing' and alert['labels'].get('camera') != 'dark'}
    assert not firing, firing


def check_dashboard(prometheus):
    """Checks that each expression of the dashboard is valid, and has data when verdicts come and go."""
    for where, expression in dashboard.expressions():
        running.wait_for(f'{where}: {expression}', lambda: prometheus.query(expression), 120)


def check_two_cameras(folder):
    with running.Monitor('--history', folder / 'history.db', cameras(folder)) as monitor, running.Prometheus(
            running.shipped_prometheus(folder, monitor.target()), folder) as prometheus:
        check_alert(prometheus, monitor)
        check_text(monitor)
        compare_with_api(monitor)
        check_scrapes(prometheus, monitor)
        check_rules(prometheus)


def check_token(folder):
    """With the token, Prometheus can scrape. Without it, it gets the status 401, and MonitorDown fires."""
    (folder / 'token').write_text(TOKEN)
    with running.Monitor(str(videos.CLIP), '--loop', f'--token-file={folder}/token',
                         token=TOKEN) as monitor:
        config = running.shipped_prometheus(folder, monitor.target(), TOKEN)
        with running.Prometheus(config, folder) as prometheus:
            running.wait_for('a scrape', lambda: prometheus.target()['health'] == 'up')
        config = running.shipped_prometheus(folder, monitor.target())
        with running.Prometheus(config, folder) as prometheus:
            target = running.wait_for('a refusal', lambda: prometheus.target()['lastError'])
            assert '401' in target, target
            running.wait_for('MonitorDown', lambda: prometheus.alerts('MonitorDown'), 120)


running.need('prometheus', 'promtool')
for scenario in check_two_cameras, check_token:
    with tempfile.TemporaryDirectory() as directory:
        scenario(pathlib.Path(directory))
