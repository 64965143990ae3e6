#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pagelayout.py [FOLDER]: tests the layout of the page in a headless Chromium: few cameras and many, on a
desktop and on a phone, dark and light. Saves pictures in FOLDER."""
import os
import sys
import tempfile
from pathlib import Path

from browser import Browser, Monitor, expect
from contrast import poor_contrasts
from overlaps import overlaps

SERVE = Path(os.environ.get("BUILD_DIR", "")) / "tests/serve"
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else None
DESKTOP, PHONE = (1920, 1080), (390, 844)
COUNTS = (1, 2, 3, 4, 6)

TILES = """
const list = document.getElementById('tiles');
const tiles = [...list.querySelectorAll('.tile:not([hidden])')].map(tile => tile.getBoundingClientRect());
return {
  columns: getComputedStyle(list).gridTemplateColumns.split(' ').length,
  list: list.getBoundingClientRect().toJSON(),
  right: Math.max(...tiles.map(({right}) => right)),
  widths: tiles.map(({width}) => width),
  pageWidth: document.documentElement.scrollWidth,
  pageHeight: document.documentElement.scrollHeight,
}"""
WITH_FEWER_COLUMNS = """
const {style} = document.getElementById('tiles'), before = style.cssText;
style.setProperty('--columns', style.getPropertyValue('--columns') - 1);
style.setProperty('--spare', '0px');
const height = document.documentElement.scrollHeight;
style.cssText = before;
return height"""


def picture(browser, name):
    if FOLDER:
        browser.picture(FOLDER / f"{name}.png")


def numbers_are_shown(browser, count):
    browser.wait("return document.querySelectorAll('.tile').length === arguments[0] && "
                 "document.querySelector('.tile').dataset.time", "no numbers come", count)


def expect_filled(browser, count, size, what):
    """Checks that the tiles fill the width, and are as large as the height of the window allows."""
    browser.wait("return document.querySelectorAll('.tile:not([hidden])').length === arguments[0]",
                 f"{what}: not as many tiles", count)
    width, height = size
    shown = browser.run(TILES)
    expect(shown["pageWidth"] <= width, f"{what}: wider than the window", shown)
    expect(shown["columns"] <= count, f"{what}: there is room left beside the tiles", shown)
    expect(shown["list"]["right"] - shown["right"] < 1 and
           width - shown["list"]["width"] < 40, f"{what}: the width is not filled", shown)
    expect(max(shown["widths"]) - min(shown["widths"]) < 1, f"{what}: tiles differ in width", shown)
    if size == PHONE:
        expect(shown["columns"] == 1, f"{what}: a phone has more than one column", shown)
        return
    expect(shown["pageHeight"] <= height, f"{what}: the page is higher than the window", shown)
    if shown["columns"] > 1:
        taller = browser.run(WITH_FEWER_COLUMNS)
        expect(taller > height, f"{what}: tiles are smaller than needed", shown, taller)


def few_cameras_fill_the_width(browser):
    for count in COUNTS:
        monitor = Monitor([SERVE, f"--cameras={count}"])
        for size, device in ((DESKTOP, "desktop"), (PHONE, "phone")):
            browser.resize(*size)
            browser.open(monitor.address)
            numbers_are_shown(browser, count)
            expect_filled(browser, count, size, f"{count} cameras, {device}")
            picture(browser, f"{count}-{device}")
        browser.driver.get("about:blank")
        monitor.end()


def cameras_with_problems_fill_the_page(browser):
    """Four of 32 cameras have problems: one is dark, one frozen, one silent, one lost."""
    monitor = Monitor([SERVE, "--cameras=32"])
    browser.resize(*DESKTOP)
    browser.open(monitor.address)
    numbers_are_shown(browser, 32)
    browser.wait("return document.querySelector('[data-filter=troubled] b').textContent === '4'",
                 "not four cameras have problems")
    before = browser.run(TILES)
    browser.click('[data-filter="troubled"]')
    expect_filled(browser, 4, DESKTOP, "four with problems")
    after = browser.run(TILES)
    expect(after["widths"][0] > 1.5 * before["widths"][0], "tiles do not grow", before, after)
    picture(browser, "problems")
    browser.click('[data-filter="all"]')
    browser.wait("return document.querySelectorAll('.tile:not([hidden])').length === 32", "all")
    again = browser.run(TILES)
    expect(again["columns"] == before["columns"], "tiles do not shrink again", before, again)
    browser.driver.get("about:blank")
    monitor.end()


def offset_text(browser):
    """Returns the offset as the page writes it: UTC+1, UTC+10:30."""
    minutes = -browser.run("return new Date().getTimezoneOffset()")
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours}" + (f":{rest:02}" if rest else "")


def the_time_zone_is_named(browser, monitor):
    """Both views name the time zone once."""
    shown = ("const {textContent} = document.getElementById('zone');"
             "return document.getElementById('zone').checkVisibility() && textContent")
    for zone in ("Europe/Berlin", "Australia/Adelaide", "America/New_York", "UTC"):
        browser.cdp("Emulation.setTimezoneOverride", timezoneId=zone)
        for route in ("", "#/camera/camera-1"):
            browser.driver.get("about:blank")
            browser.open(monitor.address, route)
            text = browser.wait(shown, f"{zone}: no zone is named")
            wanted = f"Times in {zone}" + ("." if zone == "UTC" else f", now {offset_text(browser)}.")
            expect(text.replace("\u2212", "-") == wanted, f"{zone}: another zone is named", text, wanted)
    browser.cdp("Emulation.setTimezoneOverride", timezoneId="UTC")


def open_overview(browser, monitor):
    browser.open(monitor.address)
    browser.wait("return [...document.querySelectorAll('.tile')].filter(tile => tile.dataset.time).length "
                 "> 2", "no numbers come")


def open_problems(browser, monitor):
    open_overview(browser, monitor)
    browser.click('[data-filter="troubled"]')


def open_nothing(browser, monitor):
    open_overview(browser, monitor)
    browser.press("/", "nobody has this name")
    browser.wait("return document.getElementById('empty').checkVisibility()", "something is found")


def open_detail(camera):
    def open_camera(browser, monitor):
        browser.open(monitor.address, f"#/camera/{camera}")
        browser.wait("return document.querySelector('#detail h2')", "no detail")
        browser.wait("return document.querySelector('.events tbody tr')", "no events")
        browser.click("details summary")
    return open_camera


def open_range(browser, monitor):
    open_detail("camera-1")(browser, monitor)
    browser.click('[data-part="ranges"] button:last-child')
    browser.run("document.querySelector('.free-range').elements.to.value = ''")
    browser.click(".free-range button")
    browser.wait("return document.querySelector('.free-range .wrong').checkVisibility()", "no error is shown")


def open_keys(browser, monitor):
    open_overview(browser, monitor)
    browser.press("?")
    browser.wait("return document.getElementById('keys').open", "no keys")


VIEWS = {"overview": open_overview, "problems": open_problems, "nothing": open_nothing,
         "dark": open_detail("camera-1"), "silent": open_detail("camera-3"), "range": open_range,
         "keys": open_keys}


def every_view_fits(browser, monitor):
    """On both devices and in both themes, texts are legible, and nothing overlaps or is cut off."""
    for device, size in (("desktop", DESKTOP), ("phone", PHONE)):
        browser.resize(*size)
        for name, open_view in VIEWS.items():
            browser.driver.get("about:blank")
            open_view(browser, monitor)
            for theme in ("dark", "light"):
                browser.prefer(theme)
                what = f"{name}, {device}, {theme}"
                # Waits for the next frame, so that late drawing is done.
                browser.wait("return new Promise(done => requestAnimationFrame(() => "
                             "setTimeout(() => done(true))))", what)
                least = 10 if name in ("nothing", "keys") else 20
                expect(not (found := overlaps(browser, least)), f"{what}: the layout", *found)
                expect(not (poor := poor_contrasts(browser, least)), f"{what}: too little contrast", *poor)
                picture(browser, f"view-{name}-{device}-{theme}")
            browser.run("localStorage.clear()")


def overlaps_are_found(browser, monitor):
    """The test itself finds boxes that overlap or are too wide."""
    browser.resize(*DESKTOP)
    open_overview(browser, monitor)
    for spoil in ("document.querySelector('.status').style.marginTop = '-30px'",
                  "document.querySelector('.status').style.marginTop = '';"
                  "document.querySelector('footer').style.width = '3000px'"):
        browser.run(spoil)
        expect(overlaps(browser), "no overlap is found", spoil)


def main():
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        few_cameras_fill_the_width(browser)
        cameras_with_problems_fill_the_page(browser)
        monitor = Monitor([SERVE, "--cameras=12", f"--history={folder}/history.sqlite"])
        the_time_zone_is_named(browser, monitor)
        every_view_fits(browser, monitor)
        overlaps_are_found(browser, monitor)
        browser.driver.get("about:blank")
        monitor.end()
        expect(not (console := browser.console()), "the console has messages", *console)
    print("the page fits desktops and phones")


main()
