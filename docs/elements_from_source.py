# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pages of the elements, as Markdown: their doc blocks, then pads and properties as
gst-inspect-1.0 prints them."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Iterator, NamedTuple

INHERITED = {"name", "parent"}


class DocBlock(NamedTuple):
    """A comment `SECTION:element-NAME` of a source file."""

    name: str
    tags: dict[str, str]
    text: str


def doc_blocks(source: Path) -> Iterator[DocBlock]:
    pattern = r"/\*\*\n \* SECTION:element-([\w-]+)\n(.*?)\n \*/"
    for name, body in re.findall(pattern, source.read_text(encoding="utf-8"), re.S):
        text = re.sub(r"^ \* ?", "", body, flags=re.M)
        tags = dict(re.findall(r"^@(\w+): (.*)$", text, re.M))
        yield DocBlock(name, tags, re.sub(r"^@\w+: .*\n", "", text, flags=re.M).strip())


def to_markdown(text: str) -> str:
    """gtk-doc's code blocks, headings and `Since:` as Markdown."""
    text = re.sub(r"^\|\[(?: <!--.*-->)?\n(.*?)^\]\|\n?", r"\n```sh\n\1```\n\n", text,
                  flags=re.M | re.S)
    return re.sub(r"^Since: (\S+)$", r"Since version \1.", text, flags=re.M)


def inspect(name: str) -> dict[str, str]:
    """The sections of gst-inspect-1.0's output by title."""
    output = subprocess.run(["gst-inspect-1.0", "--no-colors", name], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    parts = re.split(r"^(\S[\w -]*):[ ]*\n(?=  \S)", output, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def cell(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    for character, escaped in ("&", "&amp;"), ("<", "&lt;"), ("|", "&#124;"):
        text = text.replace(character, escaped)
    return text


def default_value(description: str) -> str:
    found = (re.search(r'Default: -?\d+, "([^"]*)"', description)
             or re.search(r"Default: +(\S.*?) *$", description, re.M))
    if not found:
        return ""
    value = re.sub(r"\(\w+\)", "", found.group(1).strip('"'))
    return "" if value == "<  >" else f"<code>{cell(value)}</code>"


def value_type(description: str) -> str:
    """The type with its range or its choices."""
    choices = re.findall(r"^ +\(-?\d+\): (\S+) +- (.*)$", description, re.M)
    if choices:
        return "<br>".join(f"<code>{nick}</code>: {cell(text)}" for nick, text in choices)
    array = re.search(r'GstValueArray of GValues of type "g(\w+)"', description)
    if array:
        return f"array of {array.group(1)}"
    found = re.search(r"^ +((?!flags:)[A-Z][\w ]*?\.?(?: Range: .*?)?) *Default:", description, re.M)
    return cell(found.group(1)).rstrip(".") if found else ""


def access(description: str) -> str:
    if "writable" not in description.split("\n", 2)[1]:
        return "read-only"
    if "only in NULL or READY state" in description:
        return "NULL, READY"
    return "any state"


def property_table(section: str) -> str:
    rows = ["| property | meaning | values | default | writable in |", "|---|---|---|---|---|"]
    for name, description in re.findall(r"^  (\S+) +: (.*?)(?=^  \S|\Z)", section + "\n",
                                        re.M | re.S):
        if name not in INHERITED:
            rows.append(f"| `{name}` | {cell(description.split(chr(10))[0])} "
                        f"| {value_type(description)} | {default_value(description)} "
                        f"| {access(description)} |")
    return "\n".join(rows)


def page(block: DocBlock) -> str:
    sections = inspect(block.name)
    title = block.tags.get("title", block.name)
    see_also = ", ".join(f"[{name}](element-{name}.html)"
                         for name in re.split(r",\s*", block.tags.get("see_also", "")) if name)
    templates = sections["Pad Templates"].split("\nElement ")[0].rstrip()
    properties = sections["Element Properties"].split("\nElement ")[0]
    return "\n".join([
        f"Title: {title}", "", f"# {title}", "", to_markdown(block.text), "",
        "## Pad templates", "", "```", templates, "```", "",
        "## Properties", "", property_table(properties), "",
        *(["## See also", "", see_also, ""] if see_also else [])])


def write_pages(sources: list[Path], folder: Path) -> list[str]:
    """Writes one page per element. Returns their file names."""
    names = []
    for block in sorted(found for source in sources for found in doc_blocks(source)):
        names.append(f"element-{block.name}.md")
        (folder / names[-1]).write_text(page(block), encoding="utf-8")
    return names
