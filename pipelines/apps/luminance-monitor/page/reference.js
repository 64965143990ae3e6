// SPDX-License-Identifier: LGPL-2.1-or-later
// The reference picture of a camera, beside its present picture.
import {ask, part, setText} from './dom.js';
import {Picture} from './picture.js';
import {dateAndTime} from './text.js';

/** Shows the reference picture, which the monitor takes a moment after it has learned the reference. */
export function showReference(picture, {path, data: {reference, name}}) {
  picture.show(reference === null ? null : `${path}/reference.jpg?learned=${reference}`,
    `Reference picture of ${name}`);
}

export class Reference {
  #camera;
  #picture;
  #text;
  #button;
  #error = '';

  constructor(root, camera) {
    this.#camera = camera;
    this.#picture = new Picture(root.querySelector('img'));
    this.#text = part(root, 'learned');
    this.#button = part(root, 'renew');
    this.#button.onclick = () => this.#renew();
  }

  draw() {
    const {reference} = this.#camera.data;
    setText(this.#text, this.#error || (reference === null
      ? 'Being learned, which takes two minutes of a picture with enough light.'
      : `Learned ${dateAndTime(reference)}`));
    showReference(this.#picture, this.#camera);
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
