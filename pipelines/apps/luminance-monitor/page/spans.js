// SPDX-License-Identifier: LGPL-2.1-or-later
// Spans of active verdicts: {name, from, to}, where `to` is null while the verdict is active. Incidents and
// the stream give exact times; a row of the history, which may cover a day, only that the verdict was in it.
import {endOf, runs} from './chart.js';

const SLACK = 60e3;  // milliseconds

const isSame = (a, b) =>
  a.name === b.name && a.from <= (b.to ?? Infinity) && b.from <= (a.to ?? Infinity);

/** Returns the span of an incident. One that lasted when it was loaded may have ended since. */
function spanOf({verdict: name, begin: from, end}, noted) {
  const to = end ?? noted.find((span) => isSame(span, {name, from, to: null}))?.to ?? null;
  return {name, from, to};
}

/** Returns exact spans. `noted`: spans of the stream, which end some seconds late. */
export function exactSpans(incidents, noted) {
  const listed = incidents.map((incident) => spanOf(incident, noted));
  return [...listed, ...noted.filter((span) => !listed.some((other) => isSame(span, other)))];
}

/**
 * Returns spans from rows whose verdicts have no exact span. Rows have a verdict until it is cleared, which
 * is later than its end: by its `hold`, and by up to half a minute for `frozen`. Not all incidents before
 * `listedFrom` are known.
 */
export function coarseSpans(rows, exact, rules, listedFrom) {
  return [...new Set(rows.flatMap(({verdicts}) => verdicts))].flatMap((name) => {
    const late = SLACK + 1000 * (rules.find((rule) => rule.name === name)?.hold ?? 0);
    const known = exact.filter((span) => span.name === name);
    const isKnown = (row) => row.time >= listedFrom
      && known.some(({from, to}) => from < endOf(row) && (to ?? Infinity) + late > row.time);
    return runs(rows.filter((row) => row.verdicts.includes(name) && !isKnown(row)))
      .map((run) => ({name, from: run[0].time, to: endOf(run.at(-1)), isCoarse: true}));
  });
}
