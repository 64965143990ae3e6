#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Summarizes the results of tests/gpu.sh.

report.py STAGE            prints the numbers of passed, failed and skipped tests in the folder of a
                           stage
report.py RESULTS REPORT   writes the stages to the report's section for their release of GStreamer,
                           and prints the totals; fails if a test failed or none passed
"""
import collections
import datetime
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

STAGES = ["kernels", "elements", "sanitizers", "bench"]
HEAD = ("# Tests on a GPU\n\n"
        "Written by `tests/gpu.sh`, with a section for each release of GStreamer.\n")
# The names of test cases that need a GPU.
ON_GPU = re.compile(r"^elements-(cuda|nvdec)|^elements-\w+-cuda:|/cuda$")
COLUMNS = ["stage", "passed", "failed", "skipped", "seconds", "commit", "date", "GPU"]


def why_skipped(case):
    """The reason, or None if the case ran."""
    skip = case.find("skipped")
    if skip is not None:
        return (skip.get("message") or "").strip().split("\n")[-1]
    # If an environment's SetUp() skips, GoogleTest reports the cases as run, but without a time.
    return "not started" if case.get("timestamp", "").startswith("1970") else None


def cases_of(xml):
    if not xml.exists():
        return []
    return [case for case in ElementTree.parse(xml).iter("testcase") if case.get("status") == "run"]


class Stage:
    """The programs of a stage. Each has the files NAME.status, NAME.log and, if it uses GoogleTest,
    NAME.xml. A program without NAME.xml is one test."""

    def __init__(self, folder):
        self.name = folder.name
        self.passed = self.skipped = 0
        self.failures, self.reasons = [], collections.Counter()
        self.on_gpu = {"passed": 0, "skipped": 0}
        self.outputs = []
        for status in sorted(folder.glob("*.status")):
            self.add(status.with_suffix(""), int(status.read_text()))
        for reason in folder.glob("*.skipped"):
            self.skipped += 1
            self.reasons[reason.read_text().strip()] += 1
        if self.on_gpu["skipped"] and not self.on_gpu["passed"]:
            self.failures.append("no test ran on the GPU")

    def add(self, program, status):
        if self.name == "bench":
            text = program.with_suffix(".log").read_text().strip()
            self.outputs.append(f"\n{text}" if status == 0 else
                                f"\n{program.name}: exit status {status}:\n\n```\n{text}\n```")
            return
        before, cases = len(self.failures), cases_of(program.with_suffix(".xml"))
        if self.name == "sanitizers":
            self.add_sanitizer(program.name, status, cases)
        else:
            for case in cases:
                self.add_case(program.name, case)
            self.passed += status == 0 and not program.with_suffix(".xml").exists()
        if status != 0 and len(self.failures) == before:
            self.failures.append(f"{program.name}: exit status {status}")

    def add_sanitizer(self, program, status, cases):
        """Counts the program as one test, however many test cases it has."""
        if status != 0:
            self.failures.append(f"{program}: exit status {status}")
        elif all(why_skipped(case) for case in cases):
            self.failures.append(f"{program}: no test ran")
        else:
            self.passed += 1

    def add_case(self, program, case):
        name = f"{program}: {case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None:
            self.failures.append(name)
            return
        reason = why_skipped(case)
        if reason is None:
            self.passed += 1
        else:
            self.skipped += 1
            self.reasons[reason] += 1
        if ON_GPU.search(name):
            self.on_gpu["passed" if reason is None else "skipped"] += 1

    def counts(self):
        return [self.passed, len(self.failures), self.skipped]

    def notes(self):
        lines = [f"- failed: {failure}" for failure in self.failures]
        lines += [f"- {number} skipped: {reason}" for reason, number in self.reasons.most_common()]
        return "\n".join(lines + self.outputs)


def text_of(counts):
    return "{} passed, {} failed, {} skipped".format(*counts)


def stages_of(results):
    return [Stage(results / name) for name in STAGES if (results / name).is_dir()]


def read_section(text):
    """The rows of the table and the notes, by stage."""
    row = r"^\| (\w+)" + r" \| (.*?)" * (len(COLUMNS) - 1) + r" \|$"
    rows = {cells[0]: cells for cells in re.findall(row, text, re.M) if cells[1].isdigit()}
    notes = {name: note.strip() for name, note in re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", text,
                                                             re.M | re.S)}
    return rows, notes


def write_section(machine, rows, notes):
    text = f"{machine}\n\n| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
    for name in filter(rows.get, STAGES):
        text += f"| {' | '.join(map(str, rows[name]))} |\n"
    for name in filter(notes.get, STAGES):
        text += f"\n### {name}\n\n{notes[name].strip()}\n"
    return text


def update(section, results, stages):
    rows, notes = read_section(section)
    commit = (results / "commit").read_text().strip()
    machine = (results / "machine").read_text().strip()
    for stage in stages:
        notes[stage.name] = stage.notes()
        if stage.name != "bench":
            seconds = (results / stage.name / "seconds").read_text().strip()
            rows[stage.name] = (stage.name, *stage.counts(), seconds, commit,
                                datetime.date.today().isoformat(), machine.split(",")[0])
    return write_section(machine, rows, notes)


def write(results, report, stages):
    release = (results / "release").read_text().strip()
    old = report.read_text() if report.exists() else HEAD
    head, *rest = re.split(r"^## (.*)\n", old, flags=re.M)
    sections = dict(zip(rest[::2], rest[1::2]))
    sections[release] = "\n" + update(sections.get(release, ""), results, stages)
    report.write_text(head.rstrip() + "\n" + "".join(
        f"\n## {name}\n{text.rstrip()}\n" for name, text in sorted(sections.items())))


def main(results, report=None):
    results = Path(results)
    if report is None:
        print(text_of(Stage(results).counts()))
        return 0
    stages = stages_of(results)
    write(results, Path(report), stages)
    totals = [sum(column) for column in zip(*(stage.counts() for stage in stages))]
    print(text_of(totals))
    tested = any(stage.name != "bench" for stage in stages)
    return 1 if totals[1] or (tested and not totals[0]) else 0


sys.exit(main(*sys.argv[1:]))
