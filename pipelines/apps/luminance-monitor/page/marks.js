// SPDX-License-Identifier: LGPL-2.1-or-later
// Where spans of time are drawn on an axis. Short ones are widened, or nobody would see ten seconds of a
// month; they stay apart from others, or several would look like one that is long.

const MIN_WIDTH = 3, GAP = 1;  // CSS pixels
const DENSE_WIDTH = 2 * MIN_WIDTH + GAP;
const MAX_SHIFT = 2;  // from where a mark belongs
const ROUNDING = 1e-6;

const isLong = ({from, to, isDense}) => !isDense && to - from >= 2 * MIN_WIDTH;

/**
 * What is drawn of a mark in any case. A long one may lose some of its ends to its neighbours; a dense
 * one has two stripes at least.
 */
function coreOf({from, to, isDense}, width) {
  const centre = (from + to) / 2, half = (isDense ? DENSE_WIDTH : MIN_WIDTH) / 2;
  const spare = isDense ? 0 : half;
  const left = Math.min(from + spare, centre - half), own = Math.max(to - spare, centre + half) - left;
  return {left: Math.max(0, Math.min(width - own, left)), width: own};
}

/**
 * Those between which nobody would see a gap, as one. It is dense if most of it is gaps. Spans are sorted.
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
 * Where cores begin: with gaps between them, within the width, and as near as possible to where they
 * belong. Less what is before them, their places only have to ascend: those that do not get the mean
 * of theirs (isotonic regression).
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

/** Those that are too far from where they belong, each together with the nearer of its neighbours. */
function fused(marks, isAstray) {
  const gap = (i) => marks[i] && marks[i + 1] ? marks[i + 1].from - marks[i].to : Infinity;
  const closed = new Set(marks.flatMap((_, i) =>
    !isAstray[i] ? [] : gap(i - 1) <= gap(i) ? [i - 1] : [i]));
  const result = [];
  marks.forEach((mark, i) => result.push(closed.has(i - 1) ? together(result.pop(), mark) : mark));
  return result;
}

/** Marks get back what they lost, where there is room. */
function grown(marks, cores, places) {
  let last = -Infinity;
  return marks.map((mark, i) => {
    const left = Math.max(Math.min(mark.from, places[i]), last + GAP);
    last = Math.min(Math.max(mark.to, places[i] + cores[i].width), (places[i + 1] ?? Infinity) - GAP);
    return {left, width: last - left, isDense: mark.isDense};
  });
}

/** Of a dense mark, whose spans are too many to be drawn one by one. */
function stripes({left, width, isDense}) {
  if (!isDense) return [{left, width}];
  const count = Math.floor((width + GAP) / (MIN_WIDTH + GAP)), pitch = (width + GAP) / count;
  return Array.from({length: count}, (_, i) => ({left: left + i * pitch, width: pitch - GAP}));
}

/** Of spans {from, to} in pixels within the width, the earliest first: {left, width}. */
export function marksOf(spans, width) {
  for (let marks = joined(spans); ;) {
    const cores = marks.map((mark) => coreOf(mark, width)), places = placesOf(cores, width);
    const isAstray = cores.map((core, i) =>
      Math.abs(places[i] - core.left) > MAX_SHIFT || places[i] + core.width > width + ROUNDING);
    if (marks.length < 2 || !isAstray.includes(true)) return grown(marks, cores, places).flatMap(stripes);
    marks = fused(marks, isAstray);
  }
}
