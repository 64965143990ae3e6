#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests jobs of the archive with Ray on this machine: their rows equal those of plain loops, and
broken files do no harm."""
import contextlib
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import rig

rig.need("archive, jobs")

import numpy  # noqa: E402
import ray  # noqa: E402
from pyarrow import parquet  # noqa: E402

import models  # noqa: E402
from gst_cudatensor import Frames  # noqa: E402
from gst_cudatensor.archive import Options, run  # noqa: E402
from gst_cudatensor.archive.detections import boxes_of  # noqa: E402
from gst_cudatensor.archive.player import Player  # noqa: E402
from onnxfile import write_model  # noqa: E402

CPU = {"device": "cpu", "timeout": 10.0, "whole_below": 0}


def job(sources, output, **options):
    return run(map(str, sources), Options(**{"output": str(output), **CPU, **options}))


def luminance_equals_a_loop():
    with rig.folder() as folder:
        done = job([rig.CLIP], folder, model="luminance", chunk=2)
        rows = rig.rows_in(folder)
        assert done.computed == done.chunks == rig.check_once(folder) == 4 and done.errors == 0
        frames = {}
        with Player(str(rig.CLIP), 10) as player:
            for frame in player.histograms(0, None):
                bins = frames.setdefault(frame.stream_time // 10**9, [])
                bins.append(numpy.array(frame.bins, float))
        assert [row["time"] for row in rows] == list(frames)
        for row in rows:
            bins = sum(frames[row["time"]])
            mean = bins @ numpy.arange(256) / bins.sum()
            assert row["frames"] == len(frames[row["time"]]) and abs(row["mean"] - mean) < 1e-9
            share = bins.cumsum() / bins.sum()
            for name, part in (("p1", 0.01), ("median", 0.5), ("p99", 0.99)):
                assert row[name] == numpy.searchsorted(share, part), (row, name)
            assert abs(row["quantiles"][16] - row["median"]) <= 2
        assert parquet.read_table(str(folder / "verdicts")).num_rows == 0
        return f"{len(rows)} rows"


def luminance_does_not_depend_on_chunks():
    """Even the flicker is the same, although it is measured over the last seconds. A black video
    has its verdicts."""
    with rig.folder() as folder:
        videos = [rig.make_video(folder / "black.webm", 40, "videotestsrc pattern=black"),
                  rig.make_video(folder / "lamp.webm", 20, "videotestsrc pattern=blink")]
        found = []
        for chunk in (5, 1000):
            job(videos, folder / str(chunk), model="luminance", chunk=chunk)
            kept = [{name: row[name] for name in row if name not in ("chunk_id", "start", "end")}
                    for row in rig.rows_in(folder / str(chunk))]
            found.append((kept, parquet.read_table(str(folder / str(chunk) / "verdicts")).to_pylist()))
        assert found[0] == found[1] and len(found[0][0]) == 60
        names = sorted(verdict["verdict"] for verdict in found[0][1] if "black" in verdict["uri"])
        assert names == ["clipped-low", "frozen", "low-contrast", "too-dark"], names


def a_second_run_does_nothing():
    with rig.folder() as folder:
        first = rig.make_video(folder / "a.webm", 4)
        output = folder / "out"
        options = {"model": "embed=models:blocks", "every": "1s", "chunk": 2,
                   "properties": {"width": 32, "height": 32}}
        assert job([folder], output, **options).computed == 2
        files = sorted(output.rglob("*"))
        assert job([folder], output, **options).computed == 0
        assert sorted(output.rglob("*")) == files, "a run that has nothing to do writes files"
        rig.make_video(folder / "b.webm", 2)
        assert job([folder], output, **options, batch=3).computed == 1
        os.utime(first, (1, 1))
        assert job([folder], output, **options).computed == 2, "the file has changed"
        rig.check_once(output)
        try:
            job([folder], output, **{**options, "every": "2s"})
        except ValueError as error:
            assert "every was 1s, is 2s" in str(error), error
        else:
            raise AssertionError("rows of other options were added")


class Endless(BaseHTTPRequestHandler):
    """The video has no end and no length."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(b"YUV4MPEG2 W64 H48 F10:1 Ip A1:1 C420jpeg\n")
            while True:
                self.wfile.write(b"FRAME\n" + bytes([90]) * (64 * 48 * 3 // 2))

    def log_message(self, *_):
        pass


def broken_files_cost_their_own_rows():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endless = f"http://127.0.0.1:{server.server_address[1]}/endless.y4m"
    with rig.folder() as folder:
        clip = rig.CLIP.read_bytes()
        (folder / "bad.webm").write_bytes(b"no video at all")
        (folder / "cut.webm").write_bytes(clip[:len(clip) // 2])
        (folder / "empty.webm").touch()
        (folder / "good.webm").write_bytes(clip)
        (folder / "header.webm").write_bytes(clip[:200])
        os.mkfifo(folder / "pipe.webm")
        (folder / "zeros.mp4").write_bytes(bytes(100_000))
        for model, more in (("luminance", {}), ("embed=models:blocks", {"every": "1s", "properties": {
                "width": 32, "height": 32}})):
            output = folder / model.split("=")[0]
            done = job([folder, folder / "none.webm", endless], output, model=model, longest=30, **more)
            rows = rig.rows_in(output)
            assert rig.check_once(output) == done.computed == 9
            errors = {Path(row["uri"]).name: row["error"] for row in rows if row["error"]}
            assert sorted(errors) == ["bad.webm", "cut.webm", "empty.webm", "endless.y4m", "header.webm",
                                      "none.webm", "pipe.webm", "zeros.mp4"], errors
            assert done.errors == 8
            count = {name: sum(row["uri"].endswith(name) and row["error"] is None for row in rows)
                     for name in ("good.webm", "cut.webm", "endless.y4m", "bad.webm")}
            assert count["good.webm"] == 8 and 1 <= count["cut.webm"] < 8, count
            assert 30 <= count["endless.y4m"] <= 33 and count["bad.webm"] == 0, count
        return "; ".join(f"{name}: {error}" for name, error in sorted(errors.items()))


def a_deadly_file_costs_its_own_rows():
    with rig.folder() as folder:
        rig.make_video(folder / "black.webm", 1, "videotestsrc pattern=black")
        for i in range(4):
            rig.make_video(folder / f"{i}.webm", 1)
        output = folder / "out"
        job([folder], output, model="embed=models:deadly", every="1s", rows_per_file=1,
            properties={"width": 32, "height": 32, "mean": [16 / 255]})
        errors = {Path(row["uri"]).name: row["error"] for row in rig.rows_in(output) if row["error"]}
        assert rig.check_once(output) == 5
        assert errors == {"black.webm": "workers ended 3 times while they read it"}, errors


def a_file_that_is_deadly_to_open_costs_its_own_rows():
    """The tasks that read the durations of files load sitecustomize.py, which ends them."""
    with rig.folder() as folder:
        videos = [rig.make_video(folder / f"{name}.webm", 4) for name in ("a", "deadly", "z")]
        job(videos, folder / "out", model="luminance", chunk=1)
        rows = rig.rows_in(folder / "out")
        assert rig.check_once(folder / "out") == 4 + 1 + 4
        assert all(row["error"] is None for row in rows) and len(rows) == 12, rows


def a_file_without_seeks_is_one_chunk():
    """The server does not support ranges."""
    content = rig.CLIP.read_bytes()

    class Whole(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(content)

        def log_message(self, *_):
            pass

    with rig.folder() as folder, ThreadingHTTPServer(("127.0.0.1", 0), Whole) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = job([f"http://127.0.0.1:{server.server_address[1]}/clip.webm"], folder,
                   model="luminance", chunk=2)
        server.shutdown()
        assert (done.chunks, done.errors) == (1, 0), (done, rig.rows_in(folder))
        assert len(rig.rows_in(folder)) == 8


def a_file_that_cannot_be_converted_costs_its_own_rows():
    """The conversion does not support the file's matrix."""
    with rig.folder() as folder:
        subprocess.run(f"gst-launch-1.0 -q videotestsrc num-buffers=30 ! video/x-raw,format=I420,"
                       f"width=64,height=48,colorimetry=smpte240m ! x264enc ! h264parse ! mp4mux ! "
                       f"filesink location={folder}/odd.mp4".split(), check=True)
        rig.make_video(folder / "z.webm", 1)
        job([folder], folder / "out", model="embed=models:blocks", every="1s",
            properties={"width": 32, "height": 32})
        errors = {Path(row["uri"]).name: row["error"] for row in rig.rows_in(folder / "out")}
        assert "smpte240m" in errors["odd.mp4"] and errors["z.webm"] is None, errors


def options_may_change_before_there_are_rows():
    """If the model of a run cannot be used, its options may change, and the chunks with them."""
    with rig.folder() as folder:
        more = {"properties": {"width": 32, "height": 32}}
        rig.raises(Exception, job, [rig.CLIP], folder, model="embed=models:typo", every="1s", chunk=2,
                   **more)
        job([rig.CLIP], folder, model="embed=models:blocks", count=4, **more)
        assert rig.check_once(folder) == 1 and len(rig.rows_in(folder)) == 4
        different = rig.raises(ValueError, job, [rig.CLIP], folder, model="embed=models:blocks",
                               count=5, **more)
        assert "count" in different, different


def embeddings_equal_a_loop():
    with rig.folder() as folder:
        size = {"width": 64, "height": 32}
        for every in ("500ms", None):
            output = folder / str(every)
            job([rig.CLIP], output, model="embed=models:blocks", every=every, chunk=2, batch=4,
                properties=size)
            rows = rig.rows_in(output)
            assert rig.check_once(output) == 4
            times, vectors = [], []
            with Frames(str(rig.CLIP), batch=1, every=every, device="cpu", **size) as frames:
                for batch in frames:
                    times.append(int(batch.pts[0]) / 1e9)
                    vectors.append(models.blocks(batch)[0])
            assert [row["time"] for row in rows] == times, (rows, times)
            numpy.testing.assert_array_equal([row["embedding"] for row in rows], vectors)
            kind = parquet.read_table(str(output / "rows")).schema.field("embedding").type
            assert kind.list_size == 48, kind


def onnx_models_equal_a_loop():
    with rig.folder() as folder:
        for batch in ("N", 1, 3):
            means = write_model(folder / f"means{batch}.onnx", "means", (48, 64), batch)
            job([rig.CLIP], folder / f"m{batch}", model=str(means), every="1s", batch=4)
            got = numpy.array([row["embedding"] for row in rig.rows_in(folder / f"m{batch}")])
            with Frames(str(rig.CLIP), every="1s", width=64, height=48, device="cpu") as frames:
                expected = numpy.concatenate([numpy.asarray(b).mean((2, 3)) for b in frames])
            assert got.shape == expected.shape and numpy.abs(got - expected).max() < 1e-5
        boxes = write_model(folder / "boxes.onnx", "boxes", (2, 4))
        output = folder / "boxes"
        job([rig.CLIP], output, model=str(boxes), every="1s", confidence=0.5, columns=("time", "x0", "score"))
        got = [(row["time"], row["x0"], row["score"]) for row in rig.rows_in(output)]
        expected = []
        with Frames(str(rig.CLIP), every="1s", width=4, height=2, device="cpu") as frames:
            for batch in frames:
                found, scores, _ = boxes_of(numpy.asarray(batch).reshape(4, 6), 0.5)
                mapped = batch.map_boxes(found, 0)
                time = int(batch.pts[0]) / 1e9
                expected += [(time, box[0], score) for box, score in zip(mapped, scores)]
                expected += [] if len(found) else [(time, None, None)]
        assert len(got) == len(expected)
        for mine, theirs in zip(sorted(got, key=str), sorted(expected, key=str)):
            numpy.testing.assert_allclose(numpy.array(mine, float), numpy.array(theirs, float), 1e-5)
        assert "y0" not in parquet.read_table(str(output / "rows")).column_names


def errors_of_the_model_end_the_job():
    with rig.folder() as folder:
        for model, cause, properties in (
                ("embed=models:broken", "the model is broken", {}), ("embed=models:none", "none", {}),
                (str(folder / "none.onnx"), "none.onnx", {}),
                ("embed=models:blocks", "nonsense", {"nonsense": 1})):
            try:
                job([rig.CLIP], folder / "out", model=model, properties=properties)
            except Exception as error:  # pylint: disable=broad-except
                assert cause in str(error), error
            else:
                raise AssertionError(f"{model} is no error")


def workers_have_a_share_of_a_gpu():
    """Ray is told that there is a GPU, so this test needs none."""
    with rig.folder() as folder:
        for name, options in (("luminance", {}), ("embed=models:blocks", {
                "every": "1s", "properties": {"width": 32, "height": 32}})):
            done = job([rig.CLIP], folder / name[:5], model=name, chunk=4, num_gpus_per_worker=0.5,
                       **options)
            assert done.computed == 2 and done.errors == 0, done
            assert len(rig.rows_in(folder / name[:5])) == 8


def main():
    os.environ["CUDATENSOR_TEST_DEADLY"] = "deadly"
    ray.init("local", num_cpus=2, num_gpus=1, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    return rig.report([(case.__name__.replace("_", " "), case) for case in (
        luminance_equals_a_loop, luminance_does_not_depend_on_chunks, a_second_run_does_nothing,
        broken_files_cost_their_own_rows, a_deadly_file_costs_its_own_rows,
        a_file_that_is_deadly_to_open_costs_its_own_rows, a_file_without_seeks_is_one_chunk,
        a_file_that_cannot_be_converted_costs_its_own_rows, options_may_change_before_there_are_rows,
        embeddings_equal_a_loop, onnx_models_equal_a_loop, workers_have_a_share_of_a_gpu,
        errors_of_the_model_end_the_job)])


if __name__ == "__main__":
    sys.exit(main())
