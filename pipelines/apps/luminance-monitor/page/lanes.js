// SPDX-License-Identifier: LGPL-2.1-or-later
// The verdicts below a chart: a lane for each, with its title and the times when it was active.
import {setAttribute, shape} from './dom.js';
import {marksOf} from './marks.js';
import {verdictTitle} from './text.js';

const LANE = 24, BAR = 8;  // pixels: height of a lane, and of the bars in it

export class Lanes {
  #root;

  constructor(root) {
    this.#root = root;
  }

  /** Draws `spans` between `from` and `to`, sorted by time, in lanes in the order of `rules`. */
  draw(spans, from, to, rules) {
    const {width} = this.#root.getBoundingClientRect();
    const x = (time) => Math.max(0, Math.min(1, (time - from) / (to - from))) * width;
    const order = (name) => rules.findIndex((rule) => rule.name === name);
    const names = [...new Set(spans.map(({name}) => name))].sort((a, b) => order(a) - order(b));
    setAttribute(this.#root, 'height', String(names.length * LANE));
    this.#root.replaceChildren(...names.flatMap((name, lane) => [
      shape('text', {x: 0, y: lane * LANE + 12}, verdictTitle(name, rules)),
      ...marksOf(spans.filter((span) => span.name === name)
        .map((span) => ({from: x(span.from), to: x(span.to ?? to)})), width)
        .map((mark) => shape('rect', {
          'data-verdict': name, x: mark.left, width: mark.width,
          y: lane * LANE + LANE - BAR - 1, height: BAR,
        })),
    ]));
  }
}
