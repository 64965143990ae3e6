#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pageranges.py: the range that the page's history shows, in a headless Chromium: a fixed one, one entered
in a form, one dragged over the chart with mouse or finger; it is kept for other cameras and visits."""
import csv
import io
import os
import tempfile
import time
import urllib.parse
import urllib.request
from datetime import datetime, timezone
from pathlib import Path

from browser import Browser, Monitor, expect

SERVE = Path(os.environ.get("BUILD_DIR", "")) / "tests/serve"
MINUTE = 60_000
FREE = "From … to …"
PRESSED = ("return document.querySelector('[data-part=ranges] [aria-pressed=true]')?.value"
           " === arguments[0]")
PLOT = "return document.querySelector('.history .plot').getBoundingClientRect().toJSON()"
SELECTION = "document.querySelector('.history [data-part=selection]').getAttribute('d')"
WRONG = "return document.querySelector('[data-part=wrong-range]').textContent"


def fill(browser, begin, end):
    """Submits the form of a range. `begin`, `end`: texts of the inputs, as 2026-11-25T14:30."""
    browser.run("const {from, to} = document.querySelector('.free-range').elements;"
                "[from.value, to.value] = arguments", begin, end)
    browser.click(".free-range button")


def period(browser):
    """Returns the period of the link to the CSV, which is that of the chart."""
    address = browser.run("return document.querySelector('[data-part=csv]').href")
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)
    return int(query["from"][0]), int(query["to"][0])


def asked_period(browser, what):
    """Returns the period of the latest request for `what`, history or events."""
    asked = [one for one in browser.requested() if f"/{what}?" in one][-1]
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(asked).query)
    return int(query["from"][0]), int(query["to"][0])


def local(milliseconds):
    """Returns the local time of the browser, which is UTC + 5:30."""
    moment = datetime.fromtimestamp(milliseconds / 1000 + 5.5 * 3600, timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M")


def minutes_ago(count):
    return int((time.time() - 60 * count) // 60) * MINUTE


def the_form_takes_a_range(browser):
    browser.click(f'[data-part="ranges"] button[value="{FREE}"]')
    browser.wait("return document.querySelector('.free-range').checkVisibility()", "no form")
    begin, end = minutes_ago(90), minutes_ago(30)
    for wrong, words in ((("", local(end)), "date and the time of the beginning"),
                         ((local(begin), ""), "date and the time of the end"),
                         ((local(end), local(begin)), "before the end"),
                         ((local(begin), local(begin)), "before the end"),
                         ((local(minutes_ago(-60)), local(minutes_ago(-90))), "in the future")):
        fill(browser, *wrong)
        text = browser.run(WRONG)
        expect(words in text, f"{wrong}: the page does not say what is wrong", text)
        expect(not browser.run(PRESSED, FREE), "a wrong range is shown", wrong)
    fill(browser, local(begin), local(end))
    browser.wait(PRESSED, "the range is not chosen", FREE)
    expect(browser.run(WRONG) == "", "a right range is said to be wrong")
    expect(period(browser) == (begin, end), "another period", period(browser), begin, end)
    for what in ("history", "events"):
        asked = asked_period(browser, what)
        expect(asked == (begin, end), f"{what} of another period", asked, begin, end)


def the_range_is_kept(browser):
    before = period(browser)
    browser.press("ARROW_RIGHT")
    browser.wait("return document.querySelector('#detail .location')?.textContent.endsWith('/2')",
                 "no other camera")
    expect(browser.run(PRESSED, FREE) and period(browser) == before,
           "another camera has another range", period(browser), before)
    browser.driver.refresh()
    browser.wait(PRESSED, "the next visit has another range", FREE)
    browser.wait("return document.querySelector('[data-part=csv]').href", "no CSV is offered")
    expect(period(browser) == before, "the next visit has another range", period(browser), before)
    browser.click('[data-part="ranges"] button[value="1 h"]')
    expect(not browser.run("return document.querySelector('.free-range').checkVisibility()"),
           "the form stays")
    browser.driver.refresh()
    browser.wait(PRESSED, "a fixed range is not kept", "1 h")


def wrong_stored_ranges_are_ignored(browser):
    for stored in ("5/4", "1/", "NaN/NaN", "9999999999999999999/99999999999999999999", "<b>", ""):
        browser.run("localStorage.setItem('range', arguments[0])", stored)
        browser.driver.refresh()
        browser.wait(PRESSED, f"'{stored}' is taken for a range", "15 min")


def expect_selected(browser, before, shares):
    """Checks that the page shows the selected part of a period, rounded outwards to minutes."""
    browser.wait(PRESSED, "the selected range is not shown", FREE)
    length = before[1] - before[0]
    wanted = [before[0] + share * length for share in shares]
    begin, end = period(browser)
    tolerance = MINUTE + 0.01 * length
    expect(begin % MINUTE == end % MINUTE == 0 and 0 <= wanted[0] - begin + 0.01 * length <= tolerance * 1.5
           and 0 <= end - wanted[1] + 0.01 * length <= tolerance * 1.5,
           "the page shows another part than the selected one", (begin, end), wanted)


def drag(browser, *shares, release=True):
    box = browser.run(PLOT)
    plot = browser.driver.find_element("css selector", ".history .plot")
    at = [round((share - 0.5) * box["width"]) for share in shares]
    chain = browser.pointer().move_to_element_with_offset(plot, at[0], 0)
    chain.click_and_hold()
    for position in at[1:]:
        chain.move_to_element_with_offset(plot, position, 5)
    if release:
        chain.release()
    chain.perform()


def a_mouse_selects_a_range(browser):
    browser.click('[data-part="ranges"] button[value="24 h"]')
    before = period(browser)
    drag(browser, 0.75, 0.4, 0.25, release=False)
    path = browser.wait(f"return {SELECTION}", "the selection is not shown")
    expect(abs(float(path[1:path.index(",")]) - 250) < 10, "another part is highlighted", path)
    text = browser.run("return document.querySelector('.past .readout').textContent")
    expect(text.startswith("From ") and "Esc" in text, "the selection is not named", text)
    browser.press("ESCAPE")
    browser.wait(f"return {SELECTION} === ''", "Escape does not end the selection")
    expect(browser.run("return document.getElementById('detail').checkVisibility()"),
           "Escape leaves the camera")
    browser.pointer().release().perform()
    expect(browser.run(PRESSED, "24 h"), "a cancelled selection is taken")
    drag(browser, 0.5, 0.501)
    expect(browser.run(PRESSED, "24 h"), "a click selects")
    drag(browser, 0.75, 0.4, 0.25)
    expect_selected(browser, before, (0.25, 0.75))


def a_finger_selects_a_range(browser):
    browser.click('[data-part="ranges"] button[value="24 h"]')
    before = period(browser)
    browser.run("document.querySelector('.history').scrollIntoView({block: 'center'})")
    box = browser.run(PLOT)
    y = box["top"] + box["height"] / 2
    at = [box["left"] + share * box["width"] for share in (0.2, 0.3, 0.5, 0.6)]
    browser.cdp("Emulation.setTouchEmulationEnabled", enabled=True)
    browser.cdp("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": at[0], "y": y}])
    for x in at[1:]:
        browser.cdp("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x, "y": y}])
    browser.cdp("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    browser.cdp("Emulation.setTouchEmulationEnabled", enabled=False)
    expect_selected(browser, before, (0.2, 0.6))


def the_csv_has_that_range(browser, monitor):
    browser.wait("return document.querySelector('[data-part=csv]').checkVisibility()", "no CSV")
    address = browser.run("return document.querySelector('[data-part=csv]').href")
    begin, end = period(browser)
    # The selected minutes may have no row yet: compares the rows of the last minute.
    path = address[len(monitor.address):].partition("?")[0]
    now = int(time.time() * 1000)
    with urllib.request.urlopen(f"{monitor.address}{path}?from={now - MINUTE}&to={now}") as answer:
        kind, text = answer.headers["Content-Type"], answer.read().decode()
    expect(kind == "text/csv; charset=utf-8", "no CSV", kind)
    rows = list(csv.DictReader(io.StringIO(text)))
    wanted = monitor.ask(f"{path.removesuffix('.csv')}?from={now - MINUTE}&to={now}&points=5000")["rows"]
    expect(rows and len(rows) == len(wanted), "other rows", len(rows), len(wanted))
    for row, one in zip(rows, wanted):
        moment = datetime.fromisoformat(row["time"].replace("Z", "+00:00"))
        expect(round(moment.timestamp() * 1000) == one["time"] and row["time"].endswith("Z"),
               "the time is not that of the row in UTC", row, one)
        mean = float(row["mean"]) if row["mean"] else None  # the row has no frames
        expect(mean == one["mean"] and row["camera"] == "camera-1", "values", row, one)
    with urllib.request.urlopen(address) as answer:
        lines = answer.read().decode().splitlines()
    expect(lines[0].startswith("time,duration,camera,"), "no header", lines[:1])
    for line in lines[1:]:
        moment = datetime.fromisoformat(line.partition(",")[0].replace("Z", "+00:00"))
        expect(begin <= moment.timestamp() * 1000 <= end, "a row of another time", line, begin, end)


def main():
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        browser.cdp("Emulation.setTimezoneOverride", timezoneId="Asia/Kolkata")
        monitor = Monitor([SERVE, f"--history={folder}/history.sqlite"])
        browser.open(monitor.address, "#/camera/camera-1")
        browser.wait("return document.querySelector('[data-part=csv]')?.href", "no CSV is offered")
        the_form_takes_a_range(browser)
        the_range_is_kept(browser)
        wrong_stored_ranges_are_ignored(browser)
        browser.open(monitor.address, "#/camera/camera-1")
        browser.wait("return document.querySelector('[data-part=csv]')?.href", "no CSV is offered")
        a_mouse_selects_a_range(browser)
        a_finger_selects_a_range(browser)
        browser.run("location.hash = '#/camera/camera-1'")
        the_csv_has_that_range(browser, monitor)
        expect(not (console := browser.console()), "the console has messages", *console)
        browser.driver.get("about:blank")
        monitor.end()
    print("any period can be chosen, and is kept")


main()
