#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Notifications of the whole program: a webhook to a real receiver, mail to a real SMTP server, and MQTT
to mosquitto. One fault causes one message, also if the receiver is down at first, and no secret is shown
anywhere."""
import base64
import contextlib
import email
import email.policy
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

import running
from access import make_identity
from running import Monitor, wait_for
from videos import CLIP

PATH, SECRET, MAIL_PASSWORD, MQTT_PASSWORD = ('p4th-T0ken', 'h00k-secret', 'm4il-geheim: 🔑',
                                              'mqtt-geheim')
SECRETS = [PATH, SECRET, MAIL_PASSWORD, MQTT_PASSWORD]
# The clip has a mean luma of 120.
DARK, FINE = 'too-dark = { raise = 200, hold = 0 }', ''
HASTE = 'after = 1\nsettle = 1\ngroup = 1\n'


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def config(channels, *cameras, verdicts='', haste=HASTE):
    """Returns a configuration. `cameras`: ids, or pairs of an id and the rules of its verdicts."""
    text = f'loop = true\n[notifications]\n{haste}{channels}\n[verdicts]\n{verdicts}\n'
    for camera in cameras:
        name, rules = camera if isinstance(camera, tuple) else (camera, '')
        text += (f'[[cameras]]\nid = "{name}"\nname = "{name.title()}: Tür"\nuri = "{CLIP}"\nmax-fps = 5\n'
                 f'[cameras.verdicts]\n{rules}\n')
    return text


def reload(monitor, file, text):
    file.write_text(text)
    os.kill(monitor.pid, signal.SIGHUP)
    return monitor.wait_for_line('configuration reloaded: (.*)')[1]


def channels_of(monitor):
    return json.loads(monitor.get('/api/v1/notifications'))['channels']


def post_test(monitor, **headers):
    """Requests test messages. Returns status and JSON."""
    request = urllib.request.Request(monitor.address + '/api/v1/notifications/test', b'',
                                     {name.replace('_', '-'): text for name, text in headers.items()})
    if monitor.token is not None:
        request.add_header('Authorization', f'Bearer {monitor.token}')
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def check_no_secret(monitor):
    """Checks the program's output, answers, arguments and environment."""
    shown = ''.join(monitor.output)
    for path in ('/', '/metrics', '/api/v1/cameras', '/api/v1/notifications', '/notifier.js'):
        shown += monitor.get(path)
    for file in ('cmdline', 'environ'):
        shown += pathlib.Path(f'/proc/{monitor.pid}/{file}').read_bytes().decode(errors='replace')
    for secret in SECRETS:
        for form in (secret, base64.b64encode(secret.encode()).decode()):
            assert form not in shown, form


class Receiver:
    """A receiver of webhooks, which checks the signature of all messages and keeps them. `status`: of its
    responses."""

    def __init__(self, port=0, status=200, headers=()):
        self.messages, self.attempts, self.faults = [], 0, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                outer.take(self.path, self.headers, body)
                self.send_response(outer.status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *_):
                pass

        self.status = status
        self._server = http.server.ThreadingHTTPServer(('127.0.0.1', port), Handler)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, path, headers, body):
        self.attempts += 1
        timestamp = headers['X-Luminance-Timestamp']
        expected = hmac.new(SECRET.encode(), f'{timestamp}.'.encode() + body, hashlib.sha256).hexdigest()
        if (headers['X-Luminance-Signature'] != f'sha256={expected}' or path != f'/{PATH}?a=b'
                or headers['Content-Type'] != 'application/json' or abs(time.time() - int(timestamp)) > 60):
            self.faults.append((path, dict(headers), body))
        elif 200 <= self.status < 300:
            self.messages.append(json.loads(body))

    def alerts(self):
        return [(alert['event'], alert['camera'], alert['verdict'])
                for message in self.messages for alert in message['alerts']]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        assert not self.faults, self.faults


def webhook(folder, port):
    """Returns a channel with URL and secret in files, as a service has them."""
    (folder / 'url').write_text(f'http://127.0.0.1:{port}/{PATH}?a=b\n')
    (folder / 'secret').write_text(SECRET + '\n')
    return '[[notifications.webhooks]]\nurl-file = "url"\nsecret-file = "secret"\n'


def a_fault_is_notified_once(folder):
    file = folder / 'cameras.toml'
    with Receiver() as receiver:
        channels = webhook(folder, receiver.port)
        file.write_text(config(channels, ('one', DARK), ('two', DARK), 'three', haste=HASTE.replace(
            'group = 1', 'group = 4')))
        with Monitor('--config', file, '--interval=1') as monitor:
            wait_for('a message', lambda: receiver.messages)
            message = receiver.messages[0]
            assert sorted(receiver.alerts()) == [('raised', name, 'too-dark') for name in ('one', 'two')], message
            assert 'One: Tür: Too dark since ' in message['text'] and not message['test'], message
            alert = message['alerts'][0]
            camera = monitor.cameras()[alert['camera']]
            assert alert['since'] == camera['verdicts'][0]['since'], (alert, camera)
            assert (alert['name'], alert['threshold']) == (camera['name'], 200), alert
            assert 100 < alert['value'] < 140 and alert['cleared'] is None, alert
            # A change of other settings, of notifications or of a camera, repeats no message.
            line = reload(monitor, file, config(channels, ('one', DARK), ('two', DARK + '\nflicker = false'),
                                                'three'))
            assert line.endswith('1 changed, 2 unchanged; notifications changed'), line
            time.sleep(4)
            assert len(receiver.messages) == 1, receiver.messages
            (channel,) = channels_of(monitor)
            assert channel['kind'] == 'webhook' and channel['last_success'] and not channel['failing'], channel
            assert channel['address'] == f'http://127.0.0.1:{receiver.port}', channel
            # The removal of a camera causes no message; the end of the fault of another camera does.
            reload(monitor, file, config(channels, ('one', FINE), 'three'))
            wait_for('a second message', lambda: len(receiver.messages) == 2)
            assert receiver.alerts()[2:] == [('cleared', 'one', 'too-dark')], receiver.messages[1]
            over = receiver.messages[1]['alerts'][0]
            first = next(alert for alert in message['alerts'] if alert['camera'] == 'one')
            assert over['id'] == first['id'] and over['cleared'] > over['since'] == first['since'], over
            metrics = monitor.get('/metrics')
            assert 'luminance_notifications_sent_total{channel="webhook"} 2\n' in metrics, metrics
            assert 'luminance_notifications_failed_total{channel="webhook"} 0\n' in metrics, metrics
            check_no_secret(monitor)
        assert len(receiver.messages) == 2 and receiver.attempts == 2


def a_receiver_that_was_down_gets_one_message(folder):
    file, port = folder / 'cameras.toml', free_port()
    file.write_text(config(webhook(folder, port), ('one', DARK)))
    with Monitor('--config', file, '--interval=1') as monitor:
        monitor.wait_for_line(f'notifications: webhook http://127.0.0.1:{port}: .*onnect')
        (channel,) = channels_of(monitor)
        assert channel['failing'] and channel['waiting'] == 1 and channel['last_error'], channel
        with Receiver(port, status=503) as receiver:
            monitor.wait_for_line('HTTP status 503')
            receiver.status = 200
            monitor.wait_for_line('notifications: webhook http://.*: works again')
            time.sleep(3)
            assert receiver.alerts() == [('raised', 'one', 'too-dark')], receiver.messages
            (channel,) = channels_of(monitor)
            assert not channel['failing'] and channel['waiting'] == 0, channel
            check_no_secret(monitor)
        assert sum('notifications: webhook' in line for line in monitor.output) == 3, monitor.output


def redirects_are_not_followed(folder):
    file = folder / 'cameras.toml'
    with Receiver() as other, Receiver(
            status=302, headers=[('Location', f'http://127.0.0.1:{other.port}/{PATH}?a=b')]) as receiver:
        file.write_text(config(webhook(folder, receiver.port), 'one'))
        with Monitor('--config', file) as monitor:
            status, answer = post_test(monitor)
            assert status == 200 and 'redirects are not followed' in answer['results'][0]['error'], answer
        assert other.attempts == 0 and receiver.attempts == 1


def a_test_needs_authorization(folder):
    file = folder / 'cameras.toml'
    with Receiver() as receiver:
        file.write_text(config(webhook(folder, receiver.port), 'one') + '[web]\ntoken = "t0ken"\n')
        with Monitor('--config', file, token='t0ken') as monitor:
            monitor.token = None
            assert post_test(monitor)[0] == 401
            monitor.token = 't0ken'
            for headers in ({'Sec_Fetch_Site': 'cross-site'}, {'Sec_Fetch_Site': 'same-site'},
                            {'Origin': 'https://evil.example'}, {'Origin': 'null'}):
                assert post_test(monitor, **headers)[0] == 403, headers
            try:
                raise AssertionError(monitor.get('/api/v1/notifications/test'))
            except urllib.error.HTTPError as error:
                assert error.code == 405 and error.headers['Allow'] == 'POST', error
            assert receiver.attempts == 0
            status, answer = post_test(monitor, Sec_Fetch_Site='same-origin')
            assert status == 200, answer
            assert answer == {'results': [{'kind': 'webhook', 'sent': True, 'error': '',
                                           'address': f'http://127.0.0.1:{receiver.port}'}]}, answer
            assert post_test(monitor)[0] == 429, 'a second test is not refused'
            (message,) = receiver.messages
            assert message['test'] and message['alerts'] == [], message
        file.write_text(config('', 'one'))
        with Monitor('--config', file) as monitor:
            assert post_test(monitor)[0] == 404 and channels_of(monitor) == []


def a_changed_receiver_gets_waiting_messages(folder):
    """The file with the receiver's URL changes; only the monitor's watch of the file notices it."""
    file = folder / 'cameras.toml'
    with Receiver() as receiver, socket.create_server(('127.0.0.1', 0)) as silent:
        channels = webhook(folder, free_port())
        file.write_text(config(channels, ('one', DARK)))
        with Monitor('--config', file, '--interval=1') as monitor:
            monitor.wait_for_line('notifications: webhook .*: ')
            webhook(folder, silent.getsockname()[1])
            assert monitor.wait_for_line('configuration reloaded: (.*)')[1].endswith('; notifications changed')
            silent.accept()  # a message is being sent now
            assert [channel['waiting'] for channel in channels_of(monitor)] == [1]
            webhook(folder, receiver.port)
            assert monitor.wait_for_line('configuration reloaded: (.*)')[1].endswith('; notifications changed')
            wait_for('a message', lambda: receiver.messages)
            assert receiver.alerts() == [('raised', 'one', 'too-dark')], receiver.messages
            # The receiver has the message before the monitor knows that.
            wait_for('its end', lambda: [channel['waiting'] for channel in channels_of(monitor)] == [0])
            reload(monitor, file, config('', ('one', DARK)))
            assert channels_of(monitor) == []
            assert 'that were not sent' not in ''.join(monitor.output), monitor.output
            check_no_secret(monitor)


def a_schedule_sets_threshold_and_end(folder):
    """The message has the threshold of the period; a verdict that is off in this period is not notified, and
    ends if it was raised."""
    file = folder / 'cameras.toml'
    halves = [('00:00', '12:00'), ('12:00', '00:00')]

    def all_day(change):
        return 'schedule = [' + ', '.join(f'{{ from = "{a}", to = "{b}", {change} }}' for a, b in halves) + ']'

    with Receiver() as receiver:
        file.write_text(config(
            webhook(folder, receiver.port),
            ('off', f'too-dark = {{ raise = 200, hold = 0, {all_day("enabled = false")} }}'),
            ('dark', f'too-dark = {{ raise = 1, hold = 0, {all_day("raise = 190")} }}')))
        with Monitor('--config', file, '--interval=1') as monitor:
            wait_for('a message', lambda: receiver.messages)
            time.sleep(2)
            assert receiver.alerts() == [('raised', 'dark', 'too-dark')], receiver.messages
            assert receiver.messages[0]['alerts'][0]['threshold'] == 190, receiver.messages
            reload(monitor, file, file.read_text().replace('raise = 190', 'enabled = false'))
            wait_for('its end', lambda: receiver.alerts()[1:] == [('cleared', 'dark', 'too-dark')])
            (end,) = receiver.messages[-1]['alerts']
            assert end['reason'] == 'rules', end
            assert receiver.messages[-1]['text'].endswith(' (no longer judged)\n'), receiver.messages
            assert receiver.messages[0]['alerts'][0]['reason'] is None, receiver.messages


def a_fault_lasts_until_frames_show_its_end(folder):
    """Also if the verdict no-frames is off, so that nobody is notified of the lost camera."""
    file = folder / 'cameras.toml'
    off = 'no-frames = false\n'
    with Receiver() as receiver:
        channels = webhook(folder, receiver.port)
        file.write_text(config(channels, ('one', off + DARK)))
        with Monitor('--config', file, '--interval=1') as monitor:
            wait_for('a message', lambda: receiver.messages)
            lost = config(channels, ('one', off)).replace(str(CLIP), '/dev/null/not-there.mp4')
            reload(monitor, file, lost)
            time.sleep(4)  # the channel settles in one second
            assert receiver.alerts() == [('raised', 'one', 'too-dark')], receiver.messages
            reload(monitor, file, config(channels, ('one', off)))
            wait_for('its end', lambda: receiver.alerts()[1:] == [('cleared', 'one', 'too-dark')])
            assert receiver.messages[-1]['alerts'][0]['reason'] == 'value', receiver.messages


def the_monitor_ends_at_once(folder):
    """The monitor reloads and ends at once, although a receiver does not respond."""
    file = folder / 'cameras.toml'
    with socket.create_server(('127.0.0.1', 0)) as silent:
        file.write_text(config(webhook(folder, silent.getsockname()[1]), ('one', DARK)))
        with Monitor('--config', file) as monitor:
            silent.accept()
            assert json.loads(monitor.get('/healthz'))['status'] == 'ok'
            begin = time.monotonic()
            reload(monitor, file, config('', ('one', DARK)))
            assert json.loads(monitor.get('/healthz'))['status'] == 'ok'
            assert time.monotonic() - begin < 2, 'the main loop waited'
            reload(monitor, file, config(webhook(folder, silent.getsockname()[1]), ('one', DARK)))
            post = threading.Thread(target=post_test, args=(monitor,), daemon=True)
            post.start()
            silent.accept()
            begin = time.monotonic()
            monitor.stop()
            assert time.monotonic() - begin < 8, 'the end waited for the receiver'


class Mailbox:
    """An SMTP server of aiosmtpd, which keeps mails and logins."""

    def __init__(self, tls=None):
        from aiosmtpd.controller import Controller
        from aiosmtpd.smtp import AuthResult
        self.mails, self.logins = [], []
        outer = self

        class Handler:
            async def handle_DATA(self, _server, _session, envelope):
                outer.mails.append(envelope)
                return '250 OK'

        def authenticate(_server, _session, _envelope, mechanism, data):
            outer.logins.append((mechanism, data.login, data.password))
            return AuthResult(success=data.password == MAIL_PASSWORD.encode(), handled=False)

        self._controller = Controller(
            Handler(), '127.0.0.1', free_port(), tls_context=tls, require_starttls=tls is not None,
            authenticator=authenticate, auth_required=tls is not None, auth_require_tls=True)
        self.port = self._controller.port

    def __enter__(self):
        self._controller.start()
        return self

    def __exit__(self, *_):
        self._controller.stop()


def mail_of(envelope):
    return email.message_from_bytes(envelope.content, policy=email.policy.default)


def mail_is_sent(folder):
    file = folder / 'cameras.toml'
    with Mailbox() as mailbox:
        channels = (f'[notifications.mail]\nserver = "smtp://127.0.0.1:{mailbox.port}"\n'
                    'from = "monitor@example.org"\nto = ["night@example.org", "chief@example.org"]\n')
        file.write_text(config(channels, ('one', DARK)))
        with Monitor('--config', file, '--interval=1') as monitor:
            wait_for('a mail', lambda: mailbox.mails)
            envelope = mailbox.mails[0]
            assert envelope.mail_from == 'monitor@example.org', envelope.mail_from
            assert envelope.rcpt_tos == ['night@example.org', 'chief@example.org'], envelope.rcpt_tos
            mail = mail_of(envelope)
            assert mail['Subject'] == 'Too dark: One: Tür' and mail.defects == [], mail
            assert mail['From'] == 'monitor@example.org' and mail['Message-ID'], mail
            assert abs(mail['Date'].datetime.timestamp() - time.time()) < 60, mail['Date']
            assert 'One: Tür: Too dark since ' in mail.get_content(), mail.get_content()
            status, answer = post_test(monitor)
            assert status == 200 and answer['results'][0]['sent'], answer
            assert mail_of(mailbox.mails[1])['Subject'] == 'Test message of luminance-monitor'
            time.sleep(2)
        assert len(mailbox.mails) == 2, mailbox.mails


def mail_is_encrypted(folder):
    """Mail is sent with STARTTLS, a trusted issuer and the right password; otherwise nothing is sent."""
    file = folder / 'cameras.toml'
    certificate, key = make_identity(folder, 'mail')
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    (folder / 'mail-password').write_text(MAIL_PASSWORD + '\n')
    text = ('[notifications.mail]\nserver = "smtp://localhost:{port}"\nstarttls = true\n'
            'from = "monitor@example.org"\nto = ["night@example.org"]\nuser = "monitor"\n'
            'password-file = "mail-password"\n')
    with Mailbox(context) as mailbox:
        channels = text.format(port=mailbox.port)
        file.write_text(config(channels + 'ca-file = "mail.pem"\n', 'one'))
        with Monitor('--config', file) as monitor:
            status, answer = post_test(monitor)
            assert status == 200 and answer['results'][0]['sent'], answer
            assert mailbox.logins[0][1:] == (b'monitor', MAIL_PASSWORD.encode()), mailbox.logins
            check_no_secret(monitor)
            assert len(mailbox.mails) == 1
        file.write_text(config(channels, 'one'))  # the issuer is not trusted
        with Monitor('--config', file) as monitor:
            (result,) = post_test(monitor)[1]['results']
            assert not result['sent'] and 'certificate' in result['error'], result
        (folder / 'mail-password').write_text('wrong\n')
        file.write_text(config(channels + 'ca-file = "mail.pem"\n', 'one'))
        with Monitor('--config', file) as monitor:
            (result,) = post_test(monitor)[1]['results']
            assert not result['sent'] and 'enied' in result['error'], result
        assert len(mailbox.mails) == 1
    with Mailbox() as mailbox:  # a server without TLS
        file.write_text(config(text.format(port=mailbox.port), 'one'))
        with Monitor('--config', file) as monitor:
            (result,) = post_test(monitor)[1]['results']
            assert not result['sent'], result
        assert not mailbox.mails and not mailbox.logins


class Mosquitto(running.Process):
    """An MQTT broker, and access to its messages."""

    def __init__(self, folder, port, tls=None):
        subprocess.run(['mosquitto_passwd', '-c', '-b', folder / 'passwords', 'monitor', MQTT_PASSWORD],
                       check=True, capture_output=True, timeout=60)
        os.chmod(folder / 'passwords', 0o644)
        os.chmod(folder, 0o755)  # mosquitto gives up root, but must read the files
        text = f'listener {port} 127.0.0.1\nallow_anonymous false\npassword_file {folder}/passwords\n'
        if tls:
            text += f'certfile {tls[0]}\nkeyfile {tls[1]}\n'
            os.chmod(tls[1], 0o644)
        (folder / 'mosquitto.conf').write_text(text)
        self.port, self._tls = port, ['--cafile', tls[0]] if tls else []
        super().__init__(['mosquitto', '-c', folder / 'mosquitto.conf'])
        self.wait_for_line('mosquitto version .* running')

    def _command(self, program, *arguments):
        return [program, '-h', 'localhost', '-p', str(self.port), '-u', 'monitor', '-P', MQTT_PASSWORD,
                *self._tls, *arguments]

    def publish(self, topic, payload, *more):
        subprocess.run(self._command('mosquitto_pub', '-t', topic, '-m', payload, '-q', '1', *more),
                       check=True, timeout=60)

    def kept(self, topic='#'):
        """Returns the retained payloads by topic."""
        done = subprocess.run(self._command('mosquitto_sub', '-t', topic, '--retained-only', '-W', '1',
                                            '-F', '%j'), capture_output=True, text=True, check=False, timeout=60)
        messages = [json.loads(line) for line in done.stdout.splitlines()]
        return {message['topic']: message['payload'] for message in messages}

    @contextlib.contextmanager
    def listen(self, topic):
        """Runs a subscriber, whose output lines are topic and payload."""
        with running.Process(self._command('mosquitto_sub', '-t', topic, '-v')) as process:
            time.sleep(1)
            yield process


# From Home Assistant's schema of MQTT discovery, for a binary_sensor.
REQUIRED = {'state_topic': str, 'unique_id': str, 'name': str, 'device': dict, 'origin': dict}
ALLOWED = {*REQUIRED, 'object_id', 'device_class', 'payload_on', 'payload_off', 'availability',
           'availability_mode', 'payload_available', 'payload_not_available', 'qos'}
DEVICE = {'identifiers', 'name', 'manufacturer', 'model', 'sw_version'}
TOPIC = re.compile(r'homeassistant/binary_sensor/[a-zA-Z0-9_-]+/[a-zA-Z0-9_-]+/config')


def check_discovery(kept):
    """Checks the descriptions of sensors, and returns them by camera and verdict."""
    sensors, identities = {}, set()
    for topic, payload in kept.items():
        if not topic.startswith('homeassistant/'):
            continue
        assert TOPIC.fullmatch(topic), topic
        sensor = json.loads(payload)
        for key, kind in REQUIRED.items():
            assert isinstance(sensor.get(key), kind), (key, sensor)
        assert set(sensor) <= ALLOWED, set(sensor) - ALLOWED
        assert set(sensor['device']) <= DEVICE and sensor['device']['identifiers'], sensor
        assert set(sensor['origin']) <= {'name', 'sw_version'} and sensor['origin']['name'], sensor
        assert sensor['device_class'] == 'problem' and sensor['availability_mode'] == 'all', sensor
        assert (sensor['payload_on'], sensor['payload_off'], sensor['qos']) == ('ON', 'OFF', 1), sensor
        for availability in sensor['availability']:
            assert set(availability) == {'topic'} and kept[availability['topic']] in ('online', 'offline')
        assert kept.get(sensor['state_topic']) in ('ON', 'OFF', None), sensor  # None: not known yet
        assert sensor['unique_id'] not in identities, sensor
        identities.add(sensor['unique_id'])
        sensors[sensor['device']['name'], sensor['name']] = sensor
    return sensors


def mqtt_shows_sensors(folder):
    file, port = folder / 'cameras.toml', free_port()
    (folder / 'mqtt-password').write_text(MQTT_PASSWORD + '\n')
    channels = (f'[notifications.mqtt]\nbroker = "mqtt://127.0.0.1:{port}"\nuser = "monitor"\n'
                'password-file = "mqtt-password"\n')
    prefix = 'luminance-monitor'
    dark = f'{prefix}/one/too-dark'
    file.write_text(config(channels, ('one', DARK), 'склад.2'))
    with Mosquitto(folder, port) as broker:
        # Left behind by a monitor with another camera; and a sensor of another program.
        stale = 'homeassistant/binary_sensor/luminance-monitor/gone_frozen/config'
        broker.publish(stale, json.dumps({'origin': {'name': prefix}, 'state_topic': f'{prefix}/gone/frozen'}), '-r')
        broker.publish(f'{prefix}/gone/frozen', 'ON', '-r')
        foreign = 'homeassistant/binary_sensor/luminance-monitor/other/config'
        broker.publish(foreign, '{"origin": {"name": "somebody"}}', '-r')
        with broker.listen(f'{prefix}/notifications') as listener, \
                Monitor('--config', file, '--interval=1') as monitor:
            kept = wait_for('a sensor that is on', lambda: (
                found := broker.kept()).get(dark) == 'ON' and stale not in found and found)
            assert kept.pop(foreign) and f'{prefix}/gone/frozen' not in kept, kept
            sensors = check_discovery(kept)
            assert len(sensors) == 2 * 12, list(sensors)
            on = [sensor['state_topic'] for sensor in sensors.values() if kept.get(sensor['state_topic']) == 'ON']
            assert on == [dark], on
            assert kept[f'{prefix}/status'] == 'online'
            message = json.loads(listener.wait_for_line(f'^{prefix}/notifications (.*)')[1])
            assert [alert['camera'] for alert in message['alerts']] == ['one'], message
            assert post_test(monitor)[1]['results'][0]['sent']
            assert json.loads(listener.wait_for_line(f'^{prefix}/notifications (.*)')[1])['test']
            # When Home Assistant has started, the monitor publishes everything again.
            with broker.listen('homeassistant/binary_sensor/#') as again:
                again.wait_for_line('other/config')
                for _ in range(18):
                    again.wait_for_line('/config {')
                broker.publish('homeassistant/status', 'online')
                for _ in range(18):
                    again.wait_for_line('/config {', 20)
            # The will of an earlier connection may come late.
            broker.publish(f'{prefix}/status', 'offline', '-r')
            wait_for('online again', lambda: broker.kept(f'{prefix}/status') == {f'{prefix}/status': 'online'})
            reload(monitor, file, config(channels, 'one'))
            wait_for('a sensor that is off', lambda: broker.kept(dark) == {dark: 'OFF'})
            kept = broker.kept()
            kept.pop(foreign)
            assert {name for name, _ in check_discovery(kept)} == {'One: Tür'}, kept
            assert {topic.split('/')[1] for topic in kept if topic.startswith(prefix)} == {'one', 'status'}, kept
            check_no_secret(monitor)
            monitor.stop()
            assert broker.kept(f'{prefix}/status') == {f'{prefix}/status': 'offline'}
        with Monitor('--config', file) as monitor:
            wait_for('online', lambda: broker.kept(f'{prefix}/status') == {f'{prefix}/status': 'online'})
            monitor.kill()
            wait_for('the will', lambda: broker.kept(f'{prefix}/status') == {f'{prefix}/status': 'offline'})
        (folder / 'mqtt-password').write_text('wrong\n')
        with Monitor('--config', file) as monitor:
            (result,) = post_test(monitor)[1]['results']
            assert not result['sent'] and 'uthori' in result['error'], result


def mqtt_keeps_states_over_restarts(folder):
    """A fault that lasts stays ON over restarts. One that ended meanwhile is OFF once frames show it."""
    file, port = folder / 'cameras.toml', free_port()
    (folder / 'mqtt-password').write_text(MQTT_PASSWORD + '\n')
    channels = (f'[notifications.mqtt]\nbroker = "mqtt://127.0.0.1:{port}"\nuser = "monitor"\n'
                'password-file = "mqtt-password"\n')
    dark = 'luminance-monitor/one/too-dark'
    with Mosquitto(folder, port) as broker, broker.listen(dark) as listener:
        file.write_text(config(channels, ('one', DARK)))
        for _ in range(3):
            with broker.listen('luminance-monitor/notifications') as messages, \
                    Monitor('--config', file, '--interval=1') as monitor:
                messages.wait_for_line('"too-dark"')
                listener.wait_for_line(dark)
                # The state also stays when the settings of the camera change.
                reload(monitor, file, config(channels, ('one', DARK + '\nflicker = false')))
                time.sleep(2)
                reload(monitor, file, config(channels, ('one', DARK)))
        states = [line.split()[1] for line in listener.output]
        assert states == ['ON'] * len(states), states
        file.write_text(config(channels, ('one', FINE)))
        with Monitor('--config', file, '--interval=1'):
            listener.wait_for_line(dark + ' OFF')


def mqtt_survives_its_broker(folder):
    """With TLS. A broker that was down gets the missed messages, once."""
    file, port = folder / 'cameras.toml', free_port()
    certificate, key = make_identity(folder, 'broker')
    (folder / 'mqtt-password').write_text(MQTT_PASSWORD + '\n')
    text = (f'[notifications.mqtt]\nbroker = "mqtts://localhost:{port}"\nuser = "monitor"\n'
            'password-file = "mqtt-password"\ntopic-prefix = "site/gate"\n')
    file.write_text(config(text + f'ca-file = "{certificate}"\n', ('one', DARK)))
    with Monitor('--config', file, '--interval=1') as monitor:
        monitor.wait_for_line(f'notifications: mqtt mqtts://localhost:{port}: ')
        with Mosquitto(folder, port, (certificate, key)) as broker:
            with broker.listen('site/gate/notifications') as listener:
                message = json.loads(listener.wait_for_line('^site/gate/notifications (.*)')[1])
                assert [alert['camera'] for alert in message['alerts']] == ['one'], message
                time.sleep(3)
                assert sum('notifications {' in line for line in listener.output) == 1, listener.output
            wait_for('its state', lambda: broker.kept('site/gate/one/too-dark') == {
                'site/gate/one/too-dark': 'ON'})
            assert len(check_discovery(broker.kept())) == 12
        file.write_text(config(text, ('one', DARK)))  # the issuer is not trusted
    with Mosquitto(folder, port, (certificate, key)), Monitor('--config', file) as monitor:
        (result,) = post_test(monitor)[1]['results']
        assert not result['sent'] and 'ertificate' in result['error'], result


def mqtt_alerts_are_sent_on_connection(folder):
    """Alerts are sent when the broker is connected, not at the next try, 40 seconds after the fourth."""
    file, port = folder / 'cameras.toml', free_port()
    (folder / 'mqtt-password').write_text(MQTT_PASSWORD + '\n')
    file.write_text(config(f'[notifications.mqtt]\nbroker = "mqtt://127.0.0.1:{port}"\nuser = "monitor"\n'
                           'password-file = "mqtt-password"\n', ('one', DARK)))
    failed = re.compile(r'luminance_notifications_failed_total{channel="mqtt"} (\d+)')
    with Monitor('--config', file, '--interval=1') as monitor:
        wait_for('failures', lambda: int(failed.search(monitor.get('/metrics'))[1]) >= 4, 120)
        with Mosquitto(folder, port), contextlib.nullcontext(time.monotonic()) as begin:
            monitor.wait_for_line('notifications: mqtt .*: works again')
            assert time.monotonic() - begin < 30


def has_aiosmtpd():
    try:
        import aiosmtpd.controller  # noqa: F401
    except ImportError:
        return False
    return True


def main():
    tests = [a_fault_is_notified_once, a_receiver_that_was_down_gets_one_message, redirects_are_not_followed,
             a_test_needs_authorization, a_changed_receiver_gets_waiting_messages,
             a_schedule_sets_threshold_and_end, a_fault_lasts_until_frames_show_its_end,
             the_monitor_ends_at_once]
    if has_aiosmtpd():
        tests += [mail_is_sent, mail_is_encrypted]
    else:
        print('mail is not tested: there is no python3-aiosmtpd')
    if shutil.which('mosquitto') and shutil.which('mosquitto_sub'):
        tests += [mqtt_shows_sensors, mqtt_keeps_states_over_restarts,
                  mqtt_alerts_are_sent_on_connection, mqtt_survives_its_broker]
    else:
        print('MQTT is not tested: there is no mosquitto')
    for test in tests:
        print(test.__name__, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            test(pathlib.Path(folder))


if __name__ == '__main__':
    main()
