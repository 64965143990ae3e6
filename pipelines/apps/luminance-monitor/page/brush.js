// SPDX-License-Identifier: LGPL-2.1-or-later
// Selects a part of a chart by dragging over it with a mouse, a pen or a finger. Escape cancels that.

const LEAST = 8;  // pixels; a shorter drag is a click

export class Brush {
  #box;
  #area;
  #on;
  #begin = 0;        // pixels from the left
  #pointer = null;   // id of the pointer that drags

  /**
   * Listens to pointers on `box` and measures them in the width of `area`. `on` has isReady(),
   * draw(from, to) with shares of the width or nulls, and select(from, to).
   */
  constructor(box, area, on) {
    this.#box = box;
    this.#area = area;
    this.#on = on;
    box.addEventListener('pointerdown', (event) => this.#down(event));
    box.addEventListener('pointermove', (event) => this.#move(event));
    box.addEventListener('pointerup', (event) => this.#up(event));
    box.addEventListener('pointercancel', () => this.#end());
  }

  #down(event) {
    if (this.#pointer !== null || !event.isPrimary || event.button !== 0 || !this.#on.isReady()) return;
    this.#pointer = event.pointerId;
    this.#begin = this.#at(event);
    this.#box.setPointerCapture(this.#pointer);
    window.addEventListener('keydown', this.#onKey, true);
  }

  #move(event) {
    if (event.pointerId === this.#pointer) this.#on.draw(...this.#shares(event));
  }

  #up(event) {
    if (event.pointerId !== this.#pointer) return;
    const [from, to] = this.#shares(event);
    this.#end();
    if (from !== null) this.#on.select(from, to);
  }

  #end() {
    if (this.#pointer === null) return;
    if (this.#box.hasPointerCapture(this.#pointer)) this.#box.releasePointerCapture(this.#pointer);
    this.#pointer = null;
    window.removeEventListener('keydown', this.#onKey, true);
    this.#on.draw(null, null);
  }

  #onKey = (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    this.#end();
  };

  #at(event) {
    const {left, width} = this.#area.getBoundingClientRect();
    return Math.max(0, Math.min(width, event.clientX - left));
  }

  #shares(event) {
    const [from, to] = [this.#begin, this.#at(event)].sort((a, b) => a - b);
    const {width} = this.#area.getBoundingClientRect();
    return to - from < LEAST ? [null, null] : [from / width, to / width];
  }
}
