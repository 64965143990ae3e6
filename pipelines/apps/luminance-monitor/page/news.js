// SPDX-License-Identifier: LGPL-2.1-or-later
// Announcements for screen readers: verdicts and lost connections, no numbers.
import {isolated} from './text.js';

const TOGETHER = 500;  // milliseconds; what comes within them is said in one go
const MOST = 4;        // cameras that are named

let news = [];

/** `before` and `after` are the same camera. */
export function tellNews(place, before, after) {
  const names = (data) => data.verdicts.map(({name}) => name);
  const raised = after.verdicts.filter(({name}) => !names(before).includes(name));
  const cleared = before.verdicts.filter(({name}) => !names(after).includes(name));
  const said = [...raised.map(({title}) => title.toLowerCase()),
    ...cleared.map(({title}) => `${title.toLowerCase()} cleared`)];
  if (after.status === 'waiting' && before.status === 'playing') said.push('connection lost');
  if (said.length === 0) return;
  if (news.length === 0) setTimeout(() => say(place), TOGETHER);
  news.push(`${isolated(after.name)}: ${said.join(', ')}.`);
}

function say(place) {
  const others = news.length - MOST;
  place.textContent = news.slice(0, MOST).join(' ') + (others > 0 ? ` And ${others} more.` : '');
  news = [];
}
