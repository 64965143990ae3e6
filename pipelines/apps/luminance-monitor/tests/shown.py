# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the numbers of the page are those of the API for the same interval."""
import re
import time

from browser import PATIENCE, expect

_TILES = """
return [...document.querySelectorAll('.tile')].map((tile) => ({
  camera: tile.dataset.camera, time: Number(tile.dataset.time),
  histogram: tile.querySelector('[data-part=histogram]').getAttribute('d'),
  fields: [...tile.querySelectorAll('[data-field]')].map(
    (field) => [field.dataset.field, field.dataset.value, field.textContent, field.title]),
}))"""
_DETAIL = """
const detail = document.querySelector('#detail > [data-time]');
return {
  time: Number(detail.dataset.time),
  histogram: detail.querySelector('[data-part=histogram]').getAttribute('d'),
  table: [...detail.querySelectorAll('details tbody tr')].map((row) => Number(row.children[1].dataset.value)),
  fields: [...detail.querySelectorAll('.statistics [data-field]')].map(
    (field) => [field.dataset.field, field.dataset.value, field.textContent, field.title]),
}"""
_NAMES = {"interval": "time", "interval-frames": "frames"}  # names of fields in the API
_OTHERS = ("frames", "reconnects", "last_frame")  # change within an interval
_INTERVALS = 3  # to compare


def _compare_fields(fields, latest):
    for field, value, text, title in fields:
        expected = latest[_NAMES.get(field, field)]
        expect(float(value) == expected and title == value, f"{field} is not the API's", value, expected)
        if isinstance(expected, float) and "%" not in text:
            digits = len(text.partition(".")[2])
            expect(abs(float(text.replace(",", "")) - expected) <= 0.5001 * 10**-digits,
                   f"{field} is rounded wrongly", text, expected)


def _compare_bars(path, counts, scale):
    """Compares the bars of a histogram, whose box is 100 high, with the counts."""
    tops = [float(top) for top in re.findall(r"V([\d.]+)H", path)]
    expect(len(tops) == 256, "expected 256 bars", path)
    for i, (top, count) in enumerate(zip(tops, counts)):
        share = count / max(counts)
        height = 100 * (share**0.5 if scale == "sqrt" else share)
        expect(abs(100 - top - height) <= 0.051, f"bar {i} is wrong", top, count, scale)


def tiles_show(browser, monitor, cameras):
    """Compares some intervals of each camera."""
    seen = {camera: set() for camera in cameras}
    end = time.monotonic() + PATIENCE
    while any(len(times) < _INTERVALS for times in seen.values()):
        expect(time.monotonic() < end, "too few intervals are shown", seen)
        for tile in browser.run(_TILES):
            camera, begin = tile["camera"], tile["time"]
            latest = begin and camera in seen and monitor.interval(camera, begin)
            if latest:
                _compare_fields(tile["fields"], latest)
                _compare_bars(tile["histogram"], latest["histogram"], "sqrt")
                seen[camera].add(begin)
        time.sleep(0.2)


def detail_shows(browser, monitor, camera):
    """Compares the view of a camera, with both scales and the table."""
    browser.run("location.hash = '#/camera/' + arguments[0]", camera)
    browser.wait("return document.querySelector('#detail details')", "no detail")
    browser.click("#detail summary")
    for scale in ("linear", "sqrt"):
        browser.click(f'#detail button[value="{scale}"]')
        browser.wait("return document.querySelector('#detail > [data-time] details tbody tr') !== null",
                     "no table")
        time.sleep(0.1)  # so that the browser draws
        shown = browser.run(_DETAIL)
        latest = monitor.interval(camera, shown["time"])
        expect(latest, "an interval that the API does not have", shown["time"])
        fields = [field for field in shown["fields"] if field[0] not in _OTHERS]
        expect(len(fields) == 15, "not all statistics are shown", fields)
        _compare_fields(fields, latest)
        _compare_bars(shown["histogram"], latest["histogram"], scale)
        sums = [sum(latest["histogram"][i:i + 16]) for i in range(0, 256, 16)]
        expect(shown["table"] == sums, "the table is not the histogram", shown["table"], sums)
    browser.run("location.hash = '#/'")
