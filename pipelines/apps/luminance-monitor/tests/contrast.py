# SPDX-License-Identifier: LGPL-2.1-or-later
"""Contrast of a page's texts and signs as WCAG 2 defines it: 4.5 for text, 3 for large text and signs."""

_SCRIPT = """
const parse = (text) => {
  const numbers = text.match(/[\\d.]+/g).map(Number);
  return {rgb: numbers.slice(0, 3), alpha: numbers[3] ?? 1};
};
const over = (rgb, alpha, ground) => rgb.map((c, i) => alpha * c + (1 - alpha) * ground[i]);
const luminance = (rgb) => {
  const [r, g, b] = rgb.map((c) => (c /= 255, c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4));
  return .2126 * r + .7152 * g + .0722 * b;
};
const ratio = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + .05) / (Math.min(x, y) + .05);
};
const groundOf = (element) => {
  if (!element) return [255, 255, 255];
  const {rgb, alpha} = parse(getComputedStyle(element).backgroundColor);
  return alpha === 1 ? rgb : over(rgb, alpha, groundOf(element.parentElement));
};
const opacityOf = (element) =>
  element ? getComputedStyle(element).opacity * opacityOf(element.parentElement) : 1;
const found = [];
const judge = (element, color, needed, what) => {
  const ground = groundOf(element);
  const {rgb, alpha} = parse(color);
  const value = ratio(over(rgb, alpha * opacityOf(element), ground), ground);
  found.push([value, needed, `${what}: ${value.toFixed(2)}, needed ${needed}`]);
};
const isShown = (element) => {
  const box = element.getBoundingClientRect();
  return element.checkVisibility() && box.width > 1 && box.height > 1 && !element.disabled;
};
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const element = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
  if (!text || !isShown(element) || element.closest('noscript')) continue;
  const style = getComputedStyle(element), size = parseFloat(style.fontSize);
  const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  judge(element, element.closest('svg') ? style.fill : style.color, isLarge ? 3 : 4.5, text);
}
const signs = {'.state': 'color', '.histogram [data-part=histogram]': 'fill',
  '[data-part=line]': 'stroke', '.lanes rect': 'fill', '.histogram .mark': 'stroke'};
for (const [selector, property] of Object.entries(signs))
  for (const element of document.querySelectorAll(selector))
    if (isShown(element)) judge(element, getComputedStyle(element)[property], 3, selector);
const search = document.getElementById('search');
if (search) judge(search, getComputedStyle(search, '::placeholder').color, 4.5, 'placeholder');
return found;
"""


def poor_contrasts(browser, minimum=20):
    """Returns a line for each text or sign with too little contrast, or an error if the page has fewer than
    `minimum` of them."""
    found = browser.run(_SCRIPT)
    if len(found) < minimum:
        return ["hardly any text was found"]
    return [text for value, needed, text in found if value < needed]
