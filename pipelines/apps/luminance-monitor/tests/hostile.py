#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""hostile.py [SEED]: requests that no browser sends, and clients that never finish a request."""
import random
import socket
import sys
import time

import running
from sanitizers import SANITIZED
from server import PATIENCE, Server, expect, until

ROUNDS = 1500 if SANITIZED else 6000
HEALTHZ = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


def status_of(answer):
    return int(answer[9:12]) if answer.startswith(b"HTTP/1.") else None


def sizes_are_limited(server):
    def ask(request):
        return status_of(server.raw(request))

    def path(size):
        return b"GET /?" + b"a" * (size - 2) + b" HTTP/1.1\r\nHost: localhost\r\n" \
               b"Connection: close\r\n\r\n"

    def head(size):
        return HEALTHZ + b"Connection: close\r\nX: " + b"a" * (size - 65) + b"\r\n\r\n"

    # Versions of libmicrohttpd refuse these requests with different statuses.
    long, body = {414, 431}, {400, 413}
    for request, statuses in (
            (path(4096), {200}), (path(4097), {414}), (path(12000), {414}), (path(60000), long),
            (head(16000), {200}), (head(17000), {431}), (head(31000), long), (head(60000), long),
            (b"GET healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", {400}),
            (b"GET %2fhealthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", {200}),
            (HEALTHZ + b"a: b\r\n" * 4000 + b"\r\n", long),
            (HEALTHZ + b"Content-Length: 16385\r\n\r\n", {413}),
            (HEALTHZ + b"Content-Length: 999999999999999\r\n\r\n", {413}),
            (HEALTHZ + b"Content-Length: 99999999999999999999999\r\n\r\n", body),
            (HEALTHZ + b"Content-Length: -1\r\n\r\n", {400}),
            (HEALTHZ + b"Content-Length: 1x\r\n\r\n", {400}),
            (HEALTHZ + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", {400}),
            (HEALTHZ + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", body),
            (HEALTHZ + b"Transfer-Encoding: chunked\r\n\r\n", {413}),
            (HEALTHZ + b"Transfer-Encoding: nonsense\r\n\r\n", body)):
        got = ask(request)
        expect(got in statuses, f"expected one of {statuses}, got {got}", request[:200])
    small = HEALTHZ + b"Connection: close\r\nContent-Length: 16384\r\n\r\n" + b"x" * 16384
    expect(ask(small) == 200, "a small body is read and forgotten")
    two = HEALTHZ + b"Content-Length: 5\r\n\r\nhello" + HEALTHZ + b"Connection: close\r\n\r\n"
    expect(server.raw(two).count(b" 200 OK") == 2, "a request after a body")


def ambiguous_heads_are_refused(server):
    """Another server may understand these heads differently. The only answer must be 400, and what follows
    the head must not be answered."""
    smuggled = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    body = b"Content-Length: %d\r\n" % len(smuggled)
    host = b"Host: localhost\r\n"
    for name, head in {
            "a space before the colon of a length": host + body.replace(b":", b" :"),
            "a tab before the colon of a length": host + body.replace(b":", b"\t:"),
            "a space before the colon of an encoding": host + b"Transfer-Encoding : chunked\r\n",
            "a second Host with a space": host + b"Host : evil.example\r\n",
            "a Host with a space first": b"Host : evil.example\r\n" + host,
            "two Hosts": host + b"host: evil.example\r\n",
            "an empty Host": b"Host: \r\n",
            "a Host with a user": b"Host: localhost@evil.example\r\n",
            "a Host with two ports": b"Host: localhost:80:80\r\n",
            "a Host with a word for a port": b"Host: localhost:http\r\n",
            "two lengths": host + body + body,
            "two lengths in one": host + b"Content-Length: 5, 5\r\n",
            "a length and an encoding": host + body + b"Transfer-Encoding: chunked\r\n",
            "an empty name": host + b": x\r\n",
            "an empty name in front of a length": host + b": x\r\n" + body,
            "nothing but a colon": host + b":\r\n",
            "a NUL in a value": host + b"X: a\0b\r\n",
            "a NUL in a length": host + b"Content-Length: 0\x005\r\n",
            "a NUL in the last value": host + b"X: \0\r\n",
            "a line feed alone": host + b"X: a\nY: b\r\n",
            "a line feed alone at the end": host + b"X: a\n",
            "a name with a space in it": host + b"Content Length: 5\r\n",
            "a name with a bracket": host + b"X(: y\r\n",
            "a name that is no ASCII": host + b"X\xff: y\r\n",
            "a name with a control character": host + b"X\x01: y\r\n",
            "a line without a colon": host + b"foo\r\n",
            "a value that goes on": host + b"X: a\r\n b\r\n",
            "a length that goes on": host + b"Content-Length: 1\r\n 0\r\n",
            "a lone carriage return": host + b"X: a\rContent-Length: 5\r\n",
            "a control character": host + b"X: a\x08b\r\n"}.items():
        answer = server.raw(b"GET /healthz HTTP/1.1\r\n" + head + b"\r\n" + smuggled)
        expect(status_of(answer) == 400, f"{name}: expected 400", answer)
        # For an error of its own, libmicrohttpd 0.9.75 may send the head twice, and then closes.
        expect(answer.count(b"HTTP/1.1 ") == answer.count(b"HTTP/1.1 400 "),
               f"{name}: what follows it was answered", answer)
    for line in (b"GET /healthz\0 HTTP/1.1", b"G\0ET /healthz HTTP/1.1", b"GET  /healthz HTTP/1.1",
                 b"GET /healthz  HTTP/1.1", b"GET /healthz HTTP/1.1 "):
        answer = server.raw(line + b"\r\n" + host + b"Connection: close\r\n\r\n")
        expect(status_of(answer) in (400, 505, None), "a malformed request line", line + answer)
    other = server.raw(b"GET http://evil.example/healthz HTTP/1.1\r\n" + host + b"\r\n" + smuggled)
    expect(status_of(other) == 400, "the target has another host", other)
    same = server.raw(b"GET http://localhost/healthz HTTP/1.1\r\n" + host +
                      b"Connection: close\r\n\r\n")
    expect(status_of(same) == 200, "the target has the same host", same)


def parameters_are_answered(server):
    """Targets within the limit may have any number of parameters."""
    for query in (b"a=b&" * 500, b"a=b&" * 1000, b"&" * 4000, b"a" + b"=" * 4000):
        begin = time.monotonic()
        for path in (b"/?", b"/healthz?", b"/api/v1/cameras?"):
            answer = server.raw(b"GET " + path + query[:4000] + b" HTTP/1.1\r\nHost: localhost\r\n"
                                b"Connection: close\r\n\r\n")
            expect(status_of(answer) == 200, "many parameters", answer[:300])
        expect(time.monotonic() - begin < PATIENCE / 2, "many parameters take long", query[:20])
    last = server.raw(b"GET /api/v1/cameras/camera-0/history?" + b"a=b&" * 900 + b"points=x "
                      b"HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    expect(status_of(last) in (400, 404), "the last parameter", last)


def endless_heads_are_cut(server):
    for begin, more in ((HEALTHZ, b"X-Header: " + b"a" * 50 + b"\r\n"), (b"GET /", b"a" * 100),
                        (b"", b"\r\n"), (b"", b"\0"), (HEALTHZ + b"X: ", b"a" * 1000),
                        (HEALTHZ, b" continued\r\n")):
        sent = 0
        with server.connect() as connection:
            connection.settimeout(5)
            try:
                connection.sendall(begin)
                for _ in range(20000):
                    connection.sendall(more)
                    sent += len(more)
                    if sent > 3_000_000:
                        break
            except (ConnectionError, TimeoutError):
                pass
        print(f"  {begin[:20]} {more[:20]}: {sent} bytes")
    expect(server.memory() < 60_000_000 or SANITIZED, "memory", server.memory())


def slow_requests_are_cut(server):
    """The server allows ten seconds for a whole request, in any number of pieces, and for silence."""
    begins = {"nothing": b"", "a request line": b"GET /", "headers": HEALTHZ + b"X: ",
              "a body": HEALTHZ + b"Content-Length: 16000\r\n\r\n"}
    begin = time.monotonic()
    connections = {name: server.connect() for name in begins}
    for name, data in begins.items():
        connections[name].sendall(data)
    idle = server.connect()
    idle.sendall(HEALTHZ + b"\r\n")
    expect(b" 200 OK" in idle.recv(65536), "a request before")
    ends = {}
    while len(ends) < len(connections) and time.monotonic() - begin < PATIENCE:
        time.sleep(0.3)
        for name, connection in connections.items():
            if name in ends:
                continue
            try:
                if name != "nothing":
                    connection.sendall(b"x")
                connection.setblocking(False)
                if not connection.recv(65536):
                    ends[name] = time.monotonic() - begin
            except BlockingIOError:
                pass
            except ConnectionError:
                ends[name] = time.monotonic() - begin
            connection.setblocking(True)
    expect(len(ends) == len(connections), "a slow request is not cut", ends)
    expect(all(9 < end for end in ends.values()), "cut too early", ends)
    idle.settimeout(PATIENCE)
    expect(idle.recv(100) == b"", "an idle connection stays")
    for connection in (*connections.values(), idle):
        connection.close()
    print("  cut after", {name: round(end, 1) for name, end in ends.items()})


def connections_are_limited():
    with Server("--cameras", 1, "--max-connections", 20) as server:
        held = [server.connect() for _ in range(20)]
        until(lambda: server.connections() == 20, "20 connections")
        status, headers, _ = server.get("/healthz")
        expect(status == 503 and headers["Connection"] == "close" and
               headers["Retry-After"] == "1", "beyond the limit", status, headers)
        more = [server.connect() for _ in range(60)]
        until(lambda: server.connections() == 52, "connections beyond the reserve are closed")
        for connection in held + more:
            connection.close()
        until(lambda: server.connections() == 0, "all closed")
        expect(server.get("/healthz")[0] == 200, "room again")


def readers_are_limited():
    with Server("--cameras", 1, "--max-connections", 20) as server:
        streams = [server.stream() for _ in range(15)]
        for stream in streams:
            next(stream)
        server.error("/api/v1/stream", 503)
        expect(server.get("/healthz")[0] == 200, "no room for other requests")
        for stream in streams:
            stream.close()
        until(lambda: server.get("/api/v1/stream", "HEAD")[0] == 200, "head")
        stream = until(lambda: open_stream(server), "room for a reader")
        stream.close()


def open_stream(server):
    connection = server.connect()
    connection.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
    if status_of(connection.recv(65536)) == 200:
        return connection
    connection.close()
    return None


def descriptors_run_out():
    """A server that has no descriptor left for a connection accepts again when it has one."""
    import resource  # only on Unix, like these tests
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, limits[1]))
    try:
        server = Server("--cameras", 1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    with server:
        # UBSan opens a pipe when it first sees the type of an object.
        until(lambda: server.json("/api/v1/cameras")["cameras"][0]["latest"], "an interval")
        held = [server.connect() for _ in range(100)]
        until(lambda: server.connections() >= 50, "no descriptors left")
        for connection in held:
            connection.close()
        until(lambda: server.get("/healthz")[0] == 200, "a connection is accepted again")


SEEDS = [b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
         b"GET /api/v1/cameras/camera-0/history?from=1&to=2&points=3 HTTP/1.1\r\nHost: a\r\n\r\n",
         b"GET /api/v1/events?camera=camera-0&limit=5&from=0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
         b"GET /api/v1/incidents?camera=camera-1&verdict=too-dark&state=open&acknowledged=no&from=0"
         b"&before=1763798440000-17 HTTP/1.1\r\nHost: localhost\r\n\r\n",
         b"POST /api/v1/incidents/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 41\r\n\r\n"
         b'{"acknowledged": true, "comment": "seen"}',
         b"HEAD /api/v1/cameras/camera-1/still.jpg HTTP/1.1\r\nHost: localhost\r\n\r\n",
         b"GET /page.js HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \"a\"\r\nRange: bytes=0-1,0-,-5"
         b"\r\nAccept: */*\r\nAuthorization: Basic YTpi\r\nExpect: 100-continue\r\n\r\n",
         b"POST /api/v1/cameras HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
         b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
         b"Upgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n",
         b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
         b"5\r\nhello\r\n0\r\n\r\n"]
PIECES = [b"\0", b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b"%", b"%00", b"%ff", b"%c0%af", b"%2e%2e/",
          b"/../", b"?", b"&", b"=", b"#", b"\xff\xfe", b"\xf0\x9f\x93\xb7", b"-1", b"1" * 40,
          b"18446744073709551616", b"9223372036854775808", b"0x10", b"1e9", b"nan", b"'; --", b"<script>",
          b"Content-Length: -5\r\n", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n",
          b"Transfer-Encoding: x\r\n", b"Host: b\r\n", b"Cookie: a=b; c=\"d\r\n", b" folded\r\n",
          b"Expect: x\r\n", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
          b"a" * 5000, b"a:b\r\n" * 500, b"%0d%0aSet-Cookie: x=y", b"Connection: close\r\n",
          b"Range: bytes=0-18446744073709551615\r\n", b"Accept: " + b"a," * 1000 + b"\r\n"]


def mutate(generator, request):
    request = bytearray(request)
    for _ in range(generator.randint(1, 6)):
        at = generator.randint(0, len(request))
        kind = generator.randrange(5)
        if kind == 0:
            request[at:at] = generator.choice(PIECES)
        elif kind == 1:
            del request[at:at + generator.randint(1, 20)]
        elif kind == 2 and at < len(request):
            request[at] = generator.randrange(256)
        elif kind == 3:
            other = generator.choice(SEEDS)
            request[at:] = other[generator.randint(0, len(other)):]
        else:
            request[at:at] = request[:generator.randint(0, len(request))]
    return bytes(request[:100_000])


def request_for(generator):
    if generator.random() < 0.1:
        return generator.randbytes(generator.randint(0, 3000))
    return mutate(generator, generator.choice(SEEDS))


def expect_answers(answer, request):
    """Checks that the answer, if any, is HTTP, and that nothing from the request is in its head."""
    if not answer:
        return
    expect(status_of(answer) in (100, 200, 304, 400, 403, 404, 405, 413, 414, 429, 431, 501, 503,
                                 505), "an answer", answer[:500] + b" to " + request[:500])
    head = answer.split(b"\r\n\r\n")[0].lower()
    expect(b"set-cookie" not in head and b"<script" not in head, "injected", head)


def fuzz(server, seed):
    generator = random.Random(seed)
    begin = time.monotonic()
    for done in range(ROUNDS):
        request = request_for(generator)
        with server.connect() as connection:
            # A request that is not complete is answered only when its time is over.
            connection.settimeout(0.5 if SANITIZED else 0.1)
            answer = b""
            try:
                for piece in pieces_of(generator, request):
                    connection.sendall(piece)
                if generator.random() < 0.8:
                    connection.shutdown(socket.SHUT_WR)
                    while len(answer) < 200_000 and (piece := connection.recv(65536)):
                        answer += piece
                        if b"event-stream" in answer:
                            break
            except OSError:
                pass
        expect_answers(answer, request)
        if done % 500 == 0:
            expect(server.json("/healthz") == {"status": "ok"}, "the server does not answer", f"round {done}")
    print(f"  {ROUNDS} requests in {time.monotonic() - begin:.0f} s")


def pieces_of(generator, request):
    if generator.random() < 0.8 or len(request) < 2:
        return [request]
    at = generator.randrange(1, len(request))
    return [request[:at], request[at:]]


def the_server_is_as_before(server):
    until(lambda: server.connections() == 0, "connections are closed")
    expect(len(server.json("/api/v1/cameras")["cameras"]) == 5, "cameras")
    expect(server.get("/")[0] == 200, "page")
    stream = server.stream()
    expect(next(stream)[0] == "cameras", "stream")
    stream.close()


def main():
    seed = str(running.seed())
    with Server() as server:
        for test in (sizes_are_limited, ambiguous_heads_are_refused, parameters_are_answered,
                     endless_heads_are_cut, slow_requests_are_cut):
            print(test.__name__, flush=True)
            test(server)
        print("fuzz", flush=True)
        fuzz(server, seed)  # warms up the server
        memory = server.memory()
        fuzz(server, seed + "again")
        grown = server.memory() - memory
        print(f"  {memory / 1e6:.1f} MB, then {grown / 1e6:+.2f} MB")
        expect(grown < 1_000_000 or SANITIZED, f"memory grew by {grown}")
        the_server_is_as_before(server)
    connections_are_limited()
    readers_are_limited()
    descriptors_run_out()


if __name__ == "__main__":
    sys.exit(main())
