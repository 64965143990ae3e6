// SPDX-License-Identifier: LGPL-2.1-or-later
// Helpers for DOM elements, storage and the API.

const SVG = 'http://www.w3.org/2000/svg';

export function part(root, name) {
  return root.querySelector(`[data-part="${name}"]`);
}

/** Returns a copy of the elements in a template. */
export function copyOf(template) {
  return document.getElementById(template).content.cloneNode(true);
}

export function element(name, text = '', attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

export function shape(name, attributes = {}, text = '') {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

/** Sets a text only if it differs, so that the browser need not lay out the page again. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

export function setAttribute(target, name, value) {
  if (target.getAttribute(name) !== value) target.setAttribute(name, value);
}

/** Shows a number as `text` gives it, and in full as tooltip and for programs. `value` may be null. */
export function setNumber(target, value, text) {
  setText(target, value === null ? '–' : text(value));
  setAttribute(target, 'data-value', value === null ? '' : String(value));
  setAttribute(target, 'title', value === null ? '' : String(value));
}

export function setState(root, state) {
  setAttribute(root, 'data-state', state);
  setAttribute(root.querySelector('svg.state use'), 'href', `#state-${state}`);
}

/** Marks the pressed one in a group of buttons that exclude each other. */
export function press(group, isPressed) {
  for (const button of group.querySelectorAll('button'))
    setAttribute(button, 'aria-pressed', String(isPressed(button)));
}

const dirty = new Set();

function drawAll() {
  const drawables = [...dirty];
  dirty.clear();
  for (const drawable of drawables) drawable.draw();
}

/** Has draw() called once before the browser's next repaint, however often this is called. */
export function redraw(drawable) {
  if (dirty.size === 0) requestAnimationFrame(drawAll);
  dirty.add(drawable);
}

/** Returns a function that has `run` called, with a pause after each run and never twice at a time,
 * however often it is called. `run` must not throw. */
export function seldom(run, pause) {
  let isWanted = false, isBusy = false;
  return async () => {
    isWanted = true;
    if (isBusy) return;
    isBusy = true;
    while (isWanted) {
      isWanted = false;
      await run();
      await new Promise((done) => setTimeout(done, pause));
    }
    isBusy = false;
  };
}

/** Returns a stored value, or null, also if the browser forbids storage. 'sessionStorage' is per tab. */
export function remembered(key, storage = 'localStorage') {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

/** Stores a value; null removes it. */
export function remember(key, value, storage = 'localStorage') {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, value);
  } catch {
    // Without storage, the value is lost when the page is left.
  }
}

/** Returns the JSON at a path of the API. Throws an Error with a text for people. */
export async function ask(path, signal, method = 'GET', change = undefined) {
  const body = change === undefined ? {}
    : {body: JSON.stringify(change), headers: {'Content-Type': 'application/json'}};
  let response;
  try {
    // fetch() refuses a relative address if the page's own address has a password.
    response = await fetch(new URL(path, location.href), {cache: 'no-store', signal, method, ...body});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Error('the monitor does not respond');
  }
  // The session is over. The hash lets the login return to this view.
  if (response.status === 401) location.assign(`login${location.hash}`);
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new Error(answer?.error ?? `the monitor responded with status ${response.status}`);
  if (answer === null) throw new Error('the monitor’s response cannot be read');
  return answer;
}
