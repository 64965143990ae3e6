#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Leaves the page open with 32 cameras, and checks that its memory does not grow."""
import os
import time
from pathlib import Path

from browser import Browser, Monitor, expect

SERVE = Path(os.environ.get("BUILD_DIR", "")) / "tests/serve"
CAMERAS = 32
SEEN = CAMERAS - 2  # two cameras have no picture
WARM_UP, SOAK = 15, 60  # seconds
DETAILS = 20
# A page that kept one interval of each camera would grow by 4 MB in a minute.
MAX_GROWTH = {"JSHeapUsedSize": 500e3, "Nodes": 100, "JSEventListeners": 10}


def measure(browser):
    """Returns the metrics of the page after garbage collections."""
    for _ in range(3):
        browser.cdp("HeapProfiler.collectGarbage")
    metrics = browser.cdp("Performance.getMetrics")["metrics"]
    return {metric["name"]: metric["value"] for metric in metrics}


def times_shown(browser):
    """Returns the times of the tiles in milliseconds, in their order; 0 if a tile shows no numbers."""
    return browser.run("return [...document.querySelectorAll('.tile')]"
                       ".map(tile => Number(tile.dataset.time ?? 0))")


def watch(browser, seconds):
    """Waits, and checks that every tile gets new numbers meanwhile."""
    before = times_shown(browser)
    time.sleep(seconds)
    updated = sum(new - old > 500 * seconds
                  for old, new in zip(before, times_shown(browser), strict=True))
    expect(updated == SEEN, "tiles are not updated", updated)


def measure_at_rest(browser, before):
    """Returns what is used once pending answers have arrived; leaks stay."""
    for _ in range(20):
        after = measure(browser)
        if all(after[name] - before[name] < limit for name, limit in MAX_GROWTH.items()):
            break
        time.sleep(1)
    return after


def expect_no_growth(before, after, what):
    facts = [f"{name}: {before[name]:.0f}, then {after[name]:.0f}"
             for name in MAX_GROWTH]
    print(what, *facts, sep="\n  ")
    for name, limit in MAX_GROWTH.items():
        expect(after[name] - before[name] < limit, f"{name} grows", *facts)


def open_details(browser, count):
    for i in range(count):
        browser.run("location.hash = '#/camera/camera-' + arguments[0]", i % CAMERAS)
        # The script returns no element, because the driver would keep it.
        browser.wait("return document.querySelector('#detail .plot') !== null", "no detail")
        browser.run("location.hash = '#/'")
        browser.wait("return document.querySelector('#detail .plot') === null", "the detail stays")


def main():
    with Browser(1920, 1080) as browser:
        monitor = Monitor([SERVE, f"--cameras={CAMERAS}"])
        browser.cdp("Performance.enable")
        browser.open(monitor.address)
        browser.wait("return [...document.querySelectorAll('.tile')]"
                     ".filter(tile => tile.dataset.time).length === arguments[0]",
                     "no numbers come", SEEN)
        watch(browser, WARM_UP)
        before = measure(browser)
        watch(browser, SOAK)
        after = measure_at_rest(browser, before)
        expect_no_growth(before, after, f"{SOAK} s with {CAMERAS} cameras:")
        busy = (after["TaskDuration"] - before["TaskDuration"]) / SOAK
        print(f"  {100 * busy:.0f} % of a core")
        open_details(browser, 2)
        before = measure(browser)
        open_details(browser, DETAILS)
        expect_no_growth(before, measure_at_rest(browser, before), f"{DETAILS} details:")
        browser.driver.get("about:blank")
        monitor.end()


main()
