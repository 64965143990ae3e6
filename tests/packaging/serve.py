#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Serves a folder over HTTP, or HTTPS with a certificate and its key in one file, on a free port of
127.0.0.1 while a command runs. In its arguments, {uri} is the address of the folder.

usage: serve.py FOLDER CERTIFICATE|- COMMAND...
"""
import functools
import http.server
import ssl
import subprocess
import sys
import threading


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def main():
    folder, certificate, *command = sys.argv[1:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    scheme = "http"
    if certificate != "-":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    uri = f"{scheme}://127.0.0.1:{server.server_port}"
    sys.exit(subprocess.run([each.replace("{uri}", uri) for each in command], check=False).returncode)


main()
