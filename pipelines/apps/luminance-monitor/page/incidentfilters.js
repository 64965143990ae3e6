// SPDX-License-Identifier: LGPL-2.1-or-later
// The filters of the list of incidents. The hash of the page's address has them, so that links and the
// browser's history do, too.
import {element, part, setText} from './dom.js';
import {incidentsPlace} from './place.js';
import {timeIn} from './ranges.js';
import {localTime} from './text.js';

const TIME = /^\d{1,15}$/;
const POSSIBLE = {
  camera: /./, verdict: /./, state: /^(open|closed)$/, acknowledged: /^(yes|no)$/, from: TIME, to: TIME,
};

/** Returns the valid filters of a query as texts, by their names in the API. */
export function filtersOf(query) {
  return Object.fromEntries(Object.keys(POSSIBLE)
    .filter((name) => POSSIBLE[name].test(query.get(name) ?? ''))
    .map((name) => [name, query.get(name)]));
}

/** Sets the options only if they differ, because the user may be about to choose one. */
function setOptions(select, options) {
  const shown = JSON.stringify(options), {value} = select;
  if (select.dataset.shown === shown) return;
  select.dataset.shown = shown;
  select.replaceChildren(...options.map(([value, text]) => element('option', text, {value, dir: 'auto'})));
  choose(select, value);
}

/** Chooses a value, also one that is not offered, such as a removed camera that has incidents. */
function choose(select, value) {
  if (![...select.options].some((option) => option.value === value))
    select.append(element('option', value, {value, dir: 'auto'}));
  select.value = value;
}

export class IncidentFilters {
  #form;
  #wrong;
  #cameras;

  constructor(form, cameras) {
    this.#form = form;
    this.#wrong = part(form, 'wrong-filters');
    this.#cameras = cameras;
    form.onchange = ({target}) => target.matches('select') && this.#apply();
    form.onsubmit = (event) => {
      event.preventDefault();
      this.#apply();
    };
  }

  /** Offers the present cameras and verdicts. */
  offer() {
    const cameras = Array.from(this.#cameras.values(), ({id, data}) => [id, data.name]);
    const rules = this.#cameras.values().next().value?.data.rules ?? [];
    setOptions(this.#form.elements.camera, [['', 'All'], ...cameras]);
    setOptions(this.#form.elements.verdict, [['', 'All'], ...rules.map(({name, title}) => [name, title])]);
  }

  fill(filters) {
    for (const name of ['camera', 'verdict', 'state', 'acknowledged'])
      choose(this.#form.elements[name], filters[name] ?? '');
    for (const name of ['from', 'to'])
      this.#form.elements[name].value = filters[name] ? localTime(Number(filters[name])) : '';
    part(this.#form, 'unfiltered').hidden = Object.keys(filters).length === 0;
    setText(this.#wrong, '');
  }

  #apply() {
    try {
      location.hash = incidentsPlace(this.#chosen());
      setText(this.#wrong, '');
    } catch (error) {
      setText(this.#wrong, error.message);
    }
  }

  #chosen() {
    const query = new URLSearchParams(new FormData(this.#form));
    for (const [name, words] of [['from', 'beginning'], ['to', 'end']]) {
      const input = this.#form.elements[name];
      query.set(name, input.value || input.validity.badInput ? timeIn(input, words) : '');
    }
    const filters = filtersOf(query);
    if (Number(filters.from) > Number(filters.to)) throw new Error('The beginning must be before the end.');
    return filters;
  }
}
