// SPDX-License-Identifier: LGPL-2.1-or-later
// What a camera is meant to look at, beside its present picture.
import {ask, part, setText} from './dom.js';
import {dateAndTime} from './text.js';

const AGAIN = 3000;  // milliseconds

export class Reference {
  #camera;
  #image;
  #text;
  #button;
  #shown = null;  // when what is shown was learned
  #error = '';

  constructor(root, camera) {
    this.#camera = camera;
    this.#image = root.querySelector('img');
    this.#text = part(root, 'learned');
    this.#button = part(root, 'renew');
    this.#image.onload = () => { this.#image.hidden = false; };
    this.#image.onerror = () => {
      this.#image.hidden = true;
      // It is made a moment after what it shows was learned.
      const {src} = this.#image;
      setTimeout(() => { if (this.#image.src === src) this.#image.src = src; }, AGAIN);
    };
    this.#button.onclick = () => this.#renew();
  }

  draw() {
    const {reference, name} = this.#camera.data;
    setText(this.#text, this.#error || (reference === null
      ? 'Being learned, which takes two minutes of a picture with enough light.'
      : `Learned ${dateAndTime(reference)}`));
    if (reference === this.#shown) return;
    this.#shown = reference;
    this.#image.hidden = true;
    this.#image.alt = `Reference picture of ${name}`;
    if (reference === null) this.#image.removeAttribute('src');
    else this.#image.src = `${this.#camera.path}/reference.jpg?learned=${reference}`;
  }

  async #renew() {
    this.#button.disabled = true;
    try {
      const {reference} = await ask(`${this.#camera.path}/reference`, undefined, 'POST');
      this.#camera.data.reference = reference;
      this.#error = '';
    } catch (error) {
      this.#error = `Not renewed: ${error.message}.`;
    }
    this.#button.disabled = false;
    this.draw();
  }
}
