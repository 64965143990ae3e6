// SPDX-License-Identifier: LGPL-2.1-or-later
// The last quarter of an hour of a camera: mean, p1 and p99 of each interval. The memory is allocated
// once, so that a page that is open for weeks does not grow.

export const WINDOW = 15 * 60e3;  // milliseconds
const CAPACITY = 900;             // as many as the monitor keeps

export class Series {
  #times = new Float64Array(CAPACITY);
  #means = new Float32Array(CAPACITY);
  #p1 = new Float32Array(CAPACITY);
  #p99 = new Float32Array(CAPACITY);
  #begin = 0;
  #length = 0;
  #interval = 1000;

  /** Replaces the points by those of the API, the oldest first; later points of the stream are kept. */
  reset(points, interval) {
    const newer = this.#pointsAfter(points.length ? points.at(-1)[0] : -Infinity);
    this.#interval = interval * 1000;
    this.#length = 0;
    for (const point of [...points, ...newer]) this.add(...point);
  }

  /** Adds a point, unless it is known: not later than the last. A much earlier one means that the clock
   * was set, and begins the series again. */
  add(time, mean, p1, p99) {
    const last = this.#length ? this.#times[this.#index(this.#length - 1)] : -Infinity;
    if (time <= last && time > last - WINDOW) return;
    if (time < last) this.#length = 0;
    if (this.#length === CAPACITY) this.#begin = (this.#begin + 1) % CAPACITY;
    else ++this.#length;
    const at = this.#index(this.#length - 1);
    this.#times[at] = time;
    this.#means[at] = mean;
    this.#p1[at] = p1;
    this.#p99[at] = p99;
  }

  /**
   * Returns rows like those of the history, from `from` on, each `width` milliseconds long. They begin at
   * multiples of the width, so that the line does not jitter when it is redrawn.
   */
  rows(from, width) {
    const rows = [];
    const length = Math.max(width, this.#interval);
    for (let i = 0; i < this.#length; ++i) {
      const at = this.#index(i), time = this.#times[at];
      if (time < from) continue;
      const begin = Math.floor(time / length) * length;
      if (rows.at(-1)?.time !== begin) rows.push(emptyRow(begin, length / 1000));
      extend(rows.at(-1), this.#means[at], this.#p1[at], this.#p99[at]);
    }
    return rows;
  }

  #index(i) {
    return (this.#begin + i) % CAPACITY;
  }

  #pointsAfter(time) {
    const points = [];
    for (let i = 0; i < this.#length; ++i) {
      const at = this.#index(i);
      if (this.#times[at] > time)
        points.push([this.#times[at], this.#means[at], this.#p1[at], this.#p99[at]]);
    }
    return points;
  }
}

function emptyRow(time, duration) {
  return {time, duration, intervals: 0, mean: 0, min_mean: 255, max_mean: 0, p1: 255, p99: 0};
}

function extend(row, mean, p1, p99) {
  row.mean = (row.mean * row.intervals + mean) / (row.intervals + 1);
  ++row.intervals;
  row.min_mean = Math.min(row.min_mean, mean);
  row.max_mean = Math.max(row.max_mean, mean);
  row.p1 = Math.min(row.p1, p1);
  row.p99 = Math.max(row.p99, p99);
}
