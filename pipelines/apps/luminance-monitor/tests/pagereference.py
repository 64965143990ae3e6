#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pagereference.py [FOLDER]: the page's panel of the reference, whose button starts to learn it again, in a
headless Chromium. Saves pictures in FOLDER."""
import pathlib
import sys
import tempfile

import running
from browser import Browser, expect
from contrast import poor_contrasts
from videos import CLIP

FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
LEARNING = 300  # seconds
PANEL = "document.querySelector('#detail [data-part=reference]')"
TEXT = f"{PANEL}?.querySelector('[data-part=learned]').textContent"
PICTURE = f"{PANEL}.querySelector('img')"


def wait_for_reference(monitor):
    """Waits for the reference, which needs two minutes of video. A busy machine decodes them in real time."""
    return running.wait_for('a reference', lambda: monitor.cameras()['clip']['reference'], LEARNING)


def expect_shown(browser):
    text = browser.wait(f"return {TEXT}?.startsWith('Learned ') && {TEXT}", 'no reference is shown')
    browser.wait(f"return {PICTURE}.checkVisibility() && {PICTURE}.naturalWidth > 0", 'no picture is shown')
    alt = browser.run(f"return {PICTURE}.alt")
    expect(alt == 'Reference picture of The clip', 'the text of the picture', alt)
    return text


def the_panel_looks_right(browser):
    for theme in ('dark', 'light'):
        browser.prefer(theme)
        expect(not (poor := poor_contrasts(browser)), f'{theme}: too little contrast', *poor)
        if FOLDER:
            browser.picture(FOLDER / f'reference-{theme}.png')
    browser.resize(320, 640)
    browser.wait('return document.documentElement.scrollWidth <= 320 && '
                 f'{PANEL}.getBoundingClientRect().right <= 320', 'the panel is wider than a phone')
    browser.resize(1280, 800)


def the_reference_is_renewed(browser, monitor, before):
    """The button forgets the reference. With --fast, it is learned again within seconds."""
    browser.run(f"new MutationObserver(() => {{ if ({TEXT}.startsWith('Being learned')) window.seen = true; }})"
                f".observe({PANEL}, {{subtree: true, childList: true, characterData: true}})")
    browser.click('#detail [data-part=renew]')
    browser.wait("return window.seen", 'the button does not forget the reference')
    wait_for_reference(monitor)
    browser.wait(f"return {TEXT}.startsWith('Learned ') && {TEXT} !== arguments[0]",
                 'the reference is not learned again', before)
    expect_shown(browser)


def a_failure_is_shown(browser):
    browser.run("location.hash = '#/'; fetch = () => Promise.reject(new TypeError('no connection'));"
                "location.hash = '#/camera/clip'")
    expect_shown(browser)
    browser.click('#detail [data-part=renew]')
    browser.wait(f"return {TEXT}.startsWith('Not renewed: ')", 'the failure is not shown')
    expect(not browser.run(f"return {PANEL}.querySelector('button').disabled"), 'there is no second try')


def main():
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        config = pathlib.Path(folder) / 'cameras.toml'
        config.write_text(f'loop = true\n[[cameras]]\nid = "clip"\nname = "The clip"\nuri = "{CLIP}"\n')
        with running.Monitor('--config', config, '--fast') as monitor:
            browser.open(monitor.address + '/#/camera/clip')
            wait_for_reference(monitor)
            before = expect_shown(browser)
            the_panel_looks_right(browser)
            the_reference_is_renewed(browser, monitor, before)
            a_failure_is_shown(browser)
            # With --fast, the machine is busy: a picture may not be ready when the page requests it.
            errors = [line for line in browser.console() if '.jpg' not in line or ' 404 ' not in line]
            expect(not errors, 'the console has messages', *errors)
            browser.driver.get('about:blank')
    print('the page shows the reference and has it learned again')


main()
