#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the Markdown: every relative link leads to a file or folder of the repository, and its
anchor to a heading there; README.md is short; the index and docs/llms.txt have every page, and
llms.txt has the format of llmstxt.org; gst-inspect-1.0 links to headings of an installed page.

usage: links.py [BUILD_ROOT]
Without BUILD_ROOT, gst-inspect-1.0's output and the installed pages are not checked.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "BENCHMARKS.md", "CHANGELOG.md",
                                  "pipelines/media/README.md")]
PAGES += sorted((ROOT / "docs").glob("*.md"))
LLMS = ROOT / "docs/llms.txt"
PAGES += [LLMS]
MAX_README_LINES = 200
problems = []


def without_code(text):
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", lambda code: "`" + code[0].strip("`").replace("](", "] (") + "`", text)


def anchors(page):
    """Returns the anchors that GitHub gives to the headings of a page."""
    found = {}
    for title in re.findall(r"^#+ +(.*?) *$", without_code(page.read_text()), re.M):
        title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title)
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = found[slug] = found.get(slug, -1) + 1
        if count:
            found[f"{slug}-{count}"] = 0
    return found.keys()


def check_links(page):
    """Checks the relative links of a page and returns their number."""
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text()))
             if not re.match(r"[a-z]+:", link)]
    for link in links:
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or not target.is_relative_to(ROOT):
            problems.append(f"{page.relative_to(ROOT)}: {link} does not exist")
        elif anchor and anchor not in anchors(target):
            problems.append(f"{page.relative_to(ROOT)}: {link}: no such heading")
    return len(links)


def check_index():
    index = (ROOT / "docs/README.md").read_text()
    for page in sorted((ROOT / "docs").glob("*.md")):
        if page.name != "README.md" and f"]({page.name})" not in index:
            problems.append(f"docs/README.md does not link {page.name}")


def check_llms():
    """Checks the format: a title, a summary, texts without headings, then sections that are lists
    of links, each with a text after the colon."""
    title, _, rest = LLMS.read_text().partition("\n")
    summary, *sections = re.split(r"^## ", rest, flags=re.M)
    if not re.fullmatch(r"# \S.*", title) or not re.match(r"\n> \S", summary):
        problems.append("docs/llms.txt does not begin with a title and a summary")
    if re.search(r"^#", summary, re.M):
        problems.append("docs/llms.txt has another heading before its sections")
    linked = set()
    for section in sections:
        name, *lines = [line for line in section.splitlines() if line]
        for line in lines:
            link = re.fullmatch(r"- \[[^\]]+\]\(([^)\s#]+)\): \S.*", line)
            if link is None:
                problems.append(f"docs/llms.txt, {name}: no link with a text in: {line}")
            else:
                linked.add((LLMS.parent / link[1]).resolve())
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if page not in linked:
            problems.append(f"docs/llms.txt does not link {page.relative_to(ROOT)}")


def check_documentation_links(build_root):
    """Checks the links that gst-inspect-1.0 shows, and that every page of docs/ is installed."""
    installed = json.loads((build_root / "meson-info/intro-installed.json").read_text())
    by_target = {target: Path(source) for source, target in installed.items()}
    for page in [*(ROOT / "docs").glob("*.md"), LLMS]:
        if str(page) not in installed:
            problems.append(f"docs/{page.name} is not installed")
    plugin = subprocess.run(["gst-inspect-1.0", "cudatensor"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    for element in re.findall(r"^  (\w+): ", plugin, re.M):
        shown = subprocess.run(["gst-inspect-1.0", element], check=True, text=True,
                               stdout=subprocess.PIPE).stdout
        address = re.search(r"Doc-uri +file://(\S+)#(\S+)", shown)
        page = address and by_target.get(address[1])
        if page is None or address[2] not in anchors(page):
            problems.append(f"{element}: {address and address[0]} is not a heading of an installed page")


def main():
    count = sum(check_links(page) for page in PAGES)
    if count < 100:
        problems.append(f"only {count} links found")
    lines = len((ROOT / "README.md").read_text().splitlines())
    if lines > MAX_README_LINES:
        problems.append(f"README.md has {lines} lines, more than {MAX_README_LINES}")
    check_index()
    check_llms()
    if len(sys.argv) > 1:
        check_documentation_links(Path(sys.argv[1]))
    print("\n".join(problems) or f"{count} links, all valid")
    sys.exit(1 if problems else 0)


main()
