// SPDX-License-Identifier: LGPL-2.1-or-later
// The view of one incident: its pictures, its values, its acknowledgement and its comment.
import {now} from './clock.js';
import {ask, copyOf, element, part, remember, remembered, seldom, setAttribute, setState, setText} from './dom.js';
import {drawCameraLink, lengthOf, stateOfIncident} from './incidents.js';
import {Picture} from './picture.js';
import {cameraPlace} from './place.js';
import {showReference} from './reference.js';
import {acknowledgement, offerSignature} from './signature.js';
import {Still} from './still.js';
import {acknowledgedText, dateAndTime, isolated, limitText, reasonText, valueOf} from './text.js';

const PAUSE = 1000;            // milliseconds
const RELOAD = 30000;          // its value changes without an event
const AROUND = 10 * 60e3;      // of history shown before and after it, at least
const LONGEST_COMMENT = 1000;  // characters

const VALUES = [
  ['State', ({end}) => end === null ? 'Lasting' : 'Over'],
  ['Begin', ({begin}) => dateAndTime(begin)],
  ['End', ({end}) => end === null ? '–' : dateAndTime(end)],
  ['Duration', lengthOf],
  ['Worst value', ({value, quantity}) => valueOf(value, quantity)],
  ['Threshold', ({side, threshold, quantity}) => limitText(side, threshold, quantity)],
  ['Over because', ({reason}) => reason === null ? '–' : reasonText(reason)],
  ['Began in maintenance', ({maintenance}) => maintenance ? 'yes' : 'no'],
  ['Number', ({id}) => String(id)],
];

/** Returns the place of the camera's history, from some time before the incident until after it. */
function historyOf({camera, begin, end}) {
  const last = end ?? now(), around = Math.max(AROUND, (last - begin) / 2);
  const period = {from: Math.floor(begin - around), to: Math.ceil(last + around)};
  return `${cameraPlace(camera)}?${new URLSearchParams(period)}`;
}

/** The camera's present picture, with its time. */
class Present {
  #still;
  #time = null;

  constructor(figure, camera) {
    this.camera = camera;
    this.figure = figure;
    this.#still = new Still(part(figure, 'still'), camera);
    figure.querySelector('img').addEventListener('load', () => { this.#time = camera.data.last_frame; });
  }

  tick() {
    this.#still.tick(performance.now());
    setText(this.figure.querySelector('time'), this.#time === null ? '' : dateAndTime(this.#time));
  }
}

/** The form of the comment. An unsaved text is stored, so it is there again after a login. */
class Comment {
  #form;
  #input;
  #key;
  #saved;
  #sent = null;

  constructor(form, {id, comment}, save) {
    this.#form = form;
    this.#input = form.elements.comment;
    this.#key = `comment ${id}`;
    this.#saved = comment;
    this.#input.value = remembered(this.#key, 'sessionStorage') ?? comment;
    this.#input.oninput = () => this.#note();
    form.onsubmit = (event) => {
      event.preventDefault();
      this.#sent = this.#input.value;
      save(this.#sent);
    };
  }

  /** Shows the comment of the monitor, unless somebody is typing another one. */
  draw(comment) {
    const isTyped = this.#input.value !== this.#saved;
    const isTheirs = ![this.#saved, this.#sent, this.#input.value].includes(comment);
    if (isTyped && isTheirs)
      setText(part(this.#form, 'theirs'), `Saved meanwhile by somebody else: ${isolated(comment)}`);
    if (!isTyped) this.#input.value = comment;
    this.#saved = comment;
    this.#note();
  }

  #note() {
    const {value} = this.#input, isTyped = value !== this.#saved;
    remember(this.#key, isTyped ? value : null, 'sessionStorage');
    setText(part(this.#form, 'count'),
      `${Array.from(value).length} of ${LONGEST_COMMENT} characters${isTyped ? ', not saved' : ''}`);
    if (!isTyped) setText(part(this.#form, 'theirs'), '');
  }
}

/** The elements of one incident's view; the next incident gets another View. */
class View {
  root = element('div');
  #cameras;
  #change;
  #beginning;
  #reference;
  #present = null;
  #comment;
  #values;

  /** `change` saves a change of the incident, and draws the result. */
  constructor(incident, cameras, change) {
    const root = this.root;
    this.#cameras = cameras;
    this.#change = change;
    root.append(copyOf('incident-template'));
    this.#beginning = new Picture(part(root, 'beginning').querySelector('img'));
    this.#reference = new Picture(part(root, 'reference').querySelector('img'));
    this.#values = VALUES.map(([title, text]) => [part(root, 'values'), title, text]).map(addValue);
    this.#comment = new Comment(part(root, 'comment'), incident, (comment) => this.#save({comment}));
    part(root, 'acknowledge').onclick = () =>
      this.#save(this.incident.acknowledged === null ? acknowledgement() : {acknowledged: false});
    offerSignature(part(root, 'signature'));
    this.draw(incident);
  }

  draw(incident) {
    const root = this.root, {id, name, title, acknowledged, comment, maintenance, picture, begin} = incident;
    this.incident = incident;
    setState(part(root, 'heading'), stateOfIncident(incident));
    setText(part(root, 'name'), title);
    part(root, 'in-maintenance').hidden = !maintenance;
    setText(part(root, 'beginning').querySelector('time'), dateAndTime(picture ?? begin));
    this.#beginning.show(picture ? `api/v1/incidents/${id}/picture.jpg` : null, `${name} at the beginning`);
    setText(part(root, 'acknowledged'), acknowledgedText(incident));
    part(root, 'signing').hidden = acknowledged !== null;
    setText(part(root, 'acknowledge'), acknowledged === null ? 'Acknowledge' : 'Take back');
    this.#comment.draw(comment);
    this.tick();
  }

  /** Updates what depends on the time and on the camera. */
  tick() {
    const camera = this.#cameras.get(this.incident.camera);
    drawCameraLink(part(this.root, 'camera'), this.incident, this.#cameras);
    for (const draw of this.#values) draw(this.incident);
    part(this.root, 'history').hidden = !camera;
    part(this.root, 'removed').hidden = Boolean(camera);
    if (!camera) return;
    setAttribute(part(this.root, 'history'), 'href', historyOf(this.incident));
    if (this.#present?.camera !== camera) this.#present = new Present(part(this.root, 'present'), camera);
    this.#present.tick();
    showReference(this.#reference, camera);
    const {reference} = camera.data;
    setText(part(this.root, 'reference').querySelector('time'),
      reference === null ? '' : `learned ${dateAndTime(reference)}`);
  }

  /** Shows an error: as 'wrong' if a change was not saved, as 'stale' if the incident was not loaded. */
  say(what, error) {
    setText(part(this.root, what), error);
  }

  async #save(change) {
    const pressed = document.activeElement, buttons = this.root.querySelectorAll('button');
    for (const button of buttons) button.disabled = true;
    await this.#change(change);
    for (const button of buttons) button.disabled = false;
    if (document.activeElement === document.body) pressed.focus();
  }
}

/** Adds a row to a list. Returns the function that draws it. */
function addValue([list, title, text]) {
  const row = element('div'), value = element('dd');
  row.append(element('dt', title), value);
  list.append(row);
  return (incident) => setText(value, text(incident));
}

export class Incident {
  id = null;
  #root;
  #cameras;
  #list;
  #view = null;
  #hasHistory = null;  // not known yet
  #wantsFocus = false;
  #loadedAt = 0;

  /** `cameras` is a Map by id; `list` is the list of incidents. */
  constructor(root, cameras, list) {
    this.#root = root;
    this.#cameras = cameras;
    this.#list = list;
  }

  /** Sets whether there is a history. If so, the stream causes the first refresh(). */
  set hasHistory(hasHistory) {
    this.#hasHistory = hasHistory;
    if (!hasHistory) this.#load();
  }

  get title() {
    const {title, name} = this.#view?.incident ?? {};
    return title ? `${title}: ${name}` : 'Incident';
  }

  open({id}) {
    if (id === this.id) return;
    this.close();
    this.id = id;
    this.#load();
  }

  close() {
    this.id = null;
    this.#view = null;
    this.#root.replaceChildren();
  }

  /** Focuses the heading, as soon as the incident is loaded. */
  focus() {
    const heading = part(this.#root, 'name');
    this.#wantsFocus = !heading;
    heading?.focus();
  }

  /** Loads again, because there is news. */
  refresh = seldom(() => this.#load(), PAUSE);

  /** Updates what depends on the time. */
  tick() {
    this.#view?.tick();
    if (performance.now() - this.#loadedAt > RELOAD) this.refresh();
  }

  async #load() {
    const {id} = this;
    if (id === null || this.#hasHistory === null) return;
    this.#loadedAt = performance.now();
    try {
      if (!this.#hasHistory) throw new Error('the monitor keeps no history');
      this.#take(id, await ask(this.#pathOf(id)));
    } catch (error) {
      this.#fail(id, error);
    }
  }

  #pathOf(id) {
    return `api/v1/incidents/${encodeURIComponent(id)}`;
  }

  /** Shows a loaded incident, unless another one has been opened since. */
  #take(id, incident) {
    if (id !== this.id) return;
    if (this.#view) {
      this.#view.draw(incident);
    } else {
      this.#view = new View(incident, this.#cameras, (change) => this.#change(id, change));
      this.#place(this.#view.root);
    }
    this.#view.say('stale', '');
  }

  #place(content) {
    this.#root.replaceChildren(content);
    part(this.#root, 'back').href = this.#list.place;
    if (this.#wantsFocus) this.focus();
  }

  #fail(id, {message}) {
    if (id !== this.id) return;
    if (this.#view) {
      this.#view.say('stale', `Not up to date: ${message}.`);
      return;
    }
    this.#place(copyOf('missing-incident-template'));
    setText(part(this.#root, 'name'), `The incident cannot be shown: ${message}.`);
  }

  async #change(id, change) {
    try {
      this.#take(id, await ask(this.#pathOf(id), undefined, 'POST', change));
      if (id === this.id) this.#view.say('wrong', '');
    } catch (error) {
      if (id === this.id) this.#view.say('wrong', `Not saved: ${error.message}.`);
    }
  }
}
