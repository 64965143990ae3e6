#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""links.py ROOT: checks the Markdown. Every relative link leads to a file or folder here, and its anchor
to a heading there; README.md is short and links every page of docs/."""
import re
import sys
from pathlib import Path

FOLDERS = (".", "docs", "deploy", "tests", "tests/media")
MAX_README_LINES = 250


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


def check_links(root, page, problems):
    """Checks the relative links of a page and returns their number."""
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text()))
             if not re.match(r"[a-z]+:", link)]
    for link in links:
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or not target.is_relative_to(root):
            problems.append(f"{page.relative_to(root)}: {link} does not exist")
        elif anchor and anchor not in anchors(target):
            problems.append(f"{page.relative_to(root)}: {link}: no such heading")
    return len(links)


def main(root):
    problems = []
    pages = [page for folder in FOLDERS for page in sorted((root / folder).glob("*.md"))]
    count = sum(check_links(root, page, problems) for page in pages)
    if count < 50 or len(pages) < 10:
        problems.append(f"only {count} links found in {len(pages)} pages")
    readme = (root / "README.md").read_text()
    if (lines := len(readme.splitlines())) > MAX_README_LINES:
        problems.append(f"README.md has {lines} lines, more than {MAX_README_LINES}")
    problems += [f"README.md does not link docs/{page.name}" for page in sorted((root / "docs").glob("*.md"))
                 if f"](docs/{page.name}" not in readme]
    print("\n".join(problems) or f"{count} links, all valid")
    return len(problems) > 0


sys.exit(main(Path(sys.argv[1]).resolve()))
