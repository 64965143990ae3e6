// SPDX-License-Identifier: LGPL-2.1-or-later
// Places spans of time on an axis. Short ones are widened, so that ten seconds are visible in a month, and
// kept apart, so that several do not look like one long span.

const MIN_WIDTH = 3, GAP = 1;  // CSS pixels
const DENSE_WIDTH = 2 * MIN_WIDTH + GAP;
const MAX_SHIFT = 2;  // of a mark from its true position
const ROUNDING = 1e-6;

const isLong = ({from, to, isDense}) => !isDense && to - from >= 2 * MIN_WIDTH;

/**
 * Returns the part of a mark that is drawn in any case. A long mark may lose its ends to neighbours; a
 * dense one has at least two stripes.
 */
function coreOf({from, to, isDense}, width) {
  const centre = (from + to) / 2, half = (isDense ? DENSE_WIDTH : MIN_WIDTH) / 2;
  const spare = isDense ? 0 : half;
  const left = Math.min(from + spare, centre - half), own = Math.max(to - spare, centre + half) - left;
  return {left: Math.max(0, Math.min(width - own, left)), width: own};
}

/**
 * Joins sorted spans whose gaps are too small to be seen into marks. A mark is dense if it is mostly gaps.
 */
function joined(spans) {
  const marks = [];
  for (const {from, to} of spans) {
    const last = marks.at(-1);
    if (last && from - last.to < GAP) {
      last.covered += Math.max(0, to - Math.max(from, last.to));
      last.to = Math.max(last.to, to);
    } else {
      marks.push({from, to, covered: to - from});
    }
  }
  return marks.map(({from, to, covered}) =>
    ({from, to, isDense: to - from >= DENSE_WIDTH && covered < (to - from) / 2}));
}

/**
 * Returns where cores begin: within the width, with gaps, and as near as possible to their true places.
 * After subtracting the widths and gaps before each core, places only have to ascend: runs of places
 * that do not, get their mean (isotonic regression).
 */
function placesOf(cores, width) {
  const pools = [];
  let before = 0;
  for (const core of cores) {
    let pool = {mean: core.left - before, weight: core.width, count: 1};
    while (pools.length && pools.at(-1).mean > pool.mean) {
      const last = pools.pop(), weight = last.weight + pool.weight;
      const mean = (last.mean * last.weight + pool.mean * pool.weight) / weight;
      pool = {mean, weight, count: last.count + pool.count};
    }
    pools.push(pool);
    before += core.width + GAP;
  }
  const most = width - before + GAP;
  before = 0;
  return pools.flatMap(({mean, count}) => Array(count).fill(Math.max(0, Math.min(most, mean))))
    .map((place, i) => {
      const left = place + before;
      before += cores[i].width + GAP;
      return left;
    });
}

const together = (a, b) =>
  ({from: a.from, to: Math.max(a.to, b.to), isDense: !isLong(a) && !isLong(b)});

/** Joins each mark that is too far from its true place with its nearer neighbour. */
function fused(marks, isAstray) {
  const gap = (i) => marks[i] && marks[i + 1] ? marks[i + 1].from - marks[i].to : Infinity;
  const closed = new Set(marks.flatMap((_, i) =>
    !isAstray[i] ? [] : gap(i - 1) <= gap(i) ? [i - 1] : [i]));
  const result = [];
  marks.forEach((mark, i) => result.push(closed.has(i - 1) ? together(result.pop(), mark) : mark));
  return result;
}

/** Extends cores towards the full length of their marks, where there is room. */
function grown(marks, cores, places) {
  let last = -Infinity;
  return marks.map((mark, i) => {
    const left = Math.max(Math.min(mark.from, places[i]), last + GAP);
    last = Math.min(Math.max(mark.to, places[i] + cores[i].width), (places[i + 1] ?? Infinity) - GAP);
    return {left, width: last - left, isDense: mark.isDense};
  });
}

/** Returns the stripes of a dense mark, which has too many spans to draw each; other marks are one. */
function stripes({left, width, isDense}) {
  if (!isDense) return [{left, width}];
  const count = Math.floor((width + GAP) / (MIN_WIDTH + GAP)), pitch = (width + GAP) / count;
  return Array.from({length: count}, (_, i) => ({left: left + i * pitch, width: pitch - GAP}));
}

/** Returns the marks, {left, width}, of sorted spans, {from, to}; all in pixels within the width. */
export function marksOf(spans, width) {
  for (let marks = joined(spans); ;) {
    const cores = marks.map((mark) => coreOf(mark, width)), places = placesOf(cores, width);
    const isAstray = cores.map((core, i) =>
      Math.abs(places[i] - core.left) > MAX_SHIFT || places[i] + core.width > width + ROUNDING);
    if (marks.length < 2 || !isAstray.includes(true)) return grown(marks, cores, places).flatMap(stripes);
    marks = fused(marks, isAstray);
  }
}
