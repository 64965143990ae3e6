// SPDX-License-Identifier: LGPL-2.1-or-later
// The monitor's time, in milliseconds since 1970. It stops while the monitor is not connected.

let heard = Date.now(), at = performance.now(), runs = false;

export function setClock(time) {
  heard = time;
  at = performance.now();
  runs = true;
}

export function stopClock() {
  heard = now();
  runs = false;
}

export function now() {
  return runs ? heard + performance.now() - at : heard;
}
