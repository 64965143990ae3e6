#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests luminance-monitor on a GPU: with NVDEC and the CUDA backend it measures the same values as
the CPU backend from the same frames; it encodes pictures from the GPU; cameras share one CUDA
context; it detects a frozen picture. If $CUDATENSOR_TEST_DEEPSTREAM is set, the same with DeepStream's
decoder.

usage: gpu.py CLIP STILL COMMAND...

STILL is a video that repeats one picture. COMMAND starts luminance-monitor.
"""
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

CAMERAS = 16
INTERVALS = 5  # number of intervals to compare
CAMERA_MEMORY = 150 << 20  # limit per camera, in bytes; a CUDA context takes more

# Disables all other decoders of H.264.
IN_SURFACES = {'GST_PLUGIN_FEATURE_RANK': 'nvv4l2decoder:MAX,' + ','.join(
    f'{name}:NONE' for name in ('nvh264dec', 'nvh264sldec', 'avdec_h264', 'openh264dec'))}
# Backend and environment of each way to decode and measure the clip.
WAYS = [('cuda', {}), ('cpu', {})]
if os.environ.get('CUDATENSOR_TEST_DEEPSTREAM'):
    WAYS.append(('cuda', IN_SURFACES))


class Monitor:
    def __init__(self, backend, clip, command, cameras, environment=None):
        self._process = subprocess.Popen(
            [*command, '--headless', '--no-history', '--loop', '--listen=127.0.0.1:0',
             f'--backend={backend}', *[clip] * cameras], stdout=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})})
        self._address = self._process.stdout.readline().removeprefix('Serving ').strip()

    def get(self, path):
        with urllib.request.urlopen(self._address + path, timeout=60) as answer:
            return answer.read()

    def cameras(self):
        return json.loads(self.get('api/v1/cameras'))['cameras']

    def stop(self):
        self._process.send_signal(signal.SIGTERM)
        output = self._process.communicate(timeout=60)[0]
        assert self._process.returncode == 0, (self._process.returncode, output)
        assert 'waiting' not in output, output
        return output


def wait_for(what, condition, seconds=90):
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f'no {what} within {seconds} s'
        time.sleep(0.05)
    return value


def measured(monitor, found):
    """Adds the values of the latest interval to `found`. Its key is the interval's stream time and number of
    frames."""
    latest = monitor.cameras()[0]['latest']
    if latest is not None:
        numbers = {name: value for name, value in latest.items() if name != 'time'}
        found[latest['stream_time_ns'], latest['frames']] = numbers


def still_of(monitor):
    """Returns the still, which may appear some time after the first measurement."""
    path = 'api/v1/cameras/' + monitor.cameras()[0]['id'] + '/still.jpg'
    found = []

    def look():
        try:
            found.append(monitor.get(path))
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
        return found

    wait_for('a still', look)
    return found[0]


def backends_agree(clip, command):
    monitors = [Monitor(backend, clip, command, 1, environment) for backend, environment in WAYS]
    found = [{} for _ in monitors]

    def common():
        return set.intersection(*(set(numbers) for numbers in found))

    def look():
        for monitor, numbers in zip(monitors, found):
            measured(monitor, numbers)
        return len(common()) >= INTERVALS

    wait_for('intervals of the same frames', look)
    for key in common():
        for other in found[1:]:
            assert found[0][key] == other[key], (key, found[0][key], other[key])
        print(f'{key}: mean {found[0][key]["mean"]}')
    for monitor in monitors:
        jpeg = still_of(monitor)
        assert jpeg[:2] == b'\xff\xd8' and len(jpeg) > 2000, len(jpeg)
        monitor.stop()


def used_memory():
    text = subprocess.run(['nvidia-smi', '--id=0', '--query-gpu=memory.used',
                           '--format=csv,noheader,nounits'], capture_output=True, text=True,
                          check=True).stdout
    return int(text) << 20


def cameras_share_a_context(clip, command):
    def used_by(cameras):
        monitor = Monitor('cuda', clip, command, cameras)
        wait_for('frames', lambda: all(c['frames'] > 20 for c in monitor.cameras()))
        used = used_memory()
        monitor.stop()
        return used
    one, many = used_by(1), used_by(CAMERAS)
    each = (many - one) / (CAMERAS - 1)
    print(f'{each / 2**20:.0f} MiB of GPU memory for each additional camera')
    assert each < CAMERA_MEMORY, each


def a_frozen_picture_is_found(still, command):
    for backend, environment in WAYS:
        done = subprocess.run([*command, '--no-web', '--no-history', '--headless', '--fast',
                               f'--backend={backend}', still], capture_output=True, text=True,
                              timeout=120, check=True, env={**os.environ, **environment})
        print(f'{backend}: {done.stdout}')
        assert done.stdout.count('Frozen') == 1, (backend, done)


backends_agree(sys.argv[1], sys.argv[3:])
cameras_share_a_context(sys.argv[1], sys.argv[3:])
a_frozen_picture_is_found(sys.argv[2], sys.argv[3:])
