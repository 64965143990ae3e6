// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of incidents of all cameras: lasting ones first, then the others; the newest first in both.
import {now} from './clock.js';
import {ask, copyOf, part, seldom, setAttribute, setState, setText} from './dom.js';
import {IncidentFilters, filtersOf} from './incidentfilters.js';
import {cameraPlace, incidentPlace, incidentsPlace} from './place.js';
import {acknowledgement, offerSignature} from './signature.js';
import {acknowledgedText, dateAndTime, endText, extremeText, lasting, reasonText} from './text.js';

const PATH = 'api/v1/incidents';
const PAGE = 50, MOST = 1000;  // incidents in one request
const PAUSE = 1000;            // milliseconds between two automatic requests
const RELOAD = 30000;          // values change without an event
const SHORT = 60;              // characters of a comment that are always shown

export const stateOfIncident = ({end, verdict}) =>
  end !== null ? 'ended' : verdict === 'no-frames' ? 'lost' : 'trouble';

export const lengthOf = ({begin, end}) => lasting((end ?? now()) - begin);

/** Lasting incidents that nobody has acknowledged come first. */
const rankOf = ({end, acknowledged}) => end !== null ? 2 : acknowledged !== null ? 1 : 0;

const isNewer = (a, b) => a.begin > b.begin || (a.begin === b.begin && a.id > b.id);

const inOrder = (a, b) => rankOf(a) - rankOf(b) || (isNewer(a, b) ? -1 : 1);

function drawComment(root, comment) {
  const isLong = comment.length > SHORT || comment.includes('\n');
  const short = part(root, 'comment'), long = part(root, 'long-comment');
  short.hidden = isLong || comment === '';
  long.hidden = !isLong;
  setText(short, comment);
  setText(part(long, 'beginning'), `${Array.from(comment.replace(/\s+/g, ' ')).slice(0, SHORT).join('')} …`);
  setText(part(long, 'whole'), comment);
}

/** Draws a camera's name as a link to its view, or as text if the camera was removed. */
export function drawCameraLink(link, {camera, name}, cameras) {
  setText(link, name);
  if (cameras.has(camera)) setAttribute(link, 'href', cameraPlace(camera));
  else link.removeAttribute('href');
}

class Row {
  element = copyOf('incident-row-template').firstElementChild;
  incident;
  #cameras;

  /** `on` has chosen(), called when the choice changes, and acknowledge(row). */
  constructor(incident, cameras, on) {
    this.#cameras = cameras;
    const {id} = incident, link = this.link;
    part(this.element, 'chosen').onchange = on.chosen;
    part(this.element, 'acknowledge').onclick = () => on.acknowledge(this);
    for (const name of ['chosen', 'acknowledge'])
      part(this.element, name).setAttribute('aria-describedby', `incident-${id}-where incident-${id}-when`);
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

  get canBeAcknowledged() {
    return this.incident.acknowledged === null;
  }

  get isChosen() {
    return this.canBeAcknowledged && part(this.element, 'chosen').checked;
  }

  choose(isChosen) {
    part(this.element, 'chosen').checked = isChosen && this.canBeAcknowledged;
  }

  /** Whether its long comment is open or it has the focus. */
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
    setText(part(root, 'acknowledged'), acknowledgedText(incident));
    part(root, 'chosen').disabled = part(root, 'acknowledge').hidden = acknowledged !== null;
    setAttribute(part(root, 'chosen'), 'aria-label', `Choose: ${title}`);
    setAttribute(part(root, 'acknowledge'), 'aria-label', `Acknowledge: ${title}`);
    part(root, 'in-maintenance').hidden = !maintenance;
    drawComment(root, comment);
    this.tick();
  }

  /** Updates what depends on the time and on the cameras. */
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
  #rows = new Map();  // by id, in the order shown
  #filters = null;
  #next = null;       // cursor of the next request
  #oldest = null;     // last incident before it; lasting ones may be older
  #hasHistory = null; // not known yet
  #isOpen = false;
  #loadedAt = 0;
  #loading = null;

  /** `cameras` is a Map by id. */
  constructor(root, cameras) {
    this.#root = root;
    this.#cameras = cameras;
    this.#form = new IncidentFilters(part(root, 'filters'), cameras);
    offerSignature(part(root, 'signature'));
    part(root, 'older').onclick = () => this.#loadOlder();
    part(root, 'choose-all').onchange = ({target}) => this.#chooseAll(target.checked);
    part(root, 'acknowledge-chosen').onclick = () => this.#acknowledge(this.#chosen);
  }

  /** Sets whether there is a history. If so, the stream causes the first refresh(). */
  set hasHistory(hasHistory) {
    this.#hasHistory = hasHistory;
    this.#form.offer();
    part(this.#root, 'no-history').hidden = hasHistory;
    part(this.#root, 'list').hidden = !hasHistory;
    this.tick();
  }

  /** The place of the list, with its filters. */
  get place() {
    return incidentsPlace(this.#filters ?? {});
  }

  /** Opens the list. With the same filters as before, it keeps its rows. */
  open({query}) {
    const filters = filtersOf(query);
    this.#isOpen = true;
    if (incidentsPlace(filters) !== this.place || !this.#filters) this.#begin(filters);
    this.#load();
  }

  close() {
    this.#isOpen = false;
  }

  /** Focuses the row of an incident, or the heading. */
  focus(id = null) {
    (this.#rows.get(Number(id))?.link ?? part(this.#root, 'name')).focus();
  }

  /** Loads again, because there is news. */
  refresh = seldom(() => this.#load(), PAUSE);

  /** Updates what depends on the time. */
  tick() {
    for (const row of this.#rows.values()) row.tick();
    if (performance.now() - this.#loadedAt > RELOAD) this.refresh();
  }

  #begin(filters) {
    this.#filters = filters;
    this.#next = this.#oldest = null;
    for (const row of this.#rows.values()) this.#remove(row);
    this.#form.fill(filters);
    part(this.#root, 'csv').href = `${PATH}.csv?${new URLSearchParams(filters)}`;
    part(this.#root, 'older').hidden = true;
    setText(part(this.#root, 'wrong'), '');
    this.#say('Loading …');
  }

  /** Loads as many incidents as are shown, or the first page. */
  async #load() {
    if (!this.#isOpen || !this.#hasHistory) return;
    this.#loading?.abort();
    this.#loadedAt = performance.now();
    const {signal} = this.#loading = new AbortController();
    try {
      const limit = Math.min(MOST, Math.max(PAGE, this.#rows.size - this.#older.length));
      const answer = await this.#ask({limit}, signal);
      const lasting = this.#hasState ? [] : (await this.#ask({state: 'open', limit: MOST}, signal)).incidents;
      if (!signal.aborted) this.#take(answer, lasting);
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
      this.#oldest = incidents.at(-1) ?? this.#oldest;
      const first = incidents.find(({id}) => !this.#rows.has(id));
      this.#show([...[...this.#rows.values()].map(({incident}) => incident), ...incidents]);
      this.focus(first?.id);
    } catch (error) {
      if (filters === this.#filters) this.#fail(error);
    } finally {
      button.disabled = false;
    }
  }

  #ask(page, signal) {
    return ask(`${PATH}?${new URLSearchParams({...this.#filters, ...page})}`, signal);
  }

  /** Whether a filter selects only lasting incidents, or only others. */
  get #hasState() {
    return Boolean(this.#filters.state);
  }

  /** Rows of lasting incidents that are older than the loaded pages. */
  get #older() {
    if (this.#next === null || !this.#oldest) return [];
    return [...this.#rows.values()].filter(({incident}) => isNewer(this.#oldest, incident));
  }

  get #chosen() {
    return [...this.#rows.values()].filter((row) => row.isChosen);
  }

  #chooseAll(areChosen) {
    for (const row of this.#rows.values()) row.choose(areChosen);
    this.#drawChosen();
  }

  #drawChosen() {
    const all = [...this.#rows.values()].filter((row) => row.canBeAcknowledged), {length} = this.#chosen;
    const button = part(this.#root, 'acknowledge-chosen'), box = part(this.#root, 'choose-all');
    for (const [name, least] of [['acknowledging', 1], ['several', 2]]) {
      const controls = part(this.#root, name);
      controls.hidden = all.length < least && !controls.contains(document.activeElement);
    }
    button.disabled = length === 0;
    setText(button, length === 0 ? 'Acknowledge' : `Acknowledge ${length} ${length === 1 ? 'incident' : 'incidents'}`);
    box.checked = length > 0 && length === all.length;
    box.indeterminate = length > 0 && length < all.length;
  }

  /** Acknowledges incidents one after the other, up to the first that fails. */
  async #acknowledge(rows) {
    const pressed = document.activeElement;
    let wrong = '';
    try {
      for (const row of rows)
        row.draw(await ask(`${PATH}/${row.incident.id}`, undefined, 'POST', acknowledgement()));
    } catch ({message}) {
      wrong = `Not acknowledged: ${message}.`;
    }
    for (const row of rows) row.choose(false);
    this.#sort();
    setText(part(this.#root, 'not-acknowledged'), wrong);
    // The pressed button may be hidden or disabled now.
    if (pressed.checkVisibility() && !pressed.disabled) pressed.focus();
    else if (rows.length === 1 && rows[0].element.contains(pressed)) rows[0].link.focus();
    else part(this.#root, 'choose-all').focus();
    this.refresh();
  }

  #sort() {
    this.#show([...this.#rows.values()].map(({incident}) => incident));
  }

  /** Takes loaded incidents. Rows that are older than these stay, as do rows that no longer match while
   * somebody reads them. */
  #take({incidents, next}, lasting) {
    const found = new Set([...incidents, ...lasting].map(({id}) => id));
    const others = [...this.#rows.values()].filter(({incident}) => !found.has(incident.id));
    const older = next === null ? [] : others.filter(({incident}) => isNewer(incidents.at(-1), incident));
    const read = others.filter((row) => !older.includes(row) && row.isInUse);
    const ended = this.#hasState ? [] : older.filter(({incident}) => incident.end === null);
    if (older.length === 0) {
      this.#next = next;
      this.#oldest = incidents.at(-1) ?? null;
    }
    this.#show([...incidents, ...lasting, ...[...older, ...read].map(({incident}) => incident)]);
    for (const row of [...read, ...ended]) this.#refreshRow(row);
  }

  async #refreshRow(row) {
    try {
      row.draw(await ask(`${PATH}/${row.incident.id}`));
    } catch {
      // The incident has expired. Its row is removed when nobody reads it any more.
    }
  }

  #show(incidents) {
    const wanted = new Map(incidents.map((incident) => [incident.id, incident]));
    for (const [id, row] of this.#rows) if (!wanted.has(id)) this.#remove(row);
    const list = part(this.#root, 'rows'), rows = new Map(), focused = document.activeElement;
    const on = {chosen: () => this.#drawChosen(), acknowledge: (row) => this.#acknowledge([row])};
    let place = list.firstElementChild;
    for (const incident of [...wanted.values()].sort(inOrder)) {
      const row = this.#rows.get(incident.id) ?? new Row(incident, this.#cameras, on);
      row.draw(incident);
      rows.set(incident.id, row);
      if (row.element === place) place = place.nextElementSibling;
      else list.insertBefore(row.element, place);
    }
    this.#rows = rows;
    // A row that moves loses the focus.
    if (list.contains(focused) && focused !== document.activeElement) focused.focus();
    this.#drawChosen();
    part(this.#root, 'older').hidden = this.#next === null;
    setText(part(this.#root, 'wrong'), '');
    this.#say(this.#summary());
  }

  #summary() {
    const count = this.#rows.size;
    if (count === 0) return Object.keys(this.#filters).length ? 'No incident matches.' : 'There are no incidents.';
    const {length} = this.#older;
    if (this.#next !== null) return `The latest ${count - length}${length ? `, and ${length} older` : ''}:`;
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
