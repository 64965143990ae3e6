// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera's picture, loaded again every few seconds while it is visible. If the camera sends no new one,
// the last one is marked with its time.
import {now} from './clock.js';
import {setAttribute, setText} from './dom.js';
import {lastPictureText} from './text.js';

const EVERY = 4000;  // milliseconds; the monitor makes no more pictures than that

export class Still {
  #box;
  #image;
  #camera;
  #due = 0;
  #shown = '';  // state of the camera at the latest request
  #loading = false;
  #failures = 0;

  /** `box` has an img, the text without a picture, and the mark of an old one. */
  constructor(box, camera) {
    this.#box = box;
    this.#image = box.querySelector('img');
    this.#camera = camera;
    this.#image.onload = () => this.#loaded(true);
    this.#image.onerror = () => this.#loaded(false);
  }

  /** Loads the picture when it is due. Call it about once a second. */
  tick(now) {
    this.#mark();
    const {status, frames} = this.#camera.data;
    const wanted = `${frames} ${status === 'playing'}`;
    if (this.#loading || now < this.#due || frames === 0 || wanted === this.#shown) return;
    this.#loading = true;
    this.#shown = wanted;
    this.#image.src = `${this.#camera.path}/still.jpg?frames=${frames}`;
    // Random, so that requests for several cameras spread over time.
    this.#due = now + EVERY * (0.9 + 0.2 * Math.random());
  }

  #mark() {
    const {last_frame: time, status, name} = this.#camera.data;
    const isOld = time !== null && (status !== 'playing' || this.#camera.state === 'lost');
    setAttribute(this.#box, 'data-old', String(isOld && !this.#image.hidden));
    setAttribute(this.#image, 'alt', `${isOld ? 'Last picture' : 'Picture'} of ${name}`);
    setText(this.#box.querySelector('.old'), isOld ? lastPictureText(time, now()) : '');
  }

  /** Keeps the last picture until two requests fail: a file that restarts has none for a moment. */
  #loaded(isThere) {
    this.#loading = false;
    this.#failures = isThere ? 0 : this.#failures + 1;
    if (isThere) this.#image.hidden = false;
    else if (this.#failures > 1) this.#image.hidden = true;
    else this.#due = 0;
    this.#mark();
  }
}
