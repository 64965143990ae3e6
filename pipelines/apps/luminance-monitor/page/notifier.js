// SPDX-License-Identifier: LGPL-2.1-or-later
// The dialog of notifications: the channels with their states, and a test of all.
import {ask, element, part} from './dom.js';
import {dateAndTime} from './text.js';

const KINDS = {webhook: 'Webhook', mail: 'Mail', mqtt: 'MQTT'};

const nameOf = ({kind, address}) => `${KINDS[kind] ?? kind}, ${address}`;

function stateOf(channel) {
  if (channel.failing) return `Failing since ${dateAndTime(channel.last_error_time)}: ${channel.last_error}`;
  return channel.last_success ? `Last message sent ${dateAndTime(channel.last_success)}` : 'Nothing sent yet';
}

function itemOf(channel) {
  const item = element('li');
  item.append(element('strong', nameOf(channel)),
              element('span', stateOf(channel), channel.failing ? {class: 'failing'} : {}));
  if (channel.waiting) item.append(` · ${channel.waiting} waiting`);
  return item;
}

const resultOf = (result) => `${nameOf(result)}: ${result.sent ? 'sent' : result.error}`;

class Notifier {
  constructor(dialog) {
    this.dialog = dialog;
    part(dialog, 'test').onclick = () => this.test();
  }

  async open() {
    this.say('');
    await this.refresh();
    this.dialog.showModal();
  }

  say(text) {
    part(this.dialog, 'outcome').textContent = text;
  }

  async refresh() {
    try {
      const {channels} = await ask('api/v1/notifications');
      part(this.dialog, 'channels').replaceChildren(...channels.map(itemOf));
    } catch (error) {
      this.say(error.message);
    }
  }

  async test() {
    const button = part(this.dialog, 'test');
    button.disabled = true;
    this.say('Sending …');
    try {
      const {results} = await ask('api/v1/notifications/test', undefined, 'POST');
      this.say(results.map(resultOf).join('\n'));
    } catch (error) {
      this.say(error.message);
    }
    button.disabled = false;
    await this.refresh();
  }
}

/** Shows the button if there are channels. */
export function offerNotifications(button, dialog) {
  const notifier = new Notifier(dialog);
  button.onclick = () => notifier.open();
  ask('api/v1/notifications').then(({channels}) => button.hidden = channels.length === 0, () => {});
}
