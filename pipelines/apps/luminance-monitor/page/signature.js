// SPDX-License-Identifier: LGPL-2.1-or-later
// Who acknowledges incidents: the user who is logged in, or the name in a field, which the browser
// remembers.
import {remember, remembered} from './dom.js';

const KEY = 'acknowledged-by';

let name = remembered(KEY) ?? '', user = '';

/** Sets up the field of a label. All fields have the same name. */
export function offerSignature(label) {
  draw(label);
  label.control.oninput = ({target}) => {
    name = target.value;
    remember(KEY, name || null);
    drawAll();
  };
}

/** Sets the user whom the monitor knows; empty: none. It accepts no other name for a known user. */
export function setUser(known) {
  user = known;
  drawAll();
}

/** Returns the change that acknowledges an incident. */
export const acknowledgement = () => user || !name ? {acknowledged: true} : {acknowledged: true, acknowledged_by: name};

function drawAll() {
  for (const label of document.querySelectorAll('[data-part="signature"]')) draw(label);
}

function draw(label) {
  label.hidden = user !== '';
  if (label.control.value !== name) label.control.value = name;
}
