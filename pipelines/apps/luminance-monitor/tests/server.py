# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the program serve of the build in $BUILD_DIR, and sends it requests."""
import base64
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from sanitizers import ADDRESS, SANITIZED

SERVE = Path(os.environ.get("BUILD_DIR", "")) / "tests/serve"
PATIENCE = 180 if SANITIZED else 60  # limit of any wait in seconds, for slow machines


def expect(condition, what, *facts):
    if not condition:
        sys.exit("\n".join([f"{what}:", *map(str, facts)]))


def until(condition, what, patience=PATIENCE):
    """Waits until the condition returns a true value, and returns it."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.05)
    sys.exit(f"not within {patience} s: {what}")


def environment():
    """Returns the environment without the preloads for programs that are not from this build, and with
    detection of leaks."""
    env = {name: value for name, value in os.environ.items()
           if name != "LD_PRELOAD" or not ADDRESS}
    if ADDRESS:
        options = env.get("ASAN_OPTIONS", "").replace("detect_leaks=0", "detect_leaks=1")
        # Slow, but it finds the callers of GLib's allocations, by which some leaks are suppressed.
        env["ASAN_OPTIONS"] = options + ":fast_unwind_on_malloc=0"
    return env


class Server:
    """Runs serve with these arguments until the end of a with statement, where it must exit with status 0 and
    without errors."""

    def __init__(self, *arguments, tls=None, authorization=None):
        self._errors = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen([SERVE, *map(str, arguments)], env=environment(),
                                         stdout=subprocess.PIPE, stderr=self._errors, text=True)
        killer = threading.Timer(PATIENCE, self._process.kill)
        killer.start()
        line = self._process.stdout.readline()
        killer.cancel()
        self.address = line.removeprefix("Serving ").strip()
        found = re.fullmatch(r"https?://(.*):(\d+)/", self.address)
        expect(found, "serve did not print its address", line + self.errors())
        self.host, self.port = found[1].strip("[]"), int(found[2])
        self.pid = self._process.pid
        self._tls, self._authorization = tls, authorization
        self._sources = 1
        self.lines = []  # printed after the address
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = f"no status within {PATIENCE} s"
        if kind is None:
            expect(status == 0, f"serve exited with {status}", self.errors())
            expect(not self.errors(), "serve printed errors", self.errors())

    def _listen(self):
        for line in self._process.stdout:
            self.lines.append(line)

    def errors(self):
        self._errors.seek(0)
        return self._errors.read()

    def signal(self, number):
        self._process.send_signal(number)

    def change_source(self):
        """Further connections come from another address than all before."""
        self._sources += 1

    def connect(self, receive_buffer=None):
        """Returns a connected socket, with TLS if the server has it."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        plain = socket.socket(family, socket.SOCK_STREAM)
        if receive_buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.settimeout(PATIENCE)
        if self._sources > 1:
            plain.bind((f"127.0.{self._sources // 250}.{self._sources % 250 + 1}", 0))
        plain.connect((self.host, self.port))
        return self._tls.wrap_socket(plain, server_hostname="localhost") if self._tls else plain

    def raw(self, request, patience=PATIENCE):
        """Sends the request, and returns all data until the server closes the connection or stops sending."""
        answer = b""
        with self.connect() as connection:
            connection.settimeout(patience)
            try:
                connection.sendall(request)
                while piece := connection.recv(65536):
                    answer += piece
            except (ConnectionError, TimeoutError, ssl.SSLError):
                pass
        return answer

    def get(self, path, method="GET", headers=None, body=None):
        """Returns status, headers and body."""
        headers = {name: value.encode() for name, value in (headers or {}).items()}
        if self._authorization and "Authorization" not in headers:
            headers["Authorization"] = self._authorization
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        connection.sock = self.connect()
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def json(self, path, status=200):
        got, headers, body = self.get(path)
        expect(got == status, f"{path}: expected {status}, got {got}", body)
        expect(headers["Content-Type"] == "application/json", path, headers)
        return json.loads(body)

    def error(self, path, status, **arguments):
        """Returns the text of an error."""
        got, headers, body = self.get(path, **arguments)
        expect(got == status, f"{path[:200]}: expected {status}, got {got}", body)
        expect(headers["Content-Type"] == "application/json", path, headers)
        document = json.loads(body)
        expect(list(document) == ["error"] and document["error"], path, document)
        return document["error"]

    def stream(self):
        """Yields events as (name, data), without end."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        connection.sock = self.connect()
        headers = {"Authorization": self._authorization} if self._authorization else {}
        connection.request("GET", "/api/v1/stream", headers=headers)
        answer = connection.getresponse()
        expect(answer.status == 200 and answer.headers["Content-Type"] == "text/event-stream",
               "no stream", answer.headers)
        try:
            while line := answer.readline():
                name, data = line, answer.readline()
                expect(name.startswith(b"event: ") and data.startswith(b"data: ") and
                       answer.readline() == b"\n", "no event", name + data[:200])
                yield name[7:-1].decode(), json.loads(data[6:])
        finally:
            connection.close()

    def memory(self):
        """Returns the anonymous resident memory of the process in bytes."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        return 1024 * int(re.search(r"^RssAnon:\s+(\d+) kB", text, re.M)[1])

    def connections(self):
        """Returns the number of open connections to the port of the process."""
        listening, at_port = "0A", f":{self.port:04X}"
        inodes = set()
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/{self.pid}/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[1].endswith(at_port) and fields[3] != listening:
                    inodes.add(fields[9])
        return len(inodes & self._sockets())

    def _sockets(self):
        """Returns the inodes of the sockets that the process has open."""
        inodes = set()
        for descriptor in Path(f"/proc/{self.pid}/fd").iterdir():
            try:
                inodes.update(re.findall(r"socket:\[(\d+)\]", os.readlink(descriptor)))
            except FileNotFoundError:  # closed meanwhile
                pass
        return inodes


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
