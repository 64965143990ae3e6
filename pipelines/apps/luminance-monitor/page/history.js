// SPDX-License-Identifier: LGPL-2.1-or-later
// The chart of a camera's mean luma: the last minutes from the stream, longer ranges from the history.
import {bandPath, linePath, runs, ticks} from './chart.js';
import {now} from './clock.js';
import {ask, element, part, press, redraw, setAttribute, setText, shape} from './dom.js';
import {WINDOW} from './series.js';
import {dayOf, integer, moment, oneDecimal, timeOfDay, timeWithSeconds, verdictTitle}
  from './text.js';

const HOUR = 3600e3;
const RANGES = [
  {title: '15 min', length: WINDOW},
  {title: '1 h', length: HOUR},
  {title: '24 h', length: 24 * HOUR},
  {title: '7 d', length: 7 * 24 * HOUR},
  {title: '30 d', length: 30 * 24 * HOUR},
];
const WIDTH = 1000;  // of its box in index.html; the height is luma
const LANE = 24, BAR = 8;  // pixels of a verdict: its name and its times

const endOf = (row) => row.time + row.duration * 1000;

const hasFrames = (row) => row.mean !== null;

/** When each verdict stood, by its name. */
function spansOf(rows) {
  return [...new Set(rows.flatMap(({verdicts}) => verdicts))].flatMap((name) =>
    runs(rows.filter(({verdicts}) => verdicts.includes(name)))
      .map((run) => ({name, from: run[0].time, to: endOf(run.at(-1))})));
}

function numbersOf(row) {
  if (!hasFrames(row)) return 'no frames';
  const range = row.min_mean < row.max_mean
    ? ` (${oneDecimal(row.min_mean)} to ${oneDecimal(row.max_mean)})` : '';
  return `mean ${oneDecimal(row.mean)}${range}, p1 ${integer(row.p1)}, p99 ${integer(row.p99)}`;
}

export class History {
  onRange = () => {};
  #camera;
  #box;
  #ranges;
  #readout;
  #range = RANGES[0];
  #loaded = {rows: [], to: 0, error: ''};
  #rows = [];       // as drawn
  #from = 0;
  #to = 1;
  #cursor = null;   // a time

  constructor(panel, camera) {
    this.#camera = camera;
    this.#box = part(panel, 'history');
    this.#readout = part(panel, 'readout');
    this.#ranges = part(panel, 'ranges');
    this.#ranges.append(...RANGES.map(({title}) => element('button', title, {type: 'button', value: title})));
    this.#ranges.onclick = ({target}) => target.value && this.#choose(target.value);
    this.#box.onpointermove = (event) => this.#point(event);
    this.#box.onpointerleave = () => this.#pointAt(null);
    this.#box.onkeydown = (event) => this.#onKey(event);
    this.#choose(RANGES[0].title);
  }

  set isKept(isKept) {
    for (const button of this.#ranges.children)
      button.disabled = !isKept && button.value !== RANGES[0].title;
    if (!isKept && this.#range !== RANGES[0]) this.#choose(RANGES[0].title);
  }

  get length() {
    return this.#range.length;
  }

  async load(signal) {
    const range = this.#range;
    if (range === RANGES[0]) return;
    const to = Math.ceil(now()), from = Math.floor(to - range.length);
    const points = Math.max(100, Math.min(1000, part(this.#box, 'lanes').clientWidth));
    const query = new URLSearchParams({from, to, points: Math.round(points)});
    try {
      const {rows} = await ask(`${this.#camera.path}/history?${query}`, signal);
      this.#loaded = {rows, to, error: ''};
    } catch (error) {
      if (error.name === 'AbortError') return;
      this.#loaded = {rows: [], to, error: error.message};
    }
    redraw(this);
  }

  draw() {
    this.#take();
    const x = (time) => (time - this.#from) / (this.#to - this.#from) * WIDTH;
    const y = (luma) => 255 - luma;
    const draw = (name, path) => setAttribute(part(this.#box, name), 'd', path);
    const rows = this.#rows.filter(hasFrames);
    draw('line', linePath(rows, x, y, (row) => row.mean));
    draw('band', bandPath(rows, x, y, (row) => row.min_mean, (row) => row.max_mean));
    draw('outer', bandPath(rows, x, y, (row) => row.p1, (row) => row.p99));
    this.#drawTimes(x);
    this.#drawCursor(x);
  }

  #take() {
    const isLive = this.#range === RANGES[0];
    this.#to = isLive ? now() : this.#loaded.to || now();
    this.#from = this.#to - this.#range.length;
    this.#rows = isLive ? this.#camera.series.rows(this.#from, 2000) : this.#loaded.rows;
    const spans = isLive ? this.#camera.spans : spansOf(this.#rows);
    this.#drawLanes(spans.map(({name, from, to}) => ({name, from, to: to ?? this.#to})));
  }

  #choose(title) {
    this.#range = RANGES.find((range) => range.title === title);
    this.#loaded = {rows: [], to: 0, error: ''};
    this.#cursor = null;
    press(this.#ranges, ({value}) => value === title);
    this.onRange();
    redraw(this);
  }

  #drawTimes(x) {
    const axis = part(this.#box, 'times');
    const {times, isDays} = ticks(this.#from, this.#to, Math.max(2, axis.clientWidth / 70));
    setAttribute(part(this.#box, 'ticks'), 'd', times.map((time) => `M${x(time).toFixed(1)},0V255`).join(''));
    axis.replaceChildren(...times.map((time) =>
      shape('text', {x: `${x(time) / WIDTH * 100}%`, y: 14}, (isDays ? dayOf : timeOfDay)(time))));
  }

  #drawLanes(spans) {
    const lanes = part(this.#box, 'lanes');
    const names = [...new Set(spans.map(({name}) => name))];
    const share = (time) => Math.max(0, Math.min(1, (time - this.#from) / (this.#to - this.#from)));
    const bars = spans.map(({name, from, to}) => shape('rect', {
      'data-verdict': name, x: `${100 * share(from)}%`, width: `${100 * (share(to) - share(from))}%`,
      y: names.indexOf(name) * LANE + LANE - BAR - 1, height: BAR,
    }));
    const titles = names.map((name, i) => shape('text', {x: 0, y: i * LANE + 12}, verdictTitle(name)));
    setAttribute(lanes, 'height', String(names.length * LANE));
    lanes.replaceChildren(...titles, ...bars);
  }

  #drawCursor(x) {
    const at = this.#cursor === null ? -1 : this.#rowAt(this.#cursor);
    const row = this.#rows[at];
    setAttribute(part(this.#box, 'cursor'), 'd',
      row ? `M${x(row.time + row.duration * 500).toFixed(1)},0V255` : '');
    const text = row ? this.#textOf(row) : this.#summary();
    setText(this.#readout, text);
    setAttribute(this.#box, 'aria-valuemin', '0');
    setAttribute(this.#box, 'aria-valuemax', String(Math.max(0, this.#rows.length - 1)));
    setAttribute(this.#box, 'aria-valuenow', String(row ? at : Math.max(0, this.#rows.length - 1)));
    setAttribute(this.#box, 'aria-valuetext', text);
  }

  #textOf(row) {
    const when = this.#range.length > HOUR ? moment(row.time, now()) : timeWithSeconds(row.time);
    const verdicts = (row.verdicts ?? []).map(verdictTitle).join(', ');
    return `${when}: ${numbersOf(row)}${verdicts && `. ${verdicts}`}`;
  }

  #summary() {
    if (this.#loaded.error) return `The history cannot be loaded: ${this.#loaded.error}.`;
    const rows = this.#rows.filter(hasFrames);
    if (rows.length === 0) return 'No frames in this period.';
    const min = Math.min(...rows.map((row) => row.min_mean));
    const max = Math.max(...rows.map((row) => row.max_mean));
    return `Mean from ${oneDecimal(min)} to ${oneDecimal(max)}. Line: mean. Bands: range of the `
      + 'means, and p1 to p99.';
  }

  /** The nearest row's index. */
  #rowAt(time) {
    const distances = this.#rows.map((row) => Math.abs(row.time + row.duration * 500 - time));
    return distances.indexOf(Math.min(...distances));
  }

  #pointAt(time) {
    this.#cursor = time;
    redraw(this);
  }

  #point(event) {
    const {left, width} = part(this.#box, 'lanes').getBoundingClientRect();
    this.#pointAt(this.#from + (event.clientX - left) / width * (this.#to - this.#from));
  }

  #onKey(event) {
    const last = this.#rows.length - 1;
    const at = this.#cursor === null ? last : this.#rowAt(this.#cursor);
    const next = {ArrowLeft: Math.max(0, at - 1), ArrowRight: Math.min(last, at + 1), Home: 0, End: last};
    const row = this.#rows[next[event.key]];
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.#pointAt(row.time + row.duration * 500);
  }
}
