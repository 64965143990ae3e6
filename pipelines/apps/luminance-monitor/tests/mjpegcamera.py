# SPDX-License-Identifier: LGPL-2.1-or-later
"""A camera by HTTP that can be switched off and on again: MJPEG, ten pictures a second."""
import http.server
import pathlib
import subprocess
import threading
import time

CLIP = pathlib.Path(__file__).resolve().parent / 'media/pedestrians.webm'
PERIOD = 0.1  # seconds


def pictures(folder, effect='identity'):
    """Returns the pictures of the clip as JPEG, changed by the elements of `effect`."""
    folder = pathlib.Path(folder)
    subprocess.run(['gst-launch-1.0', '-q', 'filesrc', f'location={CLIP}', '!', 'matroskademux', '!',
                    'vp8dec', '!', *effect.split(), '!', 'jpegenc', '!', 'multifilesink',
                    f'location={folder}/%03d.jpg'], check=True, timeout=120)
    return [file.read_bytes() for file in sorted(folder.glob('*.jpg'))]


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Type', 'multipart/x-mixed-replace; boundary=frame')
        self.end_headers()
        number = 0
        try:
            while self.server.is_on:
                jpeg = self.server.pictures[number % len(self.server.pictures)]
                self.wfile.write(b'--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n'
                                 % len(jpeg) + jpeg + b'\r\n')
                number += 1
                time.sleep(PERIOD)
        except OSError:
            pass  # the client disconnected
        self.close_connection = True

    def log_message(self, *_):
        pass


class Camera:
    """A camera that keeps its address when it is switched off and on."""

    def __init__(self, jpegs):
        self._pictures = jpegs
        self._server = None
        self.port = 0
        self.switch_on()

    @property
    def uri(self):
        return f'http://127.0.0.1:{self.port}/video.mjpg'

    def show(self, jpegs):
        """Sends these pictures from now on."""
        self._pictures = self._server.pictures = jpegs

    def switch_on(self):
        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self._server = http.server.ThreadingHTTPServer(('127.0.0.1', self.port), _Handler)
        self._server.daemon_threads = True
        self._server.pictures = self._pictures
        self._server.is_on = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True).start()

    def switch_off(self):
        self._server.is_on = False
        self._server.shutdown()
        self._server.socket.close()
