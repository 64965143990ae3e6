#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the times in README.md and in the summary of BENCHMARKS.md: each is in the section of
BENCHMARKS.md that its row or column links to, and each of these sections has a command.
"""
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
    """The numbers of a text, but not those in links and in names such as H200."""
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w×])", text)


def tables(text):
    """Each table as rows of cells, with the header first."""
    for lines in re.findall(r"(?:^\|.*\n)+", text, re.M):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines.splitlines()]
        yield [rows[0], *rows[2:]]


def linked(cell):
    """The sections that a cell links to."""
    return re.findall(r"\]\((?:BENCHMARKS\.md)?#([\w-]+)\)", cell)


def check(where, cell, anchors):
    """Checks the numbers of a cell. Returns how many it has."""
    found = numbers(cell)
    if found and not anchors:
        problems.append(f"{where}: {cell} has no link to a section")
    for anchor in anchors:
        if anchor not in SECTIONS:
            problems.append(f"{where}: there is no section {anchor}")
        elif not re.match(r"(\n|<!--.*-->\n)*    \S", SECTIONS[anchor]):
            problems.append(f"{where}: the section {anchor} does not begin with a command")
    known = {number for anchor in anchors for number in numbers(SECTIONS.get(anchor, ""))}
    for number in found:
        if number not in known:
            problems.append(f"{where}: {number} is not in {anchors}")
    return len(found)


def check_readme():
    """A row's own link counts for its cells, otherwise the link of the column."""
    text = README.split("\n## ", 1)[0]
    table = next(each for each in tables(text) if any(linked(cell) for cell in each[0]))
    header, *rows = table
    count = sum(check(f"README.md, {row[0]}", cell, linked(row[0]) or linked(column))
                for row in rows for column, cell in zip(header[1:], row[1:]))
    prose = re.sub(r"^\|.*\n", "", text, flags=re.M)
    return count + sum(check("README.md", number, ["cpu"])
                       for number in re.findall(r"([\d.]+)\s+(?:ms|µs)\b", prose))


def check_summary():
    summary = next(tables(SECTIONS["summary"]))
    return sum(check(f"BENCHMARKS.md, {work}", ours + " " + theirs, linked(section))
               for work, ours, theirs, section in summary[1:])


def main():
    counts = {"README.md": check_readme(), "the summary": check_summary()}
    problems.extend(f"{where} has only {count} numbers" for where, count in counts.items() if count < 8)
    if BENCHMARKS.index("\n## Summary\n") > 500 or len(SECTIONS["summary"].splitlines()) > 30:
        problems.append("BENCHMARKS.md does not begin with a summary of at most 30 lines")
    print("\n".join(problems) or f"{counts}, all of them in BENCHMARKS.md")
    sys.exit(1 if problems else 0)


main()
