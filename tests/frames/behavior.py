# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the behavior of Frames except the selection of frames: decoding, ends, threads, processes,
errors, lists of sources and live sources."""
import ctypes
import datetime
import gc
import http.server
import multiprocessing
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import numpy
from gst_cudatensor import Batch, ErrorCode, Frames, FramesError

ROOT = pathlib.Path(__file__).parents[2]
WEBM = ROOT / "pipelines/media/pedestrians.webm"
MP4 = ROOT / "pipelines/media/pedestrians-1080p.mp4"
SMALL = {"width": 32, "height": 24, "device": "cpu", "timeout": 20}
FRAMES = 79  # frames of WEBM, ten per second, with key frames at 0 s and 5 s


def frames_of(source=WEBM, **options):
    with Frames(source, **{**SMALL, **options}) as frames:
        return [(int(t), numpy.asarray(batch)[i].tobytes())
                for batch in frames for i, t in enumerate(batch.pts)]


def raises(code, function, *arguments, text="", **options):
    try:
        function(*arguments, **options)
    except FramesError as error:
        assert error.code == code, (error.code, code, error)
        assert text in str(error), error
        return error
    raise AssertionError(f"no error {code.name}")


# -------------------------------------------------------------------------------- what is decoded

DECODERS = r"(?:vp8dec|avdec_\w+|openh264dec)"


def log_of(categories, source, options):
    """Returns GStreamer's log of a process that reads the frames."""
    with tempfile.NamedTemporaryFile("r") as log:
        program = (f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); "
                   f"import behavior; behavior.frames_of({str(source)!r}, **{options!r})")
        environment = {**os.environ, "GST_DEBUG": categories, "GST_DEBUG_FILE": log.name,
                       "GST_DEBUG_NO_COLOR": "1"}
        subprocess.run([sys.executable, "-c", program], env=environment, check=True)
        return log.read()


def decoded(source, options):
    """Returns how many pictures reach the decoder."""
    return len(re.findall(rf"<{DECODERS}\d*:sink> calling chainfunction",
                          log_of("GST_SCHEDULING:5", source, options)))


def test_groups_without_a_wanted_frame_are_not_decoded():
    assert decoded(WEBM, {}) == FRAMES
    assert decoded(WEBM, {"every": "keyframes"}) == 2
    # The group from 5 s on is decoded up to the frame.
    assert decoded(WEBM, {"start": 5.2, "stop": 5.21}) == 3
    assert decoded(WEBM, {"every": "6s"}) == 1 + 11
    assert decoded(WEBM, {"every": 50}) == 2
    assert decoded(WEBM, {"count": 1}) == 1
    assert decoded(WEBM, {"count": 2}) == 1 + 29  # frames 0 and 78


def test_coded_frames_are_counted_without_a_decoder():
    """The first of two pipelines counts frames. It must not create a decoder, because a machine may
    only have decoders that it cannot use."""
    log = log_of("GST_ELEMENT_FACTORY:4", WEBM, {"count": 2})
    assert log.count('creating element "decodebin"') == 2, log
    assert len(re.findall(rf'creating element "{DECODERS}"', log)) == 1, log


# ------------------------------------------------------------------------------------- the batches

def test_large_pictures_are_not_held():
    """A frame's successors are known only after more than 64 MiB."""
    import clips
    from gi.repository import Gst

    Gst.init(None)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "large.avi"
        clips.run("videotestsrc pattern=snow num-buffers=24 ! "
                  "video/x-raw,format=I420,width=2560,height=1440,framerate=10/1 ! "
                  f"jpegenc quality=100 ! avimux ! filesink location={path}")
        assert path.stat().st_size > 24 * 4 << 20
        every = frames_of(path)
        assert len(every) == 24
        assert frames_of(path, every=7) == every[::7]
        assert frames_of(path, every=1.0) == every[::10]
        assert [t for t, _ in frames_of(path, every="keyframes")] == [t for t, _ in every]


def test_batch_tells_its_frames():
    with Frames(WEBM, **{**SMALL, "height": 32}, batch=16, resize_mode="ultralytics",
                dtype="float16", mean=[0.5, 0.5, 0.5]) as frames:
        assert (frames.width, frames.height, frames.frame_rate) == (768, 576, 10)
        assert abs(frames.duration - 7.9) < 0.2
        batches = list(frames)
    assert [len(batch) for batch in batches] == [16, 16, 16, 16, 15]
    first, last = batches[0], batches[-1]
    assert last.shape == (15, 3, 32, 32) and numpy.asarray(last).shape == last.shape
    assert last.nbytes == numpy.asarray(last).nbytes == 15 * 3 * 32 * 32 * 2
    assert first.dtype == "float16" and isinstance(first, Batch)
    assert first.pts.dtype == numpy.int64 and first.pts.tolist() == [i * 10**8 for i in range(16)]
    assert numpy.allclose(first.pts_seconds, numpy.arange(16) / 10)
    assert first.sources.tolist() == [0] * 16
    assert [g.src_width for g in last.geometry] == [768] * 15
    assert numpy.from_dlpack(last).shape == last.shape
    boxes = numpy.array([[0.0, 4.0, 32.0, 28.0]])
    assert numpy.allclose(last.map_boxes(boxes, 3), [[0, 0, 768, 576]])
    assert numpy.allclose(last.map_boxes(numpy.stack([boxes] * 15)), [[[0, 0, 768, 576]]] * 15)
    corners = [[[0, 0], [768, 0], [768, 576], [0, 576]]]
    assert numpy.allclose(last.map_boxes(boxes, 3, corners=True), corners)
    assert numpy.allclose(last.map_boxes(numpy.stack([boxes] * 15), corners=True), [corners] * 15)
    points = numpy.array([[0.0, 4.0], [16.0, 16.0]])
    assert numpy.allclose(last.map_points(points, 3), [[0, 0], [384, 288]])
    assert numpy.allclose(last.map_points([points] * 15), [[[0, 0], [384, 288]]] * 15)
    for wrong in (last.map_boxes, boxes), (last.map_points, points):
        try:
            wrong[0](wrong[1])
            raise AssertionError("values of one frame for all")
        except ValueError:
            pass
    assert "Batch" in repr(first)


def test_times_have_many_forms():
    expected = frames_of(every=0.5)
    assert len(expected) == 16
    for every in ("500ms", "0.5s", "0.5", datetime.timedelta(milliseconds=500)):
        assert frames_of(every=every) == expected, every
    assert frames_of(every="10 frames") == frames_of(every=10) == frames_of(every=1.0)


def test_wrong_arguments_are_refused_at_once():
    for options in ({"every": 0}, {"every": -1.0}, {"every": "often"}, {"count": 0}, {"batch": 0},
                    {"live": "never"}, {"start": "noon"}):
        try:
            Frames(WEBM, **options)
            raise AssertionError(options)
        except ValueError:
            pass
    for options in ({"every": 1.0, "count": 2}, {"start": 2, "stop": 1}, {"nonsense": 1},
                    {"dtype": "float99"}, {"width": -1}, {"device": "tpu"}, {"layout": "ncthw"}):
        raises(ErrorCode.SETTINGS, frames_of, **{**SMALL, **options})
    raises(ErrorCode.SETTINGS, frames_of, mean=[1, 2], text="mean")


def test_the_file_of_a_video_model_does_not_make_batches():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "video_preprocessor_config.json"
        path.write_text('{"video_processor_type": "VivitVideoProcessor", "size": 36, "crop_size": 32,'
                        '"do_sample_frames": true, "num_frames": 5}')
        for batch in 1, 2:
            with Frames(MP4, device="cpu", model_config=path, batch=batch, timeout=60) as frames:
                assert next(frames).shape == (batch, 3, 32, 32)


def test_batches_may_overlap():
    with Frames(MP4, **SMALL, batch=4, clip_hop=2) as frames:
        first, second = next(frames), next(frames)
        assert list(first.pts[2:]) == list(second.pts[:2])
        assert (numpy.asarray(first)[2:] == numpy.asarray(second)[:2]).all()


# ------------------------------------------------------------------------------------------- ends

def test_iteration_can_end_early():
    for _ in range(3):
        with Frames(MP4, **SMALL) as frames:
            batch = next(frames)
        assert numpy.asarray(batch).shape == (1, 3, 24, 32)  # stays valid
        raises(ErrorCode.CLOSED, next, frames)


def test_close_wakes_a_thread_that_waits():
    read, write = os.pipe()  # nothing is written
    frames = Frames(f"fd://{read}", **SMALL)
    failures = []

    def wait():
        try:
            next(frames)
        except FramesError as error:
            failures.append(error.code)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.3)
    begin = time.monotonic()
    frames.close()
    thread.join(10)
    assert not thread.is_alive() and time.monotonic() - begin < 5
    assert failures == [ErrorCode.CLOSED], failures
    os.close(write)
    os.close(read)


def test_threads_share_the_frames():
    times, lock = [], threading.Lock()
    with Frames(WEBM, **SMALL) as frames:
        def take():
            for batch in frames:
                with lock:
                    times.append(int(batch.pts[0]))

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(times) == [i * 10**8 for i in range(FRAMES)]


def test_timeout_is_an_error():
    read, write = os.pipe()
    with Frames(f"fd://{read}", **{**SMALL, "timeout": 0.3}) as frames:
        begin = time.monotonic()
        error = raises(ErrorCode.TIMEOUT, next, frames)
        assert 0.2 < time.monotonic() - begin < 5 and error.source == f"fd://{read}"
        os.close(write)
    os.close(read)


class MallInfo(ctypes.Structure):
    """Returns glibc's struct mallinfo2."""
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]


def usage():
    """Returns the numbers of open files and threads, and the allocated memory in kB. Resident
    memory depends on when the C library returns freed memory."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = MallInfo
    heap = mallinfo()
    return (len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")),
            (heap.uordblks + heap.hblkhd) // 1024)


def test_opening_and_closing_does_not_leak():
    options = [{}, {"count": 3}, {"every": "keyframes"}, {"start": 5.5}, {"batch": 4}]

    def open_and_close(times):
        for i in range(times):
            frames = Frames(WEBM, **SMALL, **options[i % len(options)])
            for batch in frames:
                if i % 2:
                    break
            if i % 3:
                frames.close()
            del frames
        gc.collect()

    sanitized = "libasan" in os.environ.get("LD_PRELOAD", "")
    open_and_close(40)
    time.sleep(1)
    # The heap varies by 2 MB. A leak grows each time. Files and threads need fewer rounds: twice all
    # combinations.
    for _ in range(3):
        before = usage()
        open_and_close(60 if sanitized else 200)
        time.sleep(1)
        after = usage()
        print("   files, threads, kB:", before, after)
        files, threads, heap = (b - a for a, b in zip(before, after))
        if files <= 1 and threads <= 3 and (sanitized or heap < 2000):
            return
    raise AssertionError((files, threads, heap))


# -------------------------------------------------------------------------------------- processes

def in_worker(frames):
    return [int(batch.pts[0]) for batch in frames]


def test_spawned_workers_open_their_own():
    frames = [Frames(WEBM, **SMALL, every=every) for every in (1.0, "keyframes")]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = pool.map(in_worker, frames)
    assert results == [[i * 10**9 for i in range(8)], [0, 5 * 10**9]]
    frames = pickle.loads(pickle.dumps(frames[1]))
    next(frames)
    try:
        pickle.dumps(frames)
        raise AssertionError("pickled while it is read")
    except TypeError:
        pass
    error = pickle.loads(pickle.dumps(FramesError(ErrorCode.FORMAT, "text", "x.mp4")))
    assert (error.code, str(error), error.source) == (ErrorCode.FORMAT, "text", "x.mp4")


def test_a_forked_process_gets_an_error():
    frames = Frames(WEBM, **SMALL)
    next(frames)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            for each in (frames, Frames(WEBM, **SMALL)):  # a new one would wait for ever
                try:
                    next(each)
                except RuntimeError as error:
                    os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    text = os.read(read, 1000).decode()
    os.close(read)
    assert text.count("fork") >= 2, text
    assert int(next(frames).pts[0]) == 10**8
    frames.close()


# ----------------------------------------------------------------------------------------- errors

def test_sound_is_left_out():
    import clips
    from gi.repository import Gst

    Gst.init(None)
    sound = "audiotestsrc num-buffers=80 ! audio/x-raw,format=S16LE,rate=22050,channels=1 ! "
    picture = "videotestsrc num-buffers=20 ! video/x-raw,width=64,height=48,framerate=10/1 ! "
    with tempfile.TemporaryDirectory() as folder:
        for coded, muxer in (("jpegenc", "matroskamux"), ("avenc_flv", "flvmux")):
            if Gst.ElementFactory.find(coded) is None:
                continue
            path = pathlib.Path(folder) / muxer
            clips.run(f"{picture} {coded} ! {muxer} name=mux ! filesink location={path} {sound} mux.")
            for _ in range(10):
                assert len(frames_of(path)) == 20
                assert len(frames_of(path, count=3)) == 3
        path = pathlib.Path(folder) / "sound.mkv"
        clips.run(f"{sound} matroskamux ! filesink location={path}")
        raises(ErrorCode.FORMAT, frames_of, path, text="no video")
        # A radio stream has no end.
        path = pathlib.Path(folder) / "radio.fifo"
        os.mkfifo(path)
        radio = subprocess.Popen(
            ["gst-launch-1.0", "-q", *sound.replace("num-buffers=80", "").split(), "matroskamux",
             "streamable=true", "!", "filesink", f"location={path}"])
        try:
            raises(ErrorCode.FORMAT, frames_of, path, text="no video")
        finally:
            radio.kill()
            radio.wait()


def test_fifos_are_read():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "pedestrians"
        os.mkfifo(path)
        for _ in range(10):
            writer = threading.Thread(target=lambda: path.write_bytes(WEBM.read_bytes()))
            writer.start()
            assert len(frames_of(path)) == FRAMES
            writer.join()
        raises(ErrorCode.SETTINGS, frames_of, path, count=3, text="FIFO")
        # Nobody writes to the FIFO.
        raises(ErrorCode.TIMEOUT, frames_of, path, timeout=0.2)


def test_unknown_properties_are_errors_each_time():
    for options in ({}, {"count": 3}):
        with Frames(MP4, nonsense=1, timeout=20, **options) as frames:
            for _ in range(2):
                raises(ErrorCode.SETTINGS, next, frames, text="nonsense")


def test_errors_name_the_source_and_the_cause():
    import clips

    with tempfile.TemporaryDirectory() as folder:
        def file(name, content):
            path = pathlib.Path(folder) / name
            path.write_bytes(content)
            return path

        sound = pathlib.Path(folder) / "sound.wav"
        subprocess.run(["gst-launch-1.0", "-q", "audiotestsrc", "num-buffers=20", "!", "wavenc", "!",
                        "filesink", f"location={sound}"], check=True)
        cases = [(pathlib.Path(folder) / "missing.mp4", ErrorCode.NOT_FOUND, "no such file"),
                 (folder, ErrorCode.SOURCE, "directory"),
                 ("file:///nowhere.mp4", ErrorCode.NOT_FOUND, "no such file"),
                 ("rtsp://127.0.0.1:1/x", ErrorCode.SOURCE, ""),
                 ("/dev/video77", ErrorCode.NOT_FOUND, "no such camera"),
                 (file("empty.mp4", b""), ErrorCode.FORMAT, ""),
                 (file("noise.mp4", bytes(range(256)) * 400), ErrorCode.FORMAT, ""),
                 (file("text.mp4", b"not a video\n" * 99), ErrorCode.FORMAT, ""),
                 (file("short.mp4", MP4.read_bytes()[:2000]), ErrorCode.FORMAT, ""),
                 (sound, ErrorCode.FORMAT, "no video")]
        for source, code, text in cases:
            for options in ({}, {"count": 3}):
                if options and str(source).startswith(("rtsp", "/dev")):
                    code, text = ErrorCode.SETTINGS, "count"
                error = raises(code, frames_of, source, text=text, **options)
                assert error.source == str(source) and str(source) in str(error), error
        error = raises(ErrorCode.FORMAT, frames_of, [WEBM, sound], text="no video")
        assert error.source == str(sound), error
        # The frames before the end are given.
        cut = file("cut.mp4", MP4.read_bytes()[:MP4.stat().st_size // 2])
        assert 10 < count_until_error(cut) < 74
        cut = file("cut.webm", WEBM.read_bytes()[:WEBM.stat().st_size // 2])
        assert 10 < count_until_error(cut) < FRAMES
        assert count_until_error(cut, count=8) == 8
        path = pathlib.Path(folder) / "whole.avi"
        clips.run(f"videotestsrc num-buffers=20 ! video/x-raw,width=64,height=48,framerate=10/1 "
                  f"! jpegenc ! avimux ! filesink location={path}")
        assert len(frames_of(path)) == 20
        assert 15 < count_until_error(file("cut.avi", path.read_bytes()[:-100])) <= 20


def test_a_demuxer_that_stops_is_an_error():
    """The error is kept even if parsebin drops its own, which depends on the threads."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "short.webm"
        path.write_bytes(WEBM.read_bytes()[:200])
        for _ in range(20):
            raises(ErrorCode.FORMAT, frames_of, path)


def test_a_source_that_cannot_start_is_stopped():
    """GStreamer reports elements that are freed while they run, which ends this test."""
    class Refusal(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_error(503)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusal) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/clip.webm"
        for _ in range(60):
            try:
                frames_of(url)
                raise AssertionError("no error")
            except FramesError as error:
                assert error.source == url
        server.shutdown()


def test_frames_before_an_error_are_given():
    """Frames of an incomplete batch are given, too."""
    content = WEBM.read_bytes()

    class Half(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.server.sent < 1:
                self.wfile.write(content[:len(content) // 2])
            self.server.sent += 1

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Half) as server:
        server.sent = 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/clip.webm"
        count = 0
        with Frames(url, batch=64, **SMALL) as frames:
            try:
                for batch in frames:
                    count += len(batch)
            except FramesError as error:
                assert error.source == url, error
        assert 10 < count < FRAMES, count
        server.shutdown()


def test_a_format_that_the_element_refuses_is_an_error_of_the_file():
    import clips

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "smpte240m.mp4"
        clips.run("videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=64,height=48,"
                  f"colorimetry=smpte240m ! x264enc ! h264parse ! mp4mux ! filesink location={path}")
        raises(ErrorCode.FORMAT, frames_of, path, text="smpte240m")
        assert len(frames_of(path, color="gray")) == 5


def count_until_error(source, **options):
    count = 0
    try:
        for batch in Frames(source, **{**SMALL, **options}):
            count += len(batch)
    except FramesError as error:
        assert error.code == ErrorCode.FORMAT and "truncated" in str(error), error
        return count
    raise AssertionError(f"no error for {source}, which is cut, after {count} frames")


# ------------------------------------------------------------------------------- several and live

def test_a_batch_has_a_frame_of_each_source():
    alone = [dict(frames_of(source, every=1.0)) for source in (WEBM, MP4)]
    with Frames([WEBM, MP4], **SMALL, every=1.0) as frames:
        batches = list(frames)
    assert len(batches) == 8
    for k, batch in enumerate(batches):
        assert batch.shape == (2, 3, 24, 32) and batch.sources.tolist() == [0, 1]
        assert batch.pts.tolist() == [k * 10**9] * 2
        for i in range(2):
            assert numpy.asarray(batch)[i].tobytes() == alone[i][k * 10**9]
        assert [g.src_width for g in batch.geometry] == [768, 1920]
    with Frames([WEBM, MP4], **SMALL, count=4) as frames:
        assert [batch.pts.tolist() for batch in frames][0] == [0, 0]
    with Frames([WEBM, MP4], **SMALL, start=7.4) as frames:
        rest = list(frames)
    assert [batch.sources.tolist() for batch in rest] == [[0, -1]] * 5, rest
    assert numpy.isnan(rest[0].pts_seconds[1]) and rest[0].geometry[1] is None


def test_rtsp_drops_or_blocks():
    try:
        import gi
        gi.require_version("GstRtspServer", "1.0")
    except (ImportError, ValueError):
        return print("   skipped: no RTSP server")
    server = subprocess.Popen([sys.executable, ROOT / "tests/apps/rtspserver.py"],
                              stdout=subprocess.PIPE, text=True)
    try:
        uri = f"rtsp://127.0.0.1:{int(server.stdout.readline())}/live"
        with Frames(uri, **SMALL) as frames:
            assert (frames.width, frames.height, frames.duration) == (320, 240, None)
            first = next(frames).pts_seconds[0]
            time.sleep(2)
            times = [next(frames).pts_seconds[0] for _ in range(4)]
        assert times[0] - first > 1 and numpy.all(numpy.diff(times) > 0), (first, times)
        with Frames(uri, **SMALL, live="block", batch=2, every=3) as frames:
            batches = [next(frames) for _ in range(3)]
        times = numpy.concatenate([batch.pts_seconds for batch in batches])
        # A busy server may send several frames of the same time at once.
        assert times.shape == (6,) and numpy.all(numpy.diff(times) > 0), times
        assert times[-1] - times[0] > 1, times
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def main():
    failed = 0
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    for name, test in tests:
        if len(sys.argv) > 1 and not any(each in name for each in sys.argv[1:]):
            continue
        begin = time.monotonic()
        try:
            test()
            print(f"ok {name} {time.monotonic() - begin:.1f} s", flush=True)
        except Exception:
            failed += 1
            traceback.print_exc()
            print(f"FAILED {name}", flush=True)
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
