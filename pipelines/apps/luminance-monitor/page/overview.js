// SPDX-License-Identifier: LGPL-2.1-or-later
// All cameras as tiles, in the order of the configuration; a filter shows those with problems.
import {STATES, isTroubled} from './camera.js';
import {press, setText} from './dom.js';
import {Tile} from './tile.js';

const FILTERS = {
  all: () => true,
  troubled: ({state}) => isTroubled(state),
  maintenance: ({isInMaintenance}) => isInMaintenance,
  ...Object.fromEntries(STATES.map((wanted) => [wanted, ({state}) => state === wanted])),
};

// Pixels at the usual font size: a tile's least width, and the most spare height for its chart.
const NARROWEST = 224, MAX_SPARE = 80;

/**
 * Returns the fewest columns with which `count` tiles are visible at once, or else the most that fit; and
 * the spare height of each tile.
 */
function layoutFor(count, list, heightOf) {
  const style = getComputedStyle(list);
  const gap = parseFloat(style.columnGap), scale = parseFloat(style.fontSize) / 14;
  const {width, top} = list.getBoundingClientRect();
  const height = window.innerHeight - (top + window.scrollY) - spaceBelow(list);
  const maxColumns = Math.max(1, Math.floor((width + gap) / (NARROWEST * scale + gap)));
  for (let columns = 1; columns < maxColumns; ++columns) {
    const rows = Math.ceil(count / columns);
    const spare = (height + gap) / rows - gap - heightOf((width + gap) / columns - gap);
    if (spare >= 0) return {columns, spare: Math.floor(Math.min(spare, MAX_SPARE * scale))};
  }
  return {columns: maxColumns, spare: 0};
}

/** Returns the height of the page below the tiles. */
function spaceBelow(list) {
  const main = list.closest('main'), footer = document.querySelector('footer');
  return parseFloat(getComputedStyle(main).paddingBottom) + (footer?.offsetHeight ?? 0);
}

export class Overview {
  #cameras;
  #list = document.getElementById('tiles');
  #filters = document.getElementById('filters');
  #search = document.getElementById('search');
  #empty = document.getElementById('empty');
  #tiles = new Map();  // by id
  #filter = 'all';
  #fitted = 0;         // number of tiles at the last fit()
  #seen = new IntersectionObserver((entries) => this.#see(entries), {rootMargin: '100px'});

  /** `cameras` is a Map by id; `onFilter` is called when the user has chosen what to see. */
  constructor(cameras, onFilter) {
    this.#cameras = cameras;
    this.#filters.onclick = (event) => {
      const button = event.target.closest('button');
      if (!button) return;
      this.show(button.dataset.filter);
      onFilter();
    };
    this.#search.oninput = () => this.#choose();
    this.#list.onkeydown = (event) => this.#walk(event);
    window.addEventListener('resize', () => this.fit());
    this.show('all');
  }

  /** The overview always exists, so there is nothing to open. */
  open() {}

  close() {}

  /** The view's part of the page's title: none. */
  get title() {
    return '';
  }

  show(filter) {
    this.#filter = filter;
    press(this.#filters, (button) => button.dataset.filter === filter);
    this.#choose();
  }

  toggleTroubled() {
    this.show(this.#filter === 'troubled' ? 'all' : 'troubled');
  }

  /** Adds, removes and sorts tiles when the cameras or their order have changed. */
  rebuild() {
    for (const [id, tile] of this.#tiles)
      if (this.#cameras.get(id) !== tile.camera) this.#remove(tile);
    let place = this.#list.firstElementChild;
    for (const camera of this.#cameras.values()) {
      const {element} = this.#tiles.get(camera.id) ?? this.#add(camera);
      if (element === place) place = place.nextElementSibling;
      else this.#list.insertBefore(element, place);
    }
    this.update(this.#cameras.keys());
    this.fit();
  }

  /** Makes tiles as large as possible. A tile has two pictures of 16:9 side by side, and other elements. */
  fit() {
    const tiles = this.#list.querySelectorAll('.tile:not([hidden])'), [tile] = tiles;
    if (!tile?.offsetHeight) return;
    this.#fitted = tiles.length;
    const pictures = tile.querySelector('.pictures');
    const spared = parseFloat(this.#list.style.getPropertyValue('--spare')) || 0;
    const rest = tile.offsetHeight - pictures.offsetHeight - spared;
    const edge = tile.offsetWidth - pictures.offsetWidth + parseFloat(getComputedStyle(pictures).columnGap);
    const {columns, spare} = layoutFor(tiles.length, this.#list, (width) => rest + (width - edge) / 2 * 9 / 16);
    this.#list.style.setProperty('--columns', columns);
    this.#list.style.setProperty('--spare', `${spare}px`);
  }

  update(ids) {
    for (const id of ids) this.#tiles.get(id).update();
    this.#choose();
  }

  /** Updates what depends on the time. */
  tick() {
    for (const tile of this.#tiles.values()) tile.tick();
  }

  /** Returns the ids of the cameras that the filter and the search show, in order. */
  chosen() {
    return [...this.#tiles.values()].filter(({element}) => !element.hidden).map(({camera}) => camera.id);
  }

  focus(id) {
    this.#tiles.get(id)?.link.focus();
  }

  #add(camera) {
    const tile = new Tile(camera);
    this.#tiles.set(camera.id, tile);
    this.#seen.observe(tile.element);
    return tile;
  }

  #remove(tile) {
    this.#seen.unobserve(tile.element);
    tile.element.remove();
    this.#tiles.delete(tile.camera.id);
  }

  #see(entries) {
    for (const {target, isIntersecting} of entries) {
      const tile = this.#tiles.get(target.dataset.camera);
      if (tile?.element === target) tile.isSeen = isIntersecting;
    }
  }

  #choose() {
    const cameras = [...this.#cameras.values()];
    for (const button of this.#filters.querySelectorAll('button')) {
      const count = cameras.filter(FILTERS[button.dataset.filter]).length;
      setText(button.querySelector('b'), String(count));
      button.classList.toggle('none', count === 0);
    }
    for (const tile of this.#tiles.values())
      tile.element.hidden = !this.#isWanted(tile.camera) && !tile.element.contains(document.activeElement);
    const count = this.chosen().length;
    if (count !== this.#fitted) this.fit();
    this.#empty.hidden = this.#tiles.size > 0 && count > 0;
    if (this.#tiles.size > 0) setText(this.#empty, 'No matching cameras.');
  }

  #isWanted(camera) {
    const {data} = camera;
    const words = this.#search.value.toLowerCase().split(/\s+/);
    const text = `${data.name} ${data.id} ${data.location}`.toLowerCase();
    return FILTERS[this.#filter](camera) && words.every((word) => text.includes(word));
  }

  /** Arrow keys move the focus from tile to tile, up and down within a column. */
  #walk(event) {
    const links = [...this.#list.querySelectorAll('.tile:not([hidden]) a')];
    const at = links.indexOf(document.activeElement);
    const step = this.#stepOf(event.key);
    if (at < 0 || !step || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    links[at + step]?.focus();
  }

  #stepOf(key) {
    const columns = Number(this.#list.style.getPropertyValue('--columns'));
    return {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns}[key];
  }
}
