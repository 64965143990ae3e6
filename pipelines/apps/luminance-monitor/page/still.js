// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera's picture, loaded again every few seconds while it is visible.

const EVERY = 4000;  // milliseconds; the monitor makes no more

export class Still {
  #image;
  #camera;
  #due = 0;
  #frames = -1;
  #loading = false;
  #failures = 0;

  /** `box` has an img and what is shown without one. */
  constructor(box, camera) {
    this.#image = box.querySelector('img');
    this.#camera = camera;
    this.#image.onload = () => this.#loaded(true);
    this.#image.onerror = () => this.#loaded(false);
  }

  /** Call it about once a second. */
  tick(now) {
    const {status, frames, name} = this.#camera.data;
    if (this.#loading || now < this.#due || status !== 'playing' || frames === this.#frames) return;
    this.#loading = true;
    this.#frames = frames;
    this.#image.alt = `Picture of ${name}`;
    this.#image.src = `${this.#camera.path}/still.jpg?frames=${frames}`;
    // Spread, so that cameras that were begun together are not always asked together.
    this.#due = now + EVERY * (0.9 + 0.2 * Math.random());
  }

  /** A file that begins again has none for a moment: the last one stays until it fails twice. */
  #loaded(isThere) {
    this.#loading = false;
    this.#failures = isThere ? 0 : this.#failures + 1;
    if (isThere) this.#image.hidden = false;
    else if (this.#failures > 1) this.#image.hidden = true;
    else this.#due = 0;
  }
}
