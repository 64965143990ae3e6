// SPDX-License-Identifier: LGPL-2.1-or-later
// The period that the history shows: a length of time up to now, or from one time to another. It is the
// same for all cameras, and stored for the next visit.
import {now} from './clock.js';
import {element, part, press, remember, remembered, setText} from './dom.js';
import {WINDOW} from './series.js';
import {localTime} from './text.js';

const MINUTE = 60e3, HOUR = 60 * MINUTE;
const FIXED = [
  {title: '15 min', length: WINDOW},
  {title: '1 h', length: HOUR},
  {title: '24 h', length: 24 * HOUR},
  {title: '7 d', length: 7 * 24 * HOUR},
  {title: '30 d', length: 30 * 24 * HOUR},
];
const LIVE = FIXED[0];  // available without a history
const FREE = 'From … to …';

const freeRange = (from, to) => ({title: FREE, from, to, length: to - from});

/** Returns the range of "24 h" or "FROM/TO", in milliseconds; other texts give the first one. */
function rangeOf(text) {
  const [, from, to] = (/^(\d{1,15})\/(\d{1,15})$/.exec(text ?? '') ?? []).map(Number);
  return to > from ? freeRange(from, to) : FIXED.find(({title}) => title === text) ?? LIVE;
}

// Kept here, too, because the browser may not store it.
let chosen = rangeOf(remembered('range'));

function keep(range) {
  chosen = range;
  remember('range', range.title === FREE ? `${range.from}/${range.to}` : range.title);
}

/** Shows the period of a link, until another one is chosen or the page is left. */
export function visit(from, to) {
  if (to > from) chosen = freeRange(from, to);
}

/** Returns the time in an input. Throws an Error with a text for people. */
export function timeIn(input, name) {
  const time = new Date(input.value).getTime();
  if (input.validity.badInput || Number.isNaN(time))
    throw new Error(`Enter the date and the time of the ${name}.`);
  return time;
}

export class Ranges {
  onChange = () => {};
  #buttons;
  #form;
  #wrong;
  #range = LIVE;
  #isKept = null;  // not known yet

  /** `panel` has the places of the buttons and of the form of a free range. */
  constructor(panel) {
    this.#buttons = part(panel, 'ranges');
    this.#form = part(panel, 'free-range');
    this.#wrong = part(panel, 'wrong-range');
    this.#buttons.append(...[...FIXED.map(({title}) => title), FREE].map((title) =>
      element('button', title, {type: 'button', value: title})));
    this.#buttons.lastElementChild.setAttribute('aria-expanded', 'false');
    this.#buttons.onclick = ({target}) => target.value && this.#press(target.value);
    this.#form.onsubmit = (event) => {
      event.preventDefault();
      this.#submit();
    };
    this.#show(LIVE);
  }

  /** Sets whether a history is kept. Without one, only the last minutes can be chosen. */
  set isKept(isKept) {
    if (isKept === this.#isKept) return;
    this.#isKept = isKept;
    for (const button of this.#buttons.children) button.disabled = !isKept && button.value !== LIVE.title;
    this.#show(isKept ? chosen : LIVE);
  }

  get isKept() {
    return this.#isKept;
  }

  /** Shows the range that was chosen elsewhere. */
  follow() {
    if (this.#isKept && this.#range !== chosen) this.#show(chosen);
  }

  /** Whether it shows the last minutes, which come with the stream. */
  get isLive() {
    return this.#range === LIVE;
  }

  get length() {
    return this.#range.length;
  }

  /** The period at this moment, in whole milliseconds. */
  get period() {
    if (this.#range.title === FREE) return {from: this.#range.from, to: Math.min(this.#range.to, Math.ceil(now()))};
    const to = Math.ceil(now());
    return {from: Math.floor(to - this.#range.length), to};
  }

  /** Chooses whole minutes around these times. */
  choose(from, to) {
    const begin = Math.floor(from / MINUTE) * MINUTE;
    keep(freeRange(begin, Math.max(begin + MINUTE, Math.ceil(to / MINUTE) * MINUTE)));
    this.#show(chosen);
  }

  #press(title) {
    if (title !== FREE) {
      keep(FIXED.find((range) => range.title === title));
      this.#show(chosen);
    } else if (this.#form.hidden) {
      this.#fill(this.period);
      this.#open(true);
      this.#form.elements.from.focus();
    } else {
      this.#open(false);
    }
  }

  #submit() {
    try {
      const {from: first, to: last} = this.#form.elements;
      const from = timeIn(first, 'beginning'), to = timeIn(last, 'end');
      if (from >= to) throw new Error('The beginning must be before the end.');
      if (from > now()) throw new Error('The beginning lies in the future.');
      this.choose(from, to);
    } catch (error) {
      setText(this.#wrong, error.message);
    }
  }

  #show(range) {
    this.#range = range;
    const isFree = range.title === FREE;
    if (isFree) this.#fill(range);
    this.#open(isFree);
    press(this.#buttons, ({value}) => value === range.title);
    this.onChange();
  }

  #open(isOpen) {
    this.#form.hidden = !isOpen;
    this.#buttons.lastElementChild.setAttribute('aria-expanded', String(isOpen));
    setText(this.#wrong, '');
  }

  #fill({from, to}) {
    this.#form.elements.from.value = localTime(from);
    this.#form.elements.to.value = localTime(to);
  }
}
