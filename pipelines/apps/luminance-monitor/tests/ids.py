# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras with names that are not Latin, before and after another camera is added in front of them: each
keeps its own history and its id in the API."""
import json
import pathlib
import tempfile
import urllib.parse

import numpy as np

import videos
from running import Monitor, wait_for

CAMERAS = {'Гараж': 30, 'Двор': 120, 'Склад': 200, '📷': 80}  # their luma


def config_of(folder, names):
    config = folder / 'cameras.toml'
    config.write_text('loop = true\n[history]\ninterval = 1\n' + ''.join(
        f'[[cameras]]\nname = "{name}"\nuri = "{CAMERAS[name]}.mkv"\n' for name in names))
    return config


def rows_of(monitor, camera):
    path = f'/api/v1/cameras/{urllib.parse.quote(camera["id"])}/history?points=5000'
    return [row for row in json.loads(monitor.get(path))['rows'] if row['frames']]


def run(folder, names, min_rows):
    """Checks that the rows of each camera have only its own luma. Returns the ids by name."""
    with Monitor('--history', folder / 'history.db', '--config', config_of(folder, names)) as monitor:
        cameras = {camera['name']: camera for camera in monitor.cameras().values()}
        assert set(cameras) == set(names), cameras
        for name, camera in cameras.items():
            rows = wait_for(f'rows of {name}', lambda camera=camera: len(
                rows_of(monitor, camera)) >= min_rows[name] and rows_of(monitor, camera))
            wrong = [row for row in rows if abs(row['min_mean'] - CAMERAS[name]) > 3 or
                     abs(row['max_mean'] - CAMERAS[name]) > 3]
            assert not wrong, (name, wrong[0])
            min_rows[name] = len(rows)
        text = monitor.get('/metrics')
        assert all(f'luminance_mean_luma{{camera="{camera["id"]}"}}' in text
                   for camera in cameras.values()), text
        return {name: camera['id'] for name, camera in cameras.items()}


def main(folder):
    for luma in CAMERAS.values():
        noise = np.random.default_rng(1)
        frames = [(luma + noise.integers(-2, 3, (48, 64))).astype(np.uint8) for _ in range(20)]
        videos.write(folder / f'{luma}.mkv', frames, 5)
    min_rows = dict.fromkeys(CAMERAS, 2)
    before = run(folder, ['Гараж', '📷', 'Двор'], min_rows)
    after = run(folder, ['Склад', 'Двор', 'Гараж', '📷'], min_rows)
    assert all(after[name] == camera for name, camera in before.items()), (before, after)
    assert after['Склад'] == 'склад' and len(after['📷']) == len('camera-12345678'), after
    print(after, min_rows)


with tempfile.TemporaryDirectory() as temporary:
    main(pathlib.Path(temporary))
