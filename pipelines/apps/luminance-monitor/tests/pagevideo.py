#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page with real video of the program in $BUILD_DIR: the clip, parts of it, and typical faults of
cameras."""
import os
import re
import tempfile
from pathlib import Path

from browser import Browser, Monitor, expect
from clipcameras import CAMERAS, configure
from shown import detail_shows, tiles_show

PROGRAM = Path(os.environ.get("BUILD_DIR", "")) / "luminance-monitor"
SIZE = "video/x-raw,width=256,height=192"  # leaves time for the page on a busy machine


def verdicts_are_shown(browser, monitor):
    """The page shows the expected verdict of each camera."""
    for camera in monitor.cameras():
        expected = CAMERAS[camera["name"]][1]
        title = expected.replace("-", " ")
        state = {"": "fine", "no-frames": "lost"}.get(expected, "trouble")
        browser.wait("const tile = document.querySelector(`[data-camera=\"${arguments[0]}\"]`);"
                     "return tile.dataset.state === arguments[1] && (arguments[1] !== 'trouble' ||"
                     "tile.querySelector('.status').textContent.toLowerCase().startsWith(arguments[2]))",
                     f"{camera['name']} is not {title or 'fine'}", camera["id"], state, title)


def pictures_are_shown(browser):
    playing = sum(effect is not None for effect, _ in CAMERAS.values())
    browser.wait("return [...document.querySelectorAll('.still img')].filter(image => "
                 "!image.hidden && image.naturalWidth > 100).length === arguments[0]",
                 "a camera that plays has no still", playing)


def main():
    with tempfile.TemporaryDirectory() as folder, Browser(1280, 720) as browser:
        monitor = Monitor([PROGRAM, "--headless", "--loop", "--listen=127.0.0.1:0",
                           f"--history={folder}/history.sqlite",
                           f"--config={configure(Path(folder), size=SIZE)}"])
        browser.prefer("dark")
        browser.open(monitor.address)
        verdicts_are_shown(browser, monitor)
        pictures_are_shown(browser)
        playing = [camera["id"] for camera in monitor.cameras() if camera["status"] == "playing"]
        tiles_show(browser, monitor, playing)
        detail_shows(browser, monitor, playing[0])
        # A video that is repeated has no still for a moment, and a busy machine may make it late.
        console = [line for line in browser.console()
                   if not re.search(r"still\.jpg\S* .*(404|503)", line)]
        expect(not console, "the console has messages", *console)
        browser.driver.get("about:blank")
        status = monitor.end()
        expect(status == 0, "the program does not end well", status)
    print("the page shows real video as the monitor measures it")


main()
