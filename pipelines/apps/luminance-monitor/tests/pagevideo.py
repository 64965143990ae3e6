#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pagevideo.py [PICTURE [SECONDS]]: the page over real video, of the program in $BUILD_DIR: the clip,
parts of it, and what can happen to a camera. Makes the picture after so many seconds."""
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from browser import Browser, Monitor, expect
from shown import detail_shows, tiles_show

ROOT = Path(__file__).resolve().parents[4]
CLIP = ROOT / "pipelines/media/pedestrians.webm"
FRAMES = 79
PROGRAM = Path(os.environ.get("BUILD_DIR", "")) / "pipelines/apps/luminance-monitor/luminance-monitor"

# What is made of the clip, and the verdict that is expected of it; None where it is not made.
CAMERAS = {
    "Car park": ("videocrop", ""),
    "Footpath": ("videocrop left=300 top=120", ""),
    "Yard at night": ("videobalance contrast=0.17 saturation=0.5", "too-dark"),
    "Lawn": ("videocrop right=330 top=240", ""),
    "Gate 2": ("videobalance brightness=0.45", "too-bright"),
    "Doorway": ("videocrop left=160 right=240 bottom=300", ""),
    "Loading ramp": ("videobalance contrast=0.06 brightness=0.3", "low-contrast"),
    "Bicycle stand": (f"imagefreeze num-buffers={FRAMES}", "frozen"),
    "Hall": (None, "no-frames"),
}


def make(effect, file):
    subprocess.run(f"gst-launch-1.0 -q filesrc location={CLIP} ! matroskademux ! vp8dec ! {effect} ! "
                   f"jpegenc ! matroskamux ! filesink location={file}",
                   shell=True, check=True, timeout=120)


def configure(folder):
    lines = []
    for number, (name, (effect, _)) in enumerate(CAMERAS.items()):
        uri = "rtsp://127.0.0.1:1/hall"  # nobody is there
        if effect:
            uri = f"{number}.mkv"
            make(effect, folder / uri)
        lines += ["[[cameras]]", f'name = "{name}"', f'uri = "{uri}"']
    file = folder / "cameras.toml"
    file.write_text("\n".join(lines))
    return file


def verdicts_are_shown(browser, monitor):
    """As the API has them, and those that are expected."""
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
                 "not every camera that plays has its still", playing)


def main():
    picture = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as folder, Browser(1280, 720) as browser:
        monitor = Monitor([PROGRAM, "--headless", "--loop", "--listen=127.0.0.1:0",
                           f"--history={folder}/history.sqlite",
                           f"--config={configure(Path(folder))}"])
        browser.prefer("dark")
        browser.open(monitor.address)
        verdicts_are_shown(browser, monitor)
        pictures_are_shown(browser)
        playing = [camera["id"] for camera in monitor.cameras() if camera["status"] == "playing"]
        tiles_show(browser, monitor, playing)
        detail_shows(browser, monitor, playing[0])
        if picture:
            browser.run("document.activeElement.blur()")
            time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 0)
            browser.picture(picture)
        # A file that begins again has no still for a moment.
        console = [line for line in browser.console() if not re.search(r"still\.jpg\S* .*404", line)]
        expect(not console, "the console has messages", *console)
        browser.driver.get("about:blank")
        status = monitor.end()
        expect(status == 0, "the program does not end well", status)
    print("the page shows real video as the monitor measures it")


main()
