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

/** Of a share; small ones are not rounded away. */
export function percent(share) {
  const value = share * 100;
  return `${value.toFixed(value > 0 && value < 1 ? 2 : 1)} %`;
}

/** Three digits that count; of null a dash. */
export function measured(value) {
  if (value === null) return '–';
  return Math.abs(value) >= 1000 ? integer(value) : String(Number(value.toPrecision(3)));
}

/** A name from outside beside words of ours: what turns its direction ends with it. */
export const isolated = (name) => `\u2068${name}\u2069`;

export const timeOfDay = (time) => clock.format(time);
export const timeWithSeconds = (time) => clockSeconds.format(time);
export const dayOf = (time) => day.format(time);
export const dateAndTime = (time) => exact.format(time);

/** In what zone times are shown: "Times in Europe/Berlin, now UTC+1." */
export function zoneText(time) {
  const offset = offsetFormat.formatToParts(time).find(({type}) => type === 'timeZoneName').value.replace('GMT', 'UTC');
  const zone = offsetFormat.resolvedOptions().timeZone;
  return zone === 'UTC' ? 'Times in UTC.' : `Times in ${zone}, now ${offset}.`;
}

/** The time alone where it was today. */
function momentBy(format, time, now) {
  const today = day.format(time) === day.format(now) && Math.abs(now - time) < 86400e3;
  return today ? format(time) : `${dayOf(time)} ${format(time)}`;
}

/** "from 14:03:10 to 14:03:20"; days are named where they are not that of `reference`. */
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

/** A share in percent; of null a dash. */
const quantityText = (value, quantity) =>
  quantity.startsWith('share ') && value !== null ? percent(value) : measured(value);

/** "below 40 s": what is beyond a threshold on this side. */
export function limitText(side, threshold, quantity) {
  const unit = quantity.startsWith('seconds ') ? ' s' : quantity.includes(' in percent ') ? ' %' : '';
  return `${side} ${quantityText(threshold, quantity)}${unit}`;
}

/** "mean luma: 23.5", "share of black pixels: 41.0 %". */
export const valueOf = (value, quantity) => `${quantity}: ${quantityText(value, quantity)}`;

/** "mean luma: 23.5, below 40". A verdict may stand while its value is on its way back. */
export function valueText({value, threshold, quantity}, side) {
  const isBeyond = side === 'above' ? value > threshold : value < threshold;
  return `${valueOf(value, quantity)}, ${isBeyond ? '' : 'raised '}`
    + limitText(side, threshold, quantity);
}

/** Of an incident: "Worst mean luma: 21.5, below 40". */
export const extremeText = ({value, threshold, quantity, side}) =>
  `Worst ${valueOf(value, quantity)}, ${limitText(side, threshold, quantity)}`;

const REASONS = {
  value: 'its value is good again', silence: 'no frames', rules: 'no longer judged',
  reference: 'the reference was learned anew', explained: 'another verdict explains it',
  accepted: 'the changed picture counts as usual now', removed: 'the camera was removed or restarted',
  restart: 'the monitor ended', end: 'the recording ended',
};

/** Why an incident is over. */
export const reasonText = (reason) => REASONS[reason] ?? reason;

/** The time alone where it was on the same day as another one that is shown. */
export const endText = (end, begin) => day.format(end) === day.format(begin) && end - begin < 86400e3
  ? timeWithSeconds(end) : dateAndTime(end);

/** "Acknowledged 27 Nov 2026, 21:48:19 by Ann". */
export const acknowledgedText = ({acknowledged, acknowledged_by: name}) => acknowledged === null ? 'Not acknowledged'
  : `Acknowledged ${dateAndTime(acknowledged)}${name && ` by ${isolated(name)}`}`;

/** A camera that is lost is so since its last frame, however often it was tried since. */
function statusSince({status, since, verdicts}) {
  const noFrames = verdicts.find(({name}) => name === 'no-frames');
  return status === 'waiting' && noFrames ? Math.min(since, noFrames.since) : since;
}

export function statusText(data, now) {
  const text = `${statusTitle(data.status)} ${since(statusSince(data), now)}`;
  return data.error ? `${text}: ${isolated(data.error)}` : text;
}

/** The worst of it in one line. */
export function worstText(data, now) {
  if (data.status === 'waiting' || data.verdicts.length === 0) return statusText(data, now);
  const others = data.verdicts.length - 1;
  return verdictText(data.verdicts[0], now) + (others ? ` · ${others} more` : '');
}

/** "clipped-low" as "Clipped to black", by the rules of a camera. */
export const verdictTitle = (verdict, rules) => rules.find(({name}) => name === verdict)?.title ?? verdict;

/** As an input for a date and a time takes it. */
export function localTime(time) {
  const date = new Date(time), two = (number) => String(number).padStart(2, '0');
  const day = [String(date.getFullYear()).padStart(4, '0'), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}
