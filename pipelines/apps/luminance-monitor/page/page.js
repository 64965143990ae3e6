// SPDX-License-Identifier: LGPL-2.1-or-later
// The page: passes the data of the stream to the overview and to the view of one camera.
import {Camera, isTroubled} from './camera.js';
import {now, setClock, stopClock} from './clock.js';
import {Detail} from './detail.js';
import {ask, setText} from './dom.js';
import {offerNotifications} from './notifier.js';
import {announce} from './updates.js';
import {Overview} from './overview.js';
import {Stream} from './stream.js';
import {isolated, timeWithSeconds, zoneText} from './text.js';
import {offerThemes} from './theme.js';

const byId = (id) => document.getElementById(id);
const cameras = new Map();  // by id, in the monitor's order
const overview = new Overview(cameras, () => leave());
const detail = new Detail(byId('detail'), cameras, overview);
let cameFromOverview = false;

// The stream

function known(data) {
  const camera = cameras.get(data.id);
  if (!camera) return new Camera(data);
  announce(byId('updates'), camera.data, data);
  camera.update(data, now());
  return camera;
}

/** Points are missing of cameras that had frames while the page did not listen. */
function discardAllRecent(answer) {
  for (const {id, frames} of answer.cameras)
    if (cameras.get(id)?.data.frames !== frames) cameras.get(id)?.discardRecent();
}

/** Data that are not written are lost when the monitor ends, so the page shows the error. */
function tellOfHistory(error) {
  if (error) setText(byId('history-error'), `The history cannot be written: ${error}. The monitor keeps trying.`);
  byId('history-error').hidden = !error;
}

function keepAll(answer) {
  setClock(answer.time);
  tellOfHistory(answer.history_error);
  discardAllRecent(answer);
  const all = answer.cameras.map(known);
  cameras.clear();
  for (const camera of all) cameras.set(camera.id, camera);
}

function takeAll(answer) {
  keepAll(answer);
  detail.hasHistory = answer.history_enabled;
  if (cameras.size === 0) setText(byId('empty'), 'The monitor has no cameras.');
  overview.rebuild();
  if (isDetail()) route();
  live();
}

function takeSome(answer) {
  setClock(answer.time);
  tellOfHistory(answer.history_error);
  for (const data of answer.cameras) known(data);
  overview.update(answer.cameras.map(({id}) => id));
  detail.update(answer.cameras.map(({id}) => id));
  live();
}

/** Nothing is drawn of it, but the title is read on the tab. */
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
  const count = Array.from(cameras.values()).filter(({state}) => isTroubled(state)).length;
  const own = isDetail() ? detail.title : '';
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

/** The connection stands, but nothing comes: the monitor hangs, or the network is gone. */
function silent() {
  stopClock();
  document.documentElement.dataset.connection = 'lost';
  setText(byId('connection'), 'No answer');
  setText(byId('banner'), `No answer from the monitor since ${timeWithSeconds(now())}. All values are from then. Waiting …`);
  byId('banner').hidden = false;
  document.title = 'No answer – Luminance monitor';
}

// Where the user is

const isDetail = () => location.hash.startsWith('#/camera/');

function idOfHash() {
  try {
    return decodeURIComponent(location.hash.slice('#/camera/'.length));
  } catch {
    return '';
  }
}

function route(event) {
  const left = detail.id;
  const isElsewhere = byId('detail').hidden || document.querySelector('.bar').contains(document.activeElement);
  if (isDetail()) detail.open(idOfHash());
  else detail.close();
  byId('overview').hidden = isDetail();
  byId('detail').hidden = !isDetail();
  if (event) cameFromOverview = isDetail() && (left === null || cameFromOverview);
  if (event && isDetail()) detail.focus();
  if (!isDetail()) overview.fit();
  if (left !== null && !isDetail() && !isElsewhere) overview.focus(left);
  if (cameras.size) live();
}

/** To the overview, without an entry of its own in the browser's history. */
function leave() {
  if (!isDetail()) return;
  if (cameFromOverview) history.back();
  else location.replace('#/');
}

/** Links between cameras replace the one that was shown, so that "back" leads to the overview. */
function onDetailClick(event) {
  const link = event.target.closest('a');
  const go = {back: leave, previous: () => detail.step(-1), next: () => detail.step(1)}[link?.dataset.part];
  if (!go || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go();
}

// Keys

const KEYS = {
  '/': () => {
    leave();
    byId('search').focus();
    byId('search').select();
  },
  't': () => {
    leave();
    overview.toggleTroubled();
  },
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
  if (!KEYS[event.key] || (event.key.startsWith('Arrow') && !isDetail())) return;
  event.preventDefault();
  KEYS[event.key]();
}

function leaveSearch(event) {
  event.preventDefault();
  event.target.value = '';
  event.target.blur();
  event.target.dispatchEvent(new Event('input'));
}

offerThemes(byId('theme'));
offerNotifications(byId('notifications'), byId('notifier'));
byId('help').onclick = KEYS['?'];
byId('detail').onclick = onDetailClick;
window.addEventListener('keydown', onKey);
window.addEventListener('hashchange', route);
route();
ask('api/v1/session').then(({logged_in}) => byId('logout').hidden = !logged_in, () => {});
new Stream('api/v1/stream',
  {cameras: takeAll, update: takeSome, heartbeat: takeHeartbeat, unseen: takeUnseen, lost, silent});
setInterval(() => {
  if (document.hidden || document.documentElement.dataset.connection !== 'live') return;
  if (isDetail()) detail.tick();
  else overview.tick();
}, 1000);
