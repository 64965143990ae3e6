#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts the image as deploy/README.md does, and checks it. Prints a line "ok NAME" or "not ok NAME" for
each check. image.sh runs this as root, in a network namespace of its own.

usage: container.py IMAGE ARCHITECTURE FOLDER COMMAND...    COMMAND: podman with its options
"""
import contextlib
import csv
import io
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import traceback
import urllib.request

import running

IMAGE, ARCHITECTURE, FOLDER, *PODMAN = sys.argv[1:]
FOLDER = pathlib.Path(FOLDER)
MEDIA = running.APP / 'tests/media'
USER = 10001
PORT = 8080
ADDRESS = f'http://127.0.0.1:{PORT}'
NAME = 'monitor'
# In seconds; emulation is slow.
PATIENCE = 600
# The default limits of a container engine depend on the machine; these can be set on any machine.
LIMITS = ('--ulimit=nofile=1024:1024', '--ulimit=nproc=4096:4096')
LIKE_README = ('run', '--rm', '--replace', f'--name={NAME}', '--read-only', '--tmpfs=/tmp', '--network=host',
               '--cgroups=disabled', *LIMITS, f'--volume={MEDIA}:/media:ro')
DARK = ('--set=too-dark.raise=130', '--set=too-dark.hold=1')
TOOLS = r'(.*-)?(gcc|g\+\+|cc|c\+\+|cpp|clang|ld|as|make|ninja|meson|cmake|nvcc|git|python3?)(-?[\d.]+)?'

# Numbers of the clips, which are the same on every processor: frames, mean luma, its minimum and maximum
# in a frame, and the shares that are clipped low and high. They were measured on amd64; tests/measured.py
# compares such numbers with NumPy.
CLIPS = {
    'pedestrians.webm': (79, 119.93664012824881, 118.96988480179398, 121.42209201388889,
                         0.006888044869681785, 0.012305551663956282),
    'pedestrians-1080p.mp4': (74, 94.19542411552177, 93.55796537422839, 95.06687692901235,
                              0.2550766717238072, 0.00794379666124458),
}


def podman(*words, check=True):
    return subprocess.run([*PODMAN, *map(str, words)], check=check, capture_output=True, text=True,
                          timeout=PATIENCE)


def inspected(what, field):
    return json.loads(podman(what, 'inspect', f'--format={{{{json .{field}}}}}',
                             NAME if what == 'container' else IMAGE).stdout)


def monitor(*words, options=()):
    """Starts the image's program in a container."""
    return running.Process([*PODMAN, *LIKE_README, *options, IMAGE, *words])


def ask(path):
    with urllib.request.urlopen(ADDRESS + path, timeout=60) as answer:
        return answer.read()


def camera():
    one, = json.loads(ask('/api/v1/cameras'))['cameras']
    return one


@contextlib.contextmanager
def watching():
    """Runs a container that watches the clip and serves the page. It must exit with status 0."""
    process = monitor('--headless', f'--listen=:{PORT}', '--allow-anonymous', '--no-history', '--loop',
                      *DARK, '/media/pedestrians.webm')
    try:
        process.wait_for_line('Serving http://', PATIENCE)
        yield process
    finally:
        status = process.stop()
    assert status == 0, (status, process.output[-20:])


def check_configuration():
    config = inspected('image', 'Config')
    assert config['User'] == f'{USER}:{USER}', config
    assert config['Entrypoint'] == ['/usr/bin/luminance-monitor'], config
    assert f'{PORT}/tcp' in config['ExposedPorts'], config
    assert inspected('image', 'Architecture') == ARCHITECTURE


def check_files():
    """Checks that the image contains no build tools and no files of the build."""
    place = pathlib.Path(podman('image', 'mount', IMAGE).stdout.strip())
    try:
        names = {path.name for folder in ('usr/bin', 'usr/sbin', 'usr/local/bin', 'usr/lib/gcc')
                 if (place / folder).is_dir() for path in (place / folder).iterdir()}
        assert 'luminance-monitor' in names, names
        found = {name for name in names if re.fullmatch(TOOLS, name)}
        assert not found, found
        left = [path for pattern in ('source', 'image', 'build', 'usr/include/**/*.h', 'var/lib/apt/lists/*')
                for path in place.glob(pattern)]
        assert not left, left
    finally:
        podman('image', 'umount', IMAGE)


def check_health():
    assert json.loads(ask('/healthz')) == {'status': 'ok'}


def check_verdict():
    one = running.wait_for('a verdict', lambda: (lambda seen: seen if seen['verdicts'] else None)(camera()),
                           PATIENCE)
    assert one['status'] == 'playing' and one['name'] == 'pedestrians.webm', one
    verdict = one['verdicts'][0]
    assert (verdict['name'], verdict['threshold']) == ('too-dark', 130), verdict
    _, _, low, high, *_ = CLIPS['pedestrians.webm']
    assert low <= verdict['value'] <= high, verdict
    assert low <= one['latest']['mean'] <= high, one['latest']


def check_picture():
    picture = running.wait_for('a picture', lambda: ask('/api/v1/cameras/pedestrians-webm/still.jpg'))
    assert picture.startswith(b'\xff\xd8') and picture.endswith(b'\xff\xd9'), picture[:20]


def check_page():
    assert b'<title>' in ask('/')
    assert b'luminance_mean_luma{camera="pedestrians-webm"' in ask('/metrics')


def process_file(name):
    return pathlib.Path(f'/proc/{inspected("container", "State.Pid")}/{name}').read_text()


def check_rights():
    """Checks that the program runs as a user without capabilities, who can write only to /tmp."""
    status = dict(re.findall(r'^(\w+):\s*(.*)$', process_file('status'), re.M))
    assert set(status['Uid'].split()) == set(status['Gid'].split()) == {str(USER)}, status
    assert int(status['CapEff'], 16) == 0, status
    options = {fields[4]: fields[5].split(',') for fields in
               (line.split() for line in process_file('mountinfo').splitlines())}
    assert 'ro' in options['/'] and 'rw' in options['/tmp'], options
    assert podman('exec', NAME, 'touch', '/tmp/mine', check=False).returncode == 0
    assert podman('exec', '--user=0', NAME, 'touch', '/mine', check=False).returncode != 0


def summary_of(rows):
    """Summarizes all rows, so the minute in which they began does not matter."""
    frames = sum(int(row['frames']) for row in rows)
    mean = lambda name: sum(int(row['frames']) * float(row[name]) for row in rows
                            if int(row['frames'])) / frames
    seen = [row for row in rows if int(row['frames'])]
    assert all(row['verdicts'] == 'too-dark' for row in seen), rows
    return (frames, mean('mean'), min(float(row['min_mean']) for row in seen),
            max(float(row['max_mean']) for row in seen), mean('clipped_low'), mean('clipped_high'))


def check_numbers(clip):
    """Checks the verdict on a recording, and that its history has the numbers in CLIPS."""
    history = FOLDER / 'history'
    shutil.rmtree(history, ignore_errors=True)
    history.mkdir()
    os.chown(history, USER, USER)
    volume = [f'--volume={history}:/history']
    with monitor('--fast', '--headless', '--no-web', '--history=/history/h.db', *DARK,
                 f'/media/{clip}', options=volume) as process:
        process.wait_for_line(r'Too dark since .*below 130\)', PATIENCE)
        process.wait_for_line(': ended', PATIENCE)
    # Where --replace finds a container that is still being removed, podman prints its id before the rows.
    running.wait_for('the container is removed',
                     lambda: podman('container', 'exists', NAME, check=False).returncode == 1)
    text = podman(*LIKE_README, *volume, IMAGE, '--history=/history/h.db', '--export=csv').stdout
    got = summary_of(list(csv.DictReader(io.StringIO(text))))
    print(clip, got)
    assert all(math.isclose(*pair, rel_tol=1e-12) for pair in zip(got, CLIPS[clip])), (got, CLIPS[clip])


def check_refusals():
    """Checks that the container exits with the status of the program."""
    for words, status in ((['--listen=:8080', '/media/pedestrians.webm'], 2), (['--no-such'], 2),
                          (['--headless', '--no-web', '--no-history', '/media/none.webm'], 3),
                          (['--version'], 0)):
        done = podman(*LIKE_README, IMAGE, *words, check=False)
        assert done.returncode == status, (words, done)


def check(name, function, *arguments):
    try:
        function(*arguments)
    except Exception:
        traceback.print_exc(file=sys.stdout)
        print('not ok', name, flush=True)
    else:
        print('ok', name, flush=True)


def check_running():
    with watching():
        check('/healthz', check_health)
        check('a clip is watched and judged', check_verdict)
        check('a picture', check_picture)
        check('the page and the metrics', check_page)
        check('a user without rights, a root that cannot be written', check_rights)


check('user, program, port, architecture', check_configuration)
check('nothing in it compiles, nothing is left of the build', check_files)
check('starts, and ends with 0 on SIGTERM', check_running)
for clip in CLIPS:
    check(f'{clip} has the numbers that it has elsewhere', check_numbers, clip)
check('refusals, and the status of the program', check_refusals)
print(f'size: {inspected("image", "Size") / 1e6:.0f} MB')
