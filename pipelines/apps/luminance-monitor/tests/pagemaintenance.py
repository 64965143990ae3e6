#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pagemaintenance.py [FOLDER]: the page begins and ends maintenance of a camera, marks it, and does
not announce its verdicts meanwhile, in a headless Chromium, on a desktop and a phone, dark and light. Saves
pictures in FOLDER."""
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import urllib.request
from datetime import datetime, timezone

from browser import Browser, Monitor, expect
from contrast import poor_contrasts
from overlaps import overlaps

SERVE = pathlib.Path(os.environ.get("BUILD_DIR", "")) / "tests/serve"
FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
HOUR = 3600_000
PANEL = "document.querySelector('#detail [data-part=maintenance]')"
PERIOD = f"{PANEL}.querySelector('[data-part=period]')"
TEXT = f"({PERIOD}.checkVisibility() ? {PERIOD}.textContent : '')"
WRONG = f"{PANEL}.querySelector('[data-part=wrong-maintenance]').textContent"
MARK = ("const mark = document.querySelector(`${arguments[0]} [data-part=in-maintenance]`);"
        "return Boolean(mark) && mark.checkVisibility() === arguments[1] &&"
        "(!arguments[1] || mark.textContent === 'In maintenance' && mark.querySelector('svg').checkVisibility())")
TILE = "[data-camera='{}']"


def now():
    return int(time.time() * 1000)


def picture(browser, name):
    if FOLDER:
        browser.picture(FOLDER / f"{name}.png")


def maintenance(monitor, camera):
    return monitor.ask(f"api/v1/cameras/{camera}")["maintenance"]


def post(monitor, camera, **change):
    request = urllib.request.Request(f"{monitor.address}api/v1/cameras/{camera}/maintenance", json.dumps(change).encode(),
                                     {"Content-Type": "application/json"}, method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def open_camera(browser, camera):
    browser.run("location.hash = `#/camera/${arguments[0]}`", camera)
    browser.wait("return document.querySelector('#detail .location')?.textContent.endsWith(arguments[0])", "no camera",
                 f"/{camera[-1]}")


def fill(browser, end, time_of_day="", comment=""):
    browser.run(f"const form = {PANEL}.querySelector('form'), {{end, until, comment}} = form.elements;"
                "[end.value, until.value, comment.value] = arguments; end.dispatchEvent(new Event('change'))",
                end, time_of_day, comment)


def press(browser, selector):
    """Clicks a button once it is enabled: the page may still wait for data of the stream."""
    browser.wait("return document.querySelector(arguments[0])?.disabled === false", "a button is disabled", selector)
    browser.click(selector)


def begin(browser, *what):
    fill(browser, *what)
    press(browser, "#detail [data-part=begin-maintenance] button")


def end(browser):
    press(browser, "#detail [data-part=end-maintenance]")
    browser.wait(f"return {PANEL}.querySelector('form').checkVisibility() && !{TEXT}",
                 "maintenance does not end")


def maintenance_is_begun_and_ended(browser, monitor):
    """Maintenance of the dark camera begins, and lasts until it is ended by hand."""
    open_camera(browser, "camera-1")
    browser.wait("return document.title.startsWith('(4) ')", "not four cameras have problems")
    comment = "<b>new lamp</b>, \u05e9\u05dc\u05d5\u05dd"
    begin(browser, "", "", comment)
    text = browser.wait(f"return {TEXT}", "maintenance does not begin")
    kept = maintenance(monitor, "camera-1")
    expect(kept["until"] is None and kept["comment"] == comment and now() - kept["since"] < 60_000, "begun", kept)
    at = datetime.fromtimestamp(kept["since"] / 1000, timezone.utc)
    expect(text.startswith(f"In maintenance since {at:%H:%M}, ") and text.endswith(", until it is ended by hand."),
           "since when, and until when", text)
    shown = browser.run(f"return {PANEL}.querySelector('[data-part=maintenance-comment]').textContent")
    expect(shown == comment, "the comment", shown)
    browser.wait("return document.activeElement.dataset.part === 'end-maintenance'", "the focus is lost")
    browser.wait(MARK, "the heading has no mark", "#detail .heading", True)
    browser.wait("return document.title.startsWith('(3) ')", "the title still counts the camera")
    browser.run("location.hash = '#/'")
    browser.wait(MARK, "the tile has no mark", TILE.format("camera-1"), True)
    expect(browser.run(MARK, TILE.format("camera-2"), False), "another tile has a mark")
    expect(browser.run("return document.querySelector(`.tile[data-camera='camera-1']`).dataset.state") == "trouble",
           "the tile hides the state")
    browser.click('[data-filter="maintenance"]')
    shown = browser.run("return [document.querySelector('[data-filter=maintenance] b').textContent,"
                        "...Array.from(document.querySelectorAll('.tile:not([hidden])'), e => e.dataset.camera)]")
    expect(shown == ["1", "camera-1"], "the filter shows others", shown)
    browser.click('[data-filter="all"]')
    open_camera(browser, "camera-1")
    end(browser)
    expect(maintenance(monitor, "camera-1") is None, "the API still has it")
    browser.wait(MARK, "the mark stays", "#detail .heading", False)
    browser.wait("return document.title.startsWith('(4) ')", "the title does not count the camera again")
    browser.run("location.hash = '#/'")
    browser.wait(MARK, "the mark of the tile stays", TILE.format("camera-1"), False)
    expect(not browser.run("return document.querySelector('[data-filter=maintenance]').checkVisibility()"),
           "the filter stays")


def an_end_can_be_chosen(browser, monitor):
    open_camera(browser, "camera-2")
    for hours in (1, 8):
        before = now()
        begin(browser, str(hours))
        browser.wait(f"return {TEXT}", "maintenance does not begin")
        until = maintenance(monitor, "camera-2")["until"]
        expect(abs(until - before - hours * HOUR) < 60_000, "another end", until, before)
        at = datetime.fromtimestamp(until / 1000, timezone.utc)
        expect(f"{at:%H:%M}." in browser.run(f"return {TEXT}"), "the end is missing", browser.run(f"return {TEXT}"))
        end(browser)
    for wrong, words in (("", "date and the time of the end"), ("2020-01-01T00:00", "in the past")):
        begin(browser, "time", wrong)
        expect(words in browser.run(f"return {WRONG}") and maintenance(monitor, "camera-2") is None,
               "a wrong end is taken", wrong, browser.run(f"return {WRONG}"))
    chosen = (now() + 30 * HOUR) // 60_000 * 60_000
    begin(browser, "time", f"{datetime.fromtimestamp(chosen / 1000, timezone.utc):%Y-%m-%dT%H:%M}")
    browser.wait(f"return {TEXT}", "maintenance does not begin")
    expect(maintenance(monitor, "camera-2")["until"] == chosen, "another end", maintenance(monitor, "camera-2"), chosen)
    expect(browser.run(f"return {WRONG}") == "", "the error is still shown")
    post(monitor, "camera-2", until=now() + 2000)
    browser.wait(f"return !{TEXT} && {PANEL}.querySelector('form').checkVisibility()",
                 "maintenance does not end by itself")


def a_refusal_is_shown(browser, monitor):
    open_camera(browser, "camera-2")
    begin(browser, "", "", "x" * 1001)
    browser.wait(f"return {WRONG}.startsWith('Not changed: ') && {WRONG}.includes('1000 characters')",
                 "a refusal is not shown")
    typed = browser.run(f"return {PANEL}.querySelector('form').elements.comment.value")
    expect(typed == "x" * 1001 and maintenance(monitor, "camera-2") is None,
           "the typed comment is lost", typed)
    browser.console()  # drops the message of the refusal


def nothing_is_announced(browser, monitor):
    """Verdicts are not announced during maintenance. Those that last at its end are announced then."""
    post(monitor, "camera-0")
    browser.run("location.hash = '#/'")
    browser.wait(MARK, "no mark", TILE.format("camera-0"), True)
    browser.run("window.said = []; new MutationObserver(() => said.push(document.getElementById('updates')"
                ".textContent)).observe(document.getElementById('updates'), {childList: true})")
    state = "return document.querySelector(`.tile[data-camera='camera-0']`).dataset.state === arguments[0]"
    monitor.send(signal.SIGUSR1)
    browser.wait(state, "its verdict is not shown", "trouble")
    time.sleep(2)  # updates are gathered for half a second
    said = browser.run("return said")
    expect(not any("Entrance" in text for text in said), "the verdict is announced", said)
    post(monitor, "camera-0", end=True)
    browser.wait("return said.some((text) => /Entrance.*too dark/.test(text))",
                 "a verdict that lasts is not announced")
    monitor.send(signal.SIGUSR1)
    browser.wait(state, "the camera stays dark", "fine")
    browser.run("location.hash = '#/incidents?camera=camera-0&verdict=too-dark'")
    mark = "#incidents .incident"
    browser.wait(MARK, "an incident of maintenance is not marked", mark, True)
    browser.run("document.querySelector('#incidents .incident [data-part=link]').click()")
    browser.wait(MARK, "the view of an incident has no mark", "#incident .heading", True)


def the_views_look_right(browser, monitor):
    for camera in ("camera-1", "camera-3"):
        post(monitor, camera, until=now() + 8 * HOUR, comment="The lamp is replaced. " * 8)
    for device, size in SIZES.items():
        browser.resize(*size)
        for name, place, mark in (("overview", "#/", TILE.format("camera-1")), ("lasting", "#/camera/camera-1", "#detail"),
                                  ("form", "#/camera/camera-2", None), ("incidents", "#/incidents", "#incidents")):
            browser.run("location.hash = arguments[0]", place)
            browser.wait("return document.querySelector('main > section:not([hidden]) [data-part]')", "no view")
            if mark and name != "incidents":
                browser.wait(MARK, f"{name}: no mark", mark, True)
            if name == "form":
                browser.wait(f"return {PANEL}?.querySelector('form').checkVisibility()", "no form")
                begin(browser, "time", "2020-01-01T00:00")
            for theme in ("dark", "light"):
                browser.prefer(theme)
                what = f"{name}, {device}, {theme}"
                browser.run("window.scrollTo(0, 0)")
                browser.wait("return new Promise(done => requestAnimationFrame(() => "
                             "setTimeout(() => done(true))))", what)
                expect(not (found := overlaps(browser)), f"{what}: the layout", *found)
                expect(not (poor := poor_contrasts(browser)), f"{what}: too little contrast", *poor)
                picture(browser, f"maintenance-{name}-{device}-{theme}")
    browser.resize(*SIZES["desktop"])


def a_login_returns_to_the_camera(browser):
    monitor = Monitor([SERVE, "--token=geheim"])
    form = "return location.pathname === '/login' && document.querySelector('input[name=token]')"
    browser.driver.get(monitor.address + "#/camera/camera-1")
    for _ in range(2):
        browser.wait(form, "no form comes")
        browser.driver.find_element("css selector", "input[name=token]").send_keys("geheim\n")
        browser.wait(f"return {PANEL}?.checkVisibility()", "no camera after the login")
        browser.run("return fetch('logout', {method: 'POST'}).then(() => true)")
        browser.run("document.querySelector('#detail [data-part=begin-maintenance] button')?.click()")
    browser.driver.get("about:blank")
    monitor.end()


def main():
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        browser.cdp("Emulation.setTimezoneOverride", timezoneId="UTC")
        for history in ([], [f"--history={folder}/history.sqlite"]):
            monitor = Monitor([SERVE, *history])
            browser.open(monitor.address)
            maintenance_is_begun_and_ended(browser, monitor)
            an_end_can_be_chosen(browser, monitor)
            a_refusal_is_shown(browser, monitor)
            if history:
                nothing_is_announced(browser, monitor)
                the_views_look_right(browser, monitor)
            expect(not (console := browser.console()), "the console has messages", *console)
            browser.driver.get("about:blank")
            monitor.end()
        a_login_returns_to_the_camera(browser)
    print("the page has cameras in maintenance, and keeps quiet of them")


main()
