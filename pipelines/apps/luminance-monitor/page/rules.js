// SPDX-License-Identifier: LGPL-2.1-or-later
// The rules of a camera: a table of them, and lines in the chart of its mean luma.
import {element, shape} from './dom.js';
import {limitText, measured} from './text.js';

const LABEL = 24;  // luma that the label of a line takes in the chart

const OPPOSITE = {above: 'below', below: 'above'};

function cellsOf({enabled, raise, clear, hold}, {name, side, quantity}) {
  if (!enabled) return [element('td', 'off', {colspan: 3})];
  // Any frame clears no-frames, whatever the threshold is.
  const cleared = name === 'no-frames' ? 'a frame arrives'
    : limitText(OPPOSITE[side], clear, quantity);
  return [limitText(side, raise, quantity), cleared, `${measured(hold)} s`]
    .map((text) => element('td', text));
}

/** Returns the table rows of a rule, followed by those of its schedule. */
function rowsOf(rule) {
  const row = element('tr', '', {'data-rule': rule.name}), head = element('th', rule.title, {scope: 'row'});
  head.append(element('small', rule.quantity));
  row.append(head, ...cellsOf(rule, rule));
  return [row, ...rule.schedule.map((period) => {
    const time = period.from === null ? 'at other times' : `${period.from} to ${period.to}`;
    const then = element('tr', '', {class: 'period'});
    then.append(element('th', time, {scope: 'row'}), ...cellsOf(period, rule));
    return then;
  })];
}

/** Returns the thresholds of the mean luma, as {title, side, raise}. */
const limitsOfMean = (rules) =>
  rules.filter(({quantity, enabled}) => enabled && quantity === 'mean luma');

/** Places the label on the side of the line where the verdict is raised, unless there is no room. */
function labelOf({name, title, side, raise, quantity, schedule}) {
  const isBelow = side === 'below' ? raise > LABEL : raise > 255 - LABEL;
  const text = `${title} ${limitText(side, raise, quantity)}${schedule.length ? ' now' : ''}`;
  const label = element('span', text,
    {'data-limit': name, 'data-place': isBelow ? 'below' : 'above'});
  label.style.top = `${(100 - raise / 2.55).toFixed(2)}%`;
  return label;
}

export class Rules {
  #body = element('tbody');
  #lines = shape('g', {class: 'limits'});
  #labels = element('div', '', {class: 'limits', 'aria-hidden': 'true'});
  #shown = '';

  /** Adds a table to `panels`, and lines to `chart`. */
  constructor(panels, chart) {
    const panel = element('section', '', {class: 'panel rules', 'aria-label': 'Rules in force'});
    const head = element('thead'), titles = element('tr'), table = element('table');
    titles.append(...['Verdict', 'Raised', 'Cleared', 'Held for']
      .map((title) => element('th', title, {scope: 'col'})));
    head.append(titles);
    table.append(head, this.#body);
    panel.append(element('h3', 'Rules in force'), table);
    panels.append(panel);
    chart.querySelector('.plot').append(this.#lines);
    chart.append(this.#labels);
  }

  draw(rules) {
    const text = JSON.stringify(rules);
    if (this.#shown === text) return;
    this.#shown = text;
    this.#body.replaceChildren(...rules.flatMap(rowsOf));
    const limits = limitsOfMean(rules);
    this.#lines.replaceChildren(...limits.map(({name, raise}) =>
      shape('path', {'data-limit': name, d: `M0,${255 - raise}H1000`})));
    this.#labels.replaceChildren(...limits.map(labelOf));
  }
}
