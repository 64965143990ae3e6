#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pageregion.py [FOLDER]: the view of a camera draws region and masks at the right places of the picture, in
a headless Chromium, on a desktop and a phone, dark and light. Saves pictures in FOLDER."""
import os
import pathlib
import signal
import sys
import tempfile

import numpy as np

import running
import videos
from browser import Browser, expect
from contrast import poor_contrasts

FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
SIZES = {'desktop': (1280, 800), 'phone': (320, 640)}
WIDTH, HEIGHT = 400, 300  # narrower than the box of the picture, which has margins at both sides
REGION = [0.25, 0.1, 0.5, 0.8]
MASKS = [[0.5, 0.1, 0.2, 0.3], [0.3, 0.6, 0.1, 0.2]]
CAMERAS = {
    'both': (REGION, MASKS, 'Only the part within the outline is judged, without the hatched masks.'),
    'region': (REGION, [], 'Only the part within the outline is judged.'),
    'mask': (None, MASKS[:1], 'All of the picture is judged, without the hatched mask.'),
    'whole': (None, [], ''),
}

# Places of the shapes, in shares of the shown picture, and the text.
SHOWN = """
const panel = document.querySelector('#detail .picture'), image = panel.querySelector('img');
if (image.hidden || image.naturalWidth === 0) return null;
const box = image.getBoundingClientRect();
const scale = Math.min(box.width / image.naturalWidth, box.height / image.naturalHeight);
const width = scale * image.naturalWidth, height = scale * image.naturalHeight;
const left = box.left + (box.width - width) / 2, top = box.top + (box.height - height) / 2;
const drawing = panel.querySelector('.region');
const place = (name) => {
  const path = drawing.querySelector(`[data-part=${name}]`);
  if (!drawing.checkVisibility() || !path.getAttribute('d')) return null;
  const {x, y, width: w, height: h} = path.getBBox(), matrix = path.getScreenCTM();
  const from = new DOMPoint(x, y).matrixTransform(matrix), to = new DOMPoint(x + w, y + h).matrixTransform(matrix);
  return [(from.x - left) / width, (from.y - top) / height, (to.x - from.x) / width, (to.y - from.y) / height];
};
const text = panel.querySelector('[data-part=region-text]');
return {outline: place('outline'), masks: place('masks'), outside: place('outside'),
  text: text.checkVisibility() ? text.textContent : '', right: panel.getBoundingClientRect().right}"""


def around(areas):
    """Returns the bounding box of all areas."""
    if not areas:
        return None
    x, y = min(a[0] for a in areas), min(a[1] for a in areas)
    return [x, y, max(a[0] + a[2] for a in areas) - x, max(a[1] + a[3] for a in areas) - y]


def is_at(shown, expected):
    if expected is None or shown is None:
        return shown is expected
    return np.allclose(shown, expected, atol=0.005)


def expect_shown(browser, name, size):
    region, masks, text = CAMERAS[name]
    shown = browser.wait(SHOWN, f'{name}: no picture')
    what = name, size, shown
    expect(is_at(shown['outline'], region), 'the outline', *what)
    expect(is_at(shown['masks'], around(masks)), 'the masks', *what)
    expect(is_at(shown['outside'], region and [0, 0, 1, 1]), 'what is outside', *what)
    expect(shown['text'] == text, 'the text', *what)
    expect(shown['right'] <= SIZES[size][0], 'the panel is wider than the window', *what)


def expect_contrast(browser, name, size):
    for theme in ('dark', 'light'):
        browser.prefer(theme)
        expect(not (poor := poor_contrasts(browser)), f'{theme}: too little contrast', *poor)
        if FOLDER:
            browser.picture(FOLDER / f'region-{name}-{size}-{theme}.png')


def text_of(cameras):
    return 'loop = true\n' + ''.join(
        f'[[cameras]]\nname = "{name}"\nuri = "video.mkv"\nmasks = {masks}\n' +
        (f'region = {region}\n' if region else '') for name, (region, masks, _) in cameras.items())


def the_region_follows_the_configuration(browser, monitor, config):
    """The open view shows a changed region."""
    CAMERAS['whole'] = CAMERAS['both']
    config.write_text(text_of(CAMERAS))
    os.kill(monitor.pid, signal.SIGHUP)
    browser.wait("return document.querySelector('#detail [data-part=region-text]')?.textContent === arguments[0]",
                 'the region does not change', CAMERAS['both'][2])
    expect_shown(browser, 'whole', 'phone')


def main():
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        config = pathlib.Path(folder) / 'cameras.toml'
        config.write_text(text_of(CAMERAS))
        y, x = np.indices((HEIGHT, WIDTH))
        frame = (60 + x // 4 + y // 6).astype(np.uint8)
        videos.write(pathlib.Path(folder) / 'video.mkv', [frame + i for i in range(10)], 5)
        with running.Monitor('--config', config) as monitor:
            for size, (width, height) in SIZES.items():
                browser.resize(width, height)
                for name in CAMERAS:
                    browser.open(monitor.address, f'/#/camera/{name}')
                    browser.wait("return document.querySelector('#detail [data-part=name]')?.textContent === "
                                 'arguments[0]', 'another camera is shown', name)
                    expect_shown(browser, name, size)
                expect_contrast(browser, 'whole', size)
                browser.open(monitor.address, '/#/camera/both')
                expect_shown(browser, 'both', size)
                expect_contrast(browser, 'both', size)
            browser.open(monitor.address, '/#/camera/whole')
            expect_shown(browser, 'whole', 'phone')
            the_region_follows_the_configuration(browser, monitor, config)
            errors = [line for line in browser.console() if '.jpg' not in line or ' 404 ' not in line]
            expect(not errors, 'the console has messages', *errors)
            browser.driver.get('about:blank')
    print('the page draws regions and masks')


main()
