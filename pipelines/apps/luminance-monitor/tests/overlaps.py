# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds texts, fields and buttons of a page that overlap or extend beyond the window."""

_SCRIPT = """
const isShown = (element) => element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true});
const isClipping = (element) => getComputedStyle(element).overflow !== 'visible';
// The part of a box that is visible within its clipping ancestors.
const visible = ({left, top, right, bottom}, element) => {
  for (let at = element; at && at !== document.body; at = at.parentElement) {
    if (!isClipping(at)) continue;
    const box = at.getBoundingClientRect();
    [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
    [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
  }
  return right - left > 1 && bottom - top > 1 ? {left, top, right, bottom, element} : null;
};
// A dialog lies over everything else.
const root = document.querySelector('dialog[open]') ?? document.body;
const boxes = [];
const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const element = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
  if (!text || !isShown(element) || element.closest('noscript, .unseen')) continue;
  const range = document.createRange();
  range.selectNodeContents(texts.currentNode);
  for (const rect of range.getClientRects()) {
    const box = visible(rect, element);
    if (box) boxes.push({...box, text});
  }
}
for (const element of root.querySelectorAll('input, button, img, .plot, .histogram, .spark, .lanes rect'))
  if (isShown(element)) {
    const box = visible(element.getBoundingClientRect(), element);
    if (box) boxes.push({...box, text: element.outerHTML.slice(0, 60)});
  }
const holds = (a, b) => a.contains(b) || b.contains(a);
// Marks on a picture, texts that a picture hides, and the labels of a chart's lines may overlap.
const isMeant = (a, b) => [[a, b], [b, a]].some(([one, other]) =>
  one.matches('.still > *') && other.closest('.still') === one.closest('.still') ||
  one.matches('.limits > *') && other.matches('.plot'));
const SLACK = 1.5;  // pixels, for what the browser rounds
const found = [];
for (const [i, a] of boxes.entries())
  for (const b of boxes.slice(i + 1)) {
    if (holds(a.element, b.element) || isMeant(a.element, b.element)) continue;
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > SLACK && high > SLACK)
      found.push(`"${a.text}" and "${b.text}": ${wide.toFixed(1)} × ${high.toFixed(1)}`);
  }
const width = document.documentElement.clientWidth;
for (const {right, left, text} of boxes)
  if (right > width + SLACK || left < -SLACK) found.push(`"${text}" is outside: ${left} to ${right} of ${width}`);
if (document.documentElement.scrollWidth > width)
  found.push(`the page is ${document.documentElement.scrollWidth} wide, of ${width}`);
return [boxes.length, found];
"""


def overlaps(browser, minimum=20):
    """Returns a line for each problem, or an error if the page has fewer than `minimum` boxes."""
    count, found = browser.run(_SCRIPT)
    return found if count >= minimum else [f"only {count} boxes were found"]
