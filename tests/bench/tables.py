#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tables.py RESULTS [DOCUMENT]

Makes tables of the rows that gpu.sh wrote to RESULTS, and prints them or writes them to their place
in DOCUMENT. Fails if our program failed, for example because a result differs from the CPU's.
"""
import json
import sys
from pathlib import Path

PROGRAMS = {"ours": "ours", "npp": "NPP", "cub": "CUB", "pytorch": "PyTorch", "cv_cuda": "CV-CUDA",
            "dali": "DALI", "opencv": "OpenCV", "deepstream": "DeepStream"}
TABLES = {
    "tensor": "One frame per call to a letterboxed, normalized tensor",
    "batch": "One batch per call, times per frame",
    "filter": "Antialiased resize to a normalized tensor, one frame or one batch per call, times per frame",
    "turned": "Pictures in other directions and slots by a matrix, times per frame",
    "picture": "One frame per call to a picture",
    "histogram": "Luminance histogram",
    "shuffle": "Pixel shuffle",
}
HEAD = ("| operation | software | GPU time, µs | time per call, µs | ÷ ours | MB to move | "
        "share of copy rate |\n|---|---|---|---|---|---|---|\n")
BEGIN = "<!-- written by tests/bench/gpu.sh -->\n"
END = "<!-- end of the part written by tests/bench/gpu.sh -->\n"


def read_lines(file):
    """The rows of a program. The last one may be incomplete."""
    for line in file.read_text().splitlines() if file.exists() else []:
        try:
            yield json.loads(line)
        except ValueError:
            return


def why(file):
    """The reason in a file, or "" if the file does not exist."""
    return file.read_text().strip() if file.exists() else ""


class Results:
    def __init__(self, folder):
        self.folder = folder
        self.versions, self.rows = {}, {}  # rows: by work and software
        self.no_kernels = {why(folder / "bin" / "libkerneltimes.so.why")}
        for name, title in PROGRAMS.items():
            self.read(folder / "rows" / name, title)
        self.ceiling = self.rate_of_copy()

    def read(self, file, title):
        """Reads the rows of both passes of a program."""
        for kind in ("called", "kernel"):
            for row in read_lines(file.with_suffix("." + kind)):
                self.add(row)
        reason = why(file.with_suffix(".called.why"))
        if reason:
            self.versions[title] = f"{self.versions.get(title, '')} {reason}".strip()
        else:
            self.no_kernels.add(why(file.with_suffix(".kernel.why")))

    def add(self, row):
        if "program" in row:
            self.versions[row["program"]] = row["version"]
            return
        known = self.rows.setdefault((row["work"], row["who"]), {})
        if "called" in known and "why" in row:
            self.no_kernels.add(row.pop("why"))
        known.update(row)

    def rate_of_copy(self):
        """Bytes per microsecond, or None."""
        row = self.rows.get(("copy", "CUDA"), {})
        return row["bytes"] / row["called"][0] if "called" in row else None

    def works(self, table):
        """Yields our row of each work, and the rows of other software."""
        for (work, who), row in self.rows.items():
            if who == "ours" and row["table"] == table:
                peers = [(peer, other) for (name, peer), other in self.rows.items()
                         if name == work and peer != "ours"]
                yield row, peers


def number(value):
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def times(values):
    return "" if values is None else "{} ({} to {})".format(*map(number, values))


def row_of(results, title, who, row, ours):
    called = row.get("called")
    if called is None:
        return f"| {title} | {who}: {row.get('why', 'not measured')} | | | | | |\n"
    relative = number(called[0] / ours["called"][0]) if "called" in ours else ""
    ceiling, moved = "", ours["bytes"]
    if results.ceiling and moved:
        ceiling = f"{moved / results.ceiling / called[0]:.0%}"
    size = f"{moved / 1e6:.2f}" if row is ours and moved else ""
    cells = [title, who, times(row.get("kernel")), times(called), relative, size, ceiling]
    return f"| {' | '.join(cells)} |\n"


def limits(results):
    text = "| | GPU time, µs | time per call, µs | GB/s |\n|---|---|---|---|\n"
    for work in ("empty", "copy"):
        row = results.rows.get((work, "CUDA"), {})
        if "called" not in row:
            continue
        rate = f"{row['bytes'] / row['called'][0] / 1e3:.0f}" if row["bytes"] else ""
        text += (f"| {row['title']} | {times(row.get('kernel'))} | {times(row['called'])} | "
                 f"{rate} |\n")
    return text


def table(results, name):
    text = ""
    for ours, peers in results.works(name):
        text += row_of(results, ours["title"], "**ours**", ours, ours)
        for who, row in peers:
            text += row_of(results, "", who, row, ours)
    return text and HEAD + text


def section(results):
    text = (results.folder / "head").read_text() + "\n"
    for name, version in results.versions.items():
        text += f"- {name}: {version}\n"
    for reason in sorted(filter(None, results.no_kernels)):
        text += f"- GPU times are missing: {reason}\n"
    text += "\n" + limits(results)
    for name, title in TABLES.items():
        text += f"\n**{title}**\n\n" + (table(results, name) or "No rows.\n")
    return text


def write(document, text):
    old = document.read_text()
    before, rest = old.split(BEGIN)
    after = rest.split(END)[1]
    document.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main(folder, document=None):
    results = Results(Path(folder))
    text = section(results)
    if document is None:
        print(text, end="")
    else:
        write(Path(document), text)
    return 1 if why(Path(folder) / "rows" / "ours.called.why") else 0


sys.exit(main(*sys.argv[1:]))
