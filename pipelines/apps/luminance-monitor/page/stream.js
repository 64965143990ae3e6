// SPDX-License-Identifier: LGPL-2.1-or-later
// The monitor's event stream. A lost or silent connection is opened again. A hidden page has none,
// because browsers allow only six connections to a server for all pages together.
import {ask} from './dom.js';

const SILENCE = 20000;     // milliseconds; the monitor says something every interval
const ANSWER = 10000;      // for a connection to bring its first event
const LONGEST_WAIT = 15000;

export class Stream {
  #url;
  #on;
  #source = null;
  #failures = 0;
  #retry = 0;
  #heard = 0;       // when the last event came, or the connection was begun
  #isOpen = false;  // its first event has come
  #interval = 1000;

  /** `on` has cameras(data), update(data), and lost(why), which is called again when the reason
   * becomes known. */
  constructor(url, on) {
    this.#url = url;
    this.#on = on;
    setInterval(() => this.#watch(), 1000);
    document.addEventListener('visibilitychange', () => this.#see());
    window.addEventListener('online', () => this.#failures && this.#open());
    this.#see();
  }

  #see() {
    if (document.hidden) this.#close();
    else this.#open();
  }

  #open() {
    this.#close();
    this.#heard = performance.now();
    const source = this.#source = new EventSource(this.#url);
    source.addEventListener('cameras', (event) => this.#hear(event, this.#on.cameras));
    source.addEventListener('update', (event) => this.#hear(event, this.#on.update));
    source.onerror = () => this.#fail();
  }

  #close() {
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#source = null;
    this.#isOpen = false;
  }

  #hear(event, handler) {
    const data = JSON.parse(event.data);
    this.#heard = performance.now();
    this.#isOpen = true;
    if (data.interval) this.#interval = data.interval * 1000;
    this.#failures = 0;
    handler(data);
  }

  /** Where no camera plays the monitor is rightly silent: a new connection tells. */
  #watch() {
    if (!this.#source) return;
    const silence = performance.now() - this.#heard;
    if (!this.#isOpen && silence > ANSWER) this.#fail();
    else if (silence > SILENCE + 2 * this.#interval) this.#open();
  }

  #fail() {
    this.#close();
    const wait = Math.min(LONGEST_WAIT, 1000 * 2 ** this.#failures) * (0.8 + 0.4 * Math.random());
    if (this.#failures++ === 0) this.#on.lost('');
    this.#retry = setTimeout(() => this.#open(), wait);
    // An EventSource does not say why.
    ask('api/v1/cameras').catch((error) => this.#failures && this.#on.lost(error.message));
  }
}
