// SPDX-License-Identifier: LGPL-2.1-or-later
// SVG paths of a histogram, and of lines and bands over time.

/** Heights of bars as shares of the highest. A square root keeps rare values visible: a clipped sky
 * has one bar that is a hundred times as high as all others. */
export const SCALES = {
  sqrt: (share) => Math.sqrt(share),
  linear: (share) => share,
};

/** Returns the path of 256 counts in a box of 256×100. */
export function histogramPath(counts, scale) {
  const max = Math.max(...counts);
  if (!(max > 0)) return '';
  const tops = counts.map((count) => (100 - 100 * scale(count / max)).toFixed(1));
  return `M0,100${tops.map((top, i) => `V${top}H${i + 1}`).join('')}V100Z`;
}

// Rows that lie further apart than this have missing rows between them.
const GAP = 1.5;  // of a row's duration

export const endOf = (row) => row.time + row.duration * 1000;

/** Groups rows into runs without gaps. */
export function runs(rows) {
  const all = [];
  for (const row of rows) {
    const last = all.at(-1)?.at(-1);
    if (last && row.time - endOf(last) <= GAP * row.duration * 1000) all.at(-1).push(row);
    else all.push([row]);
  }
  return all;
}

/** Returns points at the begin and the end of a run, and in the middle of each row. */
function points(run, x, y, of) {
  const middle = (row) => x(row.time + row.duration * 500);
  const inner = run.map((row) => `${middle(row).toFixed(1)},${y(of(row)).toFixed(1)}`);
  const first = `${x(run[0].time).toFixed(1)},${y(of(run[0])).toFixed(1)}`;
  const last = `${x(endOf(run.at(-1))).toFixed(1)},${y(of(run.at(-1))).toFixed(1)}`;
  return [first, ...inner, last];
}

/** `x` maps milliseconds, `y` maps luma, and `of` picks the luma of a row. */
export function linePath(rows, x, y, of) {
  return runs(rows).map((run) => `M${points(run, x, y, of).join('L')}`).join('');
}

export function bandPath(rows, x, y, low, high) {
  return runs(rows).map((run) => {
    const there = points(run, x, y, high), back = points(run, x, y, low).reverse();
    return `M${there.join('L')}L${back.join('L')}Z`;
  }).join('');
}

/** Returns at most `maxTicks` times for an axis: whole minutes, hours or days of the local time. */
export function ticks(from, to, maxTicks) {
  const minute = 60e3, hour = 60 * minute, day = 24 * hour;
  const steps = [1, 2, 5, 10, 15, 30].map((count) => count * minute)
    .concat([1, 2, 3, 6, 12].map((count) => count * hour), [1, 2, 5, 10].map((count) => count * day));
  const step = steps.find((length) => (to - from) / length <= maxTicks) ?? steps.at(-1);
  const times = [];
  const date = new Date(from);
  date.setHours(0, 0, 0, 0);
  while (date.getTime() <= to) {
    if (date.getTime() >= from) times.push(date.getTime());
    if (step >= day) date.setDate(date.getDate() + step / day);  // a day may have 23 or 25 hours
    else date.setTime(date.getTime() + step);
  }
  return {times, isDays: step >= day};
}
