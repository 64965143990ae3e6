#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the documentation site: the elements' pages, docs/*.md, llms.txt and the library's reference.

The plugin must be where gst-inspect-1.0 finds it. Needs no network.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import elements_from_source

ROOT = Path(__file__).resolve().parents[1]
# Pages of docs/ that come first, in this order; the others follow.
ORDER = ["elements", "models", "onnxruntime", "gpu", "interop", "cameras", "deepstream", "building"]
IMAGES = {".jpg", ".jpeg", ".png", ".svg"}


def source_pages():
    """The Markdown files of the site by the name of their page."""
    files = {path.stem: path for path in sorted((ROOT / "docs").glob("*.md"))}
    first = {name: files.pop(name) for name in ORDER if name in files}
    return {"readme": ROOT / "README.md", **first, **files}


class Links:
    """Makes the links of a file in the repository links of the site."""

    def __init__(self, pages):
        self._pages = {path: name for name, path in pages.items()}
        self.images = {}  # file name on the site → path

    def _target(self, link, file):
        """The link on the site; None for a file that is not part of it."""
        if re.match(r"[a-z]+:|#", link):
            return link
        path, anchor = re.match(r"([^#]*)(#.*)?$", link).groups()
        path = (file.parent / path).resolve()
        if path in self._pages:
            return self._pages[path] + ".html" + (anchor or "")
        if path.suffix in IMAGES and path.is_file():
            if self.images.setdefault(path.name, path) != path:
                sys.exit(f"two pictures are named {path.name}")
            return path.name
        return None

    def convert(self, text, file):
        def replace(match):
            target = self._target(match.group(3), file)
            if target is None:
                return match.group(2)
            return f"{match.group(1)}[{match.group(2)}]({target})"

        # Links in fenced code are code.
        parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
        return "".join(part if part.startswith("```")
                       else re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", replace, part)
                       for part in parts)


def write_pages(content):
    """Writes the pages of docs/. Returns the names of the pages and of the pictures."""
    pages = source_pages()
    links = Links(pages)
    for name, file in pages.items():
        text = file.read_text(encoding="utf-8")
        heading = re.search(r"^# (.*)$", text, re.M)
        title = heading.group(1).replace("`", "") if heading else name
        (content / f"{name}.md").write_text(f"Title: {title}\n\n{links.convert(text, file)}",
                                            encoding="utf-8")
    for name, path in links.images.items():
        shutil.copy(path, content / name)
    return [name + ".md" for name in pages], sorted(links.images)


def write_llms(output):
    """Writes llms.txt, without the files that are not part of the site."""
    file = ROOT / "docs" / "llms.txt"
    text = Links(source_pages()).convert(file.read_text(encoding="utf-8"), file)
    lines = [line for line in text.splitlines() if not line.startswith("- ") or "](" in line]
    (output / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def toml_list(names):
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def build(arguments, content):
    pages, images = write_pages(content)
    sources = sorted((ROOT / "gst" / "elements").glob("*.cpp"))
    elements = elements_from_source.write_pages(sources, content)
    config = content / "gstcudatensor.toml"
    template = arguments.config.read_text(encoding="utf-8")
    for name, value in (("@VERSION@", arguments.version), ("@PAGES@", toml_list(pages + elements)),
                        ("@IMAGES@", toml_list(images))):
        template = template.replace(name, value)
    config.write_text(template, encoding="utf-8")
    shutil.rmtree(arguments.output, ignore_errors=True)
    status = subprocess.run(
        [arguments.gi_docgen, "generate", "--quiet", "--fatal-warnings", "--no-namespace-dir",
         "--config", config, "--content-dir", content, "--output-dir", arguments.output,
         arguments.gir], check=False).returncode
    if status == 0:
        write_llms(arguments.output)
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gi-docgen", default="gi-docgen", help="path of gi-docgen")
    parser.add_argument("--config", type=Path, required=True, help="gstcudatensor.toml.in")
    parser.add_argument("--version", required=True, help="of the project")
    parser.add_argument("gir", type=Path)
    parser.add_argument("output", type=Path)
    with tempfile.TemporaryDirectory() as content:
        sys.exit(build(parser.parse_args(), Path(content)))


main()
