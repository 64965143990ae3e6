// SPDX-License-Identifier: LGPL-2.1-or-later
// The view of one camera, with all of its data.
import {SCALES, histogramPath} from './chart.js';
import {now} from './clock.js';
import {copyOf, element, part, press, redraw, remember, remembered, setAttribute, setNumber, setState,
  setText, shape} from './dom.js';
import {Events} from './events.js';
import {History} from './history.js';
import {Maintenance} from './maintenance.js';
import {cameraPlace, incidentsPlace} from './place.js';
import {Reference} from './reference.js';
import {Region} from './region.js';
import {Rules} from './rules.js';
import {Still} from './still.js';
import {dateAndTime, integer, isolated, measured, percent, statusText, valueText, verdictText}
  from './text.js';

const RELOAD = 30000;  // milliseconds
const TABLE_ROWS = 16;

const twoDecimals = (value) => value.toFixed(2);
const LUMA = [
  ['mean', 'Mean', twoDecimals], ['stddev', 'Standard deviation', twoDecimals],
  ['min', 'Minimum', integer], ['p1', 'p1: percentile 1', integer], ['p5', 'p5', integer],
  ['median', 'Median', integer], ['p95', 'p95', integer], ['p99', 'p99: percentile 99', integer],
  ['max', 'Maximum', integer], ['clipped_low', 'Clipped to black', percent],
  ['clipped_high', 'Clipped to white', percent],
];
const INTERVAL = [
  ['interval', 'Interval started', dateAndTime, 'time'],
  ['interval-frames', 'Frames in the interval', integer, 'frames'],
  ['pixels', 'Pixels in the interval', integer],
];
const STREAM = [
  ['fps', 'Frames per second', measured], ['frames', 'Total frames', integer],
  ['reconnects', 'Reconnects', integer], ['last_frame', 'Last frame', dateAndTime],
];

const standingOf = ({data}) => data.verdicts.map(({name}) => name).join();

const STATUS_STATE = {playing: 'fine', connecting: 'connecting', waiting: 'lost', ended: 'ended'};

function fill(list, rows) {
  list.append(...rows.map(([field, title]) => {
    const row = element('div');
    row.append(element('dt', title), element('dd', '', {'data-field': field}));
    return row;
  }));
}

/** The elements of one camera's view; the next camera gets another View. draw() may be called on one that
 * is no longer shown. */
class View {
  root = element('div');

  constructor(camera) {
    const root = this.root;
    this.camera = camera;
    root.append(copyOf('detail-template'));
    fill(part(root, 'luma'), LUMA);
    fill(part(root, 'stream'), [...STREAM, ...INTERVAL]);
    this.still = new Still(root.querySelector('.picture'), camera);
    this.region = new Region(root.querySelector('.picture'), camera);
    this.reference = new Reference(part(root, 'reference'), camera);
    this.maintenance = new Maintenance(part(root, 'maintenance'), camera);
    part(root, 'incidents').href = incidentsPlace({camera: camera.id});
    this.history = new History(root.querySelector('.past'), camera);
    this.events = new Events(part(root, 'events'));
    this.rules = new Rules(root.querySelector('.main'), part(root, 'history'));
    this.scales = part(root, 'scales');
    this.scales.onclick = ({target}) => target.value && this.#choose(target.value);
    this.#choose(remembered('scale') in SCALES ? remembered('scale') : 'sqrt');
    part(root, 'table').ontoggle = () => redraw(this);
    this.refresh();
  }

  refresh() {
    redraw(this);
    this.camera.askForRecent().then(() => redraw(this));
  }

  draw() {
    if (!this.root.isConnected) return;
    const {data} = this.camera, {latest} = data;
    setState(part(this.root, 'heading'), this.camera.state);
    setText(part(this.root, 'name'), data.name);
    part(this.root, 'in-maintenance').hidden = !this.camera.isInMaintenance;
    setText(part(this.root, 'location'), data.location);
    setAttribute(this.root, 'data-time', latest ? String(latest.time) : '');
    for (const [field, , text] of STREAM) this.#set(field, data[field], text);
    for (const [field, , text, key = field] of [...LUMA, ...INTERVAL])
      this.#set(field, latest && latest[key], text);
    this.region.draw();
    this.reference.draw();
    this.maintenance.draw();
    this.#drawVerdicts();
    this.#drawHistogram(latest);
    this.history.draw();
    this.rules.draw(data.rules);
  }

  #set(field, value, text) {
    setNumber(this.root.querySelector(`[data-field="${field}"]`), value ?? null, text);
  }

  #choose(scale) {
    this.scale = scale;
    remember('scale', scale);
    press(this.scales, ({value}) => value === scale);
    redraw(this);
  }

  #drawVerdicts() {
    const {data} = this.camera;
    const sides = Object.fromEntries(data.rules.map(({name, side}) => [name, side]));
    const lines = data.verdicts.map((verdict) => [
      verdict.name === 'no-frames' ? 'lost' : 'trouble', verdictText(verdict, now()),
      valueText(verdict, sides[verdict.name])]);
    lines.push([STATUS_STATE[data.status], statusText(data, now()), '']);
    const list = part(this.root, 'verdicts');
    if (list.dataset.shown === JSON.stringify(lines)) return;
    list.dataset.shown = JSON.stringify(lines);
    list.replaceChildren(...lines.map(([sign, text, value]) => {
      const item = element('li', '', {'data-state': sign});
      const icon = shape('svg', {class: 'state', 'aria-hidden': 'true'});
      icon.append(shape('use', {href: `#state-${sign}`}));
      item.append(icon, element('span', text, {dir: 'auto'}), element('span', value, {class: 'value'}));
      return item;
    }));
  }

  #drawHistogram(latest) {
    const counts = latest?.histogram ?? [];
    const total = counts.reduce((sum, count) => sum + count, 0);
    setAttribute(part(this.root, 'histogram'), 'd',
      total ? histogramPath(counts, SCALES[this.scale]) : '');
    setAttribute(part(this.root, 'mean'), 'd', total ? `M${(latest.mean + 0.5).toFixed(2)},0V100` : '');
    this.#set('tallest', total ? Math.max(...counts) / total : null, percent);
    if (part(this.root, 'table').open) this.#drawTable(counts, total);
  }

  #drawTable(counts, total) {
    const body = part(this.root, 'table').querySelector('tbody');
    const size = 256 / TABLE_ROWS;
    const rows = Array.from({length: total ? TABLE_ROWS : 0}, (_, i) => {
      const sum = counts.slice(i * size, (i + 1) * size).reduce((a, b) => a + b);
      const row = element('tr');
      row.append(element('th', `${i * size} to ${(i + 1) * size - 1}`, {scope: 'row'}),
        element('td', integer(sum), {'data-value': sum}), element('td', percent(sum / total)));
      return row;
    });
    body.replaceChildren(...rows);
  }
}

export class Detail {
  id = null;
  #root;
  #cameras;
  #overview;
  #view = null;
  #hasHistory = false;
  #loading = null;
  #loadedAt = 0;
  #standing = '';  // active verdicts; when they change, the events are loaded again

  /** `cameras` is a Map by id; `overview` knows which cameras are neighbours. */
  constructor(root, cameras, overview) {
    this.#root = root;
    this.#cameras = cameras;
    this.#overview = overview;
  }

  set hasHistory(hasHistory) {
    this.#hasHistory = hasHistory;
    if (this.#view) this.#applyHistory();
  }

  get title() {
    return this.#view?.camera.data.name ?? '';
  }

  /** Shows a camera. If it is shown already, only updates the period and the neighbours. */
  open({id}) {
    const camera = this.#cameras.get(id);
    this.id = id;
    if (!camera) {
      this.#showMissing();
      return;
    }
    if (this.#view?.camera !== camera) {
      this.#view = new View(camera);
      this.#root.replaceChildren(this.#view.root);
      this.#view.history.onRange = () => this.#load();
      this.#standing = standingOf(camera);
      this.#applyHistory();
    }
    this.#view.history.follow();
    this.#offer('previous', -1, (name) => `‹ ${isolated(name)}`);
    this.#offer('next', 1, (name) => `${isolated(name)} ›`);
    this.tick();
  }

  close() {
    this.id = null;
    this.#view = null;
    this.#loading?.abort();
    this.#root.replaceChildren();
  }

  focus() {
    part(this.#root, 'name')?.focus();
  }

  /** Goes to a neighbour, which replaces this camera in the browser's history. */
  step(by) {
    const id = this.#neighbour(by);
    if (id) location.replace(cameraPlace(id));
  }

  update(ids) {
    if (!this.#view || !ids.includes(this.id)) return;
    this.#view.refresh();
    const standing = standingOf(this.#view.camera);
    if (standing !== this.#standing) this.#load();
    this.#standing = standing;
  }

  /** Updates what depends on the time. */
  tick() {
    if (!this.#view) return;
    this.#view.still.tick(performance.now());
    redraw(this.#view);
    if (performance.now() - this.#loadedAt > RELOAD && !document.hidden) this.#load();
  }

  #showMissing() {
    this.close();
    if (this.#cameras.size === 0) return;
    this.#root.replaceChildren(copyOf('missing-template'));
    setText(part(this.#root, 'name'), 'This camera does not exist.');
  }

  #applyHistory() {
    this.#view.history.isKept = this.#hasHistory;
    part(this.#root, 'hint').hidden = this.#hasHistory;
    part(this.#root, 'events').hidden = !this.#hasHistory;
    this.#load();
  }

  #load() {
    if (!this.#hasHistory) return;
    this.#loading?.abort();
    this.#loading = new AbortController();
    this.#loadedAt = performance.now();
    const {history, events, camera} = this.#view;
    history.load(this.#loading.signal);
    events.load(camera, history.period, this.#loading.signal);
  }

  #neighbour(by) {
    const chosen = this.#overview.chosen();
    const ids = chosen.includes(this.id) ? chosen : [...this.#cameras.keys()];
    return ids[ids.indexOf(this.id) + by];
  }

  #offer(name, by, text) {
    const link = part(this.#root, name), id = this.#neighbour(by);
    link.hidden = !id;
    if (!id) return;
    setText(link, text(this.#cameras.get(id).data.name));
    link.href = cameraPlace(id);
  }
}
