// SPDX-License-Identifier: LGPL-2.1-or-later
// Announces verdicts and lost connections to screen readers, without numbers.
import {isolated} from './text.js';

const TOGETHER = 500;  // milliseconds; changes within them are one announcement
const MAX_NAMED = 4;   // cameras named in an announcement

let updates = [];

/** Returns the verdicts to announce: none of a camera in maintenance. */
const told = ({verdicts, maintenance}) => maintenance ? [] : verdicts;

/** Announces a change; `before` and `after` are data of the same camera. */
export function announce(element, before, after) {
  if (after.maintenance) return;
  const names = (verdicts) => verdicts.map(({name}) => name);
  const raised = after.verdicts.filter(({name}) => !names(told(before)).includes(name));
  const cleared = told(before).filter(({name}) => !names(after.verdicts).includes(name));
  const said = [...raised.map(({title}) => title.toLowerCase()),
    ...cleared.map(({title}) => `${title.toLowerCase()} cleared`)];
  if (after.status === 'waiting' && before.status === 'playing') said.push('connection lost');
  if (said.length === 0) return;
  if (updates.length === 0) setTimeout(() => say(element), TOGETHER);
  updates.push(`${isolated(after.name)}: ${said.join(', ')}.`);
}

function say(element) {
  const others = updates.length - MAX_NAMED;
  element.textContent = updates.slice(0, MAX_NAMED).join(' ') + (others > 0 ? ` And ${others} more.` : '');
  updates = [];
}
