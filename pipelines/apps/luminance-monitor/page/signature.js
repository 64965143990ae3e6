// SPDX-License-Identifier: LGPL-2.1-or-later
// Who acknowledges incidents: the user who is logged in, or the name in a field, which the browser
// remembers.
import {remember, remembered} from './dom.js';

const KEY = 'acknowledged-by';

let name = remembered(KEY) ?? '', user = '';

/** The field, in its label. All have the same name. */
export function offerSignature(label) {
  draw(label);
  label.control.oninput = ({target}) => {
    name = target.value;
    remember(KEY, name || null);
    drawAll();
  };
}

/** Empty: the monitor knows no user. It does not take another name for one that it knows. */
export function setUser(known) {
  user = known;
  drawAll();
}

/** The change that acknowledges an incident. */
export const acknowledgement = () => user || !name ? {acknowledged: true} : {acknowledged: true, acknowledged_by: name};

function drawAll() {
  for (const label of document.querySelectorAll('[data-part="signature"]')) draw(label);
}

function draw(label) {
  label.hidden = user !== '';
  if (label.control.value !== name) label.control.value = name;
}
