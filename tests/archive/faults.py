#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests faults outside of the videos, without Ray: slow and silent servers, proxies, durations,
ends, names, folders, borders of chunks."""
import contextlib
import os
import random
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import rig

rig.need("archive, faults")

from gst_cudatensor.archive import cluster, cores, faults, options, remote  # noqa: E402
from gst_cudatensor.archive.chunks import SECOND, Chunk, chunks_of  # noqa: E402
from gst_cudatensor.archive.faults import MediaError, PassingError  # noqa: E402
from gst_cudatensor.archive.jobs import make_job  # noqa: E402
from gst_cudatensor.archive.listing import File  # noqa: E402
from gst_cudatensor.archive.player import Player, check_length  # noqa: E402
from gst_cudatensor.archive.truncation import missing_bytes  # noqa: E402
from gst_cudatensor.archive.worker import rows_of  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # models
SMALL = {"width": 32, "height": 32}


def read(uri, start=0, end=None, **values):
    """Returns the rows of a chunk, and the error."""
    wanted = options.Options(**{"output": "x", "model": "embed=models:blocks", "device": "cpu",
                                "properties": SMALL, **values})
    rows = []
    error = rows_of(make_job(wanted), Chunk("c", "f", str(uri), 0, 1, start, end), rows)
    return rows, error


@contextlib.contextmanager
def server(data, pause=0.0, block=8192, silent_after=None, has_length=True, status=200):
    """Serves `data` in blocks with a pause after each, without ranges. Yields the URL."""
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            if has_length:
                self.send_header("Content-Length", str(len(data) if status == 200 else 0))
            self.end_headers()
            with contextlib.suppress(OSError):
                for at in range(0, len(data) if status == 200 else 0, block):
                    if silent_after is not None and at >= silent_after:
                        ended.wait(60)
                        return
                    self.wfile.write(data[at:at + block])
                    time.sleep(pause)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as found:
        found.daemon_threads = True
        threading.Thread(target=found.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{found.server_address[1]}/clip.webm"
        finally:
            ended.set()
            found.shutdown()


def reads_slow_servers():
    """A batch takes several times the timeout, but something is always read."""
    clip = rig.CLIP.read_bytes()
    with server(clip, pause=0.08) as url:
        begin = time.monotonic()
        rows, error = read(url, every="1s", batch=16, timeout=1.5)
        seconds = time.monotonic() - begin
        assert error is None and len(rows) == 8, (error, len(rows))
        assert seconds > 3, "too fast to be a test"
        rows, error = read(url, model="luminance", properties={}, timeout=1.5)
        assert error is None and len(rows) == 8, (error, len(rows))
    return f"{seconds:.1f} s for a batch"


def ends_silent_servers():
    clip = rig.CLIP.read_bytes()
    with server(clip, silent_after=len(clip) // 2) as url:
        for more in ({"every": "1s"}, {"model": "luminance", "properties": {}}):
            begin = time.monotonic()
            assert "no frame in 2 s" in rig.raises(PassingError, read, url, timeout=2, **more)
            assert 2 <= time.monotonic() - begin < 10


def tells_faults_apart():
    with server(b"x", status=503) as url:
        for more in ({}, {"model": "luminance", "properties": {}}):
            rig.raises(PassingError, read, url, timeout=5, **more)
    with rig.folder() as folder:
        (folder / "bad.webm").write_bytes(b"no video at all")
        for more in ({}, {"model": "luminance", "properties": {}}):
            assert "type" in read(folder / "bad.webm", **more)[1]
    with server(b"x", status=404) as url:
        for more in ({}, {"model": "luminance", "properties": {}}):
            assert read(url, timeout=5, **more)[1]
    assert isinstance(faults.of_system(FileNotFoundError("x")), MediaError)
    assert isinstance(faults.of_system(OSError("AWS Error: HTTP status 503")), PassingError)
    memory = type("OutOfMemoryError", (RuntimeError,), {})
    for error in (MemoryError(), memory("CUDA"), RuntimeError("CUDA error: out of memory")):
        assert isinstance(faults.of_model(error), PassingError), error
    assert faults.of_model(ValueError("wrong shape")) is None


def raises_errors_of_the_store():
    """The error is raised even if the pipeline takes the end of the connection for the end of the
    file."""
    server_of_ranges = remote.RangeServer()

    class Store:
        def open_input_file(self, path):
            raise OSError("AWS Error SLOW_DOWN: HTTP status 503")

    def use():
        with server_of_ranges.open(Store(), "a.webm") as url, Player(url, 5) as player:
            list(player.histograms(0, None))
    assert "SLOW_DOWN" in rig.raises(OSError, use)

    def use_without_error():
        with server_of_ranges.open(Store(), "a.webm") as url:
            with contextlib.suppress(RuntimeError), Player(url, 5) as player:
                list(player.histograms(0, None))
    assert "SLOW_DOWN" in rig.raises(OSError, use_without_error)
    server_of_ranges.shutdown()


def needs_no_proxy_for_stores():
    """Runs in a separate process, whose environment has a proxy that does not answer."""
    code = f"""
import os, sys
from pyarrow import fs
from gst_cudatensor import Frames
from gst_cudatensor.archive import remote
from gst_cudatensor.archive.places import Place
from gst_cudatensor.archive.player import Player
store = fs.SubTreeFileSystem({str(rig.CLIP.parent)!r}, fs.LocalFileSystem())
remote.place_of = lambda uri: Place(store, {rig.CLIP.name!r})
with remote.source_of("s3://bucket/x.webm") as url:
    assert url.startswith("http://127."), url
    with Player(url, 10) as player:
        assert len(list(player.histograms(0, None))) == 79
    with Frames(url, device="cpu", every="1s", width=32, height=32) as frames:
        assert len(list(frames)) == 8
with remote.source_of("/x.webm"):
    pass
assert "http_proxy" not in os.environ
with remote.source_of("http://host/x.webm"):
    assert os.environ["http_proxy"] == "http://127.0.0.1:9"
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=60, check=False,
                          env={**os.environ, "http_proxy": "http://127.0.0.1:9"},
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def believes_stated_durations():
    hour = 3600 * SECOND
    check_length(2 * hour, 3 * hour, 3600)
    check_length(hour, None, 3600)
    for duration in (None, 1000 * 24 * hour, hour // 2):
        assert "does not end" in rig.raises(MediaError, check_length, 2 * hour, duration, 3600)
    # The clip states its duration of 8 seconds, so `longest` does not limit it.
    for more in ({}, {"count": 4}, {"every": "1s"}, {"every": "10 frames"}, {"every": "keyframes"},
                 {"model": "luminance", "properties": {}}):
        rows, error = read(rig.CLIP, longest=2, **more)
        assert error is None and rows[-1]["time"] > 2, (more, error, rows[-1])


def counts_streams_to_a_limit():
    """Frames of an endless stream are not counted for ever."""
    frame = b"FRAME\n" + bytes([90]) * (64 * 48 * 3 // 2)
    data = b"YUV4MPEG2 W64 H48 F10:1 Ip A1:1 C420jpeg\n" + frame * 2000
    with server(data, has_length=False, block=1 << 16) as url:
        rows, error = read(url, count=4, longest=20, timeout=5)
    assert len(rows) == 4 and "does not end after 20 s" in str(error), (len(rows), error)


def detects_ends_of_files():
    with rig.folder() as folder:
        clip = rig.CLIP.read_bytes()
        for kind, line in (("mov", "qtmux"), ("avi", "avimux"), ("mkv", "matroskamux")):
            whole = folder / f"whole.{kind}"
            encoder = "jpegenc" if kind == "avi" else "vp8enc deadline=1"
            command = (f"videotestsrc num-buffers=30 ! video/x-raw,format=I420,width=64,height=48,"
                       f"framerate=10/1 ! {encoder} ! {line} ! filesink location={whole}")
            subprocess.run(["gst-launch-1.0", "-q", *command.split()], check=True)
            assert missing_bytes(str(whole)) == 0, kind
            cut = folder / f"cut.{kind}"
            cut.write_bytes(whole.read_bytes()[:-100])
            assert missing_bytes(str(cut)) == 100, (kind, missing_bytes(str(cut)))
        packets = (b"G" + bytes(187)) * 20
        (folder / "cut.ts").write_bytes(packets[:-100])
        assert missing_bytes(str(folder / "cut.ts")) == 100
        (folder / "other.y4m").write_bytes(b"YUV4MPEG2 " * 100)
        assert missing_bytes(str(folder / "other.y4m")) is None
        cut = folder / "cut.webm"
        cut.write_bytes(clip[:len(clip) // 2])
        for more in ({}, {"every": "60s"}, {"model": "luminance", "properties": {}}):
            assert "truncated" in str(read(cut, **more)[1]), more


def make_still(path, seconds):
    """Makes a video of a still picture with a longer tone: one frame at 0 s, one at 1 s."""
    line = (f"matroskamux name=mux ! filesink location={path} videotestsrc num-buffers=2 ! "
            "video/x-raw,format=I420,width=64,height=48,framerate=1/1 ! vp8enc deadline=1 ! mux. "
            f"audiotestsrc num-buffers={seconds * 10} samplesperbuffer=4800 ! "
            "audio/x-raw,rate=48000,channels=1 ! vorbisenc ! mux.")
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)
    return path


def does_not_end_at_sparse_frames():
    with rig.folder() as folder:
        still = make_still(folder / "still.mkv", 60)
        for more in ({}, {"count": 2}, {"every": "60s"}, {"every": "1s"}, {"every": "100 frames"},
                     {"every": "keyframes"}, {"model": "luminance", "properties": {}}):
            rows, error = read(still, **more)
            assert rows and error is None, (more, error)
            rows, error = read(still, 0, 20 * 10**9, **more)
            assert rows and error is None, (more, error)


def without_rights(code):
    """Returns the lines that a program prints in a process that is not root, because root may read
    every file."""
    code = f"import os\nif os.getuid() == 0: os.setuid(65534)\n{code}"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], text=True, timeout=60,
                          env={**os.environ, "GST_REGISTRY_UPDATE": "no"}, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def lists_unreadable_files():
    with rig.folder() as folder:
        name = os.fsdecode(b"caf\xe9.mp4")
        (folder / "open" / os.fsdecode(b"\xff")).mkdir(parents=True)
        (folder / "closed").mkdir()
        for path in ("open/a.mp4", "closed/b.mp4", f"open/{name}", os.fsdecode(b"open/\xff/c.mp4")):
            (folder / path).write_bytes(b"1")
        (folder / "open/loop").symlink_to(folder)
        (folder / "open/self.mp4").symlink_to("self.mp4")
        (folder / "closed").chmod(0)
        os.chmod(folder, 0o755)
        lines = without_rights(
            "from gst_cudatensor.archive.listing import list_files\n"
            f"for file in list_files([{str(folder)!r}, {str(folder / 'open' / name)!r}]): "
            "print(file.uri, '|', file.error)")
        (folder / "closed").chmod(0o755)
        lines = [line.replace(f"{folder}/", "") for line in lines]
        utf = "the name of the file or of its folder is not UTF-8"
        assert lines == ["closed | the folder cannot be listed: Permission denied", "open/a.mp4 | None",
                         f"open/caf\\xe9.mp4 | {utf}",
                         "open/self.mp4 | the file cannot be read: Too many levels of symbolic links",
                         f"open/\\xff/c.mp4 | {utf}"], lines


def does_not_wait_for_rights():
    """A file that this user may not read is not a temporary fault."""
    with rig.folder() as folder:
        os.chmod(folder, 0o755)
        rig.make_video(folder / "closed.webm", 1)
        (folder / "closed.webm").chmod(0)
        lines = without_rights(
            "from gst_cudatensor.archive.worker import rows_of\n"
            "from gst_cudatensor.archive.chunks import Chunk\n"
            f"print(rows_of(None, Chunk('c', 'f', {str(folder / 'closed.webm')!r}, 0, 1, 0, None), []))")
        assert lines == ["the file cannot be read: Permission denied"], lines


def splits_exactly():
    """Each multiple of a period, and each frame, is in exactly one chunk, for random numbers and in
    a clip."""
    seed = int(os.environ.get("CUDATENSOR_TEST_SEED", "0")) or random.randrange(1, 10**9)
    chosen = random.Random(seed)
    for _ in range(2000):
        seconds = chosen.choice([1.1, 0.7, 1 / 3, 29.97, chosen.uniform(0.001, 100)])
        every = f"{seconds:.{chosen.randrange(1, 9)}f}s"
        if float(every[:-1]) < 1e-6:
            continue
        values = options.Options("x", "a.onnx", every=every, chunk=chosen.uniform(0.5, 1000))
        length, period = options.chunk_length(values), options.period_of(every)
        assert length % period == 0 and 0 <= length - values.chunk * SECOND <= period + 1, (seed, every)
        chunks = chunks_of(File("/a"), chosen.randrange(1, 10**15), length)[:1000]
        for a, b in zip(chunks, chunks[1:]):
            assert a.end == b.start and b.start % period == 0, (seed, every, a, b)
            # The times that GStreamer makes of the seconds that it gets.
            assert round(a.end / SECOND * 1e9) == a.end, (seed, every, a)
    tried = 0
    for _ in range(12):
        period = chosen.choice([None, 100, 110, 333, chosen.randrange(60, 1500)])
        every = f"{period}ms" if period else None
        values = {"every": every, "chunk": chosen.uniform(0.2, 5)}
        length = options.chunk_length(options.Options("x", "a.onnx", **values))
        whole, _ = read(rig.CLIP, **values)
        parts = []
        for chunk in chunks_of(File(str(rig.CLIP)), int(7.9 * SECOND), length):
            parts += read(rig.CLIP, chunk.start, chunk.end, **values)[0]
        found = [row["time"] for row in parts], [row["time"] for row in whole]
        assert found[0] == found[1], (seed, values, found)
        tried += len(parts)
    return f"seed {seed}, {tried} frames"


def claims_cores_in_containers():
    assert sorted(cores._in_order({3, 1, 2})) == [1, 2, 3]
    with rig.folder() as folder:
        os.environ["GST_CUDATENSOR_CORE_LOCKS"] = str(folder)
        try:
            assert cores._in_order({3, 1, 2}) == [1, 2, 3]
            code = ("from gst_cudatensor.archive.cores import claim_cores; import time; "
                    "print(*claim_cores(1), flush=True); time.sleep(60)")
            command = [sys.executable, "-W", "ignore", "-c", code]
            if len(os.sched_getaffinity(0)) < 2:
                return "one core"
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as a, \
                    subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as b:
                claimed = a.stdout.readline(), b.stdout.readline()
                a.kill()
                b.kill()
            assert claimed[0] != claimed[1] and all(len(c.split()) == 1 for c in claimed), claimed
            assert list(folder.iterdir())
        finally:
            del os.environ["GST_CUDATENSOR_CORE_LOCKS"]


def knows_its_ray():
    cluster.check_version()
    found = cluster.metadata.version
    try:
        for version in ("2.59.1", "2.61.0", "3.0"):
            cluster.metadata.version = lambda _, version=version: version
            assert f"needs Ray 2.60.x, but Ray {version} " in rig.raises(ImportError, cluster.check_version)
    finally:
        cluster.metadata.version = found


def main():
    return rig.report([(case.__name__.replace("_", " "), case) for case in (
        reads_slow_servers, ends_silent_servers, tells_faults_apart, raises_errors_of_the_store,
        needs_no_proxy_for_stores, believes_stated_durations, counts_streams_to_a_limit,
        detects_ends_of_files, does_not_end_at_sparse_frames, lists_unreadable_files,
        does_not_wait_for_rights, splits_exactly, claims_cores_in_containers, knows_its_ray)])


if __name__ == "__main__":
    sys.exit(main())
