// SPDX-License-Identifier: LGPL-2.1-or-later
// Receives the monitor's event stream or, while the page is hidden, polls the state of all cameras. A hidden
// page has no stream, because browsers allow only six connections to a server for all pages together. A
// connection that is lost or silent is opened again.
import {ask} from './dom.js';

const SILENCE = 5000;      // milliseconds; the monitor sends an event every second
const PATIENCE = 20000;    // until a silent connection is replaced; it continues if the monitor only hung
const ANSWER = 10000;      // for a connection to bring its first event
const LONGEST_WAIT = 15000;
const WATCH = 1000;

export class Stream {
  #url;
  #on;
  #source = null;
  #failures = 0;
  #retry = 0;
  #heard = 0;          // time of the last event, or of the connection's begin
  #watched = 0;
  #isOpen = false;     // the first event has arrived
  #isSilent = false;   // silent() has been called
  #timer = null;       // worker, while the page is hidden
  #polling = null;     // aborts the request

  /**
   * `on` has cameras(data) and update(data); incidents(data); heartbeat(data); unseen(data), which is all cameras while
   * the page is hidden; lost(why), which is called again when the reason becomes known; and silent().
   */
  constructor(url, on) {
    this.#url = url;
    this.#on = on;
    setInterval(() => this.#watch(), WATCH);
    document.addEventListener('visibilitychange', () => this.#see());
    window.addEventListener('online', () => this.#failures && !document.hidden && this.#open());
    this.#see();
  }

  #see() {
    this.#timer?.terminate();
    this.#timer = null;
    this.#polling?.abort();
    if (document.hidden) this.#hide();
    else this.#open();
  }

  #hide() {
    this.#close();
    this.#timer = new Worker('timer.js');
    this.#timer.onmessage = () => this.#poll();
    this.#poll();
  }

  #open() {
    this.#close();
    this.#heard = this.#watched = performance.now();
    const source = this.#source = new EventSource(this.#url);
    for (const name of ['cameras', 'update', 'incidents', 'heartbeat'])
      source.addEventListener(name, (event) => this.#hear(event, this.#on[name]));
    source.onerror = () => this.#fail();
  }

  #close() {
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#source = null;
    this.#isOpen = this.#isSilent = false;
  }

  #hear(event, handler) {
    const data = JSON.parse(event.data);
    this.#heard = performance.now();
    this.#isOpen = true;
    this.#isSilent = false;
    this.#failures = 0;
    handler(data);
  }

  #watch() {
    const now = performance.now(), wasBusy = now - this.#watched > 2 * WATCH;
    this.#watched = now;
    if (!this.#source) return;
    // Events that arrived while the page or the machine was suspended are not read yet.
    if (wasBusy) this.#heard = now;
    const silence = now - this.#heard;
    if (!this.#isOpen) {
      if (silence > ANSWER) this.#fail();
    } else if (silence > PATIENCE) {
      this.#open();
    } else if (silence > SILENCE && !this.#isSilent) {
      this.#isSilent = true;
      this.#on.silent();
    }
  }

  #fail() {
    this.#close();
    const wait = Math.min(LONGEST_WAIT, 1000 * 2 ** this.#failures) * (0.8 + 0.4 * Math.random());
    if (this.#failures++ === 0) this.#on.lost('');
    this.#retry = setTimeout(() => this.#open(), wait);
    // An EventSource does not give the reason, but a request does.
    ask('api/v1/cameras', AbortSignal.timeout(ANSWER))
      .catch((error) => this.#failures && this.#on.lost(error.message));
  }

  async #poll() {
    this.#polling?.abort();
    const polling = this.#polling = new AbortController();
    try {
      const answer = await ask('api/v1/cameras', AbortSignal.any([polling.signal, AbortSignal.timeout(ANSWER)]));
      if (!polling.signal.aborted) this.#on.unseen(answer);
    } catch (error) {
      if (!polling.signal.aborted) this.#on.lost(error.message);
    }
  }
}
