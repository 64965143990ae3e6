// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of incidents over all cameras, the newest first.
import {now} from './clock.js';
import {ask, copyOf, part, seldom, setAttribute, setState, setText} from './dom.js';
import {IncidentFilters, filtersOf} from './incidentfilters.js';
import {cameraPlace, incidentPlace, incidentsPlace} from './place.js';
import {acknowledgedText, dateAndTime, endText, extremeText, lasting, reasonText} from './text.js';

const PATH = 'api/v1/incidents';
const PAGE = 50, MOST = 1000;  // that are asked for at once
const PAUSE = 1000;            // milliseconds between two requests that nobody clicked for
const RELOAD = 30000;          // values get worse without news
const SHORT = 60;              // characters of a comment that are always shown

export const stateOfIncident = ({end, verdict}) =>
  end !== null ? 'ended' : verdict === 'no-frames' ? 'lost' : 'trouble';

export const lengthOf = ({begin, end}) => lasting((end ?? now()) - begin);

const isNewer = (a, b) => a.begin > b.begin || (a.begin === b.begin && a.id > b.id);

function drawComment(root, comment) {
  const isLong = comment.length > SHORT || comment.includes('\n');
  const short = part(root, 'comment'), long = part(root, 'long-comment');
  short.hidden = isLong || comment === '';
  long.hidden = !isLong;
  setText(short, comment);
  setText(part(long, 'beginning'), `${Array.from(comment.replace(/\s+/g, ' ')).slice(0, SHORT).join('')} …`);
  setText(part(long, 'whole'), comment);
}

/** A camera that was removed has no view to lead to. */
export function drawCameraLink(link, {camera, name}, cameras) {
  setText(link, name);
  if (cameras.has(camera)) setAttribute(link, 'href', cameraPlace(camera));
  else link.removeAttribute('href');
}

class Row {
  element = copyOf('incident-row-template').firstElementChild;
  incident;
  #cameras;

  constructor(incident, cameras) {
    this.#cameras = cameras;
    const {id} = incident, link = this.link;
    link.href = incidentPlace(id);
    this.element.dataset.incident = id;
    part(this.element, 'where').id = `incident-${id}-where`;
    part(this.element, 'when').id = `incident-${id}-when`;
    link.setAttribute('aria-describedby', `incident-${id}-where incident-${id}-when`);
    this.draw(incident);
  }

  get link() {
    return part(this.element, 'link');
  }

  /** Somebody reads it, or is at it with the keyboard. */
  get isInUse() {
    return part(this.element, 'long-comment').open || this.element.contains(document.activeElement);
  }

  draw(incident) {
    const root = this.element, {title, begin, end, reason, acknowledged, comment, maintenance} = incident;
    this.incident = incident;
    setState(root, stateOfIncident(incident));
    setText(part(root, 'state'), end === null ? 'Lasting' : 'Over');
    setText(this.link, title);
    setText(part(root, 'value'), extremeText(incident));
    setText(part(root, 'begin'), dateAndTime(begin));
    setText(part(root, 'reason'), reason === null ? '' : `Over: ${reasonText(reason)}`);
    setText(part(root, 'acknowledged'), acknowledgedText(acknowledged));
    part(root, 'in-maintenance').hidden = !maintenance;
    drawComment(root, comment);
    this.tick();
  }

  /** Time has passed, or the cameras are others. */
  tick() {
    const {begin, end} = this.incident;
    setText(part(this.element, 'since'), end === null ? 'since ' : '');
    setText(part(this.element, 'end'), end === null ? '' : ` to ${endText(end, begin)}`);
    setText(part(this.element, 'length'), lengthOf(this.incident));
    drawCameraLink(part(this.element, 'camera'), this.incident, this.#cameras);
  }
}

export class Incidents {
  title = 'Incidents';
  #root;
  #cameras;
  #form;
  #rows = new Map();  // by id, as they are shown
  #filters = null;
  #next = null;       // where the following ones begin
  #hasHistory = null; // not known yet
  #isOpen = false;
  #loadedAt = 0;
  #loading = null;

  /** `cameras` is a Map by id. */
  constructor(root, cameras) {
    this.#root = root;
    this.#cameras = cameras;
    this.#form = new IncidentFilters(part(root, 'filters'), cameras);
    part(root, 'older').onclick = () => this.#loadOlder();
  }

  /** With a history, the stream asks for the first refresh(). */
  set hasHistory(hasHistory) {
    this.#hasHistory = hasHistory;
    this.#form.offer();
    part(this.#root, 'no-history').hidden = hasHistory;
    part(this.#root, 'list').hidden = !hasHistory;
    this.tick();
  }

  /** Where the list is as it was left. */
  get place() {
    return incidentsPlace(this.#filters ?? {});
  }

  /** Those that were shown with the same filters are still there. */
  open({query}) {
    const filters = filtersOf(query);
    this.#isOpen = true;
    if (incidentsPlace(filters) !== this.place || !this.#filters) this.#begin(filters);
    this.#load();
  }

  close() {
    this.#isOpen = false;
  }

  /** To the row of an incident, or to the heading. */
  focus(id = null) {
    (this.#rows.get(Number(id))?.link ?? part(this.#root, 'name')).focus();
  }

  /** There is news. */
  refresh = seldom(() => this.#load(), PAUSE);

  /** Time has passed. */
  tick() {
    for (const row of this.#rows.values()) row.tick();
    if (performance.now() - this.#loadedAt > RELOAD) this.refresh();
  }

  #begin(filters) {
    this.#filters = filters;
    this.#next = null;
    for (const row of this.#rows.values()) this.#remove(row);
    this.#form.fill(filters);
    part(this.#root, 'csv').href = `${PATH}.csv?${new URLSearchParams(filters)}`;
    part(this.#root, 'older').hidden = true;
    setText(part(this.#root, 'wrong'), '');
    this.#say('Loading …');
  }

  /** As many as are shown, or the first ones. */
  async #load() {
    if (!this.#isOpen || !this.#hasHistory) return;
    this.#loading?.abort();
    this.#loadedAt = performance.now();
    const {signal} = this.#loading = new AbortController();
    try {
      const limit = Math.min(MOST, Math.max(PAGE, this.#rows.size));
      const answer = await this.#ask({limit}, signal);
      if (!signal.aborted) this.#take(answer);
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
  }

  async #loadOlder() {
    const button = part(this.#root, 'older'), filters = this.#filters;
    button.disabled = true;
    try {
      const {incidents, next} = await this.#ask({limit: PAGE, before: this.#next});
      if (filters !== this.#filters) return;
      this.#next = next;
      this.#show([...[...this.#rows.values()].map(({incident}) => incident), ...incidents]);
      this.focus(incidents[0]?.id);
    } catch (error) {
      if (filters === this.#filters) this.#fail(error);
    } finally {
      button.disabled = false;
    }
  }

  #ask(page, signal) {
    return ask(`${PATH}?${new URLSearchParams({...this.#filters, ...page})}`, signal);
  }

  /** Older ones than were asked for stay as they are, as do those that do not match any more while
   * somebody reads them. */
  #take({incidents, next}) {
    const found = new Set(incidents.map(({id}) => id));
    const others = [...this.#rows.values()].filter(({incident}) => !found.has(incident.id));
    const older = next === null ? [] : others.filter(({incident}) => isNewer(incidents.at(-1), incident));
    const read = others.filter((row) => !older.includes(row) && row.isInUse);
    if (older.length === 0) this.#next = next;
    this.#show([...incidents, ...[...older, ...read].map(({incident}) => incident)]);
    for (const row of read) this.#refreshRow(row);
  }

  async #refreshRow(row) {
    try {
      row.draw(await ask(`${PATH}/${row.incident.id}`));
    } catch {
      // It has expired: it goes when it is left.
    }
  }

  #show(incidents) {
    const wanted = new Map(incidents.map((incident) => [incident.id, incident]));
    for (const [id, row] of this.#rows) if (!wanted.has(id)) this.#remove(row);
    const list = part(this.#root, 'rows'), rows = new Map();
    let place = list.firstElementChild;
    for (const incident of [...wanted.values()].sort((a, b) => isNewer(a, b) ? -1 : 1)) {
      const row = this.#rows.get(incident.id) ?? new Row(incident, this.#cameras);
      row.draw(incident);
      rows.set(incident.id, row);
      if (row.element === place) place = place.nextElementSibling;
      else list.insertBefore(row.element, place);
    }
    this.#rows = rows;
    part(this.#root, 'older').hidden = this.#next === null;
    setText(part(this.#root, 'wrong'), '');
    this.#say(this.#summary());
  }

  #summary() {
    const count = this.#rows.size;
    if (count === 0) return Object.keys(this.#filters).length ? 'No incident matches.' : 'There are no incidents.';
    if (this.#next !== null) return `The latest ${count}:`;
    return count === 1 ? '1 incident' : `${count} incidents`;
  }

  #remove(row) {
    row.element.remove();
    this.#rows.delete(row.incident.id);
  }

  #say(text) {
    setText(part(this.#root, 'note'), text);
  }

  #fail({message}) {
    setText(part(this.#root, 'wrong'), `The incidents cannot be loaded: ${message}.`);
    if (this.#rows.size === 0) this.#say('');
  }
}
