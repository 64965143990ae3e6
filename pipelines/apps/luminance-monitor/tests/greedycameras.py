# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that make a client buffer more and more of what they send, each in a different way, by HTTP and
by RTSP on ports of 127.0.0.1."""
import gzip
import re
import socket
import socketserver
import struct
import threading
import time

MIB = 1 << 20
ZEROS = bytes(MIB)
MULTIPART = 'multipart/x-mixed-replace; boundary=frame'
PART = b'--frame\r\nContent-Type: image/jpeg\r\n'


def forever(data=ZEROS):
    """Repeats the data without end, at one gigabit per second."""
    while True:
        yield data
        time.sleep(len(data) / 125e6)


def jpeg_of(data, width, height, marker=None):
    """Returns the picture with another size, and optionally another coding, in its frame header. `marker`:
    second byte of the SOF marker."""
    head = data.index(b'\xff\xc0')
    return (data[:head + 1] + (marker or data[head + 1:head + 2]) + data[head + 2:head + 5] +
            struct.pack('>HH', height, width) + data[head + 9:])


def mpegts_packet(pid, number, payload, starts):
    head = struct.pack('>BHB', 0x47, (0x4000 if starts else 0) | pid, 0x10 | number & 15)
    return (head + payload)[:188].ljust(188, b'\xff')


def crc(data):
    value = 0xffffffff
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = value << 1 ^ (0x04c11db7 if value >> 31 else 0)
            value &= 0xffffffff
    return struct.pack('>I', value)


def section(table, number, body):
    data = struct.pack('>BHHBBB', table, 0xb000 | len(body) + 9, number, 0xc1, 0, 0) + body
    return b'\0' + data + crc(data)


def mpegts():
    """Yields an MPEG transport stream with a PES packet that declares no length and never ends."""
    yield mpegts_packet(0, 0, section(0, 1, struct.pack('>HH', 1, 0xe100)), True)
    yield mpegts_packet(256, 0, section(2, 1, struct.pack('>HHBHH', 0xe101, 0xf000, 0x1b, 0xe101,
                                                          0xf000)), True)
    yield mpegts_packet(257, 0, b'\0\0\1\xe0\0\0\x80\x80\5\x21\0\1\0\1' + bytes(200), True)
    yield from forever(b''.join(mpegts_packet(257, i, bytes(184), False) for i in range(1, 16 * 300 + 1)))


def mpegps():
    yield b'\0\0\1\xba\x44\0\4\0\4\1\0\1\x89\xc3\xf8'
    yield b'\0\0\1\xe0\xff\xff\x80\x80\5\x21\0\1\0\1\0\0\1\xb3' + bytes(65000)
    yield from forever(b'\0\0\1\xe0\xff\xff\x80\0\0' + bytes(65532))


def ogg():
    """Yields an Ogg packet that continues on page after page."""
    def page(number, kind, table, body):
        data = struct.pack('<4sBBqIII', b'OggS', 0, kind, 0 if kind == 2 else -1, 7, number, 0) + \
               bytes([len(table)]) + table + body
        value = 0
        for byte in data:
            value ^= byte << 24
            for _ in range(8):
                value = (value << 1 ^ (0x04c11db7 if value >> 31 else 0)) & 0xffffffff
        return data[:22] + struct.pack('<I', value) + data[26:]
    head = b'\x80theora\3\2\1' + struct.pack('>HH', 20, 15) + bytes(32)
    yield page(0, 2, bytes([len(head)]), head)
    number = 1
    while True:
        yield page(number, 1 if number > 1 else 0, b'\xff' * 255, bytes(255 * 255))
        number += 1


def matroska():
    """Yields a Matroska stream with a block that is longer than any picture."""
    def element(name, data, length=None):
        size = len(data) if length is None else length
        return bytes.fromhex(name) + struct.pack('>Q', 1 << 56 | size) + data
    track = (element('d7', b'\1') + element('73c5', b'\1') + element('83', b'\1') +
             element('86', b'V_MJPEG') + element('e0', element('b0', b'\1\x40') + element('ba', b'\xf0')))
    yield element('1a45dfa3', element('4282', b'matroska'))
    yield element('18538067', b'', (1 << 56) - 1)
    yield element('1549a966', element('2ad7b1', b'\x0f\x42\x40'))
    yield element('1654ae6b', element('ae', track))
    yield element('1f43b675', element('e7', b'\0'), (1 << 56) - 1)
    yield element('a3', b'\x81\0\0\x80', (1 << 31) - 1)
    yield from forever()


def mp4(kind):
    def stream():
        yield struct.pack('>I4s4sI4s', 20, b'ftyp', b'isom', 0, b'isom')
        yield struct.pack('>I4s', (1 << 31) - 1, kind)
        yield from forever()
    return stream


def avi():
    yield b'RIFF' + struct.pack('<I', (1 << 31) - 1) + b'AVI LIST' + struct.pack('<I', (1 << 31) - 1) + b'hdrl'
    yield b'avih' + struct.pack('<I', (1 << 31) - 9)
    yield from forever()


def h264():
    """Yields an H.264 stream with a NAL unit that never ends."""
    yield b'\0\0\0\1\x67\x42\xc0\x1e\xd9\x01\x41\xfb\x01\x10\0\0\3\0\x10\0\0\3\3\x20\xf1\x62\xe4\x80'
    yield b'\0\0\0\1\x68\xcb\x83\xcb\x20\0\0\0\1\x65'
    yield from forever(b'\xab' * MIB)


def y4m():
    yield b'YUV4MPEG2 W32000 H32000 F25:1 Ip A1:1 C420\nFRAME\n'
    yield from forever()


def ivf(picture):
    """Returns a stream of VP8 frames whose true size is only in their own header."""
    def stream():
        yield struct.pack('<4sHH4sHHIIIi', b'DKIF', 0, 32, b'VP80', 320, 240, 25, 1, 1000, 0)
        for i in range(1000):
            yield struct.pack('<IQ', len(picture), i) + picture
    return stream


def parts(picture):
    def stream():
        while True:
            yield PART + b'Content-Length: %d\r\n\r\n' % len(picture) + picture + b'\r\n'
    return stream


def http_answers(picture, vp8):
    """Returns type and body of the answers, by path."""
    def part(head):
        def stream():
            yield PART + head
            yield from forever()
        return stream
    return {
        'part': (MULTIPART, part(b'\r\n')),
        'declared-part': (MULTIPART, part(b'Content-Length: 2147483647\r\n\r\n')),
        'part-head': (MULTIPART, lambda: forever(PART + b'X: ' + b'a' * MIB)),
        'part-heads': (MULTIPART, lambda: forever(PART + b'X: a\r\n' * 10000)),
        'no-part': (MULTIPART, lambda: forever(b'a' * MIB)),
        'picture': ('image/jpeg', lambda: iter_of(picture[:-2], forever())),
        'entropy': ('image/jpeg', lambda: iter_of(picture[:-2], forever(b'\xab' * MIB))),
        'size': (MULTIPART, parts(jpeg_of(picture, 32767, 32767))),
        'progressive-size': (MULTIPART, parts(jpeg_of(picture, 32767, 32767, b'\xc2'))),
        'vp8-size': ('video/x-ivf', ivf(vp8)),
        'y4m-size': ('video/x-yuv4mpeg', y4m),
        'mpegts': ('video/mp2t', mpegts),
        'mpegps': ('video/mpeg', mpegps),
        'ogg': ('video/ogg', ogg),
        'matroska': ('video/x-matroska', matroska),
        'mp4-moov': ('video/mp4', mp4(b'moov')),
        'mp4-mdat': ('video/mp4', mp4(b'mdat')),
        'mp4-free': ('video/mp4', mp4(b'free')),
        'avi': ('video/x-msvideo', avi),
        'h264': ('video/h264', h264),
        'nothing': ('application/octet-stream', forever),
    }


def iter_of(first, rest):
    yield first
    yield from rest


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, handler):
        super().__init__(('127.0.0.1', 0), handler)
        self.port = self.server_address[1]
        self.sent = {}  # bytes of the longest answer, by path
        threading.Thread(target=self.serve_forever, args=[0.05], daemon=True).start()

    def handle_error(self, *_):
        pass  # a client that has had enough disconnects


class Handler(socketserver.StreamRequestHandler):
    def finish(self):
        try:
            super().finish()
        except OSError:
            pass

    def head(self):
        lines = []
        while (line := self.rfile.readline(65536).strip()):
            lines.append(line.decode('latin-1'))
        return lines

    def send(self, path, pieces):
        sent = 0
        try:
            for piece in pieces:
                self.connection.sendall(piece)
                sent += len(piece)
        except OSError:
            pass
        self.server.sent[path] = max(sent, self.server.sent.get(path, 0))


class HttpHandler(Handler):
    """`answers`: set by the derived class, see http_server()."""

    def handle(self):
        path = self.head()[0].split()[1].strip('/')
        if path == 'heads':
            return self.send(path, iter_of(b'HTTP/1.1 200 OK\r\n', forever(b'X-More: ' + b'a' * 1000 + b'\r\n')))
        if path == 'head':
            return self.send(path, iter_of(b'HTTP/1.1 200 OK\r\nX-More: ', forever(b'a' * MIB)))
        if path == 'gzip':
            def bomb():
                yield (f'HTTP/1.1 200 OK\r\nContent-Type: {MULTIPART}\r\nContent-Encoding: gzip\r\n\r\n').encode()
                yield from forever(gzip.compress(PART + b'\r\n' + bytes(64 * MIB)))
            return self.send(path, bomb())
        kind, body = self.answers[path]
        return self.send(path, iter_of(f'HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n'.encode(), body()))


def http_server(picture, vp8):
    kind = type('Answers', (HttpHandler,), {'answers': http_answers(picture, vp8)})
    return Server(kind), [*kind.answers, 'head', 'heads', 'gzip']


SDP = ('v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n'
       'm=video 0 RTP/AVP 96\r\na=rtpmap:96 {}/90000\r\n{}a=control:track1\r\n')
H264 = 'a=fmtp:96 packetization-mode=1;profile-level-id=42c01e;' \
       'sprop-parameter-sets=Z0LAHtkBQfsBEAAAAwAQAAADAyDxYuSA,aMuDyyA=\r\n'


def rtp(payload_of, type_of=96, step=0, gap=False):
    """Yields RTP packets, interleaved in the RTSP connection."""
    number = time = 0
    while True:
        block = []
        for _ in range(16):
            payload = payload_of(number)
            packet = struct.pack('>BBHII', 0x80, type_of, number & 0xffff, time & 0xffffffff, 7) + payload
            block.append(struct.pack('>cBH', b'$', 0, len(packet)) + packet)
            number += 2 if gap else 1
            time += step
        yield b''.join(block)


RTP = {
    'rtp-h264': (('H264', H264), lambda: rtp(
        lambda i: b'\x7c' + (b'\x85' if i == 0 else b'\x05') + bytes(60000))),
    'rtp-h265': (('H265', ''), lambda: rtp(
        lambda i: b'\x62\x01' + (b'\x93' if i == 0 else b'\x13') + bytes(60000))),
    'rtp-jpeg': (('JPEG', ''), lambda: rtp(
        lambda i: struct.pack('>II', min(i * 60000, 0xffffff), 0x01402828 | 0) + bytes(60000))),
    'rtp-vp8': (('VP8', ''), lambda: rtp(
        lambda i: (b'\x10' if i == 0 else b'\0') + bytes(60000))),
    'rtp-gaps': (('H264', H264), lambda: rtp(lambda i: b'\x65' + bytes(60000), gap=True)),
    'rtp-times': (('H264', H264), lambda: rtp(lambda i: b'\x65' + bytes(60000), step=90000 * 3600)),
    'rtp-mp2t': (('MP2T', ''), lambda: rtp(lambda i: bytes(188 * 300))),
}


def burst(packet):
    """Whole pictures, one tick of the RTP clock apart: they come faster than they can be decoded, and no
    packet is late."""
    return (('JPEG', ''), lambda: rtp(lambda i: packet[12:], type_of=0x80 | 96, step=1))


RTSP = [*RTP, 'rtp-burst', 'rtsp-body', 'rtsp-head', 'rtsp-heads', 'rtsp-later']


class RtspHandler(Handler):
    def handle(self):
        while (lines := self.head()):
            method, uri = lines[0].split()[:2]
            path = uri.split('/')[3].split('?')[0]
            number = next(line.split(':')[1].strip() for line in lines if line.lower().startswith('cseq'))
            head = f'RTSP/1.0 200 OK\r\nCSeq: {number}\r\nSession: 1\r\n'
            if method == 'OPTIONS':
                head += 'Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n'
            elif method == 'SETUP':
                transport = next(line for line in lines if line.lower().startswith('transport'))
                if 'RTP/AVP/TCP' not in transport:
                    head = f'RTSP/1.0 461 Unsupported transport\r\nCSeq: {number}\r\n'
                else:
                    channels = re.search(r'interleaved=\d+-\d+', transport)[0]
                    head += f'Transport: RTP/AVP/TCP;unicast;{channels}\r\n'
            elif method == 'DESCRIBE':
                if path in ('rtsp-body', 'rtsp-head', 'rtsp-heads'):
                    return self.send(path, self.description(path, head))
                codec, more = RTP.get(path, RTP['rtp-h264'])[0]
                sdp = SDP.format(codec, more)
                head += (f'Content-Type: application/sdp\r\nContent-Base: {uri}/\r\n'
                         f'Content-Length: {len(sdp)}\r\n\r\n{sdp}')
                self.connection.sendall(head.encode())
                continue
            elif method == 'TEARDOWN':
                return None
            self.connection.sendall((head + '\r\n').encode())
            if method == 'PLAY':
                if path == 'rtsp-later':
                    return self.send(path, iter_of(
                        b'ANNOUNCE * RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 2147483647\r\n\r\n', forever()))
                if path in RTP:
                    return self.send(path, RTP[path][1]())
        return None

    @staticmethod
    def description(path, head):
        if path == 'rtsp-body':
            yield (head + 'Content-Type: application/sdp\r\nContent-Length: 2147483647\r\n\r\n').encode()
            yield from forever()
        elif path == 'rtsp-head':
            yield (head + 'X-More: ').encode()
            yield from forever(b'a' * MIB)
        else:
            yield head.encode()
            yield from forever(b'X-More: ' + b'a' * 1000 + b'\r\n')


def rtsp_server(packet):
    """`packet`: an RTP packet with a whole JPEG picture."""
    RTP['rtp-burst'] = burst(packet)
    return Server(RtspHandler), RTSP
