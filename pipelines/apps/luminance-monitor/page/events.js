// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of verdicts raised and cleared for a camera.
import {now} from './clock.js';
import {ask, element, part, setText} from './dom.js';
import {dateAndTime, moment, valueOf} from './text.js';

const LIMIT = 100;

function rowOf({time, title, raised, value, quantity}) {
  const row = element('tr', '', {'data-raised': String(raised)});
  const when = element('td');
  when.append(element('time', moment(time, now()), {title: dateAndTime(time)}));
  const sign = raised ? '▲' : '✓';
  row.append(when, element('td', `${sign} ${title} ${raised ? 'raised' : 'cleared'}`),
    element('td', valueOf(value, quantity), {title: value ?? 'unknown'}));
  return row;
}

export class Events {
  #body;
  #note;

  constructor(panel) {
    this.#body = panel.querySelector('tbody');
    this.#note = part(panel, 'no-events');
  }

  async load(camera, {from, to}, signal) {
    const query = new URLSearchParams({camera: camera.id, from, to, limit: LIMIT});
    try {
      const {events} = await ask(`api/v1/events?${query}`, signal);
      this.#body.replaceChildren(...events.map(rowOf));
      setText(this.#note, events.length === LIMIT ? `The latest ${LIMIT}:`
        : events.length ? '' : 'None in the period shown above.');
    } catch (error) {
      if (error.name !== 'AbortError') setText(this.#note, `The verdicts cannot be loaded: ${error.message}.`);
    }
  }
}
