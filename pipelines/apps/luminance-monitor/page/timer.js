// SPDX-License-Identifier: LGPL-2.1-or-later
// A worker that says when a hidden page has to ask again: browsers hold up the page's own timers, up to
// a minute.
const EVERY = 15000;  // milliseconds

setInterval(() => postMessage(null), EVERY);
