// SPDX-License-Identifier: LGPL-2.1-or-later
// Places: which view is shown, as the hash of the page's address says.

export const cameraPlace = (id) => `#/camera/${encodeURIComponent(id)}`;
export const incidentPlace = (id) => `#/incidents/${id}`;

/** Returns "#/incidents?state=open", for example; without filters, "#/incidents". */
export function incidentsPlace(filters = {}) {
  const query = String(new URLSearchParams(filters));
  return `#/incidents${query && `?${query}`}`;
}

/** The parent of each view, to which Escape leads. */
export const PARENTS = {detail: 'overview', incidents: 'overview', incident: 'incidents'};

function idIn(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** Returns {view, id, query}; `id` is the id of a camera or an incident, or null. */
export function placeOf(hash) {
  const [path, ...rest] = hash.split('?');
  const [, kind, id] = /^#\/(camera|incidents)(?:\/(.*))?$/.exec(path) ?? [];
  const query = new URLSearchParams(rest.join('?'));
  if (kind === 'camera') return {view: 'detail', id: idIn(id ?? ''), query};
  if (kind === 'incidents') return {view: id ? 'incident' : 'incidents', id: id ? idIn(id) : null, query};
  return {view: 'overview', id: null, query};
}
