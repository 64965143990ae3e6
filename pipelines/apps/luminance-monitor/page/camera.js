// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of a camera in the page.
import {ask} from './dom.js';
import {Series, WINDOW} from './series.js';

const ASK_AGAIN = 10000;  // milliseconds

export const STATES = ['lost', 'trouble', 'connecting', 'fine', 'ended'];

/** Returns one of STATES. */
function stateOf(data) {
  if (data.status === 'ended') return 'ended';
  if (data.status === 'waiting' || data.verdicts.some(({name}) => name === 'no-frames')) return 'lost';
  if (data.verdicts.length > 0) return 'trouble';
  return data.status === 'playing' ? 'fine' : 'connecting';
}

export const isTroubled = (state) => state === 'lost' || state === 'trouble';

export class Camera {
  series = new Series();
  /** Verdicts of the last quarter of an hour, since the page was opened: {name, from, to}, where `to` is
   * null while a verdict is active. */
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

  get isInMaintenance() {
    return Boolean(this.data.maintenance);
  }

  /** Whether the camera has a problem that people should notice. */
  get isAlarming() {
    return isTroubled(this.state) && !this.isInMaintenance;
  }

  update(data, now) {
    this.data = data;
    this.#note(now);
  }

  /** Loads the points from before the stream began, once until discardRecent(). */
  askForRecent() {
    this.#asked ??= ask(`${this.path}/recent`)
      .then(({points, interval}) => this.series.reset(points, interval))
      .catch(() => setTimeout(() => this.discardRecent(), ASK_AGAIN));  // the stream reports the error
    return this.#asked;
  }

  /** Has points loaded again: the stream was interrupted, so some are missing. */
  discardRecent() {
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
