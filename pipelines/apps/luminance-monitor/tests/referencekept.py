#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The reference of a camera and its picture are kept over a restart. The reference is learned in two
minutes."""
import json
import pathlib
import tempfile
import urllib.error
import urllib.request

import running
from server import expect
from videos import CLIP

PATH = '/api/v1/cameras/clip'


def reference_of(monitor):
    """Returns time and picture of the reference, or None."""
    learned = json.loads(monitor.get(PATH))['reference']
    if learned is None:
        return None
    try:
        with urllib.request.urlopen(f'{monitor.address}{PATH}/reference.jpg', timeout=60) as answer:
            return learned, answer.read()
    except urllib.error.HTTPError:
        return None


def main():
    with tempfile.TemporaryDirectory() as folder:
        config, history = pathlib.Path(folder) / 'cameras.toml', pathlib.Path(folder) / 'history.db'
        config.write_text(f'loop = true\n[[cameras]]\nid = "clip"\nuri = "{CLIP}"\n')
        with running.Monitor('--config', config, '--history', history) as monitor:
            learned = running.wait_for('a reference', lambda: reference_of(monitor), 240)
        with running.Monitor('--config', config, '--history', history) as monitor:
            again = reference_of(monitor)
        expect(again is not None, 'the reference is lost')
        expect(again == learned, 'another reference', again[0], learned[0], again[1] == learned[1])
        other = pathlib.Path(folder) / 'other.webm'
        other.symlink_to(CLIP)
        config.write_text(config.read_text().replace(str(CLIP), str(other)))
        with running.Monitor('--config', config, '--history', history) as monitor:
            expect(reference_of(monitor) is None, 'the reference of another camera')
    print('the reference outlasts a restart')


main()
