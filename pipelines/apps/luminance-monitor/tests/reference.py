#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The reference of a camera is learned, has a picture, and is learned again when a client asks for
it, though not from another site."""
import http.client
import json
import pathlib
import tempfile

import running
from server import expect
from videos import CLIP

ID = 'clip'
LEARNING = 300  # seconds, on a busy machine
PATH = f'/api/v1/cameras/{ID}'


def request(monitor, method, path, **headers):
    """Returns status, headers and body."""
    connection = http.client.HTTPConnection(monitor.target(), timeout=60)
    connection.request(method, path, headers={name.replace('_', '-'): text
                                              for name, text in headers.items()})
    answer = connection.getresponse()
    with answer:
        return answer.status, answer.headers, answer.read()


def learned(monitor):
    return json.loads(monitor.get(PATH))['reference']


def is_jpeg(monitor):
    status, headers, body = request(monitor, 'GET', f'{PATH}/reference.jpg')
    if status == 404:
        return False
    expect(status == 200 and headers['Content-Type'] == 'image/jpeg' and
           body[:3] == b'\xff\xd8\xff' and body[-2:] == b'\xff\xd9', 'picture', status, headers)
    return True


def the_reference_is_learned_and_renewed(monitor):
    first = running.wait_for('a reference', lambda: learned(monitor), LEARNING)
    running.wait_for('its picture', lambda: is_jpeg(monitor))
    status, _, body = request(monitor, 'POST', f'{PATH}/reference')
    camera = json.loads(body)
    expect(status == 200 and camera['id'] == ID and camera['reference'] is None, 'renewed', status, camera)
    monitor.wait_for_line('the reference of The clip is learned anew, as a client asked')
    expect(not is_jpeg(monitor), 'the forgotten reference still has a picture')
    second = running.wait_for('another reference', lambda: learned(monitor), LEARNING)
    # The times are those of frames: with --fast, less time has passed.
    expect(second - first >= 120_000, 'expected 120000 ms between references at least', first, second)
    running.wait_for('its picture', lambda: is_jpeg(monitor))


def other_requests_are_refused(monitor):
    known = learned(monitor)
    for method in ('GET', 'HEAD', 'PUT', 'DELETE'):
        status, headers, _ = request(monitor, method, f'{PATH}/reference')
        expect(status == 405 and headers['Allow'], method, status, headers['Allow'])
    for path in ('/api/v1/cameras/nobody/reference', '/api/v1/cameras/nobody/reference.jpg',
                 f'{PATH}/reference/', '/api/v1/cameras/reference'):
        status = request(monitor, 'GET', path)[0]
        expect(status == 404, path, status)
    expect(request(monitor, 'POST', '/api/v1/cameras/nobody/reference')[0] == 404, 'no such camera')
    expect(request(monitor, 'POST', f'{PATH}/reference.jpg')[0] == 405, 'a POST to a picture')
    for headers in ({'Origin': 'https://elsewhere.example'}, {'Sec_Fetch_Site': 'cross-site'}):
        status = request(monitor, 'POST', f'{PATH}/reference', **headers)[0]
        expect(status == 403, headers, status)
    expect(learned(monitor) == known, 'a refused request had an effect')


def main():
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / 'cameras.toml'
        config.write_text(f'loop = true\n[[cameras]]\nid = "{ID}"\nname = "The clip"\nuri = "{CLIP}"\n')
        with running.Monitor('--config', config, '--fast') as monitor:
            the_reference_is_learned_and_renewed(monitor)
            other_requests_are_refused(monitor)
    print('the reference is learned and renewed')


main()
