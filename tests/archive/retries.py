#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests temporary faults, locks and resumed runs with Ray on this machine."""
import contextlib
import io
import json
import os
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import rig

rig.need("archive, retries")

import pyarrow  # noqa: E402
import ray  # noqa: E402
from pyarrow import fs, parquet  # noqa: E402

from gst_cudatensor.archive import Options, judging, lock, pipeline, run, store, verdicts  # noqa: E402
from gst_cudatensor.archive.retry import forget_errors  # noqa: E402
from gst_cudatensor.archive.worker import MOST_ATTEMPTS, Attempts, _no_attempt_left  # noqa: E402

CPU = {"device": "cpu", "timeout": 10.0, "whole_below": 0, "every": "1s",
       "properties": {"width": 32, "height": 32}}


def job(sources, output, **options):
    return run(map(str, sources), Options(**{"output": str(output), **CPU, **options}))


def make_videos(folder):
    (folder / "videos").mkdir()
    for name in "ab":
        rig.make_video(folder / f"videos/{name}.webm", 2)
    (folder / "videos/c.webm").write_bytes(b"no video")
    return folder / "videos"


def retries_temporary_faults():
    """The model lacks memory: twice, then in all attempts, then with --retry-errors."""
    with rig.folder() as folder:
        videos, gate = make_videos(folder), GATE  # read by the model
        gate.write_text(json.dumps({"failures": 2}))
        done = job([videos], folder / "a", model="embed=models:scarce")
        rows = rig.rows_in(folder / "a")
        assert done.errors == 1 and rig.check_once(folder / "a", rows) == 3, done
        assert sum(row["error"] is None for row in rows) == 6
        gate.write_text(json.dumps({"failures": 10**9}))
        count, kept = Path(f"{gate}.failures"), pipeline._MOST_TASKS
        count.unlink()
        pipeline._MOST_TASKS = 1  # all chunks are in one task, which Ray repeats as a whole
        try:
            done = job([videos], folder / "b", model="embed=models:scarce")
        finally:
            pipeline._MOST_TASKS = kept
        assert len(count.read_text()) == 2 * MOST_ATTEMPTS + 2, "the last two to describe the model"
        rows = rig.rows_in(folder / "b")
        assert done.errors == 3 and rig.check_once(folder / "b", rows) == 3, done
        errors = {Path(row["uri"]).name: (row["error"], row["retryable"]) for row in rows}
        assert errors["c.webm"][1] is False, errors
        for name in ("a.webm", "b.webm"):
            assert "out of memory" in errors[name][0] and errors[name][1] is True, errors
        gate.write_text("{}")
        same = {"model": "embed=models:scarce"}
        assert job([videos], folder / "b", **same).computed == 0
        # Only errors of this run's sources are retried.
        done = job([videos / "a.webm"], folder / "b", **same, retry_errors="retryable")
        assert (done.computed, done.errors) == (1, 0), done
        assert rig.check_once(folder / "b", rig.rows_in(folder / "b")) == 3
        done = job([videos], folder / "b", **same, retry_errors="retryable")
        assert (done.computed, done.errors) == (1, 0), done
        rows = rig.rows_in(folder / "b")
        assert rig.check_once(folder / "b", rows) == 3
        assert [row["error"] is None for row in rows] == [True] * 6 + [False]
        done = job([videos], folder / "b", **same, retry_errors="all")
        assert (done.computed, done.errors) == (1, 1), done
        rig.check_once(folder / "b")
        assert not list((folder / "b").glob("forgotten*"))


def names_all_errors_of_a_chunk():
    attempts = Attempts()
    for number in range(1, MOST_ATTEMPTS + 2):
        begun, before = attempts.begin("c")
        assert begun == number
        if number == 1:
            attempts.add_fault("c", "disk")
    assert _no_attempt_left(before) == "workers ended 2 times while they read it, after other faults: disk"
    attempts.finish("c", True)
    assert attempts.begin("c") == (1, []) and attempts.failed() == {"c"}


def completes_an_interrupted_run():
    """The earlier run was killed while it removed rows."""
    with rig.folder() as folder:
        videos, output = make_videos(folder), folder / "out"
        job([videos], output, model="embed=models:blocks")
        ids = [row["chunk_id"] for row in rig.rows_in(output) if row["uri"].endswith("a.webm")][:1]
        parquet.write_table(pyarrow.table({"chunk_id": ids}), str(output / "forgotten.parquet"))
        for path in (output / "rows").glob("*.parquet"):  # the part that was done
            table = parquet.read_table(str(path))
            kept = [name not in ids for name in table["chunk_id"].to_pylist()]
            parquet.write_table(table.filter(pyarrow.array(kept)), str(path))
        assert job([videos], output, model="embed=models:blocks").computed == 1
        assert rig.check_once(output) == 3


def ignores_partial_files():
    with rig.folder() as folder:
        videos, output = make_videos(folder), folder / "out"
        job([videos], output, model="embed=models:blocks")
        options = Options(output=str(output), model="embed=models:blocks", **CPU)
        half = output / "rows/half.parquet"
        half.write_bytes(b"PAR1 and then nothing")
        results = store.Store(options)
        assert forget_errors(results, "all", set(results.chunks.read()["file_id"].to_pylist())) == 1
        half.unlink()
        assert job([videos], output, model="embed=models:blocks").computed == 1
        assert rig.check_once(output) == 3


def one_run_at_a_time():
    with rig.folder() as folder:
        videos, output = make_videos(folder), folder / "out"
        GATE.write_text(json.dumps({"wait": True}))
        errors = []

        def first():
            try:
                job([videos], output, model="embed=models:scarce")
            except Exception as error:  # pylint: disable=broad-except
                errors.append(error)
        thread = threading.Thread(target=first)
        thread.start()
        end = time.monotonic() + 60
        while not (output / "lock.json").exists() and time.monotonic() < end:
            time.sleep(0.05)
        command = [sys.executable, "-W", "ignore", "-m", "gst_cudatensor.archive", str(videos), "--output",
                   str(output), "--model", "embed=models:scarce", "--device", "cpu", "--every", "1s",
                   "--whole-below", "0", "--set", "width=32", "--set", "height=32"]
        second = subprocess.run(command, text=True, check=False, timeout=60, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        GATE.write_text("{}")
        thread.join()
        lines = second.stderr.strip().splitlines()
        assert second.returncode == 1 and len(lines) == 1, (second.returncode, second.stderr)
        assert lines[0].startswith("error: ") and "in use by process" in lines[0], lines
        assert not errors and rig.check_once(output) == 3, errors
        assert not list(output.glob("lock.json*"))
        return lines[0]


def takes_over_abandoned_locks():
    """The lock of an ended process is taken over at once, and that of another machine when it is
    old."""
    with rig.folder() as folder:
        store, path = fs.LocalFileSystem(), folder / "lock.json"

        def hold():
            with lock.Lock(store, str(path), "out") as held:
                held.check()
                return json.loads(path.read_text())
        mine = hold()
        assert not path.exists() and mine["process"] == os.getpid()
        path.write_text(json.dumps({**mine, "begin": "1"}))  # the number was given to another process
        hold()
        other = {**mine, "machine": "another", "host": "host7"}
        path.write_text(json.dumps({**other, "time": time.time() - 5}))
        assert "host7" in rig.raises(lock.OutputInUse, hold)
        path.write_text(json.dumps({**other, "time": time.time() - lock.STALE - 1}))
        hold()
        path.write_text("")
        assert "in use" in rig.raises(lock.OutputInUse, hold)
        os.utime(path, (1, 1))
        hold()
        # Simulates a store without exclusive creation.
        with lock.Lock(fs.SubTreeFileSystem(str(folder), store), "lock.json", "out"):
            assert "in use" in rig.raises(lock.OutputInUse, hold)
        assert not path.exists()


class ObjectStore:
    """A store that replaces whole files, with the functions that a lock uses."""

    def __init__(self):
        self._files = {}

    def get_file_info(self, path):
        kind = fs.FileType.File if path in self._files else fs.FileType.NotFound
        return types.SimpleNamespace(type=kind, mtime_ns=None)

    def open_input_file(self, path):
        if path not in self._files:
            raise FileNotFoundError(path)
        return io.BytesIO(self._files[path])

    @contextlib.contextmanager
    def open_output_stream(self, path):
        written = io.BytesIO()
        yield written
        self._files[path] = written.getvalue()

    def delete_file(self, path):
        del self._files[path]


def only_one_takes_a_lock():
    with rig.folder() as folder:
        for store, path in ((fs.LocalFileSystem(), str(folder / "lock.json")), (ObjectStore(), "lock.json")):
            for left in (None, {"time": 0, "run": "x"}):
                if left is not None:
                    with store.open_output_stream(path) as file:
                        file.write(json.dumps(left).encode())
                held, refused, ready = [], [], threading.Barrier(5)

                def take(store=store, path=path):
                    ready.wait()
                    try:
                        with lock.Lock(store, path, "out"):
                            held.append(1)
                            time.sleep(4)
                    except lock.OutputInUse:
                        refused.append(1)
                threads = [threading.Thread(target=take) for _ in range(5)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert (len(held), len(refused)) == (1, 4), (len(held), len(refused), left)
                assert store.get_file_info(path).type == fs.FileType.NotFound


def a_lost_lock_ends_the_run():
    with rig.folder() as folder:
        path, called = folder / "lock.json", threading.Event()
        beat, lock.HEARTBEAT = lock.HEARTBEAT, 0.1
        try:
            with lock.Lock(fs.LocalFileSystem(), str(path), "out") as held:
                held.when_lost(lambda reason: called.set())
                first = json.loads(path.read_text())["time"]
                time.sleep(0.5)
                assert json.loads(path.read_text())["time"] > first, "no heartbeat"
                path.write_text(json.dumps({"run": "other", "host": "host7", "process": 1, "time": 0}))
                assert called.wait(5)
                assert "host7" in rig.raises(lock.OutputInUse, held.check)
            assert path.exists(), "the lock of another run was deleted"
        finally:
            lock.HEARTBEAT = beat


def refuses_other_embeddings():
    with rig.folder() as folder:
        videos, output = make_videos(folder), folder / "out"
        GATE.write_text("{}")
        job([videos], output, model="embed=models:scarce")
        rig.make_video(videos / "d.webm", 1)
        for changed, name in (({"type": "float16"}, "48 numbers of float16"),
                              ({"numbers": 6}, "6 numbers of float32")):
            GATE.write_text(json.dumps(changed))
            message = rig.raises(ValueError, job, [videos], output, model="embed=models:scarce")
            assert "48 numbers of float32" in message and name in message, message
        GATE.write_text("{}")
        assert job([videos], output, model="embed=models:scarce").computed == 1
        return message


def judges_in_windows():
    """Rows of many chunks in shuffled files give the same verdicts as all rows at once."""
    usual = {"mean": 120.0, "p5": 20, "p95": 220, "clipped_low": 0.0, "clipped_high": 0.0,
             "flicker": 0.0, "still": False, "quantiles": list(range(100, 132))}
    with rig.folder() as folder:
        rows, expected = [], []
        for name in ("a", "b", "c"):
            length = {"a": 3000, "b": 40, "c": 700}[name]
            own = [{**usual, "uri": name, "file_id": name, "start": float(i // 120 * 120),
                    "time": float(i), "last_time": i + 0.9, "first_digest": bytes([i % 250]),
                    "last_digest": bytes([i % 250, 1]), "mean": 30.0 if i % 500 > 470 else 120.0}
                   for i in range(length)]
            expected += [{"uri": name, "file_id": name, **verdict} for verdict in verdicts.judge(own)]
            rows += [own[i:i + 120] for i in range(0, length, 120)]
        chunks = [rows[(i * 7) % len(rows)] for i in range(len(rows))]
        assert len(rows) % 7, "not all chunks"
        for i in range(0, len(chunks), 4):
            table = pyarrow.Table.from_pylist(sum(chunks[i:i + 4], []))
            parquet.write_table(table, str(folder / f"{i}.parquet"))
        store = fs.LocalFileSystem()
        index = judging.index_of(store, sorted(map(str, folder.glob("*.parquet"))))
        kept = judging.WINDOW, judging._TASK, judging._rows_of_window
        windows = []

        def count(window, filesystem):
            windows.append(sum(window["rows"].to_pylist()))
            return kept[2](window, filesystem)
        try:
            judging.WINDOW, judging._TASK, judging._rows_of_window = 300, 1000, count
            tasks = list(judging.tasks_of(index))
            found = [verdict for task in tasks for verdict in judging.judge_part(
                pyarrow.table(task), store, True).to_pylist()]
        finally:
            judging.WINDOW, judging._TASK, judging._rows_of_window = kept
        assert max(windows) <= 300 and sum(windows) == 3740, windows
        def order(verdict):
            return verdict["uri"], verdict["start"]
        assert sorted(found, key=order) == sorted(expected, key=order) and len(found) == 7, len(found)
        assert len(tasks) > 1 and not set(tasks[0]["file_id"]) & set(tasks[1]["file_id"])
        return f"{len(windows)} windows, {len(tasks)} tasks"


def key_frames_are_no_gaps():
    """The clip has a key frame every eight seconds."""
    with rig.folder() as folder:
        line = (f"videotestsrc pattern=ball num-buffers=300 ! video/x-raw,format=I420,width=64,height=48,"
                f"framerate=10/1 ! vp8enc deadline=1 keyframe-max-dist=80 ! webmmux ! filesink "
                f"location={folder / 'a.webm'}")
        subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)
        job([folder / "a.webm"], folder / "out", model="luminance", every="keyframes", properties={})
        rows = rig.rows_in(folder / "out")
        assert len(rows) == 4 and rows[1]["time"] == 8, rows
        found = parquet.read_table(str(folder / "out/verdicts")).to_pylist()
        assert "no-frames" not in [verdict["verdict"] for verdict in found], found


GATE = None


def chosen(cases):
    return [case for case in cases if len(sys.argv) < 2 or case.__name__ in sys.argv]


def main():
    global GATE  # pylint: disable=global-statement
    with rig.folder() as folder:
        GATE = folder / "gate"
        os.environ["CUDATENSOR_TEST_GATE"] = str(GATE)  # workers inherit it
        GATE.write_text("{}")
        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        return rig.report([(case.__name__.replace("_", " "), case) for case in chosen((
            retries_temporary_faults, names_all_errors_of_a_chunk, completes_an_interrupted_run,
            ignores_partial_files, one_run_at_a_time, takes_over_abandoned_locks, only_one_takes_a_lock,
            a_lost_lock_ends_the_run, refuses_other_embeddings, judges_in_windows, key_frames_are_no_gaps))])


if __name__ == "__main__":
    sys.exit(main())
