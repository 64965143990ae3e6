#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""site.py GIR VERSION

Builds the documentation site. gi-docgen must not warn, every element and every public function of
the library must have a page, and links and pictures of the pages must exist. llms.txt must link the
pages of docs/.
"""
import html.parser
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "gst" / "library"
problems = []


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


class Page(html.parser.HTMLParser):
    """The ids of a page and the targets of its links."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids.add(attributes.get("id"))
        link = attributes.get("href") or attributes.get("src")
        if link and tag in ("a", "img", "link", "script") and not re.match(r"[a-z]+:", link):
            self.links.append(link)


def build(gir, version, site):
    """Builds the site. Any output counts as an error."""
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "build_site.py", "--version", version,
         "--config", LIBRARY / "gstcudatensor.toml.in", gir, site],
        check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode or done.stdout.strip():
        problems.append(f"the build exited with {done.returncode} and printed:\n{done.stdout}")


def built_elements():
    shown = subprocess.run(["gst-inspect-1.0", "cudatensor"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    return re.findall(r"^  (cuda\w+): ", shown, re.M)


def declared_functions():
    """The functions of the headers, except the private ones and those of GTypes."""
    header = "".join(path.read_text(encoding="utf-8") for path in sorted(LIBRARY.glob("*.h")))
    header = re.sub(r"^#ifndef __GI_SCANNER__\n.*?^#endif", "", header, flags=re.M | re.S)
    names = set(re.findall(r"^GST_CUDA_TENSOR_API\b[^;]*?(gst_cuda_tensor_\w+)\s*\(", header, re.M))
    return {name for name in names if not name.endswith("_get_type")}


def check_elements(site):
    names = built_elements()
    if len(names) < 7:
        problems.append(f"the plugin has only the elements {names}")
    for name in names:
        page = site / f"element-{name}.html"
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
        for heading in ("Pad templates", "Properties", "Example launch line"):
            if not re.search(rf"<h2[^>]*>{heading}<", text):
                problems.append(f"{page.name} has no section '{heading}'")
        if "<code>backend</code>" not in text and name not in ("cudarestore", "cudainference"):
            problems.append(f"{page.name} does not list the property backend")


def check_functions(site):
    documented = set()
    for page in site.glob("*.html"):
        if re.match(r"(method|ctor|func|type_func)\.", page.name):
            documented |= set(re.findall(r"\bgst_cuda_tensor_\w+",
                                         page.read_text(encoding="utf-8").split("</pre>")[0]))
    missing = sorted(declared_functions() - documented)
    if missing:
        problems.append(f"no page for {missing}")


def check_links(site):
    pages = {path.name: Page(path) for path in site.glob("*.html")}
    for name, page in pages.items():
        for link in page.links:
            path, _, anchor = link.partition("#")
            target = path or name
            if not (site / target).is_file():
                problems.append(f"{name} links to {link}, which does not exist")
            elif anchor and target in pages and anchor not in pages[target].ids:
                problems.append(f"{name} links to {link}, which has no such anchor")


def check_llms(site):
    links = set(re.findall(r"\]\(([^)]*)\)", (site / "llms.txt").read_text(encoding="utf-8")))
    for link in sorted(links):
        if not (site / link).is_file():
            problems.append(f"llms.txt links to {link}, which does not exist")
    for page in sorted((ROOT / "docs").glob("*.md")):
        if page.stem + ".html" not in links:
            problems.append(f"llms.txt does not link {page.stem}.html")


def main():
    gir, version = sys.argv[1:]
    if not shutil.which("gi-docgen"):
        skip("gi-docgen is not installed")
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        build(gir, version, site)
        if not problems:
            check_elements(site)
            check_functions(site)
            check_links(site)
            check_llms(site)
    sys.exit("\n".join(problems) if problems else 0)


main()
