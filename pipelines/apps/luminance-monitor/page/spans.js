// SPDX-License-Identifier: LGPL-2.1-or-later
// When verdicts stood: {name, from, to}, where `to` is null while one is active. Incidents and the stream
// know it exactly; the rows of the history, which may cover a day, only that it was within them.
import {endOf, runs} from './chart.js';

const SLACK = 60e3;  // milliseconds

const isSame = (a, b) =>
  a.name === b.name && a.from <= (b.to ?? Infinity) && b.from <= (a.to ?? Infinity);

/** One that lasted when the incidents were asked for may have ended since. */
function spanOf({verdict: name, begin: from, end}, noted) {
  const to = end ?? noted.find((span) => isSame(span, {name, from, to: null}))?.to ?? null;
  return {name, from, to};
}

/** `noted` are those of the stream, which end when it told so: some seconds late. */
export function exactSpans(incidents, noted) {
  const listed = incidents.map((incident) => spanOf(incident, noted));
  return [...listed, ...noted.filter((span) => !listed.some((other) => isSame(span, other)))];
}

/**
 * Of the rows with verdicts of which nothing exact is known. A row has a verdict until it is cleared,
 * which is later than its end: by its `hold`, and by up to half a minute for `frozen`. Before
 * `listedFrom`, not all incidents are known.
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
