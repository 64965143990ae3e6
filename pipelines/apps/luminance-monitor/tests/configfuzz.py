#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The program rejects wrong configuration files: status 2, and one line that names file and setting."""
import os
import pathlib
import subprocess
import tempfile

PROGRAM = pathlib.Path(os.environ['BUILD_DIR']) / 'luminance-monitor'
CAMERA = '[[cameras]]\nuri = "rtsp://a/"\n'
SECRET = 'geheim'

# Suffix of the file's name, its text, and a part of the expected error.
CASES = [
    ('toml', 'interval = "1"', 'interval'),
    ('toml', 'interval = nan', 'interval'),
    ('toml', 'interval = inf', 'interval'),
    ('toml', 'interval = 1e400', 'line 1'),
    ('toml', 'max-fps = 99999999999999999999', 'line 1'),
    ('toml', 'max-fps = 2.5', 'max-fps'),
    ('toml', 'loop = 1', 'loop'),
    ('toml', 'backend = "gpu"', 'backend'),
    ('toml', 'interval = 2020-01-01', 'date'),
    ('toml', 'interval = 5\n[history]\ninterval = 2\n' + CAMERA, 'history.interval'),
    ('toml', '[history]\nretention-days = -1', 'history.retention-days'),
    ('toml', '[history]\nfile = 3', 'history.file'),
    ('toml', '[history]\nfile = "a\\u0000b"', 'history.file'),
    ('toml', '[web]\nlisten = "host:65536"', 'web.listen'),
    ('toml', '[web]\nmax-connections = 0', 'web.max-connections'),
    ('toml', f'[web]\nuser = "a"\npassword = "{SECRET}"\npassword-env = "X"', 'web.password'),
    ('toml', f'[web]\npassword = "{SECRET}"', 'web.password'),
    ('toml', '[web]\ntoken-file = "not\\nthere"', 'web.token-file'),
    ('toml', '"new\\nline" = 1', 'new line'),
    ('toml', '"\\u001b[31mred" = 1', 'red'),
    ('toml', '[verdicts]\ntoo-drak = false', 'verdicts.too-drak'),
    ('toml', '[verdicts]\ntoo-dark.clear = 3', 'verdicts.too-dark.clear'),
    ('toml', '[verdicts]\nflicker.hold = "long"', 'verdicts.flicker.hold'),
    ('toml', 'cameras = 1', 'cameras'),
    ('toml', 'cameras = [1]', 'cameras[0]'),
    ('toml', CAMERA + '[[cameras]]\nname = "b"', 'cameras[1].uri'),
    ('toml', CAMERA + 'name = ""', 'cameras[0].name'),
    ('toml', CAMERA + 'id = "a/b"', 'cameras[0].id'),
    ('toml', CAMERA + 'id = ""', 'cameras[0].id'),
    ('toml', CAMERA + 'id = 1', 'cameras[0].id'),
    ('toml', CAMERA + 'id = "b"\n' + CAMERA + 'id = "b"', 'cameras[1].id'),
    ('toml', CAMERA + 'user = "a"\npassword-env = "NOT_THERE"', 'NOT_THERE'),
    ('toml', f'[[cameras]]\nuri = "rtsp://u:{SECRET}@[::/"', 'cameras[0].uri'),
    ('toml', f'[[cameras]]\nuri = "rtsp://u:{SECRET}@a/"\nuser = "b"', 'cameras[0].user'),
    ('toml', CAMERA + 'region = 1', 'cameras[0].region'),
    ('toml', CAMERA + 'region = [0, 0, 1, 1.5]', 'cameras[0].region lies outside'),
    ('toml', CAMERA + 'region = [0, 0, nan, 1]', 'cameras[0].region'),
    ('toml', CAMERA + 'masks = [[0, 0, 1, 1]]', 'cameras[0].masks cover all'),
    ('toml', CAMERA + 'masks = [[0, 0, 0.1, 0.1], [0, 0, 0, 0]]', 'cameras[0].masks[1] is empty'),
    ('toml', 'cameras = [{uri = "rtsp://a/", masks = [[0, 0, "1", 1]]}]', 'cameras[0].masks[0]'),
    ('toml', 'a.' * 300000 + 'a = 1', 'deep'),
    ('toml', 'interval = 1\ninterval = 2', 'line 2'),
    ('toml', '\xff\xfe', 'line 1'),
    ('toml', 'loop = "yes"', 'loop'),
    ('toml', 'loop = yes', 'line 1'),
    ('toml', '[[' * 1000, 'deep'),
    ('toml', f'a = [{"1," * 200000}]', 'too many'),
    ('toml', 'web = {listen = 1, listen = 2}', 'line 1'),
    ('toml', '[web]\nlisten = "a"\n[web]\nuser = "b"', 'line 3'),
    ('toml', 'cameras = {uri = "a"}', 'cameras'),
    ('yaml', 'cameras: []', '.toml'),
    ('json', '{}', '.toml'),
]


def check(path, text, named):
    """Checks the error, which must be UTF-8 even if the file is not."""
    path.write_bytes(text.encode('latin-1'))
    done = subprocess.run([PROGRAM, '--check', '--config', path], capture_output=True, timeout=120,
                          check=False)
    error = done.stderr.decode()
    lines = error.splitlines()
    what = f'{path.suffix}: {text[:60]!r}: status {done.returncode}: {error!r}'
    assert done.returncode == 2 and not done.stdout, what
    assert len(lines) == 1 and lines[0].startswith('luminance-monitor: '), what
    assert named in lines[0], what
    assert path.name in lines[0] or 'shorter' in lines[0], what  # 'history.interval is shorter' names no file
    assert SECRET not in error and '\x1b' not in error and len(error) < 1000, what


with tempfile.TemporaryDirectory() as folder:
    for ending, text, named in CASES:
        check(pathlib.Path(folder) / f'cameras.{ending}', text, named)
print(f'{len(CASES)} files')
