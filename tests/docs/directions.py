#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that what this project shows and ships turns the pictures of files that are not stored
upright: each launch line and example of the documents, and each program of pipelines/, that reads
files and makes tensors or pictures of them sets video-direction=auto."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = [path for path in sorted((ROOT / "pipelines").rglob("*"))
            if path.suffix in (".cpp", ".py", ".sh", ".md") and "luminance-monitor" not in path.parts]
FILES = re.compile(r"\b(?:filesrc|uridecodebin3?|urisourcebin|playbin3?)\b")
#: Elements that turn pictures, where they are part of a pipeline. cudatensormux has a direction for
#: each pad.
TURNERS = re.compile(r"(?<![`.\w-])(cudanormalize|cudaletterbox|cudatensormux)(?= [a-z\"]| *!| *\\?$)", re.M)
AUTO = "video-direction=auto"
#: A pipeline that an application feeds with frames, to which no tag comes.
APPLICATION = re.compile(r"\bappsrc\b.*?\bappsink\b", re.S)
#: Programs that set the direction of a pad when it is linked.
BY_PAD = re.compile(r'"video-direction", "auto"')


def blocks_of(text):
    """Yields the line and the text of each block of code, of which a line that begins with
    gst-launch-1.0 is one of its own."""
    for block in re.finditer(r"^```[\w]*\n(.*?)^```", text, re.M | re.S):
        number = text.count("\n", 0, block.start(1)) + 1
        lines = block[1].splitlines()
        launched = [i for i, line in enumerate(lines) if line.startswith("gst-launch-1.0 ")]
        yield from ((number + i, lines[i]) for i in launched)
        yield number, "\n".join(line for i, line in enumerate(lines) if i not in launched)


def faults_of_document(path):
    for number, code in blocks_of(path.read_text()):
        code = APPLICATION.sub("", code)
        turners = TURNERS.findall(code)
        if FILES.search(code) and turners and code.count(AUTO) < len(turners):
            yield f"{path.relative_to(ROOT)}:{number}: {', '.join(turners)} without {AUTO}"


def faults_of_folder(folder, paths):
    """A program may be several files of a folder: one opens the sources, another makes tensors."""
    text = "\n".join(path.read_text() for path in paths)
    turners = TURNERS.findall(text)
    if turners and FILES.search(text) and not (AUTO in text or BY_PAD.search(text)):
        yield f"{folder.relative_to(ROOT)}: {', '.join(turners)} without {AUTO}"


def main():
    folders = {path.parent: [] for path in PROGRAMS}
    for path in PROGRAMS:
        folders[path.parent].append(path)
    faults = [fault for path in DOCUMENTS for fault in faults_of_document(path)]
    faults += [fault for item in folders.items() for fault in faults_of_folder(*item)]
    for fault in faults:
        print(fault)
    sys.exit(bool(faults))


main()
