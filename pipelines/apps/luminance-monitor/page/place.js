// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the reader is, by the hash of the page's address.

export const cameraPlace = (id) => `#/camera/${encodeURIComponent(id)}`;
export const incidentPlace = (id) => `#/incidents/${id}`;

/** "#/incidents?state=open"; without filters, "#/incidents". */
export function incidentsPlace(filters = {}) {
  const query = String(new URLSearchParams(filters));
  return `#/incidents${query && `?${query}`}`;
}

/** To which view Escape leads from each. */
export const PARENTS = {detail: 'overview', incidents: 'overview', incident: 'incidents'};

function idIn(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** {view, id, query}: `id` is that of a camera or of an incident, or null. */
export function placeOf(hash) {
  const [path, ...rest] = hash.split('?');
  const [, kind, id] = /^#\/(camera|incidents)(?:\/(.*))?$/.exec(path) ?? [];
  const query = new URLSearchParams(rest.join('?'));
  if (kind === 'camera') return {view: 'detail', id: idIn(id ?? ''), query};
  if (kind === 'incidents') return {view: id ? 'incident' : 'incidents', id: id ? idIn(id) : null, query};
  return {view: 'overview', id: null, query};
}
