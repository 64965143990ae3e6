#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Access to the server: passwords, tokens, host names, TLS."""
import base64
import os
import socket
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

from server import SERVE, Server, basic, environment, expect

OPEN, CLOSED = "/healthz", ["/", "/page.js", "/metrics", "/api/v1/cameras", "/api/v1/stream",
                            "/api/v1/cameras/camera-0/still.jpg", "/nothing"]
USER, PASSWORD, TOKEN = "Jörg", "geheim: 🔑", "t0ken-" + "x" * 50


def is_permitted(server, authorization):
    server.change_source()  # the server delays its answers to an address that sent wrong passwords
    headers = {"Authorization": authorization} if authorization is not None else {}
    status, answer, body = server.get("/api/v1/cameras", headers=headers)
    expect(status in (200, 401), "status", status)
    if status == 401:
        expect(b"cameras" not in body and answer["WWW-Authenticate"], "401", answer)
    return status == 200


def passwords_are_required():
    right = basic(USER, PASSWORD)
    wrong = [None, "", " ", "Basic", "Basic ", "Basic =", "Basic \xff\xfe", "Basic %%%", right + "A",
             right[:-2], right.replace("Basic", "Bearer"), right.replace("Basic ", ""),
             "Digest " + right, basic(USER, ""), basic("", PASSWORD), basic(USER, PASSWORD + " "),
             basic(USER.lower(), PASSWORD), basic(PASSWORD, USER), "Bearer", "Bearer " + PASSWORD,
             "Basic " + "A" * 8000, "Basic " + base64.b64encode(b"\0" * 40).decode()]
    with Server("--cameras", 1, "--basic", f"{USER}:{PASSWORD}") as server:
        expect(is_permitted(server, right) and is_permitted(server, right.replace("Basic", "bAsIc")),
               "the right password")
        for authorization in wrong:
            expect(not is_permitted(server, authorization), "permitted", authorization)
        expect(server.get(OPEN)[0] == 200, OPEN)
        for path in CLOSED:
            for method in ("GET", "HEAD"):
                status, headers, body = server.get(path, method)
                expect(status == 401 and 'Basic realm=' in headers["WWW-Authenticate"], path)
                expect(PASSWORD.encode() not in body, path, body)
        two = server.raw(f"GET /api/v1/cameras HTTP/1.1\r\nHost: localhost\r\nAuthorization: x\r\n"
                         f"Authorization: {right}\r\n\r\n".encode(), 20)
        expect(b" 400 " in two, "two authorizations", two)


def tokens_are_required():
    with Server("--cameras", 1, "--token", TOKEN) as server:
        expect(is_permitted(server, "Bearer " + TOKEN), "the right token")
        for authorization in (None, "Bearer", "Bearer ", "Bearer " + TOKEN[:-1],
                              "Bearer " + TOKEN + "x", "Bearer x" + TOKEN[1:], TOKEN,
                              "Basic " + TOKEN, basic("", TOKEN), basic(TOKEN, "")):
            expect(not is_permitted(server, authorization), "permitted", authorization)
        status, headers, _ = server.get("/")
        expect(status == 401 and headers["WWW-Authenticate"].startswith("Bearer"), "challenge")
    with Server("--cameras", 1, "--token", TOKEN, "--basic", "a:b") as server:
        expect(is_permitted(server, "Bearer " + TOKEN) and is_permitted(server, basic("a", "b")),
               "the token or the password")
        expect(not is_permitted(server, "Bearer b"), "permitted")


def the_stream_requires_the_token():
    with Server("--cameras", 1, "--token", TOKEN, authorization="Bearer " + TOKEN) as server:
        expect(next(server.stream())[0] == "cameras", "stream")


def other_host_names_are_refused():
    with Server("--cameras", 1) as server:
        for host in ("localhost", "LOCALHOST:80", "127.0.0.1", f"127.0.0.1:{server.port}", "[::1]:1"):
            expect(server.get("/", headers={"Host": host})[0] == 200, host)
        for host in ("evil.example", "127.0.0.1.evil.example:8080", "localhost.evil.example",
                     "127.0.0.2"):
            server.error("/api/v1/cameras", 403, headers={"Host": host})
            expect(server.get(OPEN, headers={"Host": host})[0] == 200, host)
        for host in ("::1", "[::1", "[", ":", "", "evil.example:80:80", "localhost:80:80",
                     "a@localhost"):
            server.error("/api/v1/cameras", 400, headers={"Host": host})
        for hosts, status in ((b"", b" 400 "), (b"Host: a\r\nHost: b\r\n", b" 400 ")):
            answer = server.raw(b"GET / HTTP/1.1\r\n" + hosts + b"\r\n", 20)
            expect(status in answer, "Host", answer)
    with Server("--cameras", 1, "--token", TOKEN, authorization="Bearer " + TOKEN) as server:
        expect(server.get("/api/v1/cameras", headers={"Host": "behind.a.proxy"})[0] == 200, "proxy")
    with Server("--cameras", 1, "--address", "0.0.0.0", "--allow-anonymous") as server:
        expect(server.get("/api/v1/cameras", headers={"Host": "my.name"})[0] == 200, "all addresses")


def make_identity(folder, name, kind=("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")):
    certificate, key = Path(folder) / f"{name}.pem", Path(folder) / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", *kind, "-nodes", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True,
                   timeout=60)
    return certificate, key


def context_for(certificate, version=None):
    context = ssl.create_default_context(cafile=certificate)
    if version:
        context.minimum_version = context.maximum_version = version
    return context


def tls_is_served(folder):
    certificate, key = make_identity(folder, "one")
    files = ["--certificate", certificate, "--key", key]
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        with Server("--cameras", 2, *files, tls=context_for(certificate, version)) as server:
            expect(server.address.startswith("https://"), "address", server.address)
            expect(len(server.json("/api/v1/cameras")["cameras"]) == 2, "cameras")
            expect(server.get("/api/v1/cameras/camera-1/still.jpg")[0] == 200, "still")
            events = server.stream()
            expect(next(events)[0] == "cameras", "stream")
            while (name := next(events)[0]) != "update":
                expect(name in ("heartbeat", "incidents"), "stream", name)
            events.close()
            one = b"GET /page.js HTTP/1.1\r\nHost: localhost\r\n"
            many = (one + b"\r\n") * 20 + one + b"Connection: close\r\n\r\n"
            expect(server.raw(many).count(b" 200 OK") == 21, "pipelined")
            clients_without_tls_do_no_harm(server)
            expect(server.json(OPEN) == {"status": "ok"}, "after no TLS")


def only_ciphers_with_forward_secrecy_are_offered(folder):
    """With forward secrecy, the key cannot decrypt recorded traffic. An RSA key exchange would allow it."""
    certificate, key = make_identity(folder, "rsa", ["rsa:2048"])
    with Server("--cameras", 1, "--certificate", certificate, "--key", key,
                tls=context_for(certificate)) as server:
        def handshake(*options):
            done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}",
                                   "-CAfile", certificate, *options], input=b"", timeout=60,
                                  capture_output=True, check=False)
            return b"Cipher is (NONE)" not in done.stdout and done.returncode == 0
        for cipher in ("AES128-SHA", "AES256-SHA", "AES128-GCM-SHA256", "AES256-GCM-SHA384",
                       "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA384", "DHE-RSA-AES128-SHA",
                       "NULL-SHA256"):
            expect(not handshake("-tls1_2", "-cipher", f"{cipher}:@SECLEVEL=0"), "offered", cipher)
        for cipher in ("ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384",
                       "ECDHE-RSA-CHACHA20-POLY1305"):
            expect(handshake("-tls1_2", "-cipher", cipher), "not offered", cipher)
        for version in ("-tls1", "-tls1_1"):
            expect(not handshake(version, "-cipher", "ALL:@SECLEVEL=0"), "offered", version)
        expect(handshake("-tls1_3"), "not offered", "TLS 1.3")
        expect(not handshake("-tls1_2", "-sigalgs", "RSA+SHA1", "-cipher", "ALL:@SECLEVEL=0"),
               "offered", "SHA-1")
        expect(server.json(OPEN) == {"status": "ok"}, "after handshakes")


def clients_without_tls_do_no_harm(server):
    """Sends data that is not TLS, and handshakes that stop. The server must answer none of it by HTTP."""
    for data in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01" + os.urandom(200),
                 b"\x16\x03\x01\xff\xff" + b"\0" * 100, os.urandom(2000)):
        with socket.create_connection((server.host, server.port)) as connection:
            connection.settimeout(20)
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                answer = connection.recv(65536)
            except OSError:  # the server may close the connection first
                answer = b""
            expect(b"HTTP/1" not in answer, "an answer without TLS", answer)


def wrong_files_are_named(folder):
    certificate, key = make_identity(folder, "two")
    other = make_identity(folder, "three")[1]
    empty, missing = Path(folder) / "empty", Path(folder) / "missing"
    empty.write_text("")
    for files, named in (((certificate, other), other), ((certificate, missing), missing),
                         ((missing, key), missing), ((empty, key), empty),
                         ((certificate, empty), empty), ((key, certificate), key),
                         ((certificate, folder), folder)):
        done = subprocess.run([SERVE, "--certificate", files[0], "--key", files[1]], timeout=120,
                              env=environment(), capture_output=True, text=True, check=False)
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and
               str(named) in done.stderr and "PRIVATE" not in done.stderr,
               f"no error that names {named}", done.stderr)


def main():
    passwords_are_required()
    tokens_are_required()
    the_stream_requires_the_token()
    other_host_names_are_refused()
    with tempfile.TemporaryDirectory() as folder:
        tls_is_served(folder)
        only_ciphers_with_forward_secrecy_are_offered(folder)
        wrong_files_are_named(folder)


if __name__ == "__main__":
    sys.exit(main())
