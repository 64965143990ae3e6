# SPDX-License-Identifier: LGPL-2.1-or-later
"""The verdicts of luminance-monitor on the rows of the job `luminance`.

The rules and their numbers are in rules.json, of which luminance-monitor has a copy.
luminance-monitor judges each frame; here each row is judged, so that times are exact to the length
of an interval, and do not depend on chunks.
"""
from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Optional

import numpy
import pyarrow


@dataclass(frozen=True)
class Rule:
    """The thresholds at which a verdict is raised and cleared."""

    raise_at: float
    clear_at: float
    hold: float  #: seconds for which the value must be beyond the threshold
    bad_above: bool = True
    is_duration: bool = False  #: whether the value is seconds that have already passed


_DATA = json.loads(Path(__file__).with_name("rules.json").read_text(encoding="utf-8"))
#: The rules in order of severity. Rows have no pictures, so there are no verdicts for cameras that are moved,
#: covered or out of focus.
RULES = {rule["name"]: Rule(rule["raise"], rule["clear"], rule["hold"], rule["bad"] == "above",
                            rule["duration"])
         for rule in _DATA["verdicts"] if not rule["picture"]}
SCHEMA = pyarrow.schema([("uri", pyarrow.string()), ("file_id", pyarrow.string()),
                         ("verdict", pyarrow.string()), ("start", pyarrow.float64()),
                         ("end", pyarrow.float64()), ("at_end", pyarrow.bool_()),
                         ("value", pyarrow.float64())])
#: Columns of the rows that a Judge reads.
COLUMNS = ("time", "last_time", "mean", "p5", "p95", "clipped_low", "clipped_high", "flicker",
           "still", "first_digest", "last_digest", "quantiles")
_ADAPTATION: float = _DATA["change"]["adaptation"]
_ACCEPTED: float = _DATA["change"]["accepted"]


@dataclass
class _Condition:
    since: Optional[float] = None  # start of the verdict; None: not raised
    crossing: Optional[float] = None  # since when the value has been beyond the threshold
    worst: float = math.nan


@dataclass
class _Judge:
    """The verdicts of one file."""

    has_gaps: bool = True  #: whether a long time without a frame is a verdict
    conditions: dict[str, _Condition] = field(
        default_factory=lambda: {name: _Condition() for name in RULES})
    ended: list[dict[str, Any]] = field(default_factory=list)
    last_time: Optional[float] = None
    digest: Optional[bytes] = None
    same_since: float = 0.0
    usual: Optional[numpy.ndarray] = None
    usual_time: float = 0.0

    def take(self, row: Mapping[str, Any]) -> None:
        """Judges a row. Rows must come in the order of their times."""
        time, end = row["time"], row["last_time"]
        if self.last_time is not None:
            self._take_gap(time)
        self.last_time = end
        for name, value in (("too-dark", row["mean"]), ("too-bright", row["mean"]),
                            ("low-contrast", float(row["p95"]) - float(row["p5"])),
                            ("clipped-low", row["clipped_low"]),
                            ("clipped-high", row["clipped_high"]),
                            ("frozen", self._stillness(row)),
                            ("sudden-change", self._change(row))):
            self._update(name, value, time)
        if row["flicker"] is not None and not math.isnan(row["flicker"]):
            self._update("flicker", row["flicker"], time)

    def finish(self) -> list[dict[str, Any]]:
        """Ends the verdicts that are still raised. Returns all verdicts, in the order of their
        ends."""
        for name in RULES:
            self._clear(name, self.last_time, at_end=True)
        return self.ended

    def _take_gap(self, time: float) -> None:
        gap = time - self.last_time
        if gap <= RULES["no-frames"].raise_at or not self.has_gaps:
            return
        for name in RULES:
            self._clear(name, self.last_time)
            self.conditions[name] = _Condition()
        self.ended.append(_verdict("no-frames", self.last_time, time, False, gap))
        self.digest = self.usual = None

    def _stillness(self, row: Mapping[str, Any]) -> float:
        """Returns the seconds for which all histograms have been the same."""
        if row["first_digest"] != self.digest or not row["still"]:
            self.same_since = row["time"] if row["still"] else row["last_time"]
        self.digest = row["last_digest"]
        return row["last_time"] - self.same_since

    def _change(self, row: Mapping[str, Any]) -> float:
        """Returns the change in luma compared with the last seconds, or, while the verdict is
        raised, with the picture before it."""
        condition, now = self.conditions["sudden-change"], row["time"]
        latest = numpy.asarray(row["quantiles"], float)
        if condition.since is not None and now - condition.since >= _ACCEPTED:
            self.usual = None
        if self.usual is None:
            self.usual, self.usual_time = latest, now
        moved = float(numpy.abs(latest - self.usual).mean())
        elapsed, self.usual_time = now - self.usual_time, now
        if condition.since is None and moved <= RULES["sudden-change"].raise_at:
            self.usual = self.usual + (1 - math.exp(-elapsed / _ADAPTATION)) * (latest - self.usual)
        return moved

    def _update(self, name: str, value: float, now: float) -> None:
        rule, condition = RULES[name], self.conditions[name]
        raised = condition.since is not None
        threshold = rule.clear_at if raised else rule.raise_at
        beyond = value > threshold if rule.bad_above != raised else value < threshold
        worse = max if rule.bad_above else min
        if raised:
            condition.worst = worse(condition.worst, value)
        if not beyond:
            condition.crossing = None
            return
        if condition.crossing is None:
            condition.crossing, condition.worst = now, condition.worst if raised else value
        if not raised:
            condition.worst = worse(condition.worst, value)
        if now - condition.crossing < rule.hold:
            return
        if raised:
            self._clear(name, condition.crossing)
        else:
            condition.since = self.last_time - value if rule.is_duration else condition.crossing
            condition.crossing = None

    def _clear(self, name: str, end: Optional[float], at_end: bool = False) -> None:
        condition = self.conditions[name]
        if condition.since is not None:
            self.ended.append(_verdict(name, condition.since, end, at_end, condition.worst))
        self.conditions[name] = _Condition()


def _verdict(name: str, start: float, end: Optional[float], at_end: bool,
             value: float) -> dict[str, Any]:
    return {"verdict": name, "start": start, "end": end, "at_end": at_end, "value": value}


def judge(rows: Iterable[Mapping[str, Any]], has_gaps: bool = True) -> Iterator[dict[str, Any]]:
    """Yields the verdicts on the rows of one file. Rows need the keys of COLUMNS and come in the
    order of their times; rows with an error, which have no time, are left out. `has_gaps`: whether
    a long time without a frame is a verdict; False if only key frames are decoded. In a verdict,
    `start` and `end` are in seconds of the file, `at_end` says that it was still raised when the
    file ended, and `value` is the worst value."""
    verdicts = _Judge(has_gaps)
    for row in rows:
        if row["time"] is not None:
            verdicts.take(row)
    yield from sorted(verdicts.finish(), key=lambda verdict: verdict["start"])
