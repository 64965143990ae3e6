// SPDX-License-Identifier: LGPL-2.1-or-later
// What the page knows of a camera.
import {ask} from './dom.js';
import {Series, WINDOW} from './series.js';

const ASK_AGAIN = 10000;  // milliseconds

export const STATES = ['lost', 'trouble', 'connecting', 'fine', 'ended'];

/** One of STATES: no picture, a bad one, not yet one, a good one, and none any more. */
function stateOf(data) {
  if (data.status === 'ended') return 'ended';
  if (data.status === 'waiting' || data.verdicts.some(({name}) => name === 'no-frames')) return 'lost';
  if (data.verdicts.length > 0) return 'trouble';
  return data.status === 'playing' ? 'fine' : 'connecting';
}

export const isTroubled = (state) => state === 'lost' || state === 'trouble';

export class Camera {
  series = new Series();
  /** Verdicts of the last quarter of an hour, as far as the page was there: {name, from, to}, where
   * `to` is null while it stands. */
  spans = [];
  #asked = null;

  constructor(data) {
    this.id = data.id;
    this.data = data;
    this.#note();
  }

  get path() {
    return `api/v1/cameras/${encodeURIComponent(this.id)}`;
  }

  get state() {
    return stateOf(this.data);
  }

  update(data, now) {
    this.data = data;
    this.#note(now);
  }

  /** The points that the stream did not bring; asked for once, until forget(). */
  askForRecent() {
    this.#asked ??= ask(`${this.path}/recent`)
      .then(({points, interval}) => this.series.reset(points, interval))
      .catch(() => setTimeout(() => this.forget(), ASK_AGAIN));  // the stream says what is wrong
    return this.#asked;
  }

  /** Points are missing: the stream was away for a while. */
  forget() {
    this.#asked = null;
  }

  #note(now = 0) {
    const {latest, verdicts} = this.data;
    if (latest) this.series.add(latest.time, latest.mean, latest.p1, latest.p99);
    for (const span of this.spans)
      if (span.to === null && !verdicts.some(({name}) => name === span.name)) span.to = now;
    for (const {name, since} of verdicts)
      if (!this.spans.some((span) => span.to === null && span.name === name))
        this.spans.push({name, from: since, to: null});
    this.spans = this.spans.filter(({to}) => to === null || to > now - WINDOW);
  }
}
