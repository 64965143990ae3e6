# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that fail in different ways, on ports of 127.0.0.1. Prints `KIND URI WORDS` for each, then
`ready`. WORDS is a regular expression of the error that the monitor should report.

usage: badcameras.py FOLDER    with cert.pem, key.pem and picture.jpeg
"""
import asyncio
import pathlib
import re
import socket
import ssl
import sys

STATUSES = {401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found',
            500: 'Internal Server Error', 503: 'Service Unavailable'}
WORDS = {401: 'authentication required', 403: 'access denied', 404: 'stream not found',
         500: 'camera reports an error', 503: 'camera reports an error'}
DELAY = 0.02  # seconds until an answer, as from a real camera: by then, the pipeline plays
GARBAGE = bytes(range(256)) * 4


async def head_of(reader):
    return (await reader.readuntil(b'\r\n\r\n')).decode('latin-1')


async def http(reader, writer):
    """Answers requests for /CODE with that status."""
    code = int((await head_of(reader)).split()[1][1:])
    wants = 'WWW-Authenticate: Basic realm="camera"\r\n' if code == 401 else ''
    writer.write(f'HTTP/1.1 {code} {STATUSES[code]}\r\n{wants}Content-Length: 0\r\n\r\n'.encode())


def picture_of(data):
    async def picture(reader, writer):
        """Sends one picture per request, like the snapshot URLs of cameras."""
        await head_of(reader)
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: '
                     b'%d\r\n\r\n' % len(data) + data)
    return picture


async def rtsp(reader, writer):
    """Answers DESCRIBE of /CODE with that status."""
    while True:
        head = await head_of(reader)
        code = 200
        if head.startswith('DESCRIBE'):
            code = int(re.search(r'/(\d{3})$', head.split()[1])[1])
        number = re.search(r'(?im)^cseq: *(\d+)', head)[1]
        wants = 'WWW-Authenticate: Basic realm="camera"\r\n' if code == 401 else ''
        public = 'Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n' if code == 200 else ''
        reason = STATUSES.get(code, 'OK')
        writer.write(f'RTSP/1.0 {code} {reason}\r\nCSeq: {number}\r\n{wants}{public}\r\n'.encode())
        await writer.drain()


async def silent(reader, writer):
    """Accepts connections and never answers."""
    await reader.read()


async def garbage(reader, writer):
    await reader.read(1)
    writer.write(GARBAGE)


def guarded(handler):
    async def handle(reader, writer):
        try:
            await asyncio.sleep(DELAY)
            await handler(reader, writer)
            await writer.drain()
        except (asyncio.IncompleteReadError, OSError, ssl.SSLError):
            pass
        finally:
            writer.close()
    return handle


async def port_of(handler, tls=None):
    server = await asyncio.start_server(guarded(handler), '127.0.0.1', 0, ssl=tls, backlog=512)
    return server.sockets[0].getsockname()[1], server


def cameras(ports, refused):
    """Yields each kind, its URI and the regular expression of the expected error."""
    address = {name: f'127.0.0.1:{port}' for name, port in ports.items()}
    for code, words in WORDS.items():
        yield f'http-{code}', f'http://{address["http"]}/{code}', words
    for code in 401, 404:
        yield f'rtsp-{code}', f'rtsp://{address["rtsp"]}/{code}', WORDS[code]
    yield 'tls', f'https://{address["https"]}/404', 'TLS certificate .* is not trusted: unknown issuer'
    yield 'tls-rtsp', f'rtsps://{address["rtsps"]}/404', 'TLS certificate .* is not trusted: unknown issuer'
    yield 'picture', f'http://{address["picture"]}/picture.jpeg', 'a single picture'
    yield 'snapshot-404', f'http://{address["http"]}/404', 'picture not found'
    yield 'snapshot-401', f'http://{address["http"]}/401', WORDS[401]
    yield 'snapshot-tls', f'https://{address["https"]}/404', 'TLS certificate .* is not trusted: unknown issuer'
    yield 'snapshot-refused', f'http://127.0.0.1:{refused}/', f'127.0.0.1:{refused} refused'
    yield 'snapshot-half-open', f'http://{address["silent"]}/', 'no response within 1 s'
    yield 'snapshot-garbage', f'http://{address["garbage"]}/', 'no valid HTTP response'
    yield 'snapshot-text', f'http://{address["text"]}/', 'sends text/html, not a picture'
    yield 'snapshot-hollow', f'http://{address["hollow"]}/', 'the picture cannot be decoded'
    for scheme in 'http', 'rtsp':
        yield f'refused-{scheme}', f'{scheme}://127.0.0.1:{refused}/', f'127.0.0.1:{refused} refused'
        yield f'half-open-{scheme}', f'{scheme}://{address["silent"]}/', 'no response within 1 s'
        yield f'garbage-{scheme}', f'{scheme}://{address["garbage"]}/', f'no valid {scheme.upper()} response'
        yield f'dns-{scheme}', f'{scheme}://camera.invalid/', '(host not found:|name lookup failed for) camera.invalid'


async def main(folder):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / 'cert.pem', folder / 'key.pem')
    refusing = socket.create_server(('127.0.0.1', 0))
    refused = refusing.getsockname()[1]
    refusing.close()
    picture = (folder / 'picture.jpeg').read_bytes()
    ports, servers = {}, []
    for name, handler, context in (('http', http, None), ('https', http, tls),
                                   ('rtsp', rtsp, None), ('rtsps', rtsp, tls),
                                   ('silent', silent, None), ('garbage', garbage, None),
                                   ('picture', picture_of(picture), None),
                                   ('text', picture_of(b'<html>Log in</html>'), None),
                                   ('hollow', picture_of(b'\xff\xd8\xff\xd9'), None)):
        ports[name], server = await port_of(handler, context)
        servers.append(server)
    for kind, uri, words in cameras(ports, refused):
        print(kind, uri, words)
    print('ready', flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


asyncio.run(main(pathlib.Path(sys.argv[1])))
