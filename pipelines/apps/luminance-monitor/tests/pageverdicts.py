#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pageverdicts.py [FOLDER]: verdicts below the page's chart in a headless Chromium, over a month of
history: a verdict of ten seconds is visible at its time, and several do not look like a long one.
Saves pictures in FOLDER."""
import os
import re
import sqlite3
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

from browser import Browser, Monitor, expect

SERVE = Path(os.environ.get("BUILD_DIR", "")) / "tests/serve"
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else None
DESKTOP, PHONE = (1280, 800), (390, 844)
SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3600_000, 24 * 3600_000
NOW = int(time.time()) * SECOND
SHORT = 10 * SECOND
MIN_WIDTH, MAX_SHIFT = 3, 2  # pixels
ROUNDING = 0.05
CAMERA = "camera-0"

# Begin and length of verdicts, in milliseconds.
ALONE = NOW - 12 * DAY - 5 * HOUR - 17 * MINUTE
PAIR = [NOW - 20 * DAY, NOW - 20 * DAY + 100 * MINUTE]
MANY = [NOW - 10 * DAY + i * 65 * MINUTE for i in range(20)]
LONG, LENGTH = NOW - 25 * DAY, 3 * DAY
RECENT = NOW - 20 * MINUTE
JUST_NOW = NOW - 5 * MINUTE
ROW_ONLY = NOW - 16 * DAY  # a row has this verdict, but no incident
INCIDENTS = [("too-dark", ALONE, SHORT), ("too-dark", RECENT, SHORT), ("too-bright", JUST_NOW, SHORT),
             ("frozen", LONG, LENGTH),
             *(("flicker", begin, SHORT) for begin in PAIR),
             *(("clipped-high", begin, SHORT) for begin in MANY)]

ROWS = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows)
INSERT OR IGNORE INTO measurement
SELECT number, (:now / 60000 - i) * 60000, 60, 600, 100 + i % 50, 99, 155, 40, 20, 101, 220, 0, 0, ''
FROM n, camera WHERE id = :camera
"""
MARK = """
UPDATE measurement SET verdicts = trim(verdicts || ' ' || :verdict)
WHERE camera = (SELECT number FROM camera WHERE id = :camera)
  AND time + 1000 * duration > :begin AND time < :end
"""
INCIDENT = """
INSERT INTO incident (camera, verdict, since, until, reason, value, threshold)
SELECT number, :verdict, :begin, :end, 'value', 1, 2 FROM camera WHERE id = :camera
"""
MARKS = """
const lanes = document.querySelector('.lanes').getBoundingClientRect();
return [...document.querySelectorAll(`.lanes rect[data-verdict="${arguments[0]}"]`)]
  .map(mark => mark.getBoundingClientRect())
  .map(({left, right}) => [left - lanes.left, right - lanes.left])"""
PERIOD = """
const {searchParams} = new URL(document.querySelector('[data-part=csv]').href);
return [Number(searchParams.get('from')), Number(searchParams.get('to')),
  document.querySelector('.lanes').getBoundingClientRect().width]"""
# Returns the pseudo-random spans whose marks are wrong. The spans are the same in each run.
WRONG_MARKS = """
const done = arguments[0];
let state = 1;
const random = () => (state = state * 48271 % 2147483647) / 2147483647;
import('./marks.js').then(({marksOf}) => {
  const wrong = [];
  for (let run = 0; run < 5000; ++run) {
    const width = 50 + random() * 900, count = 1 + Math.floor(random() ** 3 * 200);
    const spans = Array.from({length: count}, () => {
      const from = random() * width;
      return {from, to: Math.min(width, from + random() ** 9 * width)};
    }).sort((a, b) => a.from - b.from);
    const marks = marksOf(spans, width);
    const isRight = marks.every(({left, width: own}, i) => own > 2.999 && left > -0.001
      && left + own < width + 0.001 && (i === 0 || left - marks[i - 1].left - marks[i - 1].width > 0.999));
    const isSeen = spans.every(({from, to}) => marks.some(({left, width: own}) =>
      left - 4 <= to && left + own + 4 >= from));
    const isMeant = marks.every(({left, width: own}) => {
      let covered = 0, end = left;
      for (const {from, to} of spans) {
        covered += Math.max(0, Math.min(to, left + own) - Math.max(from, end));
        end = Math.max(end, to);
      }
      return own < 8 ? spans.some(({from, to}) => left - 4 <= to && left + own + 4 >= from)
        : covered > 0.4 * own;
    });
    if (!isRight || !isSeen || !isMeant) wrong.push(JSON.stringify([width, spans, marks]));
  }
  done(wrong);
}, (error) => done([String(error)]))"""


# Returns the spans that rows of an hour with a verdict add to the only listed incident.
COARSE = """
const done = arguments[0], hour = 3600e3;
import('./spans.js').then(({coarseSpans, exactSpans}) => {
  const rows = [0, 1, 2, 3].map(i => ({time: i * hour, duration: 3600, verdicts: ['frozen']}));
  const exact = exactSpans([{verdict: 'frozen', begin: 2.5 * hour, end: 3 * hour}], []);
  done(coarseSpans(rows, exact, [{name: 'frozen', hold: 30}], 1.5 * hour)
    .map(({from, to}) => [from / hour, to / hour]));
}, (error) => done([String(error)]))"""


def make_history(file):
    """Writes a month of history into the tables that the program creates."""
    Monitor([SERVE, f"--history={file}"]).end()
    with sqlite3.connect(file) as database:
        database.execute("INSERT OR IGNORE INTO camera (id, name) VALUES (?, ?)", (CAMERA, CAMERA))
        database.execute(ROWS, {"rows": 30 * DAY // MINUTE - 10, "now": NOW, "camera": CAMERA})
        for verdict, begin, length in INCIDENTS:
            one = {"verdict": verdict, "begin": begin, "end": begin + length, "camera": CAMERA}
            database.execute(MARK, one)
            database.execute(INCIDENT, one)
        database.execute(MARK, {"verdict": "low-contrast", "begin": ROW_ONLY, "camera": CAMERA,
                                "end": ROW_ONLY + SHORT})
        # The program makes the summaries again when it opens the file.
        database.execute("UPDATE camera SET min_summary_length = 0, summarized_until = 0")
    database.close()


def show(browser, title):
    browser.click(f'[data-part="ranges"] button[value="{title}"]')
    browser.wait("return document.querySelector('.lanes rect[data-verdict=too-dark]') !== null",
                 f"{title}: a verdict is not drawn")
    browser.wait("return document.querySelector('.history [data-part=line]').getAttribute('d')",
                 f"{title}: no history")


def marks_of(browser, verdict):
    """Returns (left, right) of the marks of a verdict in pixels, from left to right, and checks widths and
    gaps."""
    marks = sorted(browser.run(MARKS, verdict))
    for left, right in marks:
        expect(right - left >= MIN_WIDTH - ROUNDING, f"{verdict}: a mark is too narrow", marks)
    for (_, last), (left, _) in zip(marks, marks[1:]):
        expect(left - last >= 1 - ROUNDING, f"{verdict}: there is no gap", marks)
    return marks


def place_of(browser):
    """Returns a function from a time to its place in pixels."""
    begin, end, width = browser.run(PERIOD)
    return lambda at: (at - begin) / (end - begin) * width


def expect_ticks(marks, x, begins, what):
    expect(len(marks) == len(begins), f"{what}: another number of marks", marks, begins)
    for (left, right), begin in zip(marks, begins):
        expect(abs((left + right) / 2 - x(begin + SHORT / 2)) <= MAX_SHIFT + ROUNDING,
               f"{what}: a mark is misplaced", (left, right), x(begin))
        expect(right - left <= MIN_WIDTH + MAX_SHIFT, f"{what}: a mark is too long", marks)


def expect_month(browser, what):
    x = place_of(browser)
    expect_ticks(marks_of(browser, "too-dark"), x, [ALONE, RECENT], f"{what}, alone")
    (left, right), = marks_of(browser, "frozen")
    expect(abs(left - x(LONG)) <= MAX_SHIFT and abs(right - x(LONG + LENGTH)) <= MAX_SHIFT,
           f"{what}: a long verdict has other ends", (left, right), x(LONG), x(LONG + LENGTH))
    pair = marks_of(browser, "flicker")
    if x(PAIR[1]) - x(PAIR[0] + SHORT) >= 1:
        expect_ticks(pair, x, PAIR, f"{what}, two")
    many = marks_of(browser, "clipped-high")
    expect(len(many) >= 2, f"{what}: many look like one", many)
    expect(abs(many[0][0] - x(MANY[0])) <= 4 and abs(many[-1][1] - x(MANY[-1])) <= 4,
           f"{what}: many are misplaced", many, x(MANY[0]), x(MANY[-1]))
    (left, right), = marks_of(browser, "low-contrast")
    expect(left - MAX_SHIFT <= x(ROW_ONLY) <= right + MAX_SHIFT,
           f"{what}: a verdict without an incident is misplaced", (left, right), x(ROW_ONLY))


def marks_are_right_at_any_size(browser):
    """The marks also fit after the window was resized, without a reload."""
    for size, what in ((DESKTOP, "desktop"), (PHONE, "phone"), ((800, 600), "tablet"),
                       (PHONE, "phone again"), ((2560, 1440), "wide"), (DESKTOP, "desktop again")):
        browser.resize(*size)
        browser.wait("return document.querySelector('.lanes').getBoundingClientRect().width < arguments[0]",
                     f"{what}: the chart keeps its width", size[0])
        time.sleep(0.2)  # so that the browser draws
        expect_month(browser, what)
        if FOLDER:
            browser.run("document.querySelector('.past').scrollIntoView({block: 'center'})")
            browser.picture(FOLDER / f"month-{what.replace(' ', '-')}.png")


def all_ranges_show_a_short_verdict(browser):
    for title, begins in (("30 d", [ALONE, RECENT]), ("7 d", [RECENT]), ("24 h", [RECENT]),
                          ("1 h", [RECENT])):
        show(browser, title)
        browser.wait("return document.querySelectorAll('.lanes rect[data-verdict=too-dark]').length"
                     " === arguments[0]", f"{title}: another number of marks", len(begins))
        expect_ticks(marks_of(browser, "too-dark"), place_of(browser), begins, title)
    show(browser, "30 d")
    browser.wait("return document.querySelectorAll('.lanes rect[data-verdict=frozen]').length",
                 "the month is not shown again")


def the_last_minutes_show_an_ended_verdict(browser):
    """The range of the last minutes shows a verdict that ended before the page was opened."""
    browser.wait("return document.querySelector('.lanes rect[data-verdict=too-bright]') !== null",
                 "a verdict before the page was opened is not drawn")
    (left, right), = marks_of(browser, "too-bright")
    width = browser.run(PERIOD)[2]
    begin = time.time() * SECOND - 15 * MINUTE
    for at, end in ((left, JUST_NOW), (right, JUST_NOW + SHORT)):
        expect(abs(at - (end - begin) / (15 * MINUTE) * width) < 4, "the mark is misplaced", left, right)


def clock_of(milliseconds):
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).strftime("%H:%M:%S")


def the_cursor_names_the_verdict(browser):
    """The cursor shows the times of the verdict, not those of the row, which covers an hour."""
    (left, right), _ = marks_of(browser, "too-dark")
    plot = browser.driver.find_element("css selector", ".history .plot")
    for at in (left + 0.5, (left + right) / 2, right - 0.5):
        offset = round(at - plot.rect["width"] / 2)
        browser.pointer().move_to_element_with_offset(plot, offset, 0).perform()
        words = f"Too dark from .*{clock_of(ALONE)} to {clock_of(ALONE + SHORT)}"
        browser.wait("return new RegExp(arguments[0]).test("
                     "document.querySelector('.past .readout').textContent)",
                     "the cursor does not name the verdict", words)
    text = browser.run("return document.querySelector('.history').getAttribute('aria-valuetext')")
    expect(re.search(words, text), "a screen reader does not name the verdict", text)
    x = place_of(browser)
    offset = round(x(ALONE + DAY) - plot.rect["width"] / 2)
    browser.pointer().move_to_element_with_offset(plot, offset, 0).perform()
    browser.wait("return !document.querySelector('.past .readout').textContent.includes('Too dark')",
                 "the cursor still names the verdict a day later")


def marks_are_right_for_random_spans(browser):
    wrong = browser.driver.execute_async_script(WRONG_MARKS)
    expect(not wrong, f"expected no wrong marks in 5000 runs, got {len(wrong)}", *wrong[:1])


def rows_show_verdicts_without_incidents(browser):
    """The third row has the incident; the fourth has its verdict until it is cleared."""
    coarse = browser.driver.execute_async_script(COARSE)
    expect(coarse == [[0, 2]], "other rows are drawn than those without incidents", coarse)


def main():
    with tempfile.TemporaryDirectory() as folder, Browser(*DESKTOP) as browser:
        browser.cdp("Emulation.setTimezoneOverride", timezoneId="UTC")
        file = Path(folder) / "history.sqlite"
        make_history(file)
        monitor = Monitor([SERVE, f"--history={file}"])
        browser.open(monitor.address, f"#/camera/{CAMERA}")
        browser.wait("return document.querySelector('[data-part=csv]')?.href", "no history")
        the_last_minutes_show_an_ended_verdict(browser)
        all_ranges_show_a_short_verdict(browser)
        the_cursor_names_the_verdict(browser)
        marks_are_right_at_any_size(browser)
        marks_are_right_for_random_spans(browser)
        rows_show_verdicts_without_incidents(browser)
        expect(not (console := browser.console()), "the console has messages", *console)
        browser.driver.get("about:blank")
        monitor.end()
    print("verdicts of ten seconds are seen in a month")


main()
