// SPDX-License-Identifier: LGPL-2.1-or-later
// The chart of a camera's mean luma: the last minutes come from the stream, longer periods from the
// history.
import {Brush} from './brush.js';
import {bandPath, endOf, linePath, ticks} from './chart.js';
import {now} from './clock.js';
import {ask, part, redraw, setAttribute, setText, shape} from './dom.js';
import {Lanes} from './lanes.js';
import {Ranges} from './ranges.js';
import {coarseSpans, exactSpans} from './spans.js';
import {dayOf, integer, moment, oneDecimal, sinceText, spanText, timeOfDay, timeWithSeconds, verdictTitle}
  from './text.js';

const HOUR = 3600e3;
const WIDTH = 1000;  // of the chart's box in index.html; its height is luma
const REACH = 7;     // pixels from the cursor to a short verdict, at most
const MOST_INCIDENTS = 1000;  // in one response; earlier verdicts are drawn by the rows

const NOTHING = {rows: [], incidents: [], coarse: [], from: 0, to: 0, error: ''};

const hasFrames = (row) => row.mean !== null;

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
  #csv;
  #lanes;
  #loaded = NOTHING;
  #rows = [];       // as drawn
  #spans = [];      // spans of verdicts, as drawn
  #from = 0;
  #to = 1;
  #cursor = null;   // a time
  #selection = null;  // begin and end, as shares of the width

  constructor(panel, camera) {
    this.#camera = camera;
    this.#box = part(panel, 'history');
    this.#readout = part(panel, 'readout');
    this.#csv = part(panel, 'csv');
    this.#ranges = new Ranges(panel);
    this.#ranges.onChange = () => this.#begin();
    new Brush(this.#box, part(this.#box, 'lanes'), {
      isReady: () => this.#ranges.isKept,
      draw: (from, to) => this.#select(from === null ? null : [from, to]),
      select: (from, to) => this.#ranges.choose(this.#timeAt(from), this.#timeAt(to)),
    });
    this.#box.onpointermove = (event) => this.#point(event);
    this.#box.onpointerleave = () => this.#pointAt(null);
    this.#box.onkeydown = (event) => this.#onKey(event);
    this.#lanes = new Lanes(part(this.#box, 'lanes'));
    // The width of a verdict's mark depends on the width of the chart.
    new ResizeObserver(() => redraw(this)).observe(this.#box);
  }

  set isKept(isKept) {
    this.#csv.hidden = !isKept;
    this.#ranges.isKept = isKept;
  }

  /** Takes the period that was chosen elsewhere. */
  follow() {
    this.#ranges.follow();
  }

  /** The period that is shown, as times. */
  get period() {
    return this.#ranges.period;
  }

  async load(signal) {
    this.#offerCsv();
    const {from, to} = this.period;
    try {
      const [rows, listed] = await Promise.all(
        [this.#askForRows(from, to, signal), this.#askForIncidents(from, to, signal)]);
      const {spans, data} = this.#camera, {incidents, listedFrom} = listed;
      const coarse = coarseSpans(rows, exactSpans(incidents, spans), data.rules, listedFrom);
      this.#loaded = {rows, incidents, coarse, from, to, error: ''};
    } catch (error) {
      if (error.name === 'AbortError') return;
      this.#loaded = {...NOTHING, from, to, error: error.message};
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
    const [from, to] = (this.#selection ?? [0, 0]).map((share) => (share * WIDTH).toFixed(1));
    draw('selection', this.#selection ? `M${from},0H${to}V255H${from}Z` : '');
  }

  #take() {
    const {isLive} = this.#ranges;
    const {from, to} = isLive || !this.#loaded.to ? this.period : this.#loaded;
    this.#to = isLive ? now() : to;
    this.#from = isLive ? this.#to - this.#ranges.length : from;
    this.#rows = isLive ? this.#camera.series.rows(this.#from, 2000) : this.#loaded.rows;
    this.#spans = [...exactSpans(this.#loaded.incidents, this.#camera.spans), ...this.#loaded.coarse]
      .filter((span) => span.from <= this.#to && (span.to ?? this.#to) >= this.#from)
      .sort((a, b) => a.from - b.from);
    this.#lanes.draw(this.#spans, this.#from, this.#to, this.#camera.data.rules);
  }

  /** Loads the rows of a period; the last minutes come with the stream instead. */
  async #askForRows(from, to, signal) {
    if (this.#ranges.isLive) return [];
    const points = Math.max(100, Math.min(1000, part(this.#box, 'lanes').clientWidth));
    const query = new URLSearchParams({from, to, points: Math.round(points)});
    return (await ask(`${this.#camera.path}/history?${query}`, signal)).rows;
  }

  /** Loads the incidents of a period. If that fails, verdicts are drawn by the rows. */
  async #askForIncidents(from, to, signal) {
    const query = new URLSearchParams({camera: this.#camera.id, from, to, limit: MOST_INCIDENTS});
    try {
      const {incidents, next} = await ask(`api/v1/incidents?${query}`, signal);
      return {incidents, listedFrom: next ? incidents.at(-1).begin : 0};
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      return {incidents: [], listedFrom: 0};
    }
  }

  /** Begins to show another range. */
  #begin() {
    this.#loaded = NOTHING;
    this.#cursor = null;
    this.onRange();
    redraw(this);
  }

  #offerCsv() {
    const {from, to} = this.period;
    this.#csv.href = `${this.#camera.path}/history.csv?${new URLSearchParams({from, to})}`;
    this.#csv.download = `${this.#camera.id}.csv`;
  }

  #select(selection) {
    this.#selection = selection;
    redraw(this);
  }

  #timeAt(share) {
    return this.#from + share * (this.#to - this.#from);
  }

  #drawTimes(x) {
    const axis = part(this.#box, 'times');
    const {times, isDays} = ticks(this.#from, this.#to, Math.max(2, axis.clientWidth / 70));
    setAttribute(part(this.#box, 'ticks'), 'd', times.map((time) => `M${x(time).toFixed(1)},0V255`).join(''));
    axis.replaceChildren(...times.map((time) =>
      shape('text', {x: `${x(time) / WIDTH * 100}%`, y: 14}, (isDays ? dayOf : timeOfDay)(time))));
  }

  #drawCursor(x) {
    const at = this.#cursor === null ? -1 : this.#rowAt(this.#cursor);
    const row = this.#selection ? undefined : this.#rows[at];
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
    const when = this.#to - this.#from > HOUR ? moment(row.time, now()) : timeWithSeconds(row.time);
    const verdicts = this.#verdictsAt(row);
    return `${when}: ${numbersOf(row)}${verdicts && `. ${verdicts}`}`;
  }

  /** Returns verdicts of the row, and those whose marks are at the cursor: marks of short ones are wider. */
  #verdictsAt(row) {
    const reach = REACH * (this.#to - this.#from) / part(this.#box, 'lanes').clientWidth;
    const met = this.#spans.filter(({from, to, isCoarse}) => {
      const around = Math.max(0, (reach - ((to ?? this.#to) - from)) / 2);
      return !isCoarse && from - around < Math.max(endOf(row), this.#cursor)
        && (to ?? this.#to) + around > Math.min(row.time, this.#cursor);
    });
    return [...new Set([...met.map(({name}) => name), ...row.verdicts ?? []])]
      .map((name) => this.#verdictText(name, met.filter((span) => span.name === name), row.time))
      .join(', ');
  }

  /** Returns "Too dark from 14:03:10 to 14:03:20", "Too dark 3 times from …", or "Too dark" without spans. */
  #verdictText(name, spans, reference) {
    const title = this.#titleOf(name);
    if (spans.length === 0) return title;
    const times = spans.length > 1 ? ` ${spans.length} times` : '', {from} = spans[0], {to} = spans.at(-1);
    return `${title}${times} ${to === null ? sinceText(from, reference) : spanText(from, to, reference)}`;
  }

  #summary() {
    if (this.#loaded.error) return `The history cannot be loaded: ${this.#loaded.error}.`;
    const rows = this.#rows.filter(hasFrames);
    if (this.#selection) return `From ${this.#moment(0)} to ${this.#moment(1)}. Esc cancels.`;
    if (rows.length === 0) return 'No frames in this period.';
    const min = Math.min(...rows.map((row) => row.min_mean));
    const max = Math.max(...rows.map((row) => row.max_mean));
    return `Mean luma from ${oneDecimal(min)} to ${oneDecimal(max)}. Line: mean. Bands: range of the `
      + 'means, and p1 to p99.';
  }

  #titleOf(verdict) {
    return verdictTitle(verdict, this.#camera.data.rules);
  }

  /** Returns the time at which the selection begins or ends. */
  #moment(end) {
    return moment(this.#timeAt(this.#selection[end]), now());
  }

  /** Returns the index of the nearest row. */
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
    this.#pointAt(this.#timeAt((event.clientX - left) / width));
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
