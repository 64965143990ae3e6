// SPDX-License-Identifier: LGPL-2.1-or-later
// Maintenance of a camera: while somebody works on it, nobody is notified of its verdicts.
import {now} from './clock.js';
import {ask, part, setText} from './dom.js';
import {timeIn} from './ranges.js';
import {moment, since} from './text.js';

const HOUR = 3600e3;  // milliseconds

const endOf = ({until}, now) => until === null ? 'until it is ended by hand' : `until ${moment(until, now)}`;

export class Maintenance {
  #root;
  #form;
  #camera;

  constructor(root, camera) {
    this.#root = root;
    this.#form = part(root, 'begin-maintenance');
    this.#camera = camera;
    this.#form.elements.end.onchange = () => this.#offerTime();
    this.#form.onsubmit = (event) => {
      event.preventDefault();
      this.#begin();
    };
    part(root, 'end-maintenance').onclick = () => this.#change({end: true});
  }

  draw() {
    const {maintenance} = this.#camera.data;
    const lasts = part(this.#root, 'lasting-maintenance');
    this.#form.hidden = Boolean(maintenance);
    lasts.hidden = !maintenance;
    if (!maintenance) return;
    setText(part(lasts, 'period'), `In maintenance ${since(maintenance.since, now())}, ${endOf(maintenance, now())}.`);
    setText(part(lasts, 'maintenance-comment'), maintenance.comment);
  }

  #offerTime() {
    const isTime = this.#form.elements.end.value === 'time';
    part(this.#form, 'until').hidden = !isTime;
    if (isTime) this.#form.elements.until.focus();
  }

  #begin() {
    try {
      this.#change({until: this.#until(), comment: this.#form.elements.comment.value});
    } catch (error) {
      this.#say(error.message);
    }
  }

  /** Returns the chosen end; null: until somebody ends the maintenance. */
  #until() {
    const {end, until} = this.#form.elements;
    if (end.value !== 'time') return end.value ? Math.ceil(now() + Number(end.value) * HOUR) : null;
    const time = timeIn(until, 'end');
    if (time <= now()) throw new Error('The end lies in the past.');
    return time;
  }

  async #change(change) {
    const pressed = document.activeElement;
    this.#disable(true);
    try {
      const {maintenance} = await ask(`${this.#camera.path}/maintenance`, undefined, 'POST', change);
      this.#camera.data.maintenance = maintenance;
      if (maintenance) this.#form.elements.comment.value = '';
      this.#say('');
    } catch (error) {
      this.#say(`Not changed: ${error.message}.`);
    }
    this.#disable(false);
    this.draw();
    if (document.activeElement === document.body) this.#focus(pressed);
  }

  /** Returns the focus to the pressed button, or to another if that is hidden now. */
  #focus(pressed) {
    if (pressed.checkVisibility()) pressed.focus();
    else (this.#form.hidden ? part(this.#root, 'end-maintenance') : this.#form.elements.end).focus();
  }

  #disable(isDisabled) {
    for (const button of this.#root.querySelectorAll('button')) button.disabled = isDisabled;
  }

  #say(text) {
    setText(part(this.#root, 'wrong-maintenance'), text);
  }
}
