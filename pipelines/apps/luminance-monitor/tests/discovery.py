# SPDX-License-Identifier: LGPL-2.1-or-later
"""ONVIF cameras that answer a probe, in the standard multicast group and at an address; and hostile answers,
of which --discover prints only what is safe."""
import re
import socket
import struct
import subprocess
import threading
import time
import tomllib
import xml.etree.ElementTree as ET

from running import PROGRAM

GROUP, PORT = '239.255.255.250', 3702
SOAP = 'http://www.w3.org/2003/05/soap-envelope'
WSA = 'http://schemas.xmlsoap.org/ws/2004/08/addressing'
WSD = 'http://schemas.xmlsoap.org/ws/2005/04/discovery'
ONVIF = 'http://www.onvif.org/ver10/network/wsdl'
CAMERA = 'dn:NetworkVideoTransmitter'


def escaped(text):
    return text.replace('&', '&amp;').replace('<', '&lt;')


def match(endpoint, scopes, addresses, types=CAMERA):
    return (f'<d:ProbeMatch><a:EndpointReference><a:Address>{escaped(endpoint)}</a:Address>'
            f'</a:EndpointReference><d:Types>{types}</d:Types><d:Scopes>{escaped(scopes)}</d:Scopes>'
            f'<d:XAddrs>{escaped(addresses)}</d:XAddrs><d:MetadataVersion>1</d:MetadataVersion>'
            '</d:ProbeMatch>')


def answer(to, *matches, before=''):
    return (f'<?xml version="1.0" encoding="UTF-8"?>{before}<s:Envelope xmlns:s="{SOAP}" '
            f'xmlns:a="{WSA}" xmlns:d="{WSD}" xmlns:dn="{ONVIF}"><s:Header><a:MessageID>urn:uuid:1'
            f'</a:MessageID><a:RelatesTo>{to}</a:RelatesTo></s:Header><s:Body><d:ProbeMatches>'
            f'{"".join(matches)}</d:ProbeMatches></s:Body></s:Envelope>')


def scopes_of(name, hardware):
    return (f'onvif://www.onvif.org/type/video_encoder onvif://www.onvif.org/name/{name} '
            f'onvif://www.onvif.org/hardware/{hardware} onvif://www.onvif.org/location/')


DOOR = match('urn:uuid:door', scopes_of('AXIS%20M3045', 'M3045-V'),
             'http://10.0.0.5/onvif/device_service http://[fd00::5]/onvif/device_service')
YARD = match('urn:uuid:yard', scopes_of('Hof%20%C3%BC', 'DS%2D2CD'), 'http://10.0.0.6:8000/onvif')
LAUGHS = ('<!DOCTYPE lolz [<!ENTITY l "lol">' + ''.join(
    f'<!ENTITY l{i} "{f"&l{i - 1 or str()};" * 10}">' for i in range(1, 12)) + ']>')


class Cameras:
    """Answers each probe with everything that `answers(id of the probe)` yields, text or bytes. Listens at
    the address, or without one in the multicast group on the loopback interface."""

    def __init__(self, answers, address=None):
        self.probes = []
        self._answers = answers
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind((address or GROUP, 0 if address else PORT))
        if address is None:
            self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, struct.pack(
                '4s4s', socket.inet_aton(GROUP), socket.inet_aton('127.0.0.1')))
        self.address = ':'.join(map(str, self._socket.getsockname()))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            data, peer = self._socket.recvfrom(65536)
            probe = ET.fromstring(data)
            header, body = probe.find(f'{{{SOAP}}}Header'), probe.find(f'{{{SOAP}}}Body')
            self.probes.append((data, body.findtext(f'{{{WSD}}}Probe/{{{WSD}}}Types'),
                                header.findtext(f'{{{WSA}}}Action')))
            for text in self._answers(header.findtext(f'{{{WSA}}}MessageID')):
                data = text if isinstance(text, bytes) else text.encode()
                self._socket.sendto(data, peer)
                # The kernel queues only a few large datagrams, and drops more if the receiver is busy.
                time.sleep(0.03 + len(data) / 300000)


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, check=False, timeout=90)


def discover(*arguments, seconds=2):
    begin = time.monotonic()
    done = run('--discover', str(seconds), *arguments)
    assert done.returncode == 0 and time.monotonic() - begin < 20, done
    text = done.stdout.decode()
    assert not re.search(r'[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]', text), text
    return text, tomllib.loads(text).get('cameras', [])


def lines_of(text):
    return [line[2:].split('\t') for line in text.splitlines() if '\t' in line]


def cameras_are_listed():
    cameras = Cameras(lambda to: [answer(to, YARD), answer(to, DOOR), answer(to, DOOR)], '127.0.0.1')
    text, tables = discover('--discover-address', cameras.address)
    assert lines_of(text) == [
        ['AXIS M3045 (M3045-V)', 'http://10.0.0.5/onvif/device_service '
         'http://[fd00::5]/onvif/device_service', 'urn:uuid:door'],
        ['Hof ü (DS-2CD)', 'http://10.0.0.6:8000/onvif', 'urn:uuid:yard']], text
    assert tables == [{'name': 'AXIS M3045'}, {'name': 'Hof ü'}], tables
    # The commented lines are settings to fill in: with them, the tables are valid cameras.
    filled = tomllib.loads(re.sub(r'^# (?=[a-z-]+ = )', '', text, flags=re.M))['cameras']
    assert filled[0]['uri'] == 'rtsp://10.0.0.5/PATH' and filled[1]['user'] == 'USER', filled
    data, types, action = cameras.probes[0]
    assert types == CAMERA and action == WSD + '/Probe', data
    assert f'xmlns:dn="{ONVIF}"'.encode() in data, data
    assert 2 <= len(cameras.probes) <= 3 and len({probe[0] for probe in cameras.probes}) == 1
    print('cameras are listed, each once, in order')


def the_multicast_group_is_probed():
    cameras = Cameras(lambda to: [answer(to, DOOR)])
    text, tables = discover()
    assert 'urn:uuid:door' in text and {'name': 'AXIS M3045'} in tables, text
    print('the multicast group is also probed on the loopback interface')


def dialects_are_understood():
    """Answers have default namespaces, other prefixes, CDATA, several matches and unknown elements. Devices
    that are no cameras, or of another version of the protocol, are ignored."""
    def answers(to):
        other = match('urn:uuid:other', scopes_of('Other', 'o'), 'http://10.0.0.7/', 'p:Printer')
        yield answer(to, DOOR, other, match('urn:uuid:bare', '', 'http://10.0.0.8/', ''))
        yield (f'<Envelope xmlns="{SOAP}"><Header><x:RelatesTo xmlns:x="{WSA}"> {to} </x:RelatesTo>'
               f'<Unknown xmlns="urn:x"><RelatesTo>no</RelatesTo></Unknown></Header><Body>'
               f'<ProbeMatches xmlns="{WSD}"><ProbeMatch><EndpointReference xmlns="{WSA}"><Address>'
               'urn:uuid:plain</Address></EndpointReference><Scopes><![CDATA[onvif://www.onvif.org/'
               'name/Plain]]></Scopes><XAddrs>http://10.0.0.9/ </XAddrs></ProbeMatch></ProbeMatches>'
               '</Body></Envelope>')
        yield answer(to, match('urn:uuid:no', '', 'http://10.0.0.10/')).replace(WSD, 'urn:other')
        yield re.sub('d:ProbeMatches', 'd:x', answer(to, match('urn:uuid:no', '', 'http://10.0.0.10/')))
    text, tables = discover('--discover-address', Cameras(answers, '127.0.0.1').address)
    assert [line[2] for line in lines_of(text)] == [
        'urn:uuid:bare', 'urn:uuid:door', 'urn:uuid:plain'], text
    assert [table['name'] for table in tables] == ['10.0.0.8', 'AXIS M3045', 'Plain'], tables
    print('dialects are understood')


def hostile_answers_do_no_harm():
    def answers(to):
        evil = match('urn:uuid:evil', scopes_of('a', 'b'), 'http://10.0.0.66/')
        yield answer('urn:uuid:another', evil)
        yield answer('', evil)
        yield answer(to, evil.replace('evil', '&l11;'), before=LAUGHS)
        entity = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>'
        yield answer(to, evil.replace('evil', 'evil&e;'), before=entity)
        yield answer(to, '<d:x>' * 5000 + '</d:x>' * 5000, evil)
        yield answer(to, evil)[:-20]
        yield answer(to, evil).encode('utf-16')
        yield answer(to, evil).encode().replace(b'10.0.0.66', b'\xff\xfe')
        yield from (b'', b'\0' * 1000, b'<' * 60000, b'&' * 60000, b'x' * 65507)
        yield answer(to, match('urn:uuid:huge', scopes_of('n' * 30000, 'h' * 20000), 'http://h/'))
        controls = 'A%1B%5B31m%0A%5B%5Bcameras%5D%5D%0D%00%09%E2%80%AE%C2%9B%22%5C%27'
        yield answer(to, match('urn:uuid:c', scopes_of(controls, '%zz'),
                               'http://10.0.0.77"/x javascript:alert(1) http://user:pw@10.0.0.78/'))
        yield answer(to, match('urn:uuid:red', scopes_of('%1B%5B31mRed%0A%22%5C%E2%80%AE', 'x'),
                               'http://10.0.0.79/')).replace('urn:uuid:red', 'urn:uuid:d&#x9b;31m&#x202e;')
        yield answer(to, *(match(f'urn:uuid:many{i}', '', f'http://10.1.0.{i}/') for i in range(150)))
        addresses = ' '.join(f'http://10.2.0.{i}/' for i in range(900))
        yield answer(to, match('urn:uuid:addresses', '', addresses))
        yield answer(to, DOOR)
    text, tables = discover('--discover-address', Cameras(answers, '127.0.0.1').address, seconds=9)
    lines = lines_of(text)
    endpoints = [line[2] for line in lines]
    assert 'evil' not in text and 'hostname' not in text and '10.0.0.66' not in text, text
    assert 'urn:uuid:door' in endpoints, endpoints
    assert sum('many' in endpoint for endpoint in endpoints) == 64, endpoints
    assert all(len(line) == 3 and len(''.join(line)) < 3000 for line in lines), lines
    assert [len(line[1].split()) for line in lines if line[2] == 'urn:uuid:addresses'] == [8]
    assert len(tables) == len(lines), (len(tables), len(lines))
    red = next(table['name'] for table in tables if 'Red' in table['name'])
    assert red == ' [31mRed "\\', repr(red)
    assert max(len(table['name']) for table in tables) == 200
    print(f'hostile answers do no harm: {len(lines)} lines')


def options_are_checked():
    for arguments, status, words in (
            (['--discover=0'], 2, 'must be between 1 and 60'), (['--discover=61'], 2, 'must be between'),
            (['--discover=x'], 2, '--discover'), (['--discover-address=a:1'], 2, 'only for --discover'),
            (['--discover=1', '--discover-address=host.invalid:1'], 1, 'host.invalid'),
            (['--discover=1', '--discover-address=[::1]:1'], 1, 'no IPv4 address')):
        done = run(*arguments)
        error = done.stderr.decode()
        assert done.returncode == status and words in error and error.count('\n') == 1, done
        assert done.stdout == b'', done
    silent = Cameras(lambda _: [], '127.0.0.1')
    text, tables = discover('--discover-address', silent.address)
    assert text == '# No ONVIF camera responded.\n' and not tables, text
    assert silent.probes
    print('options are checked')


for test in (options_are_checked, cameras_are_listed, the_multicast_group_is_probed, dialects_are_understood,
             hostile_answers_do_no_harm):
    test()
