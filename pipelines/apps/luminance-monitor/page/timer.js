// SPDX-License-Identifier: LGPL-2.1-or-later
// A worker that tells a hidden page when to ask again: browsers delay the timers of hidden pages by up to
// a minute.
const EVERY = 15000;  // milliseconds

setInterval(() => postMessage(null), EVERY);
