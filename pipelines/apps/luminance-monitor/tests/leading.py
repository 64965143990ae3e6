# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that lead to files, to other hosts and to other protocols. The monitor follows them
only where the user allowed it, shows no secret, and reports what is wrong."""
import pathlib
import re
import subprocess
import tempfile

import videos
from hostilecamera import OTHER, PASSWORD, SECRET, USER, Datagrams, Rtsp, Web
from running import Monitor, wait_for

PADDING = '\n' * 8192  # GStreamer takes small documents for plain text
NOT_FOLLOWED = r'list of addresses .* not followed'
NO_VIDEO = 'no video that can be decoded'


def has(element):
    return subprocess.run(['gst-inspect-1.0', '--exists', element], timeout=60).returncode == 0


def local_video(folder):
    """Writes a segment of a stream, as playlists name them, and returns its path. If there is no encoder,
    the file does not exist."""
    path = folder / 'local.ts'
    for encoder in 'x264enc', 'openh264enc':
        # Pipelines that cannot be linked are not tried, because some hang when they stop.
        if all(has(element) for element in (encoder, 'h264parse', 'mpegtsmux')):
            subprocess.run(['gst-launch-1.0', '-q', 'videotestsrc', 'num-buffers=100', '!', encoder,
                            '!', 'h264parse', '!', 'mpegtsmux', '!', 'filesink', f'location={path}'],
                           check=True, timeout=60)
            return path
    print('no encoder: no playlist would be played')
    return path


def mjpeg(folder):
    """Returns type and data of a usual video by HTTP: MJPEG."""
    path = folder / 'mjpeg'
    subprocess.run(['gst-launch-1.0', '-q', 'videotestsrc', 'num-buffers=50', '!', 'jpegenc', '!',
                    'multipartmux', 'boundary=frame', '!', 'filesink', f'location={path}'],
                   check=True, timeout=60)
    return 'multipart/x-mixed-replace; boundary=frame', path.read_bytes()


def playlist(address):
    return ('application/x-mpegURL', '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-VERSION:3\n'
            f'#EXTINF:4,\n{address}\n#EXT-X-ENDLIST\n'.encode())


def dash(address):
    return ('application/dash+xml', (
        '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" '
        'mediaPresentationDuration="PT4S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">'
        f'{PADDING}<BaseURL>{address}</BaseURL><Period><AdaptationSet mimeType="video/mp2t">'
        '<Representation id="1" bandwidth="1000"><SegmentList duration="4"><SegmentURL '
        f'media="{address}"/></SegmentList></Representation></AdaptationSet></Period></MPD>').encode())


def smooth():
    return ('application/vnd.ms-sstr+xml', (
        '<?xml version="1.0"?><SmoothStreamingMedia MajorVersion="2" MinorVersion="0" '
        f'Duration="40000000">{PADDING}<StreamIndex Type="video" Chunks="1" QualityLevels="1" '
        f'Url="http://{OTHER}/"><QualityLevel Index="0" Bitrate="1000" FourCC="H264" '
        'MaxWidth="64" MaxHeight="64" CodecPrivateData=""/><c d="40000000"/></StreamIndex>'
        '</SmoothStreamingMedia>').encode())


def lists(folder, other):
    """Yields paths, their answers, and the regular expression of the expected error."""
    segment = f'http://{OTHER}:{other.port}/segment.ts?{SECRET}'
    local = local_video(folder).as_uri()
    yield '/file.m3u8', playlist(local), NOT_FOLLOWED
    yield '/host.m3u8', playlist(segment), NOT_FOLLOWED
    yield '/file.mpd', dash(local), NOT_FOLLOWED
    yield '/host.mpd', dash(segment), NOT_FOLLOWED
    yield '/smooth', smooth(), NOT_FOLLOWED
    yield '/sdp', ('application/sdp', b'v=0\r\no=- 1 1 IN IP4 0\r\ns=x\r\nc=IN IP4 127.0.0.2\r\n'
                   b't=0 0\r\nm=video 5004 RTP/AVP 26\r\n'), NOT_FOLLOWED
    yield '/uris', ('text/uri-list', f'{local}\r\n{segment}\r\n'.encode()), NOT_FOLLOWED
    yield '/svg', ('image/svg+xml', f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
                   f'<image href="{segment}" width="9" height="9"/></svg>'.encode()), NO_VIDEO
    kind, text = playlist(local)
    yield '/parts', ('multipart/x-mixed-replace; boundary=x',
                     (f'--x\r\nContent-Type: application/x-hls\r\nContent-Length: {len(text)}\r\n'
                      '\r\n').encode() + text + b'\r\n--x\r\n' + bytes(8192)), NOT_FOLLOWED


def ordinary(folder):
    """Yields paths of ordinary video, which must still be played."""
    yield '/mjpeg', mjpeg(folder), None
    yield '/cut', mjpeg(folder), None
    if (folder / 'local.ts').exists():
        yield '/stream.ts', ('video/mp2t', (folder / 'local.ts').read_bytes()), None


def redirects(other, clip):
    away = f'http://{OTHER}:{other.port}/clip.webm?{SECRET}'
    yield '/to-host', away, f'redirect to {OTHER}:{other.port}'
    yield '/to-file', clip.as_uri(), 'another protocol'
    yield '/to-rtsp', f'rtsp://{OTHER}:{other.port}/', 'another protocol'
    yield '/to-itself', '/to-itself', 'too many redirects'
    yield '/allowed', away, None
    yield '/moved', '/private/clip.webm', None


def id_of(path):
    return path.strip('/').replace('.', '-')


def settings(cameras):
    text = ''
    for name, uri, more in cameras:
        text += f'[[cameras]]\nname = "{name}"\nuri = "{uri}"\n{more}'
    return text


def expect(monitor, name, words):
    """Checks that the camera has frames if `words` is None, otherwise an error like `words` and no frames."""
    if words is None:
        wait_for(f'frames of {name}', lambda: monitor.cameras()[name]['frames'] > 3)
        return
    wait_for(f'an error of {name}', lambda: monitor.cameras()[name]['error'])
    said = wait_for(f'{words!r} of {name}', lambda: re.search(
        words, monitor.cameras()[name]['error']) and monitor.cameras()[name]['error'])
    print(f'{name}: {said}')
    assert monitor.cameras()[name]['frames'] == 0, name


def main(folder):
    other, camera, clock = Web(OTHER), Web('127.0.0.1'), Datagrams(OTHER)
    away = f'rtsp://{OTHER}:{other.port}/live?{SECRET}'
    rtsp = Rtsp('127.0.0.1', away, clock.port)
    data = videos.CLIP.read_bytes()
    for server, path in (other, '/clip.webm'), (camera, '/private/clip.webm'):
        server.answers[path] = ('video/webm', data)
    camera.cut.add('/cut')
    cases, cameras = {}, []
    for path, answer, words in [*lists(folder, other), *ordinary(folder),
                                *redirects(other, videos.CLIP)]:
        camera.answers[path] = answer
        if path not in camera.cut:
            cases[id_of(path)] = words
        more = f'user = "{USER}"\npassword = "{PASSWORD}"\n'
        if path == '/allowed':
            more += f'redirect-hosts = ["{OTHER}"]\n'
        cameras.append((id_of(path), f'http://127.0.0.1:{camera.port}{path}', more))
    for path, words in ('redirect', f'redirect to {OTHER}:{other.port}'), ('stream', '.'):
        cases[path] = words
        cameras.append((path, f'rtsp://127.0.0.1:{rtsp.port}/{path}', ''))
    config = folder / 'cameras.toml'
    config.write_text(settings(cameras))
    with Monitor('--config', config, '--set', 'no-frames.enabled=false') as monitor:
        wait_for('reports to the camera', rtsp.own.seen.all)
        wait_for('the loss', lambda: 'was interrupted' in monitor.cameras()['cut']['error'])
        for name, words in cases.items():
            expect(monitor, name, words)
        shown = ''.join(monitor.get(path) for path in ('/api/v1/cameras', '/metrics'))
    shown += ''.join(monitor.output)
    assert SECRET not in shown and PASSWORD not in shown, shown
    # Only the camera with redirect-hosts got there, and its password was not sent.
    assert set(other.seen.all()) == {(f'/clip.webm?{SECRET}', None)}, other.seen.all()
    assert len(rtsp.seen.all()) > 3 and not any(OTHER in uri for _, uri in rtsp.seen.all())
    assert rtsp.other.seen.all() == [], 'reports to another host'
    assert clock.seen.all() == [], 'another host was asked for the time'


with tempfile.TemporaryDirectory() as temporary:
    main(pathlib.Path(temporary))
