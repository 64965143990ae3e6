#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pagewatch.py [FOLDER]: what the page of the program in $BUILD_DIR shows if its tab is hidden, the monitor
hangs or a camera is lost. Saves pictures in FOLDER."""
import os
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.request
from datetime import datetime, timezone
from pathlib import Path

import mjpegcamera
from browser import Browser, Monitor, expect
from contrast import poor_contrasts

PROGRAM = Path(os.environ.get("BUILD_DIR", "")) / "luminance-monitor"
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else None
CONNECTION = "return document.documentElement.dataset.connection === arguments[0]"
STATE = "return document.querySelector(`[data-camera='${arguments[0]}']`)?.dataset.state === arguments[1]"
HIDE = ("Object.defineProperty(document, 'hidden', {value: arguments[0], configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'))")
TITLE = "return document.title === arguments[0]"
OLD = ("const still = document.querySelector(arguments[0] + ' .still'), image = still?.querySelector('img');"
       "const mark = still?.querySelector('.old');"
       "return image?.naturalWidth > 0 && image.checkVisibility() && mark.checkVisibility() &&"
       " [mark.textContent, getComputedStyle(image).filter, image.alt]")
TILE = "[data-camera='door']"


def picture(browser, name):
    if FOLDER:
        browser.picture(FOLDER / f"{name}.png")


def configuration(folder, *cameras):
    lines = []
    for id_, uri in cameras:
        lines += ["[[cameras]]", f'name = "{id_.capitalize()}"', f'id = "{id_}"', f'uri = "{uri}"']
    file = Path(folder) / "cameras.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


def a_hanging_monitor_is_not_live(browser, monitor):
    browser.run("location.hash = '#/'")
    browser.wait(CONNECTION, "the page is not live", "live")
    monitor.send(signal.SIGSTOP)
    stopped = time.time()
    browser.wait(CONNECTION, "the page takes a hanging monitor for live", "lost")
    took = time.time() - stopped
    expect(3 < took < 12, "expected 3 to 12 s until the page notices the hang, got", took)
    facts = browser.run("return [document.getElementById('banner').textContent, document.title,"
                        "document.getElementById('connection').textContent,"
                        "document.getElementById('banner').checkVisibility()]")
    expect("No answer from the monitor since" in facts[0] and "No answer" in facts[1] and
           facts[2] == "No answer" and facts[3], "the page does not say so", facts)
    since = datetime.strptime(facts[0].split("since ")[1][:8], "%H:%M:%S").time()
    wanted = datetime.fromtimestamp(stopped, timezone.utc)
    since = datetime.combine(wanted.date(), since, timezone.utc)
    expect(-3 < (since - wanted).total_seconds() < 2, "another time", facts, wanted)
    expect(not (poor := poor_contrasts(browser)), "too little contrast", *poor)
    picture(browser, "no-answer")
    monitor.send(signal.SIGCONT)
    continued = time.monotonic()
    browser.wait(CONNECTION, "the page does not recover", "live")
    expect(time.monotonic() - continued < 5, "the page recovers late", time.monotonic() - continued)
    expect(not browser.run("return document.getElementById('banner').checkVisibility()"),
           "the banner stays")


def the_page_recovers_from_a_long_hang(browser, monitor):
    """The page gives up its connection when the monitor hangs for long."""
    monitor.send(signal.SIGSTOP)
    browser.wait("return document.getElementById('banner').textContent.startsWith('No connection')",
                 "the page holds on to a dead connection")
    monitor.send(signal.SIGCONT)
    browser.wait(CONNECTION, "the page does not recover", "live")
    browser.console()  # drops the messages of closed connections


def a_hidden_tab_keeps_its_title(browser, monitor, camera):
    """The title stays current, although a hidden page draws nothing and has no stream."""
    browser.wait(STATE, "the camera does not play", "door", "fine")
    browser.wait(TITLE, "another title", "Luminance monitor")
    browser.run(HIDE, True)
    before = sum(one.endswith("/stream") for one in browser.requested())
    camera.switch_off()
    browser.wait(TITLE, "the title of a hidden tab does not count a lost camera", "(1) Luminance monitor")
    expect(browser.run(STATE, "door", "fine"), "a hidden page is drawn")
    monitor.send(signal.SIGSTOP)
    browser.wait(TITLE, "the title of a hidden tab does not report a hanging monitor",
                 "No connection – Luminance monitor")
    monitor.send(signal.SIGCONT)
    browser.wait(TITLE, "a hidden tab does not recover", "(1) Luminance monitor")
    streams = sum(one.endswith("/stream") for one in browser.requested())
    expect(streams == before, "a hidden page has a stream", streams, before)
    browser.console()  # drops the messages of closed connections
    seen = time.monotonic()
    browser.run(HIDE, False)
    browser.wait(STATE, "a page that is visible again is not up to date", "door", "lost")
    expect(time.monotonic() - seen < 3, "the page is updated late", time.monotonic() - seen)


def still_of(monitor, camera):
    """Returns the still of a camera, or None if it has none."""
    try:
        with urllib.request.urlopen(f"{monitor.address}api/v1/cameras/{camera}/still.jpg") as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        expect(error.code == 404, "another answer", error)
        return None


def the_last_picture_stays(browser, monitor):
    """The camera was switched off while the page was hidden: no client had requested this picture before."""
    door, = (camera for camera in monitor.cameras() if camera["id"] == "door")
    moment = datetime.fromtimestamp(door["last_frame"] / 1000, timezone.utc).strftime("%H:%M:%S")
    expect([verdict["name"] for verdict in door["verdicts"]] == ["no-frames"], "verdicts", door)
    for route, where in (("#/", TILE), ("#/camera/door", ".picture")):
        browser.run("location.hash = arguments[0]", route)
        for visit in ("first", "next"):
            mark, look, alt = browser.wait(OLD, f"{route}, {visit}: no last picture", where)
            expect(mark == f"last picture, {moment}", f"{route}: another mark", mark, moment)
            expect("grayscale" in look and alt == "Last picture of Door", f"{route}: its look", look, alt)
            browser.driver.refresh()
            browser.wait(CONNECTION, "the page is not live", "live")
        browser.wait(OLD, f"{route}: no last picture", where)
        expect(not (poor := poor_contrasts(browser)), f"{route}: too little contrast", *poor)
        picture(browser, "lost-tile" if route == "#/" else "lost-detail")
    first = still_of(monitor, "door")
    time.sleep(4)  # longer than a still is cached
    expect(first and still_of(monitor, "door") == first, "the last picture changes")


def a_camera_that_returns_is_current(browser, camera):
    browser.run("location.hash = '#/'")
    camera.switch_on()
    browser.wait(STATE, "the camera does not return", "door", "fine")
    browser.wait("const still = document.querySelector(`${arguments[0]} .still`);"
                 "return still.dataset.old === 'false' && !still.querySelector('.old').checkVisibility()",
                 "a current picture is marked as an old one", TILE)


def a_removed_camera_leaves_nothing(browser, monitor, camera, folder):
    camera.switch_off()
    browser.wait(STATE, "the camera is not lost", "door", "lost")
    browser.wait(OLD, "no last picture", TILE)
    configuration(folder, ("hall", "http://127.0.0.1:1/"))
    monitor.send(signal.SIGHUP)
    browser.wait("return !document.querySelector(arguments[0])", "a removed camera stays", TILE)
    expect(still_of(monitor, "door") is None, "there is a picture of a camera that was removed")
    configuration(folder, ("hall", "http://127.0.0.1:1/"), ("door", camera.uri))
    monitor.send(signal.SIGHUP)
    browser.wait(STATE, "the camera does not come back", "door", "lost")
    expect(still_of(monitor, "door") is None, "the picture of a camera that was removed is back")
    expect(browser.run("return document.querySelector(arguments[0] + ' .no-still').checkVisibility() &&"
                       "!document.querySelector(arguments[0] + ' .old').checkVisibility()", TILE),
           "the picture of a camera that was removed is shown")


def main():
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        browser.cdp("Emulation.setTimezoneOverride", timezoneId="UTC")
        camera = mjpegcamera.Camera(mjpegcamera.pictures(folder))
        monitor = Monitor([PROGRAM, "--headless", "--listen=127.0.0.1:0", "--no-history",
                           f"--config={configuration(folder, ('door', camera.uri))}"])
        browser.open(monitor.address)
        browser.wait(STATE, "the camera does not play", "door", "fine")
        a_hanging_monitor_is_not_live(browser, monitor)
        the_page_recovers_from_a_long_hang(browser, monitor)
        a_hidden_tab_keeps_its_title(browser, monitor, camera)
        the_last_picture_stays(browser, monitor)
        a_camera_that_returns_is_current(browser, camera)
        a_removed_camera_leaves_nothing(browser, monitor, camera, folder)
        console = [line for line in browser.console() if "still.jpg" not in line]
        expect(not console, "the console has messages", *console)
        browser.driver.get("about:blank")
        status = monitor.end()
        expect(status == 0, "the program does not end well", status)
    print("what is lost is not shown as if it were there")


main()
