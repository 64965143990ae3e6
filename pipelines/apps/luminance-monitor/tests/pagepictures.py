#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pagepictures.py [FOLDER]: makes the pictures of the page that the documents show, with the program in
$BUILD_DIR, from the clip and videos made of it. Saves them in docs/pictures/, or in FOLDER.
Takes about five minutes, since a reference picture has to be learned."""
import base64
import json
import os
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import mjpegcamera
from browser import Browser, Monitor, expect
from clipcameras import CAMERAS, CLIP, configure

PROGRAM = Path(os.environ.get("BUILD_DIR", "")) / "luminance-monitor"
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "docs/pictures"
DESKTOP, PHONE = (1280, 800), (390, 844)
MAX_SIZE = 150_000  # bytes
QUALITY = 80
PATIENCE = 400  # seconds
MINUTE = 60

# A leaf covers a third of this camera's picture: grass of the clip, enlarged.
CAMERA = "Footpath"
PART = CAMERAS[CAMERA][0]
LEAF = (f"filesrc location={CLIP} ! matroskademux ! vp8dec ! videocrop left=20 right=700 top=420 bottom=28 "
        "! videobalance brightness=0.05 ! videoscale ! video/x-raw,width=170,height=456")
COVERED = f"{PART} ! c.sink_0 {LEAF} ! c.sink_1 compositor name=c"
REGION, MASK = "[0.0, 0.1, 1.0, 0.9]", "[0.84, 0.1, 0.16, 0.25]"
CHART_BEGINS = 3 * MINUTE  # seconds before the pictures are made

# A video that is repeated has no still for a moment.
ALL_STILLS = """
return [...document.querySelectorAll('.still')]
  .filter((still) => still.checkVisibility() && still.getBoundingClientRect().top < innerHeight)
  .every((still) => still.closest('[data-state=lost]')
    || (!still.querySelector('img').hidden && still.querySelector('img').naturalWidth > 100))"""


def wait(what, is_so):
    end = time.monotonic() + PATIENCE
    while not is_so():
        expect(time.monotonic() < end, f"not within {PATIENCE} s: {what}")
        time.sleep(0.5)


def camera_of(monitor, name):
    return next(camera for camera in monitor.cameras() if camera["name"] == name)


def has(monitor, name, verdict):
    return verdict in [each["name"] for each in camera_of(monitor, name)["verdicts"]]


def save(browser, name, theme, size):
    browser.resize(*size)
    browser.prefer(theme)
    browser.run("document.activeElement.blur()")
    time.sleep(2)  # so that the browser draws, and numbers come
    browser.wait(ALL_STILLS, "a camera has no picture")
    answer = browser.cdp("Page.captureScreenshot", format="webp", quality=QUALITY)
    picture = base64.b64decode(answer["data"])
    (FOLDER / f"{name}.webp").write_bytes(picture)
    print(f"{name}.webp: {len(picture)} bytes", flush=True)
    expect(len(picture) < MAX_SIZE, f"{name}.webp has more than {MAX_SIZE} bytes")


def tell(monitor, path, document):
    """Posts a document to the API."""
    request = urllib.request.Request(f"{monitor.address}api/v1/{path}", json.dumps(document).encode())
    urllib.request.urlopen(request, timeout=10).close()


def leave_traces(monitor):
    tell(monitor, f"cameras/{camera_of(monitor, 'Gate 2')['id']}/maintenance",
         {"until": int(time.time() + 3600) * 1000, "comment": "A new lens"})
    for verdict, comment in (("too-dark", "The lamp has failed, replaced on Monday"), ("frozen", "")):
        one = monitor.ask(f"api/v1/incidents?verdict={verdict}")["incidents"][0]
        tell(monitor, f"incidents/{one['id']}", {"acknowledged": True, "acknowledged_by": "Ann", "comment": comment})


def choose_range(browser):
    """Stores a range of the last minutes, as if it was chosen in the page."""
    end = time.time() // MINUTE * MINUTE + MINUTE
    browser.run("localStorage.setItem('range', arguments[0])",
                f"{int(end - MINUTE - CHART_BEGINS) * 1000}/{int(end) * 1000}")


def make_pictures(browser, monitor):
    browser.cdp("Emulation.setScrollbarsHidden", hidden=True)
    browser.open(monitor.address)
    save(browser, "overview", "light", DESKTOP)
    save(browser, "phone", "dark", PHONE)
    choose_range(browser)
    browser.resize(*DESKTOP)
    browser.driver.get("about:blank")
    browser.open(monitor.address, f"#/camera/{camera_of(monitor, CAMERA)['id']}")
    browser.wait("return document.querySelector('.lanes rect') !== null", "no verdict in the chart")
    height = browser.run("return Math.ceil(document.querySelector('.past').getBoundingClientRect().bottom)")
    save(browser, "camera", "light", (DESKTOP[0], height + 12))
    browser.run("localStorage.setItem('acknowledged-by', 'Ann')")
    browser.driver.get("about:blank")
    browser.open(monitor.address, "#/incidents")
    save(browser, "incidents", "light", DESKTOP)
    one = monitor.ask("api/v1/incidents?verdict=covered")["incidents"][0]
    browser.driver.get("about:blank")
    browser.open(monitor.address, f"#/incidents/{one['id']}")
    save(browser, "incident", "dark", DESKTOP)


def main():
    with tempfile.TemporaryDirectory() as folder, Browser(*DESKTOP) as browser:
        folder = Path(folder)
        for part in ("fine", "covered"):
            (folder / part).mkdir()
        camera = mjpegcamera.Camera(mjpegcamera.pictures(folder / "fine", PART))
        covered = mjpegcamera.pictures(folder / "covered", COVERED)
        config = configure(folder, {CAMERA: [f'uri = "{camera.uri}"', f"region = {REGION}",
                                             f"masks = [{MASK}]"]})
        monitor = Monitor([PROGRAM, "--headless", "--loop", "--listen=127.0.0.1:0", f"--config={config}",
                           f"--history={folder}/history.sqlite", "--history-interval=1"])
        wait("the reference is learned", lambda: camera_of(monitor, CAMERA)["reference"])
        time.sleep(MINUTE)  # data for the chart
        camera.show(covered)
        wait("the camera is covered", lambda: has(monitor, CAMERA, "covered"))
        for name, (_, verdict) in CAMERAS.items():
            wait(f"{name}: {verdict}", lambda name=name, verdict=verdict: not verdict or
                 has(monitor, name, verdict))
        leave_traces(monitor)
        make_pictures(browser, monitor)
        browser.driver.get("about:blank")
        monitor.end()


main()
