// SPDX-License-Identifier: LGPL-2.1-or-later
// The monitor's time, in milliseconds since 1970. Without a connection, it is the time of the last event.

let heard = Date.now(), at = performance.now(), runs = false;

export function setClock(time) {
  heard = time;
  at = performance.now();
  runs = true;
}

export function stopClock() {
  runs = false;
}

export function now() {
  return runs ? heard + performance.now() - at : heard;
}
