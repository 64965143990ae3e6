#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""page.py [FOLDER]: drives the page of luminance-monitor in a headless Chromium, with the
simulated cameras of $BUILD_DIR/tests/serve. Saves pictures in FOLDER."""
import os
import re
import resource
import signal
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from browser import Browser, Monitor, expect
from contrast import poor_contrasts
from shown import detail_shows, tiles_show

SERVE = Path(os.environ.get("BUILD_DIR", "")) / "tests/serve"
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else None
LINKS = ("const visible = e => e.checkVisibility() && !e.closest('dialog');"
         "return [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex=\"0\"]')]"
         ".filter(visible).filter(e => !e.disabled)")
SHOWN = "return [...document.querySelectorAll('.tile:not([hidden])')].map(e => e.dataset.camera)"
STATE = "document.querySelector(`.tile[data-camera=\"${arguments[0]}\"]`).dataset.state"


def picture(browser, name):
    if FOLDER:
        browser.picture(FOLDER / f"{name}.png")


def names_are_text(browser, monitor):
    names = {camera["id"]: camera["name"] for camera in monitor.cameras()}
    shown = browser.run("return Object.fromEntries([...document.querySelectorAll('.tile')].map("
                        "tile => [tile.dataset.camera, tile.querySelector('a').textContent]))")
    expect(shown == names, "names are not shown literally", names, shown)
    expect("<script>" in str(names), "the test has no hostile name")
    for camera in names:
        browser.run("location.hash = '#/camera/' + arguments[0]", camera)
        browser.wait("return document.querySelector('#detail h2')?.textContent === arguments[0]",
                     f"no detail of {camera}", names[camera])
    browser.run("location.hash = '#/'")
    title = browser.run("return document.title")
    expect("Luminance monitor" in title, "a name was run", title)
    expect(browser.run("return document.querySelectorAll('body script, body b i').length") == 0,
           "a name made elements")


def filters_select_cameras(browser):
    """The second camera is dark, the fourth and fifth have no picture. On a busy machine, other cameras may
    have none for a moment, too."""
    browser.wait(f"return {STATE} === 'trouble'", "a dark camera is not in trouble", "camera-1")
    for camera in ("camera-3", "camera-4"):
        browser.wait(f"return {STATE} === 'lost'", "a camera without frames is not lost", camera)
    everything = browser.run(SHOWN)
    browser.press("t")
    browser.wait(f"const shown = (() => {{ {SHOWN} }})(); return !shown.includes('camera-0') &&"
                 "['camera-1', 'camera-3', 'camera-4'].every(id => shown.includes(id))",
                 "t shows others than those in trouble")
    browser.click('[data-filter="lost"]')
    browser.wait(f"return (() => {{ {SHOWN} }})().join() === 'camera-3,camera-4'",
                 "the filter for lost cameras shows others")
    browser.wait("return document.querySelector('[data-filter=lost] b').textContent === '2'",
                 "the count is not that of the cameras")
    browser.click('[data-filter="all"]')
    browser.press("/", "ENTRANCE")
    expect(browser.run(SHOWN) == ["camera-0"], "the search finds other cameras")
    browser.press("x")
    expect(browser.run("return document.getElementById('empty').checkVisibility()"),
           "the page does not say that nothing was found")
    browser.press("ESCAPE")
    expect(browser.run(SHOWN) == everything, "Escape does not end the search")


def tab_reaches_everything(browser):
    """Presses Tab for each control, and checks that the focused one has an outline. Yields their indices in
    the document."""
    for _ in browser.run(LINKS):
        browser.press("TAB")
        found = browser.run(
            f"const all = (() => {{ {LINKS} }})(); const e = document.activeElement;"
            "const outlined = e.closest('.tile') ?? e; const style = getComputedStyle(outlined);"
            "return [all.indexOf(e), style.outlineStyle, parseFloat(style.outlineWidth)]")
        yield found[0]
        expect(found[1] == "solid" and found[2] >= 2, "the focused element has no outline",
               browser.focused())


def keys_reach_every_view(browser, address):
    for route in ("", "#/camera/camera-1"):
        browser.driver.get("about:blank")
        browser.open(address, route)
        order = list(tab_reaches_everything(browser))
        expect(order == list(range(len(order))), "Tab does not go through everything", route, order)
    browser.driver.get("about:blank")
    browser.open(address)
    at = "return document.activeElement.closest('.tile')?.dataset.camera"
    browser.run("document.querySelector('.tile a').focus()")
    browser.press("ARROW_RIGHT")
    expect(browser.run(at) == "camera-1", "an arrow does not lead to the next tile")
    browser.press("ENTER")
    browser.wait("return document.activeElement.matches('#detail h2')", "Enter opens no detail")
    browser.press("ARROW_RIGHT")
    shown = "return document.querySelector('#detail .location')?.textContent.endsWith(arguments[0])"
    browser.wait(shown, "an arrow leads to no neighbour", "/2")
    for camera in ("/1", "/0"):
        browser.press("ARROW_LEFT")
        browser.wait(shown, "arrows do not lead back", camera)
    browser.press("ESCAPE")
    browser.wait("return document.activeElement.closest('.tile')?.dataset.camera === 'camera-0'",
                 "the focus does not return to the tile")
    browser.press("ENTER")
    browser.wait("return document.activeElement.matches('#detail h2')", "Enter opens no detail")
    browser.driver.back()
    browser.wait("return document.getElementById('overview').checkVisibility()", "no way back")
    browser.press("?")
    browser.wait("return document.getElementById('keys').open", "? does not show the keys")
    browser.press("ESCAPE")
    browser.wait("return !document.getElementById('keys').open", "Escape does not close the keys")
    browser.run("location.hash = '#/camera/%E0%A4%A'")
    browser.wait("return document.getElementById('detail').textContent.includes('does not exist')",
                 "a camera that is not there is not said to be missing")
    browser.press("ESCAPE")


def themes_have_contrast(browser):
    grounds = {}
    for theme in ("dark", "light"):
        browser.prefer(theme)
        for view, route in (("overview", "#/"), ("detail", "#/camera/camera-1")):
            browser.run("location.hash = arguments[0]", route)
            browser.wait("return document.getElementById(arguments[0]).checkVisibility()", view, view)
            expect(not (poor := poor_contrasts(browser)), f"{theme}, {view}: too little contrast", *poor)
            picture(browser, f"{view}-{theme}")
        grounds[theme] = browser.run("return getComputedStyle(document.documentElement).backgroundColor")
    expect(grounds["dark"] != grounds["light"], "dark and light are the same", grounds)
    browser.run("location.hash = '#/'")
    browser.click("#theme")  # to dark, although the system prefers light
    browser.driver.refresh()
    ground = browser.wait("return getComputedStyle(document.documentElement).backgroundColor", "")
    expect(ground == grounds["dark"], "the theme is not remembered", ground, grounds)
    browser.run("localStorage.clear()")


def the_page_fits_a_phone(browser, address):
    browser.resize(320, 640)
    for route in ("", "#/camera/camera-4"):
        browser.driver.get("about:blank")
        browser.open(address, route)
        wide = browser.run("const wide = [...document.querySelectorAll('body *')].filter(e => "
                           "e.checkVisibility() && !e.closest('svg') && !e.matches('.unseen') && "
                           "e.getBoundingClientRect().right > 320.5);"
                           "return [document.documentElement.scrollWidth, wide.map(e => e.className)]")
        expect(wide[0] <= 320, f"'{route}' is wider than a phone", wide)
        picture(browser, "phone" + ("-detail" if route else ""))
    browser.resize(1280, 800)


def verdicts_are_announced(browser, monitor):
    """A screen reader announces verdicts, and the list of events gets them without a reload."""
    browser.open(monitor.address, "#/camera/camera-0")
    browser.run("window.said = []; new MutationObserver(() => said.push(document.getElementById('updates')"
                ".textContent)).observe(document.getElementById('updates'), {childList: true})")
    for text in (r"Entrance\W*: .*too dark", r"Entrance\W*: .*too dark cleared"):
        monitor.send(signal.SIGUSR1)
        browser.wait("return said.some(text => new RegExp(arguments[0]).test(text))",
                     f"'{text}' is not said", text)
    browser.wait("return document.querySelectorAll('.events tr[data-raised=\"false\"]').length > 0",
                 "the list of events does not follow")
    since = browser.run("return Date.now() - 15 * 60e3")
    events = monitor.ask(f"api/v1/events?camera=camera-0&from={int(since)}")["events"]
    rows = browser.run("return [...document.querySelectorAll('.events tbody tr')].map("
                       "row => [row.dataset.raised, row.children[1].textContent])")
    expect(len(rows) == len(events), "the list has other events", rows, events)
    for (raised, text), event in zip(rows, events):
        expect((raised == "true") == event["raised"] and event["title"] in text,
               "the list has another event", text, event)


def text_of_a_row(browser, address, camera, pattern):
    """Moves through the last hour by keys to the latest row whose text matches, and returns the text. A busy
    machine may leave out a row."""
    browser.open(address, f"#/camera/{camera}")
    browser.click('[data-part="ranges"] button[value="1 h"]')
    chart = "const chart = document.querySelector('.history');"
    browser.wait(chart + "return Number(chart.getAttribute('aria-valuemax')) > 1", "no history is shown")
    browser.run(chart + "chart.focus()")
    for _ in range(30):
        browser.press("ARROW_LEFT")
        text = browser.run(chart + "return chart.getAttribute('aria-valuetext')")
        if re.search(pattern, text):
            return text
        time.sleep(1)
    raise AssertionError(f"arrows do not read the history: {text}")


def history_is_drawn(browser, monitor):
    text = text_of_a_row(browser, monitor.address, "camera-3", ": no frames")
    expect("No frames" in text, "a row does not name its verdict", text)
    text = text_of_a_row(browser, monitor.address, "camera-1", ": mean [0-9]")
    browser.wait("return document.querySelector('.history [data-part=line]').getAttribute('d') && "
                 "document.querySelector('.history rect[data-verdict=too-dark]')",
                 "the history and its verdict are not drawn")
    browser.wait("return document.querySelector('.lanes text')?.textContent === 'Too dark'",
                 "a verdict has another title in the history")
    value = browser.wait("return document.querySelector('.events tbody td:last-child')?.textContent",
                         "no events")
    expect(re.fullmatch(r"(mean luma|luma from p5 to p95): [\d.]+", value), "a value has no name", value)
    rows = monitor.ask("api/v1/cameras/camera-1/history?points=5000")["rows"]
    means = {f"mean {row['mean']:.1f}" for row in rows if row["mean"] is not None}
    expect(re.search(r"mean [\d.]+", text)[0] in means, "no row of the history has this mean", text)
    browser.click('[data-part="ranges"] button[value="15 min"]')


RULES = """
const text = (e) => e.textContent, box = document.querySelector('.history .plot').getBoundingClientRect();
return {
  rows: [...document.querySelectorAll('.rules tbody tr')].map((row) => [...row.children].map(text)),
  lines: [...document.querySelectorAll('.plot .limits path')].map((e) => [
    e.dataset.limit, e.getBoundingClientRect().top - box.top, box.height]),
  labels: [...document.querySelectorAll('div.limits span')].map((e) => [
    e.dataset.limit, text(e), e.getBoundingClientRect().top - box.top,
    e.getBoundingClientRect().bottom - box.top]),
  values: [...document.querySelectorAll('.verdicts .value')].map(text),
}"""


def number(text):
    """Returns the number in a text; a percentage as a share of 0 to 1."""
    value = float(re.search(r"[\d.]+", text)[0])
    return value / 100 if text.endswith("%") else value


def expect_same_rule(cells, rule, of):
    raised, cleared, hold = cells
    share = "share" in of["quantity"] and 1 or 100
    expect(raised.startswith(of["side"]) and abs(number(raised) - rule["raise"]) < 1e-9
           or raised.endswith(" %") and abs(number(raised) * share - rule["raise"]) < 1e-9,
           "another threshold", cells, rule)
    if of["name"] == "no-frames":
        expect(cleared == "a frame arrives", "no-frames has another end", cells)
    else:
        expect(cleared.startswith("below" if of["side"] == "above" else "above") and
               (abs(number(cleared) - rule["clear"]) < 1e-9 or
                cleared.endswith(" %") and abs(number(cleared) * share - rule["clear"]) < 1e-9),
               "another threshold", cells, rule)
    expect(hold == f"{rule['hold']:g} s", "another hold", cells, rule)


def rules_are_shown(browser, monitor):
    """Rules are shown in a table, and thresholds of the mean as lines in the chart; a verdict names its
    threshold."""
    for index, camera in enumerate(monitor.cameras()[:2]):
        browser.open(monitor.address, f"#/camera/{camera['id']}")
        browser.wait("return document.querySelectorAll('.rules tbody tr').length > 8 &&"
                     "document.querySelector('.history .plot').getBoundingClientRect().height > 0",
                     "no rules are shown")
        shown = browser.run(RULES)
        rows = iter(shown["rows"])
        for rule in camera["rules"]:
            title, *cells = next(rows)
            expect(title == rule["title"] + rule["quantity"], "another rule", title, rule)
            expect_same_rule(cells, rule, rule)
            for period in rule["schedule"]:
                title, *cells = next(rows)
                expect(title == (f"{period['from']} to {period['to']}" if period["from"]
                                 else "at other times"), "another period", title, period)
                expect_same_rule(cells, period, rule)
        expect(next(rows, None) is None, "the page shows more rules than the API", shown["rows"])
        expect([rule["name"] for rule in camera["rules"] if rule["schedule"]] ==
               (["too-dark"] if index == 0 else []), "the schedule", camera["rules"])
        wanted = {rule["name"]: rule for rule in camera["rules"] if rule["quantity"] == "mean luma"}
        expect([line[0] for line in shown["lines"]] == list(wanted) == ["too-dark", "too-bright"],
               "other lines", shown["lines"])
        for (name, top, height), (label, text, above, below) in zip(shown["lines"], shown["labels"]):
            rule = wanted[name]
            expect(abs(top - (255 - rule["raise"]) / 255 * height) < 1, "a line is misplaced", name, top)
            now = " now" if rule["schedule"] else ""
            expect(label == name and text == f"{rule['title']} {rule['side']} {rule['raise']:g}{now}",
                   "a line has another label", text, rule)
            expect(min(abs(above - top), abs(below - top)) < 2 and above >= 0 and below <= height,
                   "a label is misplaced", name, top, above, below)
    expect(re.fullmatch(r"mean luma: [\d.]+, below 40", shown["values"][0]),
           "a verdict does not name its threshold", shown["values"])


def the_page_recovers_after_a_restart(browser, monitor, history):
    """A monitor is killed, and another one with fewer cameras takes its place."""
    browser.open(monitor.address)
    monitor.end(signal.SIGKILL)
    browser.wait("return document.documentElement.dataset.connection === 'lost'",
                 "the page does not notice that the monitor is gone")
    facts = browser.run("return [document.getElementById('banner').textContent,"
                        "document.getElementById('banner').checkVisibility(),"
                        "[...document.querySelectorAll('.stale-mark')].every(e => e.checkVisibility())]")
    expect("stale" in facts[0] and facts[1] and facts[2], "numbers are not marked as stale", facts)
    expect(not (poor := poor_contrasts(browser)), "stale: too little contrast", *poor)
    picture(browser, "lost")
    other = Monitor([SERVE, "--cameras=4", f"--port={monitor.port}", f"--history={history}"])
    browser.wait("return document.documentElement.dataset.connection === 'live' && "
                 "document.getElementById('banner').hidden", "the page does not recover")
    expect(browser.run(SHOWN) == [f"camera-{i}" for i in range(4)], "the tiles are not the new cameras")
    browser.console()  # drops the messages of refused connections
    tiles_show(browser, other, ["camera-0", "camera-1"])
    return other


def a_hidden_page_has_no_stream(browser, address):
    """A hidden page closes its stream, and opens it again when it is visible."""
    def count():
        return sum(one.endswith("/stream") for one in browser.requested())

    browser.driver.get("about:blank")
    browser.open(address)
    browser.wait("return document.querySelector('.tile').dataset.time", "no numbers come")
    before = count()
    hide = ("Object.defineProperty(document, 'hidden', {value: arguments[0], configurable: true});"
            "document.dispatchEvent(new Event('visibilitychange')); return document.querySelector("
            "'.tile').dataset.time")
    then = browser.run(hide, True)
    time.sleep(3)  # three intervals
    now = browser.run(hide, False)
    expect(int(now) - int(then) < 2000, "a hidden page is still updated", then, now)
    browser.wait("return document.querySelector('.tile').dataset.time - arguments[0] > 2000",
                 "a page that is visible again is not updated", now)
    expect(count() > before, "the stream was not opened again")


def an_unwritable_history_is_reported(browser, monitor):
    shown = ("const told = document.getElementById('history-error');"
             "return told.checkVisibility() === arguments[0] && told.textContent")
    expect(not browser.run("return document.getElementById('history-error').checkVisibility()"),
           "the page reports an error of a working history")
    monitor.limit_files(1)
    text = browser.wait(shown, "the page does not report that the history is not written", True)
    expect("history cannot be written" in text and "history.sqlite" in text, "another error", text)
    monitor.limit_files(resource.RLIM_INFINITY)
    browser.wait(shown, "the page still reports the error", False)


def a_damaged_history_is_reported(browser, history):
    """A damaged history is set aside, and the page reports it in a line that stays."""
    text = bytearray(history.read_bytes())
    text[:4096] = b"\xa5" * 4096
    history.write_bytes(text)
    monitor = Monitor([SERVE, "--cameras=1", f"--history={history}"])
    browser.open(monitor.address)
    told = browser.wait("const told = document.getElementById('history-error');"
                        "return told.checkVisibility() && told.textContent", "the page does not report it")
    kept = list(history.parent.glob(f"{history.name}.damaged-*[0-9]Z"))
    expect(len(kept) == 1 and f"the damaged file was set aside as {kept[0]}, and a new history" in told, told, kept)
    with urllib.request.urlopen(monitor.address + "metrics") as answer:
        expect("\nluminance_history_set_aside_total 1\n" in answer.read().decode(), "not in the metrics")
    browser.driver.get("about:blank")
    monitor.end()


def the_page_explains_how_to_keep_a_history(browser):
    monitor = Monitor([SERVE, "--cameras=1"])
    browser.open(monitor.address, "#/camera/camera-0")
    facts = browser.wait("const hint = document.querySelector('[data-part=hint]'); return hint && ["
                         "hint.textContent, hint.checkVisibility(), document.querySelector('.events')"
                         ".checkVisibility(), [...document.querySelectorAll('[data-part=ranges] button')]"
                         ".filter(e => !e.disabled).length]", "no detail")
    expect("--history" in facts[0] and facts[1:] == [True, False, 1],
           "the page does not say how to keep a history", facts)
    expect(not (console := browser.console()), "the console has messages", *console)
    browser.driver.get("about:blank")
    monitor.end()


def the_page_works_with_a_password(browser, history):
    """Also if the password is in the address."""
    monitor = Monitor([SERVE, "--basic=operator:secret", f"--history={history}"])
    browser.open(monitor.address.replace("//", "//operator:secret@"), "#/camera/camera-1")
    browser.wait("return document.querySelectorAll('.events tbody tr').length > 0",
                 "the list of events does not come with a password")
    expect(not (console := browser.console()), "the console has messages", *console)
    browser.driver.get("about:blank")
    monitor.end()


def main():
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        history = Path(folder) / "history.sqlite"
        monitor = Monitor([SERVE, f"--history={history}"])
        address = monitor.address
        browser.open(address)
        tiles_show(browser, monitor, ["camera-0", "camera-1", "camera-2"])
        filters_select_cameras(browser)
        detail_shows(browser, monitor, "camera-0")
        names_are_text(browser, monitor)
        history_is_drawn(browser, monitor)
        rules_are_shown(browser, monitor)
        verdicts_are_announced(browser, monitor)
        an_unwritable_history_is_reported(browser, monitor)
        keys_reach_every_view(browser, address)
        themes_have_contrast(browser)
        the_page_fits_a_phone(browser, address)
        a_hidden_page_has_no_stream(browser, address)
        expect(not (console := browser.console()), "the console has messages", *console)
        monitor = the_page_recovers_after_a_restart(browser, monitor, history)
        expect(not (console := browser.console()), "the console has messages", *console)
        others = {one for one in browser.requested() if not one.startswith((address, "about:"))}
        expect(not others, "the page requests other addresses", *others)
        browser.driver.get("about:blank")
        monitor.end()
        a_damaged_history_is_reported(browser, history)
        the_page_explains_how_to_keep_a_history(browser)
        the_page_works_with_a_password(browser, Path(folder) / "other.sqlite")
    print("the page shows what the monitor says, to the eye, the keyboard and the ear")


main()
