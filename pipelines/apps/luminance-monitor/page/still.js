// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera's picture, loaded again every few seconds while it is visible. The last one of a camera that
// has no other is marked with its time.
import {now} from './clock.js';
import {setAttribute, setText} from './dom.js';
import {lastPictureText} from './text.js';

const EVERY = 4000;  // milliseconds; the monitor makes no more

export class Still {
  #box;
  #image;
  #camera;
  #due = 0;
  #shown = '';  // what the latest request was for
  #loading = false;
  #failures = 0;

  /** `box` has an img, what is shown without one, and what marks an old one. */
  constructor(box, camera) {
    this.#box = box;
    this.#image = box.querySelector('img');
    this.#camera = camera;
    this.#image.onload = () => this.#loaded(true);
    this.#image.onerror = () => this.#loaded(false);
  }

  /** Call it about once a second. */
  tick(now) {
    this.#mark();
    const {status, frames} = this.#camera.data;
    const wanted = `${frames} ${status === 'playing'}`;
    if (this.#loading || now < this.#due || frames === 0 || wanted === this.#shown) return;
    this.#loading = true;
    this.#shown = wanted;
    this.#image.src = `${this.#camera.path}/still.jpg?frames=${frames}`;
    // Spread, so that cameras that were begun together are not always asked together.
    this.#due = now + EVERY * (0.9 + 0.2 * Math.random());
  }

  #mark() {
    const {last_frame: time, status, name} = this.#camera.data;
    const isOld = time !== null && (status !== 'playing' || this.#camera.state === 'lost');
    setAttribute(this.#box, 'data-old', String(isOld && !this.#image.hidden));
    setAttribute(this.#image, 'alt', `${isOld ? 'Last picture' : 'Picture'} of ${name}`);
    setText(this.#box.querySelector('.old'), isOld ? lastPictureText(time, now()) : '');
  }

  /** A file that begins again has none for a moment: the last one stays until it fails twice. */
  #loaded(isThere) {
    this.#loading = false;
    this.#failures = isThere ? 0 : this.#failures + 1;
    if (isThere) this.#image.hidden = false;
    else if (this.#failures > 1) this.#image.hidden = true;
    else this.#due = 0;
    this.#mark();
  }
}
