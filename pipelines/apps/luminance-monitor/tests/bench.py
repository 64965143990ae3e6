#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the CPU time of luminance-monitor per camera. See bench.sh.

usage: bench.py PROGRAM [--backend NAME] [--seconds S] [--videos FOLDER] [CASE...]
CASE is CODEC:HEIGHT:FPS:CAMERAS. Videos that do not exist in FOLDER yet are created there.
"""
import argparse
import os
import re
import resource
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

CLIP = Path(__file__).resolve().parent / 'media/pedestrians.webm'
CLIP_FRAMES = 79
ENCODERS = {
    'h264': 'x264enc speed-preset=veryfast bitrate=2000 ! h264parse ! mp4mux',
    'vp8': 'vp8enc deadline=1 target-bitrate=2000000 ! matroskamux',
}
CASES = ['h264:720:5:32', 'vp8:720:5:32', 'h264:720:25:8', 'h264:1080:25:4']
SETTLE = 15  # seconds until all cameras play


def launch(description):
    subprocess.run(['gst-launch-1.0', '-q', *description.split()], check=True)


class Case:
    def __init__(self, text):
        codec, height, fps, cameras = text.split(':')
        self.codec, self.height, self.fps, self.cameras = codec, int(height), int(fps), int(cameras)

    def __str__(self):
        return f'{self.codec.upper()} {self.height}p at {self.fps}'

    def video(self, folder, seconds):
        """Returns the path of a video of the clip at this size and rate, at least `seconds` long."""
        path = folder / f'{self.codec}-{self.height}-{self.fps}.{"mp4" if self.codec == "h264" else "mkv"}'
        if path.exists():
            return path
        raw = folder / 'clip.i420'
        if not raw.exists():
            launch(f'filesrc location={CLIP} ! matroskademux ! vp8dec ! videoconvert ! '
                   f'video/x-raw,format=I420 ! filesink location={raw}')
        rounds = int(seconds * self.fps / CLIP_FRAMES) + 1
        launch(f'multifilesrc location={raw} loop=true num-buffers={rounds} ! '
               f'rawvideoparse format=i420 width=768 height=576 framerate={self.fps}/1 ! videoscale ! '
               f'video/x-raw,width={self.height * 16 // 9},height={self.height} ! '
               f'{ENCODERS[self.codec]} ! filesink location={path}')
        return path


def metric(text, name):
    return sum(float(v) for v in re.findall(rf'^{name}(?:{{[^}}]*}})? (\S+)$', text, re.M))


def monitor(program, case, video, seconds, options):
    """Returns the share of a core and the frames per second per camera, and the resident bytes."""
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(
            [program, '--listen', '127.0.0.1:0', '--history', f'{folder}/history.db', '--loop',
             *options, *[str(video)] * case.cameras], stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().removeprefix('Serving ').strip()
        read = lambda: (time.monotonic(), urllib.request.urlopen(address + 'metrics').read().decode())
        time.sleep(SETTLE)
        begin, before = read()
        time.sleep(seconds)
        end, after = read()
        process.terminate()
        process.stdout.read()
    gone = (end - begin) * case.cameras
    grown = lambda name: metric(after, name) - metric(before, name)
    return (grown('process_cpu_seconds_total') / gone, grown('luminance_frames_total') / gone,
            metric(after, 'process_resident_memory_bytes'))


def decoding_alone(case, video, seconds):
    """Returns the share of a core per camera for pipelines that only decode, in real time."""
    one = f'uridecodebin uri=file://{video} ! fakesink sync=true '
    used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    before = used()
    subprocess.run(['timeout', '-s', 'INT', str(seconds), 'gst-launch-1.0', '-q',
                    *(one * case.cameras).split()], check=False)
    return (used() - before) / seconds / case.cameras


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('cases', nargs='*', default=CASES)
    parser.add_argument('--backend', default='cpu')
    parser.add_argument('--seconds', type=int, default=20)
    parser.add_argument('--videos', type=Path, default=None)
    options = parser.parse_intermixed_args()
    made = tempfile.TemporaryDirectory()
    folder = options.videos or Path(made.name)
    print(f'{os.cpu_count()} cores; {options.seconds} s per row.\n')
    print('| files | cameras | frames/s per camera | % of a core per camera | decoding alone | memory per camera |')
    print('|---|---|---|---|---|---|')
    for case in map(Case, options.cases):
        video = case.video(folder, 3 * options.seconds)
        # gst-launch-1.0 opens one CUDA context per pipeline, and fails at about thirty.
        alone = '–'
        if options.backend == 'cpu':
            alone = f'{100 * decoding_alone(case, video, options.seconds):.1f}'
        share, rate, memory = monitor(options.program, case, video, options.seconds,
                                      ['--backend', options.backend])
        print(f'| {case} | {case.cameras} | {rate:.2f} | **{100 * share:.1f}** | '
              f'{alone} | {memory / case.cameras / 2**20:.0f} MiB |', flush=True)


main()
