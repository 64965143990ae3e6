#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pagenotify.py [FOLDER]: the page's list of notification channels and its test messages, in a headless
Chromium. Saves pictures in FOLDER."""
import http.server
import json
import pathlib
import sys
import tempfile
import threading

import running
from browser import Browser, expect
from contrast import poor_contrasts
from videos import CLIP

FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
OUTCOME = "return document.querySelector('#notifier [data-part=outcome]').textContent"
TOKEN = 'p4th-T0ken'


class Receiver(http.server.BaseHTTPRequestHandler):
    bodies = []

    def do_POST(self):
        self.bodies.append(json.loads(self.rfile.read(int(self.headers['Content-Length']))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def picture(browser, name):
    if FOLDER:
        browser.picture(FOLDER / f'{name}.png')


def channels_are_tested(browser, port):
    browser.click('#notifications')
    browser.wait("return document.getElementById('notifier').open", 'no dialog opens')
    items = browser.run("return [...document.querySelectorAll('.channels li')].map(e => e.textContent)")
    expect(len(items) == 2 and all('Nothing sent yet' in item for item in items), 'the channels', items)
    browser.press('t')
    expect(browser.run("return document.querySelectorAll('.tile:not([hidden])').length") == 1,
           'a key acts behind the dialog')
    browser.click('#notifier [data-part=test]')
    text = browser.wait(f'const text = (() => {{ {OUTCOME} }})();'
                        "return text.includes('127.0.0.1') && text", 'the test has no outcome')
    expect(f'Webhook, http://127.0.0.1:{port}: sent' in text and 'http://127.0.0.1:1: ' in text, text)
    expect(len(Receiver.bodies) == 1 and Receiver.bodies[0]['test'], 'the message', Receiver.bodies)
    states = browser.wait("const items = [...document.querySelectorAll('.channels li')].map("
                          "e => e.textContent); return items[1].includes('Failing since') && items",
                          'the states do not change')
    expect('Last message sent' in states[0], 'the state', states)
    browser.click('#notifier [data-part=test]')
    browser.wait("return document.querySelector('#notifier [data-part=outcome]').textContent.includes("
                 "'less than 10 seconds')", 'a second test is not refused')
    expect(TOKEN not in browser.run('return document.documentElement.outerHTML'), 'a token is shown')


def the_dialog_looks_right(browser):
    for theme in ('dark', 'light'):
        browser.prefer(theme)
        expect(not (poor := poor_contrasts(browser)), f'{theme}: too little contrast', *poor)
        picture(browser, f'notifier-{theme}')
    browser.resize(320, 640)
    browser.wait('return document.documentElement.scrollWidth <= 320 && document.getElementById("notifier")'
                 '.getBoundingClientRect().right <= 320', 'the dialog is wider than a phone')
    picture(browser, 'notifier-phone')
    browser.press('ESCAPE')
    browser.wait("return !document.getElementById('notifier').open", 'Escape does not close the dialog')
    browser.resize(1280, 800)


def main():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_port
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        config = pathlib.Path(folder) / 'cameras.toml'
        cameras = f'[[cameras]]\nuri = "{CLIP}"\n'
        config.write_text('loop = true\n' + ''.join(
            f'[[notifications.webhooks]]\nurl = "http://127.0.0.1:{to}/{TOKEN}"\n' for to in (port, 1)) + cameras)
        with running.Monitor('--config', config) as monitor:
            browser.open(monitor.address + '/')
            browser.wait("return document.getElementById('notifications').checkVisibility()", 'no button')
            channels_are_tested(browser, port)
            the_dialog_looks_right(browser)
            # A video that is repeated has no picture for a moment.
            errors = [line for line in browser.console()
                      if ' 429 ' not in line and ('.jpg' not in line or ' 404 ' not in line)]
            expect(not errors, 'the console has messages', *errors)
            browser.driver.get('about:blank')
        config.write_text('loop = true\n' + cameras)
        with running.Monitor('--config', config) as monitor:
            browser.open(monitor.address + '/')
            browser.run("return fetch('api/v1/notifications').then(answer => answer.json())")
            expect(not browser.run("return document.getElementById('notifications').checkVisibility()"),
                   'there is a button for no channels')
            browser.driver.get('about:blank')
    print('the page lists the channels and tests them')


main()
