# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that send pictures on request by HTTP: at 127.0.0.1, with a path for each way to respond, and at
another host, 127.0.0.2, to which some of them redirect."""
import base64
import hashlib
import http.server
import re
import ssl
import struct
import threading
import time
import zlib

USER, PASSWORD = 'viewer', 'ge"he:im & more'
REALM = 'camera'
OTHER = '127.0.0.2'
NONCE_USES = 5  # a nonce is stale after so many uses
MIB = 1 << 20


def png(width, height, rows=None):
    """Returns a gray picture as PNG. Without `rows`, all pixels are 0, and any height takes little memory."""
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    lines = [b'\0' + row for row in rows] if rows is not None else [bytes(width + 1)] * height
    packer = zlib.compressobj(9)
    data = b''.join(packer.compress(line) for line in lines) + packer.flush()
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 0, 0, 0, 0))
            + chunk(b'IDAT', data) + chunk(b'IEND', b''))


def hash_of(text):
    return hashlib.md5(text.encode()).hexdigest()


class Camera(http.server.ThreadingHTTPServer):
    """`pictures`, as (type, data): /changing sends them in turn, all other paths send the first one. `tls`:
    the files of a certificate and its key."""
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, pictures, address='127.0.0.1', tls=None):
        super().__init__((address, 0), _Handler)
        self._scheme = 'https' if tls else 'http'
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.socket = context.wrap_socket(self.socket, server_side=True,
                                              do_handshake_on_connect=False)
        self.pictures = pictures
        self.port = self.server_address[1]
        self.lock = threading.Lock()
        self.connections = 0  # accepted so far
        self.seen = []        # (path, Authorization)
        self.nonces = {}      # number of uses, by nonce
        self.failing = set()  # paths that answer 503 now
        self.away = ''        # target of the redirect of /away
        self.let_go = threading.Event()
        threading.Thread(target=self.serve_forever, args=[0.05], daemon=True).start()

    def uri(self, path):
        return f'{self._scheme}://{self.server_address[0]}:{self.port}{path}'

    def note(self, path, authorization):
        with self.lock:
            self.seen.append((path, authorization))
            return sum(1 for seen, _ in self.seen if seen == path) - 1

    def times(self, path):
        with self.lock:
            return sum(1 for seen, _ in self.seen if seen == path)

    def handle_error(self, *_):
        pass  # the monitor disconnected


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def setup(self):
        super().setup()
        with self.server.lock:
            self.server.connections += 1

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = self.path.split('?')[0]
        number = self.server.note(path, self.headers.get('Authorization'))
        if path in self.server.failing:
            return self.fail(503)
        special = getattr(self, 'get_' + path[1:].replace('-', '_'), None)
        if special is not None:
            return special(number)
        if re.fullmatch(r'/\d{3}', path):
            return self.fail(int(path[1:]))
        return self.send(*self.server.pictures[0])

    def send(self, kind, data, *headers, status=200, length=None):
        self.send_response(status)
        for name, value in (('Content-Type', kind), *headers,
                            ('Content-Length', len(data) if length is None else length)):
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(data)

    def fail(self, status, *headers):
        self.send('text/html', b'<h1>No</h1>', *headers, status=status)

    def get_changing(self, number):
        self.send(*self.server.pictures[number % len(self.server.pictures)])

    def get_close(self, _):
        self.close_connection = True
        self.send(*self.server.pictures[0], ('Connection', 'close'))

    def get_basic(self, _):
        wanted = 'Basic ' + base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()
        if self.headers.get('Authorization') != wanted:
            return self.fail(401, ('WWW-Authenticate', f'Basic realm="{REALM}"'))
        return self.send(*self.server.pictures[0])

    def get_digest(self, _):
        stale = self.wrong_digest()
        if stale is None:
            return self.send(*self.server.pictures[0])
        nonce = hash_of(str(time.monotonic_ns()))
        with self.server.lock:
            self.server.nonces[nonce] = 0
        return self.fail(401, ('WWW-Authenticate',
                               f'Digest realm="{REALM}", qop="auth", algorithm=MD5, nonce="{nonce}"'
                               + (', stale=true' if stale else '')))

    def wrong_digest(self):
        """Returns None if the digest is right, True if only its nonce is stale, and False if it is wrong."""
        given = self.headers.get('Authorization', '')
        if not given.startswith('Digest '):
            return False
        field = dict(re.findall(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|[^,"\s]+)', given))
        plain = dict(re.findall(r'(\w+)=([^,"\s]+)', given))
        password = hash_of(f'{USER}:{REALM}:{PASSWORD}')
        request = hash_of(f'GET:{self.path}')
        wanted = hash_of(f'{password}:{field["nonce"]}:{plain["nc"]}:{field["cnonce"]}:auth:{request}')
        if field['response'] != wanted or field['username'] != USER:
            return False
        with self.server.lock:
            uses = self.server.nonces.get(field['nonce'], NONCE_USES)
            self.server.nonces[field['nonce']] = uses + 1
        return None if uses < NONCE_USES else True

    def redirect(self, location):
        self.fail(302, ('Location', location))

    def get_redirect(self, _):
        self.redirect('/behind?a=b')

    def get_circle(self, _):
        self.redirect('/circle')

    def get_away(self, _):
        self.redirect(self.server.away)

    def get_elsewhere(self, _):
        self.redirect('file:///etc/hostname')

    def get_html(self, _):
        self.send('image/jpeg', b'<html><body>Log in</body></html>')

    def get_empty(self, _):
        self.send('image/jpeg', b'')

    def get_hollow(self, _):
        """Sends the begin and end markers of a JPEG picture, and nothing in between."""
        self.send('image/jpeg', b'\xff\xd8\xff\xd9')

    def get_cut(self, _):
        """Sends half of a picture with the length of that half: the other half is decoded as gray."""
        kind, data = self.server.pictures[0]
        self.send(kind, data[:len(data) // 2])

    def get_short(self, _):
        kind, data = self.server.pictures[0]
        self.close_connection = True
        self.send(kind, data, length=len(data) + 1000)

    def get_broken(self, _):
        """Sends the begin of a PNG picture, then nonsense."""
        self.send('image/png', png(64, 48)[:60] + bytes(range(256)) * 8)

    def get_bomb(self, _):
        """Sends a small picture that is very large when it is decoded."""
        self.send('image/png', self.server.bomb)

    def get_jpeg_bomb(self, _):
        self.send('image/jpeg', self.server.jpeg_bomb)

    def get_two(self, _):
        """Sends a picture with a decompression bomb behind it."""
        kind, data = self.server.pictures[0]
        self.send(kind, data + self.server.jpeg_bomb)

    def get_huge(self, _):
        self.send('image/jpeg', b'\xff\xd8', length=33 * MIB)

    def get_endless(self, _):
        self.send_response(200)
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()
        while not self.server.let_go.is_set():
            self.wfile.write(b'%x\r\n' % MIB + bytes(MIB) + b'\r\n')

    def get_heads(self, _):
        self.wfile.write(b'HTTP/1.1 200 OK\r\n')
        while not self.server.let_go.is_set():
            self.wfile.write(b'X-More: ' + b'a' * 1000 + b'\r\n')

    def get_silent(self, _):
        self.server.let_go.wait()

    def get_slow(self, _):
        """Sends ten bytes at a time, a hundred per second."""
        kind, data = self.server.pictures[0]
        self.send_response(200)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        for i in range(0, len(data), 10):
            self.wfile.write(data[i:i + 10])
            if self.server.let_go.wait(0.1):
                return
