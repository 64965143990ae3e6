# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras on 127.0.0.1 that lead clients to 127.0.0.2, to which the monitor must not connect."""
import base64
import http.server
import re
import socket
import socketserver
import threading

USER, PASSWORD, SECRET = 'viewer', 'geheim', 'query-secret-4711'
OTHER = '127.0.0.2'
CLOCK = 'GstNetTimeProvider'


class Seen:
    """What a server received, from all of its threads."""

    def __init__(self):
        self._lock = threading.Lock()
        self._all = []

    def add(self, what):
        with self._lock:
            self._all.append(what)

    def all(self):
        with self._lock:
            return list(self._all)


def serve(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


class Web:
    """An HTTP server. `answers`, by path: (type, data), or the address of a redirect. The Content-Length of
    paths in `cut` is greater than their data."""

    def __init__(self, address):
        self.answers, self.cut, self.seen = {}, set(), Seen()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.seen.add((self.path, self.headers.get('Authorization')))
                outer.answer(self)

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # the client disconnected

        self.port = serve(Server((address, 0), Handler))

    def answer(self, request):
        path = request.path.split('?')[0]
        answer = self.answers.get(path)
        wanted = 'Basic ' + base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()
        if path.startswith('/private') and request.headers.get('Authorization') != wanted:
            request.send_response(401)
            request.send_header('WWW-Authenticate', 'Basic realm="camera"')
        elif isinstance(answer, str):
            request.send_response(302)
            request.send_header('Location', answer)
        elif answer is not None:
            request.send_response(200)
            request.send_header('Content-Type', answer[0])
            more = 1000 if path in self.cut else 0
            request.send_header('Content-Length', str(len(answer[1]) + more))
            request.end_headers()
            request.wfile.write(answer[1])
            return
        else:
            request.send_response(404)
        request.send_header('Content-Length', '0')
        request.end_headers()


class Datagrams:
    """Collects the datagrams that come to a UDP port of one of the addresses."""

    def __init__(self, address, port=0):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, port))
        self.port = self.socket.getsockname()[1]
        self.seen = Seen()
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self):
        while True:
            self.seen.add(self.socket.recvfrom(2048)[0])


class Rtsp:
    """An RTSP server whose answers lead to another host: by redirect for /redirect, and by clock and
    transport for /stream. `redirect`: address of the redirect. `clock`: port of the clock."""

    def __init__(self, address, redirect, clock):
        self.seen, self.redirect, self.clock = Seen(), redirect, clock
        # Datagrams to this host and to the other one, at the same port.
        self.own = Datagrams(address)
        self.other = Datagrams(OTHER, self.own.port)
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                try:
                    while head := outer.head_of(self.rfile):
                        outer.answer(head, self.wfile)
                except OSError:
                    pass

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        self.port = serve(Server((address, 0), Handler))

    @staticmethod
    def head_of(stream):
        lines = []
        while (line := stream.readline().decode('latin-1')) not in ('', '\r\n'):
            lines.append(line)
        return ''.join(lines)

    def description(self):
        return ('v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=camera\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n'
                f'a=x-gst-clock:{CLOCK} none {OTHER}:{self.clock} 0\r\n'
                'm=video 0 RTP/AVP 26\r\na=control:one\r\n')

    def answer(self, head, out):
        method, uri = head.split()[:2]
        self.seen.add((method, uri))
        number = re.search(r'(?im)^cseq: *(\d+)', head)[1]
        status, more, body = '200 OK', '', ''
        if method == 'OPTIONS':
            more = 'Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n'
        elif method == 'DESCRIBE' and uri.endswith('/redirect'):
            status, more = '302 Moved Temporarily', f'Location: {self.redirect}\r\n'
        elif method == 'DESCRIBE':
            body = self.description()
            more = f'Content-Type: application/sdp\r\nContent-Length: {len(body)}\r\n'
        elif method == 'SETUP':
            ports = re.search(r'client_port=([\d-]+)', head)
            if ports is None:
                status = '461 Unsupported Transport'
            else:
                more = (f'Session: 1\r\nTransport: RTP/AVP;unicast;client_port={ports[1]};'
                        f'server_port={self.own.port}-{self.own.port + 1};source={OTHER}\r\n')
        elif method == 'PLAY':
            more = 'Session: 1\r\n'
        out.write(f'RTSP/1.0 {status}\r\nCSeq: {number}\r\n{more}\r\n{body}'.encode())
