// SPDX-License-Identifier: LGPL-2.1-or-later
// Shows in the link to the list how many incidents of the last day nobody has acknowledged.
import {now} from './clock.js';
import {ask, seldom, setAttribute, setText} from './dom.js';

const RECENT = 24 * 3600e3;  // milliseconds
const MOST = 50;             // incidents that are counted
const PAUSE = 3000, EVERY = 600e3;

const textOf = (count) =>
  count === 0 ? 'Incidents' : `Incidents, ${count} of the last 24 hours not acknowledged`;

export class Unacknowledged {
  #link;
  #hasHistory = false;

  /** Counts again regularly, because incidents grow older than a day. */
  constructor(link) {
    this.#link = link;
    this.#show(0);
    setInterval(() => this.refresh(), EVERY);
  }

  /** Sets whether there is a history. If so, the stream causes the first refresh(). */
  set hasHistory(hasHistory) {
    this.#hasHistory = hasHistory;
    if (!hasHistory) this.#show(0);
  }

  refresh = seldom(() => this.#load(), PAUSE);

  async #load() {
    if (!this.#hasHistory || document.hidden) return;
    const query = new URLSearchParams({acknowledged: 'no', from: Math.floor(now() - RECENT), limit: MOST});
    try {
      const {incidents, next} = await ask(`api/v1/incidents?${query}`);
      this.#show(next === null ? incidents.length : `${MOST}+`);
    } catch {
      // The former number stays; the page shows the error elsewhere.
    }
  }

  #show(count) {
    const number = this.#link.querySelector('b');
    setText(number, String(count));
    number.hidden = count === 0;
    setAttribute(this.#link, 'aria-label', textOf(count));
    setAttribute(this.#link, 'title', textOf(count));
  }
}
