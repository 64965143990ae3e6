// SPDX-License-Identifier: LGPL-2.1-or-later
// A picture that does not change. It is requested again if it is not available yet.
const AGAIN = 3000;  // milliseconds

export class Picture {
  #image;
  #shown = null;  // its address

  constructor(image) {
    this.#image = image;
    image.onload = () => { image.hidden = false; };
    image.onerror = () => this.#askAgain();
  }

  /** Shows the picture at `address`; null: none. */
  show(address, text) {
    if (address === this.#shown) return;
    this.#shown = address;
    this.#image.hidden = true;
    this.#image.alt = text;
    if (address === null) this.#image.removeAttribute('src');
    else this.#image.src = address;
  }

  #askAgain() {
    this.#image.hidden = true;
    const address = this.#shown;
    setTimeout(() => {
      if (this.#shown === address && this.#image.isConnected) this.#image.src = address;
    }, AGAIN);
  }
}
