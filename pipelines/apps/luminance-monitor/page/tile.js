// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera in the overview. Only tiles that can be seen are drawn.
import {SCALES, bandPath, histogramPath, linePath} from './chart.js';
import {now} from './clock.js';
import {copyOf, part, redraw, setAttribute, setNumber, setState, setText} from './dom.js';
import {cameraPlace} from './place.js';
import {WINDOW} from './series.js';
import {Still} from './still.js';
import {integer, oneDecimal, worstText} from './text.js';

const SPARK_WIDTH = 900;      // of the chart's box in index.html; its height is luma
const SPARK_ROW = WINDOW / 150;

export class Tile {
  camera;
  element;
  link;
  #histogram;
  #outer;
  #line;
  #status;
  #fields;
  #still;
  #isSeen = false;

  constructor(camera) {
    this.camera = camera;
    this.element = copyOf('tile-template').firstElementChild;
    this.element.dataset.camera = camera.id;
    this.link = part(this.element, 'link');
    this.link.href = cameraPlace(camera.id);
    this.#histogram = part(this.element, 'histogram');
    this.#outer = part(this.element, 'outer');
    this.#line = part(this.element, 'line');
    this.#status = part(this.element, 'status');
    this.#status.id = `status-${camera.id}`;
    this.link.setAttribute('aria-describedby', this.#status.id);
    this.#fields = Object.fromEntries(Array.from(this.element.querySelectorAll('[data-field]'),
      (field) => [field.dataset.field, field]));
    this.#still = new Still(this.element.querySelector('.still'), camera);
    this.update();
  }

  set isSeen(isSeen) {
    this.#isSeen = isSeen;
    if (!isSeen) return;
    this.tick();
    this.#refresh();
  }

  /** Takes a change of the camera. The state is updated even while the tile is not visible. */
  update() {
    setState(this.element, this.camera.state);
    setText(this.link, this.camera.data.name);
    part(this.element, 'in-maintenance').hidden = !this.camera.isInMaintenance;
    this.tick();
    if (this.#isSeen) this.#refresh();
  }

  /** Updates what depends on the time. */
  tick() {
    const text = worstText(this.camera.data, now());
    setText(this.#status, text);
    setAttribute(this.#status, 'title', text);
    if (this.#isSeen) this.#still.tick(performance.now());
  }

  draw() {
    const {latest, fps} = this.camera.data;
    setNumber(this.#fields.fps, fps, oneDecimal);
    setNumber(this.#fields.mean, latest && latest.mean, oneDecimal);
    setNumber(this.#fields.p1, latest && latest.p1, integer);
    setNumber(this.#fields.p99, latest && latest.p99, integer);
    setAttribute(this.element, 'data-time', latest ? String(latest.time) : '');
    setAttribute(this.#histogram, 'd', latest ? histogramPath(latest.histogram, SCALES.sqrt) : '');
    this.#drawSpark();
  }

  #refresh() {
    redraw(this);
    this.camera.askForRecent().then(() => redraw(this));
  }

  #drawSpark() {
    const from = now() - WINDOW;
    const x = (time) => (time - from) / WINDOW * SPARK_WIDTH;
    const y = (luma) => 255 - luma;
    const rows = this.camera.series.rows(from, SPARK_ROW);
    setAttribute(this.#line, 'd', linePath(rows, x, y, (row) => row.mean));
    setAttribute(this.#outer, 'd', bandPath(rows, x, y, (row) => row.p1, (row) => row.p99));
  }
}
