#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pageincidents.py [FOLDER]: tests the page's list of incidents, and the view of one, in a headless Chromium,
on a desktop and a phone, dark and light. Saves pictures in FOLDER."""
import csv
import io
import json
import os
import pathlib
import signal
import sqlite3
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from datetime import datetime, timezone

import running
from browser import Browser, Monitor, expect
from contrast import poor_contrasts
from overlaps import overlaps
from videos import CLIP

SERVE = pathlib.Path(os.environ.get("BUILD_DIR", "")) / "tests/serve"
FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
PAGE = 50     # incidents that the list loads at once
FORMER = 120  # ended incidents of the first camera
MINUTE, DAY = 60_000, 86_400_000
LONG = "The lamp above the gate was replaced, and the camera was cleaned.\nSee the ticket of the electrician."
REASONS = {"value": "its value is good again", "silence": "no frames", "restart": "the monitor ended"}
LEARNING = 300  # seconds to learn from two minutes of video on a busy machine

ROWS = """
const shown = (row, name) => {
  const found = row.querySelector(`[data-part=${name}]`);
  return found?.checkVisibility() ? found.textContent : '';
};
return [...document.querySelectorAll('#incidents .incident')].map((row) => ({
  id: Number(row.dataset.incident), sign: row.querySelector('use').getAttribute('href'),
  camera: shown(row, 'camera'), href: row.querySelector('[data-part=camera]').getAttribute('href'),
  ...Object.fromEntries(['state', 'link', 'value', 'begin', 'end', 'length', 'reason', 'acknowledged',
    'comment', 'beginning', 'in-maintenance'].map((name) => [name, shown(row, name)])),
}))"""
IDS = "[...document.querySelectorAll('#incidents .incident')].map((row) => Number(row.dataset.incident))"
HASH = "return decodeURIComponent(location.hash) === arguments[0]"
HEADING = ("const e = document.querySelector('main > :not([hidden]) [data-part=name]');"
           "return e === document.activeElement && e.checkVisibility() &&"
           "e.getBoundingClientRect().top >= document.querySelector('.bar').getBoundingClientRect().bottom")
FIGURES = """
return Object.fromEntries([...document.querySelectorAll('#incident figure')].map((figure) => {
  const image = figure.querySelector('img');
  return [figure.dataset.part, {time: figure.querySelector('time').textContent, alt: image.alt,
    isThere: image.checkVisibility() && image.naturalWidth > 0,
    isMissing: !image.checkVisibility() && figure.querySelector('.no-still').checkVisibility()}];
}))"""
VALUES = ("return Object.fromEntries([...document.querySelectorAll('#incident dl div')].map("
          "(row) => [...row.children].map((e) => e.textContent)))")


def picture(browser, name):
    if FOLDER:
        browser.picture(FOLDER / f"{name}.png")


def date(milliseconds):
    """Returns a time as the page writes it: 27 Nov 2026, 21:48:19."""
    moment = datetime.fromtimestamp(milliseconds // 1000, timezone.utc)
    return f"{moment.day} {moment:%b %Y, %H:%M:%S}".replace("Sep ", "Sept ")


def acknowledged_text(one):
    """Returns the text of the page. The name is isolated from the text beside it, whatever its direction."""
    name = one["acknowledged_by"] and f" by \u2068{one['acknowledged_by']}\u2069"
    return f"Acknowledged {date(one['acknowledged'])}{name}" if one["acknowledged"] else "Not acknowledged"


def listed(monitor, **filters):
    query = urllib.parse.urlencode({"limit": 1000, **filters})
    return monitor.ask(f"api/v1/incidents?{query}")["incidents"]


def post(monitor, number, **change):
    request = urllib.request.Request(f"{monitor.address}api/v1/incidents/{number}", json.dumps(change).encode(),
                                     {"Content-Type": "application/json"}, method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def write_former_incidents(history):
    """Writes more than a page of ended incidents, as if the monitor had run for days."""
    monitor = Monitor([SERVE, f"--history={history}"])
    running.wait_for("the first camera", lambda: monitor.ask("api/v1/cameras/camera-0/history")["rows"])
    monitor.end()
    newest = int(time.time() * 1000) - 2 * DAY
    rows = [("too-dark", newest - 10 * MINUTE * i, newest - 10 * MINUTE * i + 80_000 + i, reason, 21.5, 40.0, i % 7 == 3)
            for i, reason in zip(range(FORMER), [*REASONS] * FORMER)]
    with sqlite3.connect(history) as file:
        kept = file.executemany("INSERT INTO incident (camera, verdict, since, until, reason, value, threshold, maintenance)"
                         " SELECT number, ?, ?, ?, ?, ?, ?, ? FROM camera WHERE id = 'camera-0'", rows)
        expect(kept.rowcount == FORMER, "the former incidents are not written", kept.rowcount)
    file.close()


def go_to(browser, place):
    browser.run("location.hash = arguments[0]", place)


def ordered(monitor, count, **filters):
    """Returns the incidents of the API in the list's order: first those that last and are not acknowledged,
    then those that last, then those that are over; of each, the newest first."""
    found = {one["id"]: one for one in listed(monitor, **filters)[:count]}
    if "state" not in filters:
        found.update((one["id"], one) for one in listed(monitor, **filters, state="open"))
    return sorted(found.values(), key=lambda one: (2 if one["end"] else 1 if one["acknowledged"] else 0, -one["begin"], -one["id"]))


def expect_list(browser, monitor, what, count=PAGE, **filters):
    """Waits until the page lists the first `count` incidents of the API. Another one may begin meanwhile."""
    end = time.monotonic() + 60
    while True:
        wanted = [one["id"] for one in ordered(monitor, count, **filters)]
        if browser.run(f"return {IDS}") == wanted:
            return
        expect(time.monotonic() < end, f"{what}: other incidents are shown", browser.run(f"return {IDS}"), wanted)
        time.sleep(0.1)


def expect_row(row, one):
    is_over = one["end"] is not None
    facts = row, one
    expect(row["state"] == ("Over" if is_over else "Lasting"), "the state", *facts)
    expect(row["sign"] == ("#state-ended" if is_over else "#state-lost" if one["verdict"] == "no-frames"
                           else "#state-trouble"), "the sign", *facts)
    expect(row["link"] == one["title"] and row["camera"] == one["name"] and
           row["href"] == f"#/camera/{one['camera']}", "title and camera", *facts)
    expect(row["begin"] == date(one["begin"]), "the beginning", *facts)
    expect(row["value"].startswith(f"Worst {one['quantity']}: ") and
           f", {one['side']} {one['threshold']:g}" in row["value"], "the value", *facts)
    expect(row["acknowledged"] == acknowledged_text(one), "acknowledged", *facts)
    expect((row["in-maintenance"] == "In maintenance") == one["maintenance"], "maintenance", *facts)
    if is_over and 80 <= one["duration"] < 81:  # a former incident
        is_same_day = date(one["begin"])[:-10] == date(one["end"])[:-10]
        expect(row["end"] == f" to {date(one['end'])[-8 if is_same_day else 0:]}" and row["length"] == "1 min",
               "the end", *facts)
        expect(row["reason"] == f"Over: {REASONS[one['reason']]}", "the reason", *facts)


def every_view_links_to_the_incidents(browser, monitor):
    recent = listed(monitor, acknowledged="no", **{"from": int(time.time() * 1000) - DAY})
    expect(2 < len(recent) < 50, "too few or too many recent incidents", len(recent))
    number = recent[0]["id"]
    for place in ("#/", "#/camera/camera-1", f"#/incidents/{number}"):
        browser.driver.get("about:blank")
        browser.open(monitor.address, place)
        count = ("const b = document.querySelector('#to-incidents b');"
                 "return b.checkVisibility() && Number(b.textContent) === arguments[0]")
        browser.wait(count, f"{place}: another number of incidents", len(recent))
        label = browser.run("return document.getElementById('to-incidents').ariaLabel")
        expect(label == f"Incidents, {len(recent)} of the last 24 hours not acknowledged", "its label", label)
        browser.click("#to-incidents")
        browser.wait(HEADING, f"{place}: the link leads elsewhere")
    post(monitor, number, acknowledged=True)
    browser.wait(count, "the number does not follow", len(recent) - 1)


def the_list_has_all_incidents(browser, monitor):
    first = listed(monitor)[PAGE + 5]["id"]
    post(monitor, first, acknowledged=True, acknowledged_by="<b>Ann</b> \u05d0", comment=LONG)
    browser.open(monitor.address, "#/incidents")
    expect_list(browser, monitor, "the first page")
    expect(browser.run("return document.querySelector('#incidents [data-part=note]').textContent") ==
           f"The latest {PAGE}:", "the number of incidents")
    for count in (2 * PAGE, 3 * PAGE):
        before = browser.run(f"return {IDS}.length")
        browser.run("document.querySelector('#incidents [data-part=older]').click()")
        expect_list(browser, monitor, "older ones", count)
        focused = browser.run(f"const row = document.activeElement.closest('.incident'); return {IDS}.indexOf("
                              "Number(row?.dataset.incident))")
        expect(abs(focused - before) <= 1, "older ones do not get the focus", focused, before)
    expect(not browser.run("return document.querySelector('#incidents [data-part=older]').checkVisibility()"),
           "the list offers more than all incidents")
    by_id = {one["id"]: one for one in listed(monitor)}
    rows = browser.run(ROWS)
    expect(len(rows) > FORMER, "incidents are missing", len(rows))
    for row in rows:
        expect_row(row, by_id[row["id"]])
    commented = next(row for row in rows if row["id"] == first)
    expect(commented["beginning"].startswith("The lamp above the gate") and commented["beginning"].endswith("…"),
           "the beginning of a comment", commented)


def the_list_acknowledges_incidents(browser, monitor):
    """The list acknowledges one incident, and several at once, with a name; the others come first."""
    def is_acknowledged(*numbers):
        return [monitor.ask(f"api/v1/incidents/{number}")["acknowledged"] is not None for number in numbers]

    def by(number):
        return monitor.ask(f"api/v1/incidents/{number}")["acknowledged_by"]

    several, button = "#incidents [data-part=several]", "#incidents [data-part=acknowledge-chosen]"
    browser.driver.get("about:blank")
    browser.open(monitor.address, "#/incidents")
    expect_list(browser, monitor, "all")
    first, *others = [one["id"] for one in ordered(monitor, PAGE) if one["acknowledged"] is None][:4]
    press(browser, f"[data-incident='{first}'] [data-part=acknowledge]")
    running.wait_for("an acknowledgement", lambda: is_acknowledged(first)[0])
    expect(by(first) == "", "a name that nobody gave", by(first))
    enter_name(browser, "#incidents", "Zoë")
    expect(is_acknowledged(*others) == [False] * 3, "other incidents are acknowledged", others)
    expect_list(browser, monitor, "one is acknowledged")
    browser.wait("return Number(document.activeElement.closest('.incident')?.dataset.incident) === arguments[0]",
                 "its row loses the focus", first)
    expect(browser.run(f"return document.querySelector('{button}').disabled"), "the button is enabled")
    for number in others[:2]:
        press(browser, f"[data-incident='{number}'] [data-part=chosen]")
    expect(browser.run(f"return document.querySelector('{button}').textContent") == "Acknowledge 2 incidents", "the button")
    press(browser, button)
    running.wait_for("acknowledgements", lambda: all(is_acknowledged(*others[:2])))
    expect(is_acknowledged(others[2]) == [False], "an incident that was not chosen is acknowledged")
    expect([by(number) for number in others[:2]] == ["Zoë"] * 2, "the name is missing")
    expect_list(browser, monitor, "several are acknowledged")
    press(browser, f"{several} input")
    left = browser.run(f"return document.querySelector('{button}').textContent")
    expect(left == f"Acknowledge {sum(one['acknowledged'] is None for one in ordered(monitor, PAGE))} incidents",
           "not all are chosen", left)
    press(browser, f"{several} input")
    expect(browser.run(f"return document.querySelector('{button}').disabled"), "the button is enabled")
    for number in (first, *others[:2]):
        post(monitor, number, acknowledged=False)
    expect_list(browser, monitor, "as before")


def pictures_are_large(browser, monitor):
    """The picture of a camera is larger than its histogram."""
    area = "const {width, height} = document.querySelector(arguments[0]).getBoundingClientRect(); return width * height"
    for size in SIZES.values():
        browser.resize(*size)
        browser.open(monitor.address, "/#/camera/clip")
        browser.wait("return document.querySelector('#detail .picture img')?.naturalWidth > 0", "no picture")
        shown = [browser.run(area, selector) for selector in ("#detail .picture img", "#detail .histogram.big")]
        expect(shown[0] > shown[1], "the histogram is larger", size, *shown)
    browser.resize(*SIZES["desktop"])
    browser.driver.get("about:blank")


def choose(browser, name, value):
    browser.run("const select = document.querySelector('#incidents form').elements[arguments[0]];"
                "select.value = arguments[1]; select.dispatchEvent(new Event('change', {bubbles: true}))", name, value)


def fill_period(browser, begin, end):
    browser.run("const {from, to} = document.querySelector('#incidents form').elements;"
                "[from.value, to.value] = arguments", *(
                    datetime.fromtimestamp(at / 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M") if at else ""
                    for at in (begin, end)))
    browser.click("#incidents form button")


def filters_are_in_the_hash(browser, monitor):
    browser.open(monitor.address, "#/incidents")
    for name, value, place, filters in (
            ("state", "open", "#/incidents?state=open", {"state": "open"}),
            ("camera", "camera-1", "#/incidents?camera=camera-1&state=open", {"state": "open", "camera": "camera-1"}),
            ("verdict", "too-dark", "#/incidents?camera=camera-1&verdict=too-dark&state=open",
             {"state": "open", "camera": "camera-1", "verdict": "too-dark"})):
        choose(browser, name, value)
        browser.wait(HASH, f"{name} is not in the hash", place)
        expect_list(browser, monitor, place, **filters)
    browser.driver.back()
    browser.wait(HASH, "no way back", "#/incidents?camera=camera-1&state=open")
    expect_list(browser, monitor, "back", state="open", camera="camera-1")
    browser.driver.back()
    browser.driver.forward()
    expect_list(browser, monitor, "forward", state="open", camera="camera-1")
    browser.driver.get("about:blank")
    browser.open(monitor.address, "#/incidents?camera=camera-0&acknowledged=yes&state=none&from=x")
    expect_list(browser, monitor, "a link", camera="camera-0", acknowledged="yes")
    chosen = browser.run("return Object.fromEntries(new FormData(document.querySelector('#incidents form')))")
    expect(chosen == {"camera": "camera-0", "verdict": "", "state": "", "acknowledged": "yes", "from": "", "to": ""},
           "the form has other filters", chosen)
    browser.click("#incidents [data-part=unfiltered]")
    browser.wait(HASH, "filters stay", "#/incidents")
    go_to(browser, "#/incidents?camera=removed")
    browser.wait("return document.querySelector('#incidents [data-part=note]').textContent === 'No incident matches.'",
                 "a camera without incidents has some")
    go_to(browser, "#/incidents?verdict=nothing")
    browser.wait("return document.querySelector('#incidents > [data-part=list] > .wrong').textContent.endsWith("
                 "'no such verdict.')", "the page does not show the monitor's refusal")


def a_period_can_be_chosen(browser, monitor):
    newest = listed(monitor, state="closed", to=int(time.time() * 1000) - DAY)[0]["begin"]
    begin, end = ((newest - ago * MINUTE) // MINUTE * MINUTE for ago in (65, 25))
    go_to(browser, "#/incidents")
    fill_period(browser, end, begin)
    wrong = browser.run("return document.querySelector('#incidents [data-part=wrong-filters]').textContent")
    expect("before the end" in wrong and browser.run("return location.hash") == "#/incidents", "a wrong period", wrong)
    fill_period(browser, begin, end)
    browser.wait(HASH, "the period is not in the hash", f"#/incidents?from={begin}&to={end}")
    expect_list(browser, monitor, "a period", **{"from": begin, "to": end})
    address = browser.run("return document.querySelector('#incidents [data-part=csv]').href")
    with urllib.request.urlopen(address) as answer:
        rows = list(csv.DictReader(io.StringIO(answer.read().decode())))
    shown = browser.run(f"return {IDS}")
    expect(4 <= len(rows) and [int(row["id"]) for row in rows] == shown, "the CSV has others", rows, shown)
    fill_period(browser, None, None)


def the_list_follows_changes(browser, monitor):
    """An incident begins and ends while another one is unfolded and a date is being entered."""
    dark = {"camera": "camera-0", "verdict": "too-dark"}
    commented = listed(monitor, acknowledged="yes", **dark)[0]
    # The commented incident stays within the list when another one begins.
    browser.driver.get("about:blank")
    browser.open(monitor.address, f"#/incidents?camera=camera-0&verdict=too-dark&to={int(time.time() * 1000) + DAY}")
    expect_list(browser, monitor, "one camera", **dark)
    browser.run("document.querySelector('#incidents [data-part=older]').click()")
    expect_list(browser, monitor, "older ones", 2 * PAGE, **dark)
    details = f"document.querySelector('[data-incident=\"{commented['id']}\"] details')"
    browser.run(f"{details}.open = true; const {{to}} = document.querySelector('#incidents form').elements;"
                "to.value = '2030-01-02T03:04'; to.focus()")
    monitor.send(signal.SIGUSR1)
    browser.wait(f"return {IDS}.length === arguments[0]", "a new incident is not listed", 2 * PAGE + 1)
    begun = browser.run(ROWS)[0]
    expect(begun["state"] == "Lasting" and begun["link"] == "Too dark", "the newest", begun)
    monitor.send(signal.SIGUSR1)
    browser.wait("return document.querySelector('#incidents .incident [data-part=state]').textContent === 'Over'",
                 "the end of an incident is not listed")
    kept = browser.run(f"return [{details}.open, {details}.querySelector('.comment').textContent,"
                       "document.activeElement.name, document.activeElement.value]")
    expect(kept == [True, LONG, "to", "2030-01-02T03:04"], "the reader's state is lost", kept)
    go_to(browser, "#/incidents?camera=camera-0&verdict=too-dark&acknowledged=yes")
    expect_list(browser, monitor, "acknowledged", acknowledged="yes", **dark)
    browser.run(f"{details}.open = true")
    post(monitor, commented["id"], acknowledged=False)
    browser.wait(f"return {details}?.closest('.incident').querySelector('[data-part=acknowledged]').textContent"
                 " === 'Not acknowledged'", "an incident that matches no more is gone or stale")
    # The newest incident is over now: those that last come before it.
    go_to(browser, "#/incidents")
    expect_list(browser, monitor, "incidents that last come first")
    expect(browser.run(f"return {IDS}[0]") != begun["id"] and browser.run(ROWS)[0]["state"] == "Lasting", "the first")


def keys_lead_back_to_the_list(browser, monitor):
    browser.driver.get("about:blank")
    browser.open(monitor.address)
    browser.wait("return document.querySelector('.tile')", "no tiles")
    browser.press("i")
    browser.wait(HEADING, "i does not lead to the incidents")
    choose(browser, "state", "closed")
    expect_list(browser, monitor, "filtered", state="closed")
    row = "document.querySelectorAll('#incidents .incident')[20].querySelector('[data-part=link]')"
    number = browser.run(f"{row}.click(); return {IDS}[20]")
    browser.wait(HEADING, "the heading of an incident does not get the focus, or is below the bar")
    browser.press("ESCAPE")
    browser.wait(HASH, "Escape leads elsewhere", "#/incidents?state=closed")
    browser.wait("return Number(document.activeElement.closest('.incident')?.dataset.incident) === arguments[0]",
                 "the focus does not return to the row", number)
    browser.press("ESCAPE")
    browser.wait("return document.getElementById('overview').checkVisibility()", "Escape does not leave the list")


def one_incident_is_shown(browser, monitor):
    """The view has pictures, but no reference, which is not learned in this test."""
    one = next(each for each in listed(monitor, camera="camera-1") if each["picture"])
    silent = listed(monitor, camera="camera-3", verdict="no-frames")[0]
    for incident, pictures in ((one, {"beginning", "present"}), (silent, set())):
        go_to(browser, f"#/incidents/{incident['id']}")
        browser.wait("return document.querySelector('#incident [data-part=camera]')?.textContent === arguments[0]",
                     "another camera", incident["name"])
        browser.wait(f"const all = (() => {{ {FIGURES} }})(); return Object.keys(all).length === 3 && "
                     "Object.entries(all).every(([name, one]) => "
                     "arguments[0].includes(name) ? one.isThere && one.time : one.isMissing)",
                     "other pictures", list(pictures))
        expect(browser.run(FIGURES)["beginning"]["time"] ==
               date(incident["picture"] or incident["begin"]), "the time of the picture")
        values = browser.run(VALUES)
        expect(values["Begin"] == date(incident["begin"]) and values["End"] == "–" and values["State"] == "Lasting" and
               values["Worst value"].startswith(incident["quantity"]) and
               values["Threshold"].startswith(f"{incident['side']} {incident['threshold']:g}") and
               values["Number"] == str(incident["id"]), "values", values, incident)
    former = listed(monitor, state="closed", camera="camera-0")[-1]
    go_to(browser, f"#/incidents/{former['id']}")
    browser.wait("return document.querySelector('#incident [data-part=name]')?.textContent === 'Too dark'",
                 "another incident")
    values = browser.run(VALUES)
    expect(values["End"] == date(former["end"]) and values["Over because"] == REASONS[former["reason"]] and
           values["Duration"] == "1 min" and values["Began in maintenance"] == "no", "values", values)
    go_to(browser, "#/incidents/99999999")
    browser.wait("return document.getElementById('incident').textContent.includes('no such incident')",
                 "no error")
    return former


def enter_name(browser, view, name):
    browser.run("const input = document.querySelector(`${arguments[0]} [data-part=signature] input`);"
                "input.value = arguments[1]; input.dispatchEvent(new Event('input'))", view, name)


def type_comment(browser, text):
    browser.run("const area = document.querySelector('#incident textarea'); area.value = arguments[0];"
                "area.dispatchEvent(new Event('input')); area.focus()", text)


def press(browser, selector):
    """Clicks a button once it is enabled: the page may still wait for data of the stream."""
    browser.wait("return document.querySelector(arguments[0])?.disabled === false", "a button is disabled", selector)
    browser.click(selector)


def an_incident_is_acknowledged_and_commented(browser, monitor, number):
    def current():
        return monitor.ask(f"api/v1/incidents/{number}")

    acknowledged = "return document.querySelector('#incident [data-part=acknowledged]')?.textContent.startsWith(arguments[0])"
    typed = "return document.querySelector('#incident textarea').value"
    wrong = "return document.querySelector('#incident [data-part=wrong]').textContent === arguments[0]"
    go_to(browser, f"#/incidents/{number}")
    browser.wait(acknowledged, "the incident is acknowledged", "Not acknowledged")
    name = "return document.querySelector('#incident [data-part=signature] input').value"
    expect(browser.run(name) == "Zoë", "the name of the list", browser.run(name))
    enter_name(browser, "#incident", "Bob")
    press(browser, "#incident [data-part=acknowledge]")
    browser.wait(acknowledged, "the incident is not acknowledged", "Acknowledged ")
    expect(current()["acknowledged"] and current()["acknowledged_by"] == "Bob", "the API has another state")
    browser.wait(acknowledged, "the name is not shown", acknowledged_text(current()))
    expect(not browser.run("return document.querySelector('#incident [data-part=signature]').checkVisibility()"),
           "the page asks for a name that is not needed")
    browser.driver.refresh()
    browser.wait(acknowledged, "a reload loses the acknowledgement", acknowledged_text(current()))
    browser.run("document.querySelector('#incident [data-part=acknowledge]').focus()")
    press(browser, "#incident [data-part=acknowledge]")
    browser.wait(acknowledged, "the acknowledgement is not taken back", "Not acknowledged")
    browser.wait("return document.activeElement.textContent === 'Acknowledge'", "the button lost the focus")
    expect(browser.run(name) == "Bob", "the browser does not remember the name", browser.run(name))
    expect(current()["acknowledged"] is None, "the API still has it acknowledged")
    type_comment(browser, LONG)
    press(browser, "#incident form button")
    browser.wait("return document.querySelector('#incident [data-part=count]').textContent === arguments[0]",
                 "the comment is not saved", f"{len(LONG)} of 1000 characters")
    expect(current()["comment"] == LONG, "another comment is saved", current())
    for text, why in (("x" * 1001, "comment has more than 1000 characters"),
                      ("bell \x07", "comment has a control character")):
        type_comment(browser, text)
        press(browser, "#incident form button")
        browser.wait(wrong, "a refusal is not shown", f"Not saved: {why}.")
        post(monitor, number, acknowledged=True)
        browser.wait(acknowledged, "a change is not shown", "Acknowledged ")
        post(monitor, number, acknowledged=False)
        browser.wait(acknowledged, "a change is not shown", "Not acknowledged")
        expect(browser.run(typed) == text, "the typed comment is lost", browser.run(typed))
        expect(browser.run(wrong, f"Not saved: {why}."), "the refusal is hidden again")
    post(monitor, number, comment="theirs")
    browser.wait("return document.querySelector('#incident [data-part=theirs]').textContent.includes('theirs')",
                 "the comment of somebody else is not shown")
    browser.click("#to-incidents")
    go_to(browser, f"#/incidents/{number}")
    browser.wait("return document.querySelector('#incident textarea')", "no comment")
    expect(browser.run(typed) == "bell \x07", "the unsaved comment is lost")
    type_comment(browser, "theirs")


def an_incident_links_to_its_time(browser, one):
    browser.click("#incident [data-part=history]")
    browser.wait("return document.querySelector('[data-part=ranges] [aria-pressed=true]')?.value.startsWith('From')",
                 "another period is shown")
    address = browser.wait("return document.querySelector('#detail [data-part=csv]')?.href", "no history")
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)
    begin, end = int(query["from"][0]), int(query["to"][0])
    expect(begin < one["begin"] < one["end"] < end and end - begin < 60 * MINUTE, "another period", begin, end, one)
    browser.click('[data-part="ranges"] button[value="1 h"]')
    browser.click("#detail [data-part=incidents]")
    browser.wait(HASH, "no way to the incidents of the camera", "#/incidents?camera=camera-0")
    browser.driver.back()
    browser.wait("return document.querySelector('#detail h2')", "no way back")


def the_views_look_right(browser, monitor):
    numbers = [listed(monitor, camera="camera-1")[0]["id"], listed(monitor, state="closed", camera="camera-0")[0]["id"]]
    for device, size in SIZES.items():
        browser.resize(*size)
        for name, place in (("list", "#/incidents"), ("filtered", "#/incidents?camera=camera-0&from=1&to=2"),
                            ("lasting", f"#/incidents/{numbers[0]}"), ("over", f"#/incidents/{numbers[1]}")):
            go_to(browser, place)
            browser.wait("return document.querySelector('main > :not([hidden]) [data-part=name]')?.checkVisibility() &&"
                         "!document.body.textContent.includes('Loading …')", f"{name}: nothing")
            browser.wait(HEADING + " || location.hash.includes('?')", f"{name}: the heading is not in sight")
            for theme in ("dark", "light"):
                browser.prefer(theme)
                what = f"{name}, {device}, {theme}"
                browser.wait("return new Promise(done => requestAnimationFrame(() => "
                             "setTimeout(() => done(true))))", what)
                expect(not (found := overlaps(browser, 15)), f"{what}: the layout", *found)
                expect(not (poor := poor_contrasts(browser, 15)), f"{what}: too little contrast", *poor)
                picture(browser, f"incidents-{name}-{device}-{theme}")
            browser.run("window.scrollTo(0, document.documentElement.scrollHeight)")
    browser.resize(*SIZES["desktop"])


def a_login_returns_to_the_view(browser, history):
    monitor = Monitor([SERVE, "--token=geheim", f"--history={history}"])
    form = "return location.pathname === '/login' && document.querySelector('input[name=token]')"

    def log_in():
        browser.wait(form, "no form comes")
        browser.driver.find_element("css selector", "input[name=token]").send_keys("geheim\n")

    browser.driver.get(monitor.address + "#/incidents?camera=camera-0&state=closed")
    log_in()
    browser.wait(f"return {IDS}.length > 10", "no incidents after the login")
    expect(browser.run(HASH, "#/incidents?camera=camera-0&state=closed"), "the filters are lost")
    browser.run("document.querySelector('#incidents .incident [data-part=link]').click()")
    browser.wait("return document.querySelector('#incident textarea')", "no incident")
    type_comment(browser, "not lost")
    place = browser.run("return location.hash")
    browser.run("return fetch('logout', {method: 'POST'}).then(() => true)")
    browser.run("document.querySelector('#incident form button')?.click()")
    log_in()
    typed = browser.wait("return document.querySelector('#incident textarea')?.value", "no incident after the login")
    expect(typed == "not lost" and browser.run("return location.hash") == place,
           "the typed comment is lost", typed)
    browser.driver.get("about:blank")
    monitor.end()


def a_known_user_gives_no_name(browser, history):
    """A user logs in with the form: the page asks for no name, and ignores the one that it remembers."""
    monitor = Monitor([SERVE, "--basic=operator:geheim", "--token=other", f"--history={history}"])
    browser.driver.get(monitor.address + "login#/incidents?acknowledged=no")
    for name, text in (("user", "operator"), ("password", "geheim\n")):
        browser.driver.find_element("css selector", f"input[name={name}]").send_keys(text)
    browser.wait("return document.getElementById('logout')?.checkVisibility()", "nobody is logged in")
    browser.wait(f"return {IDS}.length > 10", "no incidents after the login")
    browser.wait("return !document.querySelector('#incidents [data-part=signature]').checkVisibility()",
                 "the page asks for a known name")
    number = browser.run(f"return {IDS}[0]")
    press(browser, f"[data-incident='{number}'] [data-part=acknowledge]")
    browser.wait("return [...document.querySelectorAll('#incidents .incident [data-part=acknowledged]')].some("
                 "({textContent}) => textContent.endsWith(' by \u2068operator\u2069'))", "no name")
    browser.driver.get("about:blank")
    monitor.end()


def check_simulated_cameras(browser, history):
    write_former_incidents(history)
    monitor = Monitor([SERVE, f"--history={history}"])
    running.wait_for("verdicts", lambda: len(listed(monitor, state="open")) > 3)
    every_view_links_to_the_incidents(browser, monitor)
    the_list_has_all_incidents(browser, monitor)
    the_list_acknowledges_incidents(browser, monitor)
    filters_are_in_the_hash(browser, monitor)
    a_period_can_be_chosen(browser, monitor)
    the_list_follows_changes(browser, monitor)
    keys_lead_back_to_the_list(browser, monitor)
    former = one_incident_is_shown(browser, monitor)
    an_incident_is_acknowledged_and_commented(browser, monitor, former["id"])
    an_incident_links_to_its_time(browser, former)
    the_views_look_right(browser, monitor)
    # These requests are refused on purpose.
    errors = [line for line in browser.console() if " 400 " not in line and " 404 " not in line]
    expect(not errors, "the console has messages", *errors)
    browser.driver.get("about:blank")
    monitor.end()
    a_login_returns_to_the_view(browser, history)
    a_known_user_gives_no_name(browser, history)


def without_a_history_the_page_says_so(browser):
    monitor = Monitor([SERVE, "--cameras=1"])
    browser.console()
    browser.open(monitor.address, "#/incidents")
    browser.wait("return document.querySelector('#incidents [data-part=no-history]').checkVisibility() &&"
                 "!document.querySelector('#incidents form').checkVisibility()", "the list does not say so")
    go_to(browser, "#/incidents/1")
    browser.wait("return document.getElementById('incident').textContent.includes('the monitor keeps no history')",
                 "an incident does not say so")
    expect(not browser.run("return document.querySelector('#to-incidents b').checkVisibility()"),
           "a number is shown")
    expect(not (console := browser.console()), "the console has messages", *console)
    browser.driver.get("about:blank")
    monitor.end()


def three_pictures_are_shown(browser, monitor):
    """Once the reference of the video is learned, its incident has three pictures."""
    running.wait_for("a reference", lambda: monitor.cameras()["clip"]["reference"], LEARNING)
    found = json.loads(monitor.get("/api/v1/incidents?verdict=too-dark"))["incidents"][-1]
    browser.open(monitor.address, f"/#/incidents/{found['id']}")
    browser.wait(f"const all = Object.values((() => {{ {FIGURES} }})());"
                 "return all.length === 3 && all.every(({isThere, time}) => isThere && time)", "not all pictures")
    shown = browser.run(FIGURES)
    expect([shown[name]["alt"] for name in ("beginning", "reference", "present")] ==
           ["The clip at the beginning", "Reference picture of The clip", "Picture of The clip"], "texts", shown)
    expect(shown["reference"]["time"].startswith("learned "), "the time of the reference", shown)
    picture(browser, "incident-three-pictures")
    browser.driver.get("about:blank")


def start_clip(folder):
    """Starts a monitor of the clip, which is too dark by its rule from the beginning."""
    config = pathlib.Path(folder) / "cameras.toml"
    config.write_text(f'loop = true\n[[cameras]]\nid = "clip"\nname = "The clip"\nuri = "{CLIP}"\n'
                      "[verdicts.too-dark]\nraise = 200\nclear = 201\nhold = 0\n")
    return running.Monitor("--config", config, "--history", pathlib.Path(folder) / "clip.sqlite")


def main():
    with tempfile.TemporaryDirectory() as folder, Browser() as browser, start_clip(folder) as video:
        browser.cdp("Emulation.setTimezoneOverride", timezoneId="UTC")
        check_simulated_cameras(browser, pathlib.Path(folder) / "history.sqlite")
        without_a_history_the_page_says_so(browser)
        pictures_are_large(browser, video)
        three_pictures_are_shown(browser, video)
    print("the page lists incidents, shows them and has them acknowledged and commented")


main()
