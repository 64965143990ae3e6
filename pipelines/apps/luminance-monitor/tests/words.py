#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that verdicts have the same titles and quantities in the program, the API, the documents, the alerts
and the dashboard."""
import json
import re
import sys

from running import APP
from server import Server, expect

# Words that replace a title in a sentence.
IN_A_SENTENCE = {"frozen": "frozen", "flicker": "flickers", "clipped-low": "clipped to",
                 "clipped-high": "clipped to"}


def text_of(path):
    return (APP / path).read_text()


def documents_have(kinds):
    page, manual = text_of("docs/verdicts.md"), text_of("docs/luminance-monitor.1").replace("\\-", "-")
    for name, title, quantity in kinds:
        expect(f"| `{name}` | {title} | " in page, "verdicts.md has another title", name, title)
        expect(f"- **{title}** " in page, "verdicts.md does not explain a verdict", title)
        expect(f"\n{name}\t{title}\t{quantity}\n" in manual, "the manual has other words", name, title,
               quantity)


def alerts_have(kinds):
    alerts = text_of("deploy/prometheus/alerts.yaml")
    for name, title, _ in kinds:
        found = re.search(rf'verdict=~?"[^"]*\b{name}\b.*?summary: \'([^\n]+)\'', alerts, re.S)
        if found:
            words = IN_A_SENTENCE.get(name, title.lower())
            expect(words in found[1], "an alert has other words", name, words, found[1])


def dashboard_has(kinds):
    wanted = {f"(.*): {name}$": f"$1: {title}" for name, title, _ in kinds}
    panels = [panel for panel in json.loads(text_of("deploy/grafana/dashboard.json"))["panels"]
              if "{{verdict}}" in json.dumps(panel)]
    expect(len(panels) == 2, "panels with verdicts", len(panels))
    for panel in panels:
        renamed = {change["options"]["regex"]: change["options"]["renamePattern"]
                   for change in panel["transformations"]}
        expect(renamed == wanted, "the dashboard has other titles", panel["title"], renamed)


def nobody_has_other_words():
    files = [*APP.glob("*.md"), *APP.glob("docs/*"), *APP.glob("page/*"), *APP.glob("deploy/**/*")]
    for file in files:
        if file.is_file() and file.suffix not in (".png", ".webp"):
            found = re.search(r"\b[Cc]lipped (low|high)\b", file.read_text())
            expect(not found, "a document says clipped low or high", file.name, found)


def main():
    kinds = [(rule["name"], rule["title"], rule["quantity"])
             for rule in json.loads(text_of("src/settings/rules.json"))["verdicts"]]
    with Server() as server:
        rules = server.json("/api/v1/cameras")["cameras"][0]["rules"]
    said = [(rule["name"], rule["title"], rule["quantity"]) for rule in rules]
    expect(said == kinds and len(said) > 5, "the API has other words", said, kinds)
    documents_have(kinds)
    alerts_have(kinds)
    dashboard_has(kinds)
    nobody_has_other_words()


if __name__ == "__main__":
    sys.exit(main())
