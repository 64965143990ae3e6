#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the times in README.md and in the summary of BENCHMARKS.md. The section of BENCHMARKS.md
that a time's row or column links to must have this time, for a single operation, and must begin
with a command.
"""
import itertools
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BENCHMARKS = (ROOT / "BENCHMARKS.md").read_text()
problems = []


def slug(title):
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


SECTIONS = {slug(title): text for title, text in
            re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", BENCHMARKS, re.M | re.S)}


def numbers(text):
    """Returns the numbers of a text, except those in links and in names such as H200."""
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w×])", text)


def tables(text):
    """Returns each table as rows of cells, with the header first."""
    for lines in re.findall(r"(?:^\|.*\n)+", text, re.M):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines.splitlines()]
        yield [rows[0], *rows[2:]]


def linked(cell):
    """Returns the sections that a cell links to."""
    return re.findall(r"\]\((?:BENCHMARKS\.md)?#([\w-]+)\)", cell)


def operations(section):
    """Returns the numbers of each operation: those of a row, and of the rows below it whose first
    cell is empty."""
    for _, *rows in tables(SECTIONS[section]):
        found = []
        for row in rows:
            if row[0] and found:
                yield found
                found = []
            found += numbers(" | ".join(row))
        yield found


def check(where, text, sections):
    """Checks that all numbers of a text belong to one operation. Returns their count."""
    found = numbers(text)
    if not found:
        return 0
    if len(sections) != 1 or sections[0] not in SECTIONS:
        problems.append(f"{where}: {text} links to {sections}, which is not one section")
    elif not re.match(r"\n+    \S", SECTIONS[sections[0]]):
        problems.append(f"{where}: the section {sections[0]} does not begin with a command")
    elif not any(set(found) <= set(known) for known in operations(sections[0])):
        problems.append(f"{where}: no operation in {sections[0]} has {found}")
    return len(found)


def check_readme():
    """Checks that the numbers of each column, and those of the text, belong to one operation. A row
    with its own link belongs to that section."""
    text = README.split("\n## ", 1)[0]
    header, *rows = next(each for each in tables(text) if any(linked(cell) for cell in each[0]))
    count = 0
    for place, column in enumerate(header[1:], 1):
        cells = [row[place] for row in rows if not linked(row[0])]
        count += check(f"README.md, {column}", " ".join(cells), linked(column))
        count += sum(check(f"README.md, {row[0]}", row[place], linked(row[0]))
                     for row in rows if linked(row[0]))
    times = re.findall(r"([\d.]+)\s+(?:ms|µs)\b", re.sub(r"^\|.*\n", "", text, flags=re.M))
    return count + check("README.md", " ".join(times), ["cpu"])


def check_summary():
    """Checks README.md. If a row has two works, their numbers are in the same order, separated by a
    semicolon."""
    count = 0
    for work, ours, theirs, section in next(tables(SECTIONS["summary"]))[1:]:
        for each in itertools.zip_longest(ours.split(";"), theirs.split(";"), fillvalue=""):
            count += check(f"BENCHMARKS.md, {work}", " ".join(each), linked(section))
    return count


def main():
    counts = {"README.md": check_readme(), "the summary": check_summary()}
    problems.extend(f"{where} has only {count} numbers" for where, count in counts.items() if count < 8)
    if BENCHMARKS.index("\n## Summary\n") > 500 or len(SECTIONS["summary"].splitlines()) > 30:
        problems.append("BENCHMARKS.md does not begin with a summary of at most 30 lines")
    print("\n".join(problems) or f"{counts}, all of them in BENCHMARKS.md")
    sys.exit(1 if problems else 0)


main()
