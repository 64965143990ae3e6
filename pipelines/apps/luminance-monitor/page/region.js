// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws the judged area over a camera's picture: the outline of the region, and hatched masks.
import {part, setAttribute, setText} from './dom.js';

const WHOLE = [0, 0, 1, 1];

function textOf(region, masks) {
  if (masks.length === 0) return region ? 'Only the part within the outline is judged.' : '';
  const hatched = masks.length === 1 ? 'the hatched mask' : 'the hatched masks';
  return region ? `Only the part within the outline is judged, without ${hatched}.`
    : `All of the picture is judged, without ${hatched}.`;
}

export class Region {
  #camera;
  #image;
  #drawing;
  #text;

  /** `root` has an img with the drawing over it, and a text. */
  constructor(root, camera) {
    this.#camera = camera;
    this.#image = root.querySelector('img');
    this.#drawing = part(root, 'region');
    this.#text = part(root, 'region-text');
    this.#image.addEventListener('load', () => this.draw());
    this.#image.addEventListener('error', () => this.draw());
  }

  draw() {
    const {region, masks} = this.#camera.data;
    const text = textOf(region, masks);
    setText(this.#text, text);
    const {naturalWidth: width, naturalHeight: height} = this.#image;
    const isShown = text !== '' && width > 0 && !this.#image.hidden;
    this.#drawing.toggleAttribute('hidden', !isShown);
    if (!isShown) return;
    const rectangle = ([x, y, w, h]) =>
      `M${x * width},${y * height}h${w * width}v${h * height}h${-w * width}z`;
    const area = region ? rectangle(region) : '';
    // So that the drawing is scaled as the picture is.
    setAttribute(this.#drawing, 'viewBox', `0 0 ${width} ${height}`);
    setAttribute(part(this.#drawing, 'outside'), 'd', region ? rectangle(WHOLE) + area : '');
    setAttribute(part(this.#drawing, 'masks'), 'd', masks.map(rectangle).join(''));
    setAttribute(part(this.#drawing, 'outline'), 'd', area);
  }
}
