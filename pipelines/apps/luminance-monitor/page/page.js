// SPDX-License-Identifier: LGPL-2.1-or-later
// The page passes the data of the stream to its views, and shows one of them: the overview, one camera,
// the list of incidents, or one incident.
import {Camera} from './camera.js';
import {now, setClock, stopClock} from './clock.js';
import {Detail} from './detail.js';
import {ask, setText} from './dom.js';
import {Incident} from './incident.js';
import {Incidents} from './incidents.js';
import {offerNotifications} from './notifier.js';
import {Overview} from './overview.js';
import {PARENTS, placeOf} from './place.js';
import {visit} from './ranges.js';
import {setUser} from './signature.js';
import {Stream} from './stream.js';
import {isolated, timeWithSeconds, zoneText} from './text.js';
import {offerThemes} from './theme.js';
import {Unacknowledged} from './unacknowledged.js';
import {announce} from './updates.js';

const byId = (id) => document.getElementById(id);
const bar = document.querySelector('.bar');
const cameras = new Map();  // by id, in the monitor's order
const overview = new Overview(cameras, () => toOverview());
const detail = new Detail(byId('detail'), cameras, overview);
const incidents = new Incidents(byId('incidents'), cameras);
const incident = new Incident(byId('incident'), cameras, incidents);
const unacknowledged = new Unacknowledged(byId('to-incidents'));
const views = {overview, detail, incidents, incident};
let place = placeOf('');
let cameFromParent = false;

// The stream

function known(data) {
  const camera = cameras.get(data.id);
  if (!camera) return new Camera(data);
  announce(byId('updates'), camera.data, data);
  camera.update(data, now());
  return camera;
}

/** Discards points of cameras that had frames while the page did not listen: some are missing. */
function discardAllRecent(answer) {
  for (const {id, frames} of answer.cameras)
    if (cameras.get(id)?.data.frames !== frames) cameras.get(id)?.discardRecent();
}

/** Shows errors of the history: data that it cannot write are lost when the monitor ends. */
function tellOfHistory({history_error: error, history_notice: notice}) {
  const text = error ? `The history cannot be written: ${error}. The monitor keeps trying.` : notice;
  if (text) setText(byId('history-error'), text);
  byId('history-error').hidden = !text;
}

function keepAll(answer) {
  setClock(answer.time);
  tellOfHistory(answer);
  discardAllRecent(answer);
  const all = answer.cameras.map(known);
  cameras.clear();
  for (const camera of all) cameras.set(camera.id, camera);
}

function takeAll(answer) {
  keepAll(answer);
  for (const view of [detail, incidents, incident, unacknowledged]) view.hasHistory = answer.history_enabled;
  if (cameras.size === 0) setText(byId('empty'), 'The monitor has no cameras.');
  overview.rebuild();
  if (place.view === 'detail') detail.open(place);
  live();
}

function takeSome(answer) {
  setClock(answer.time);
  tellOfHistory(answer);
  for (const data of answer.cameras) known(data);
  overview.update(answer.cameras.map(({id}) => id));
  detail.update(answer.cameras.map(({id}) => id));
  live();
}

/** Has views load incidents again: the stream only says that some have changed. */
function takeIncidents() {
  for (const view of [incidents, incident, unacknowledged]) view.refresh();
}

/** Takes the cameras while the page is hidden: only its title, which the tab shows, is updated. */
function takeUnseen(answer) {
  keepAll(answer);
  live();
}

function takeHeartbeat(answer) {
  setClock(answer.time);
  live();
}

function live() {
  document.documentElement.dataset.connection = 'live';
  setText(byId('connection'), 'Live');
  setText(byId('clock'), timeWithSeconds(now()));
  setText(byId('zone'), zoneText(now()));
  byId('banner').hidden = true;
  const count = Array.from(cameras.values()).filter(({isAlarming}) => isAlarming).length;
  const own = views[place.view].title;
  const title = [count ? `(${count})` : '', own && `${isolated(own)} –`, 'Luminance monitor'].filter(Boolean).join(' ');
  if (document.title !== title) document.title = title;
}

function lost(why) {
  stopClock();
  document.documentElement.dataset.connection = 'lost';
  setText(byId('connection'), 'Lost');
  const reason = why ? `: ${why}` : '';
  const numbers = cameras.size ? ` All values are stale, from ${timeWithSeconds(now())}.` : '';
  setText(byId('banner'), `No connection to the monitor${reason}.${numbers} Reconnecting …`);
  byId('banner').hidden = false;
  document.title = 'No connection – Luminance monitor';
}

/** The connection is open but silent: the monitor hangs, or the network is down. */
function silent() {
  stopClock();
  document.documentElement.dataset.connection = 'lost';
  setText(byId('connection'), 'No answer');
  setText(byId('banner'), `No answer from the monitor since ${timeWithSeconds(now())}. All values are from then. Waiting …`);
  byId('banner').hidden = false;
  document.title = 'No answer – Luminance monitor';
}

// Where the user is

function route(event) {
  const before = place;
  const isElsewhere = byId(before.view).hidden || bar.contains(document.activeElement);
  place = placeOf(location.hash);
  if (place.view !== before.view) views[before.view].close();
  if (place.view === 'detail') visit(Number(place.query.get('from')), Number(place.query.get('to')));
  views[place.view].open(place);
  for (const name of Object.keys(views)) byId(name).hidden = name !== place.view;
  byId('to-incidents').setAttribute('aria-current', place.view === 'incidents' ? 'page' : 'false');
  if (place.view === 'overview') overview.fit();
  if (event) arrive(before, isElsewhere);
  if (cameras.size) live();
}

/** Sets the focus: back in the overview or the list, on the camera or incident that was left. */
function arrive(before, isElsewhere) {
  const {view, id} = place, isBack = PARENTS[before.view] === view;
  if (view === before.view) cameFromParent &&= view === 'detail';
  else cameFromParent = before.view === PARENTS[view];
  if (view === 'overview') {
    if (before.view === 'detail' && !isElsewhere) overview.focus(before.id);
  } else if (isBack) {
    incidents.focus(before.id);
  } else if (view !== before.view || id !== before.id) {
    if (view !== before.view) window.scrollTo(0, 0);
    views[view].focus();
  }
}

const placeOfParent = () => PARENTS[place.view] === 'incidents' ? incidents.place : '#/';

/** Goes to the parent view, without a new entry in the browser's history. */
function leave() {
  if (place.view === 'overview') return;
  if (cameFromParent) history.back();
  else location.replace(placeOfParent());
}

function toOverview() {
  if (place.view === 'incident') location.hash = '#/';
  else leave();
}

/** Links between cameras replace the history entry, so that "back" leads to the overview. */
function onClick(event) {
  const link = event.target.closest('a');
  const go = {back: leave, previous: () => detail.step(-1), next: () => detail.step(1)}[link?.dataset.part];
  if (!go || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go();
}

// Keys

const KEYS = {
  '/': () => {
    toOverview();
    byId('search').focus();
    byId('search').select();
  },
  't': () => {
    toOverview();
    overview.toggleTroubled();
  },
  'i': () => { location.hash = '#/incidents'; },
  '?': () => byId('keys').showModal(),
  'Escape': () => leave(),
  'ArrowLeft': () => detail.step(-1),
  'ArrowRight': () => detail.step(1),
};

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  if (document.querySelector('dialog[open]')) return;
  if (event.target === byId('search')) {
    if (event.key === 'Escape') leaveSearch(event);
    return;
  }
  if (event.target.matches('input, select, textarea')) return;
  if (!KEYS[event.key] || (event.key.startsWith('Arrow') && place.view !== 'detail')) return;
  event.preventDefault();
  KEYS[event.key]();
}

function leaveSearch(event) {
  event.preventDefault();
  event.target.value = '';
  event.target.blur();
  event.target.dispatchEvent(new Event('input'));
}

new ResizeObserver(() => document.documentElement.style.setProperty('--bar', `${bar.offsetHeight}px`)).observe(bar);
offerThemes(byId('theme'));
offerNotifications(byId('notifications'), byId('notifier'));
byId('help').onclick = KEYS['?'];
document.querySelector('main').onclick = onClick;
window.addEventListener('keydown', onKey);
window.addEventListener('hashchange', route);
route();
ask('api/v1/session').then(({logged_in, user}) => {
  byId('logout').hidden = !logged_in;
  setUser(user);
}, () => {});
new Stream('api/v1/stream',
  {cameras: takeAll, update: takeSome, incidents: takeIncidents, heartbeat: takeHeartbeat, unseen: takeUnseen, lost, silent});
setInterval(() => {
  if (document.hidden || document.documentElement.dataset.connection !== 'live') return;
  views[place.view].tick();
}, 1000);
