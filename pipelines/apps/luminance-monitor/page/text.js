// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers, times and states as text. Times are milliseconds since 1970, shown in the browser's time
// zone.

const clock = new Intl.DateTimeFormat('en-GB', {hour: '2-digit', minute: '2-digit'});
const clockSeconds = new Intl.DateTimeFormat('en-GB', {timeStyle: 'medium'});
const day = new Intl.DateTimeFormat('en-GB', {day: 'numeric', month: 'short'});
const whole = new Intl.NumberFormat('en-GB', {maximumFractionDigits: 0});
const exact = new Intl.DateTimeFormat('en-GB', {dateStyle: 'medium', timeStyle: 'medium'});
const offsetFormat = new Intl.DateTimeFormat('en-GB', {timeZoneName: 'shortOffset'});

export const oneDecimal = (value) => value.toFixed(1);
export const integer = (value) => whole.format(value);

/** Returns a share in percent. Small shares are not rounded to 0. */
export function percent(share) {
  const value = share * 100;
  return `${value.toFixed(value > 0 && value < 1 ? 2 : 1)} %`;
}

/** Returns three significant digits; a dash for null. */
export function measured(value) {
  if (value === null) return '–';
  return Math.abs(value) >= 1000 ? integer(value) : String(Number(value.toPrecision(3)));
}

/** Isolates an untrusted name from the text around it: its bidirectional controls end with it. */
export const isolated = (name) => `\u2068${name}\u2069`;

export const timeOfDay = (time) => clock.format(time);
export const timeWithSeconds = (time) => clockSeconds.format(time);
export const dayOf = (time) => day.format(time);
export const dateAndTime = (time) => exact.format(time);

/** Returns the time zone of all times shown: "Times in Europe/Berlin, now UTC+1." */
export function zoneText(time) {
  const offset = offsetFormat.formatToParts(time).find(({type}) => type === 'timeZoneName').value.replace('GMT', 'UTC');
  const zone = offsetFormat.resolvedOptions().timeZone;
  return zone === 'UTC' ? 'Times in UTC.' : `Times in ${zone}, now ${offset}.`;
}

/** Returns only the time of day if the day is today. */
function momentBy(format, time, now) {
  const today = day.format(time) === day.format(now) && Math.abs(now - time) < 86400e3;
  return today ? format(time) : `${dayOf(time)} ${format(time)}`;
}

/** Returns "from 14:03:10 to 14:03:20", with the date if it is not that of `reference`. */
export const spanText = (from, to, reference) => `from ${momentBy(timeWithSeconds, from, reference)} to `
  + momentBy(timeWithSeconds, to, from);

export const sinceText = (time, reference) => `since ${momentBy(timeWithSeconds, time, reference)}`;

export const moment = (time, now) => momentBy(timeOfDay, time, now);
export const lastPictureText = (time, now) => `last picture, ${momentBy(timeWithSeconds, time, now)}`;

export function lasting(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
  if (minutes === 0) return `${seconds} s`;
  if (hours === 0) return `${minutes} min`;
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(hours / 24)} days`;
}

export const since = (time, now) => `since ${moment(time, now)}, ${lasting(now - time)}`;

const STATUS = {connecting: 'Connecting', playing: 'Playing', waiting: 'Lost', ended: 'Ended'};

const statusTitle = (status) => STATUS[status] ?? status;

export const verdictText = (verdict, now) => `${verdict.title} ${since(verdict.since, now)}`;

/** Returns a value as text: a share in percent; a dash for null. */
const quantityText = (value, quantity) =>
  quantity.startsWith('share ') && value !== null ? percent(value) : measured(value);

/** Returns "below 40 s", for example: the values beyond a threshold on this side. */
export function limitText(side, threshold, quantity) {
  const unit = quantity.startsWith('seconds ') ? ' s' : quantity.includes(' in percent ') ? ' %' : '';
  return `${side} ${quantityText(threshold, quantity)}${unit}`;
}

/** Returns "mean luma: 23.5" or "share of black pixels: 41.0 %", for example. */
export const valueOf = (value, quantity) => `${quantity}: ${quantityText(value, quantity)}`;

/** Returns "mean luma: 23.5, below 40", or "…, raised below 40" if the value is back within the limit. */
export function valueText({value, threshold, quantity}, side) {
  const isBeyond = side === 'above' ? value > threshold : value < threshold;
  return `${valueOf(value, quantity)}, ${isBeyond ? '' : 'raised '}`
    + limitText(side, threshold, quantity);
}

/** Returns the worst value of an incident: "Worst mean luma: 21.5, below 40". */
export const extremeText = ({value, threshold, quantity, side}) =>
  `Worst ${valueOf(value, quantity)}, ${limitText(side, threshold, quantity)}`;

const REASONS = {
  value: 'its value is good again', silence: 'no frames', rules: 'no longer judged',
  reference: 'the reference was learned anew', explained: 'another verdict explains it',
  accepted: 'the changed picture counts as usual now', removed: 'the camera was removed or restarted',
  restart: 'the monitor ended', end: 'the recording ended',
};

/** Returns why an incident is over. */
export const reasonText = (reason) => REASONS[reason] ?? reason;

/** Returns the end of an incident; only the time of day if it began on the same day. */
export const endText = (end, begin) => day.format(end) === day.format(begin) && end - begin < 86400e3
  ? timeWithSeconds(end) : dateAndTime(end);

/** Returns "Acknowledged 27 Nov 2026, 21:48:19 by Ann", for example. */
export const acknowledgedText = ({acknowledged, acknowledged_by: name}) => acknowledged === null ? 'Not acknowledged'
  : `Acknowledged ${dateAndTime(acknowledged)}${name && ` by ${isolated(name)}`}`;

/** Returns since when the status lasts: that of a lost camera since its last frame, despite retries. */
function statusSince({status, since, verdicts}) {
  const noFrames = verdicts.find(({name}) => name === 'no-frames');
  return status === 'waiting' && noFrames ? Math.min(since, noFrames.since) : since;
}

export function statusText(data, now) {
  const text = `${statusTitle(data.status)} ${since(statusSince(data), now)}`;
  return data.error ? `${text}: ${isolated(data.error)}` : text;
}

/** Returns the camera's worst problem in one line. */
export function worstText(data, now) {
  if (data.status === 'waiting' || data.verdicts.length === 0) return statusText(data, now);
  const others = data.verdicts.length - 1;
  return verdictText(data.verdicts[0], now) + (others ? ` · ${others} more` : '');
}

/** Returns the title of a verdict, by the rules of a camera: "Clipped to black" for "clipped-low". */
export const verdictTitle = (verdict, rules) => rules.find(({name}) => name === verdict)?.title ?? verdict;

/** Returns a time in the format of an input of type datetime-local. */
export function localTime(time) {
  const date = new Date(time), two = (number) => String(number).padStart(2, '0');
  const day = [String(date.getFullYear()).padStart(4, '0'), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}
