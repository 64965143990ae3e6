#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The region of a camera and its masks: measurements cover exactly the judged pixels, which are computed here
independently; changes behind a mask neither raise a verdict nor hide one; regions follow the
configuration."""
import collections
import json
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile

import numpy as np

import snapshotcamera
import videos
from lumas import expect_same, statistics_of
from running import PROGRAM, Monitor, wait_for

FPS = 10
SEED = int(os.environ.get('LUMINANCE_TEST_SEED', random.randrange(2**32)))
RNG = np.random.default_rng(SEED)
CORNER = [0.6, 0, 0.4, 0.4]
# Region and masks by name.
REGIONS = {
    'all': (None, []),
    'region': ([0.25, 0.1, 0.5, 0.85], []),
    'mask': (None, [[0.7, 0, 0.3, 0.123]]),
    'overlapping': ([0.05, 0.05, 0.9, 0.9], [[0, 0, 0.3, 0.3], [0.2, 0.2, 0.33, 0.33], [0.5, 0.1, 0.01, 0.8],
                                             [0.9, 0.9, 0.1, 0.1]]),
    'most': (None, [[0, 0, 1, 0.49], [0, 0.51, 1, 0.49], [0.02, 0.4, 0.98, 0.2]]),
}


def judged(region, masks, width, height):
    """Returns which pixels are judged: those whose centre is in the region and in no mask."""
    first = lambda edge, count: max(0, math.ceil(round(edge, 9) * count - 0.5))

    def inside(area):
        x, y, w, h = area
        pixels = np.zeros((height, width), bool)
        pixels[first(y, height):first(y + h, height), first(x, width):first(x + w, width)] = True
        return pixels
    pixels = inside(region or [0, 0, 1, 1])
    for mask in masks:
        pixels &= ~inside(mask)
    return pixels


def lines_of(region, masks):
    return (f'region = {region}\n' if region else '') + f'masks = {masks}\n'


def config(cameras, more='loop = true\n'):
    """Returns the TOML of cameras, which are (name, uri, region, masks)."""
    return more + ''.join(f'[[cameras]]\nname = "{name}"\nuri = "{uri}"\n{lines_of(region, masks)}'
                          for name, uri, region, masks in cameras)


def compare(latest, frames, pixels, levels, what):
    """Compares an interval with its frames. Returns False if it goes beyond the end of the video."""
    first = round(latest['stream_time_ns'] * FPS / 1e9)
    if first + latest['frames'] > len(frames):
        return False
    counted = frames[first:first + latest['frames']]
    expect_same(latest, statistics_of([frame[pixels] for frame in counted], *levels), (what, first))
    return True


def numbers_are_those_of_judged_pixels(folder):
    sizes = {'even': ((96, 72), 'I420', (16, 235)), 'odd': ((101, 67), 'GRAY8', (0, 255)),
             'dot': ((2, 2), 'GRAY8', (0, 255))}
    frames, cameras = {}, []
    for size, ((width, height), pixels, _) in sizes.items():
        frames[size] = list(RNG.integers(0, 256, (6 * FPS, height, width), np.uint8))
        videos.write(folder / f'{size}.mkv', frames[size], FPS, pixels=pixels)
        cameras += [(f'{size}-{name}', f'{size}.mkv', *areas) for name, areas in REGIONS.items()
                    if judged(*areas, width, height).any()]
    assert len(cameras) == 14, cameras  # "most" leaves nothing of the smallest picture
    file = folder / 'numbers.toml'
    file.write_text(config(cameras))
    seen = collections.Counter()
    with Monitor('--config', file) as monitor:
        def look():
            for id_, camera in monitor.cameras().items():
                size, name = id_.split('-')
                assert [camera['region'], camera['masks']] == list(REGIONS[name]), camera
                (width, height), _, levels = sizes[size]
                if camera['latest'] and compare(camera['latest'], frames[size],
                                                judged(*REGIONS[name], width, height), levels, id_):
                    seen[id_] += 1
            return len(seen) == len(cameras) and min(seen.values()) > 2
        wait_for('intervals of all cameras', look, 120)
    print('compared:', dict(seen))


def regions_follow_the_size_of_pictures(folder):
    pictures = [RNG.integers(0, 256, size, np.uint8) for size in ((48, 64), (31, 41), (3, 2))]
    camera = snapshotcamera.Camera(
        [('image/png', snapshotcamera.png(*picture.shape[::-1], [bytes(row) for row in picture]))
         for picture in pictures])
    region, masks = REGIONS['overlapping']
    expected = {picture.shape: statistics_of([picture[judged(region, masks, *picture.shape[::-1])]], 0, 255)
                for picture in pictures}
    file = folder / 'pictures.toml'
    file.write_text(config([('pictures', camera.uri('/changing'), region, masks)]).replace(
        'masks =', 'snapshot-interval = 0.3\nmasks ='))
    with Monitor('--config', file, '--interval=0.1') as monitor:
        def look():
            latest = monitor.cameras()['pictures']['latest']
            if latest and latest['frames'] == 1:
                for shape, statistics in list(expected.items()):
                    if latest['pixels'] == statistics['pixels']:
                        expect_same(latest, statistics, shape)
                        del expected[shape]
            return not expected
        wait_for('pictures of all sizes', look)
    camera.shutdown()


def raised(folder, frames, fps):
    """Returns the titles of the verdicts that three cameras with the same video raise: one without a region,
    one with a mask on the corner, and one with a region without the corner."""
    videos.write(folder / 'video.mkv', frames, fps)
    file = folder / 'corner.toml'
    file.write_text(config([('all', 'video.mkv', None, []), ('masked', 'video.mkv', None, [CORNER]),
                            ('region', 'video.mkv', [0, 0.4, 1, 0.6], [])], ''))
    done = subprocess.run([PROGRAM, '--config', file, '--fast', '--headless', '--no-web', '--no-history'],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done
    found = {'all': [], 'masked': [], 'region': []}
    for name, title in re.findall(r' (\w+): ([A-Z][a-z ]+) since ', done.stdout):
        found[name].append(title)
    return found


def with_corner(frame, corner):
    frame = frame.copy()
    frame[:round(0.4 * videos.HEIGHT), round(0.6 * videos.WIDTH):] = corner
    return frame


def motion(shape):
    """Returns squares of random lumas. Noise would not be seen as motion: its blocks are much the same."""
    side = 12
    squares = RNG.integers(30, 220, [-(-length // side) for length in shape])
    return squares.repeat(side, 0).repeat(side, 1)[:shape[0], :shape[1]]


def motion_behind_a_mask_hides_no_frozen_picture(folder):
    """The picture is frozen apart from its overlay, which is masked."""
    picture = videos.ordinary(1)[0]
    shape = with_corner(picture, 0)[:round(0.4 * videos.HEIGHT), round(0.6 * videos.WIDTH):].shape
    frames = [with_corner(picture, motion(shape)) for _ in range(30 * 5)]
    found = raised(folder, frames, 5)
    assert 'Frozen' not in found['all'], found
    assert found['masked'] == found['region'] == ['Frozen'], found


def changes_behind_a_mask_raise_no_verdict(folder):
    frames = [with_corner(frame, 235) if 6 * FPS <= i < 14 * FPS else frame
              for i, frame in enumerate(videos.ordinary(18 * FPS))]
    found = raised(folder, frames, FPS)
    assert found['all'] == ['Clipped to white'], found
    assert found['masked'] == found['region'] == [], found


def regions_change_with_the_configuration(folder):
    frames = [np.full((60, 80), 40 * (i % 2), np.uint8) for i in range(2 * FPS)]
    videos.write(folder / 'small.mkv', frames, FPS)
    file = folder / 'changing.toml'

    def written(region, masks):
        file.write_text(config([('one', 'small.mkv', region, masks), ('two', 'small.mkv', None, [])]))

    def pixels(monitor, name):
        latest = monitor.cameras()[name]['latest']
        return latest and latest['pixels'] / latest['frames']

    written(None, [CORNER])
    with Monitor('--config', file) as monitor:
        wait_for('the mask', lambda: pixels(monitor, 'one') == 80 * 60 - 32 * 24)
        before = monitor.cameras()
        for region, masks, count in (([0.5, 0.5, 0.5, 0.5], [], 40 * 30), (None, [], 80 * 60)):
            written(region, masks)
            os.kill(monitor.pid, signal.SIGHUP)
            monitor.wait_for_line('configuration reloaded: 0 cameras added, 0 removed, 1 changed, 1 unchanged')
            wait_for('the region', lambda: pixels(monitor, 'one') == count)
            camera = monitor.cameras()['one']
            assert camera['region'] == region and camera['masks'] == masks, camera
            assert json.loads(monitor.get('/api/v1/cameras/one'))['region'] == region
        assert monitor.cameras()['two']['frames'] > before['two']['frames'], 'the other camera was restarted'
        written([0.5, 0.5, 0.6, 0.5], [])
        os.kill(monitor.pid, signal.SIGHUP)
        monitor.wait_for_line(r'configuration not reloaded: .*cameras\[0\]\.region lies outside the picture')
        assert monitor.cameras()['one']['region'] is None


def a_picture_without_judged_pixels_is_an_error(folder):
    videos.write(folder / 'small.mkv', [np.full((60, 80), 100, np.uint8)] * FPS, FPS)
    file = folder / 'nothing.toml'
    file.write_text(config([('one', 'small.mkv', [0.1, 0.1, 0.001, 0.001], []),
                            ('two', 'small.mkv', None, [])]))
    with Monitor('--config', file) as monitor:
        wait_for('an error', lambda: 'region and masks leave nothing of a picture of 80 x 60 pixels'
                 in monitor.cameras()['one']['error'])
        assert monitor.cameras()['one']['frames'] == 0, 'something was measured'
        wait_for('the other camera', lambda: monitor.cameras()['two']['latest'])


print(f'LUMINANCE_TEST_SEED={SEED}', flush=True)
with tempfile.TemporaryDirectory() as temporary:
    for check in (numbers_are_those_of_judged_pixels, regions_follow_the_size_of_pictures,
                  motion_behind_a_mask_hides_no_frozen_picture, changes_behind_a_mask_raise_no_verdict,
                  regions_change_with_the_configuration, a_picture_without_judged_pixels_is_an_error):
        check(pathlib.Path(temporary))
        print(check.__name__)
