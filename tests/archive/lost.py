#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that each chunk is in the rows once after a worker, a node or the job itself is lost.

usage: lost.py              the tests
       lost.py --seconds    the times of a job, without and with a lost worker and a lost node
"""
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import rig

rig.need("archive, lost workers")

import ray  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

from gst_cudatensor.archive import Options, run  # noqa: E402

VIDEOS, SECONDS = 20, 2
MODEL = {"model": "embed=models:Gated", "device": "cpu", "rows_per_file": 1, "batch": 8,
         "properties": {"width": 32, "height": 32}}
COMMAND = ["--model", "embed=models:Gated", "--device", "cpu", "--rows-per-file", "1", "--batch",
           "8", "--set", "width=32", "--set", "height=32"]


def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def workers_of(node):
    """Returns the processes of a node's actors that read videos."""
    raylets = {info.process.pid for info in node.all_processes["raylet"]}
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"MapWorker" in (folder / "cmdline").read_bytes() and parent_of(folder.name) in raylets:
                found.append(int(folder.name))
        except OSError:
            pass  # it has ended
    return found


def written(output):
    """Returns the number of chunks whose rows are written."""
    folder = Path(output) / "checkpoint"
    return len([path for path in folder.glob("*.parquet") if ".pending" not in path.name])


def wait_for(condition, seconds=200):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.05)


class Job(threading.Thread):
    """Runs a job in the background. finish() waits for it."""

    def __init__(self, videos, output):
        super().__init__(daemon=True)
        self._work, self._result, self._error = (videos, output), None, None
        self.start()

    def run(self):
        videos, output = self._work
        try:
            self._result = run([str(videos)], Options(output=str(output), **MODEL))
        except Exception as error:  # pylint: disable=broad-except
            self._error = error

    def finish(self):
        self.join(300)
        assert not self.is_alive(), "the job does not end"
        if self._error:
            raise self._error
        return self._result


class Rig:
    """A cluster of two nodes on this machine, each with one core, and videos."""

    def __init__(self, folder):
        self.folder, self.videos = folder, folder / "videos"
        self.videos.mkdir()
        first = rig.make_video(self.videos / "0.webm", SECONDS).read_bytes()
        for i in range(1, VIDEOS):
            (self.videos / f"{i}.webm").write_bytes(first)
        self.gate = folder / "gate"
        os.environ["CUDATENSOR_TEST_GATE"] = str(self.gate)  # the nodes inherit it
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        self.other = self.cluster.add_node(num_cpus=1)
        ray.init(address=self.cluster.address, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False

    def replace_node(self):
        self.other = self.cluster.add_node(num_cpus=1)
        self.cluster.wait_for_nodes()

    def run(self, name, lose):
        """Runs a job; calls `lose` when both nodes work and rows are written. Returns the seconds of
        the job."""
        output = self.folder / name
        self.gate.unlink(missing_ok=True)
        begin = time.monotonic()
        job = Job(self.videos, output)
        wait_for(lambda: not job.is_alive() or written(output) >= 2 and workers_of(self.other))
        if not job.is_alive():
            job.finish()  # raises its error
        lose()
        assert written(output) < VIDEOS - 2, "too late to be in the middle"
        self.gate.touch()
        done = job.finish()
        seconds = time.monotonic() - begin
        assert done.computed == done.chunks == VIDEOS and done.errors == 0, done
        rows = rig.rows_in(output)
        assert rig.check_once(output, rows) == VIDEOS
        assert len(rows) == VIDEOS * SECONDS * rig.FRAMES_PER_SECOND, len(rows)
        return seconds

    def lose_worker(self):
        pids = workers_of(self.other)
        assert pids, "the second node has no worker"
        os.kill(pids[0], signal.SIGKILL)

    def lose_node(self):
        assert workers_of(self.other), "the second node has no worker"
        self.cluster.remove_node(self.other, allow_graceful=False)


def tests(cluster):
    def loses_a_worker():
        return f"{cluster.run('worker', cluster.lose_worker):.1f} s"

    def loses_a_node():
        return f"{cluster.run('node', cluster.lose_node):.1f} s"

    def loses_the_job():
        """The written rows stay, and the next run computes only the others."""
        output = cluster.folder / "job"
        cluster.gate.unlink(missing_ok=True)
        command = [sys.executable, "-m", "gst_cudatensor.archive", str(cluster.videos), "--output",
                   str(output), *COMMAND]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True) as job:
            wait_for(lambda: written(output) >= 2)
            os.killpg(job.pid, signal.SIGKILL)
        cluster.gate.touch()
        done = run([str(cluster.videos)], Options(output=str(output), **MODEL))
        before = VIDEOS - done.computed
        assert 2 <= before < VIDEOS - 2, before
        assert rig.check_once(output) == VIDEOS
        assert not list((output / "checkpoint").glob("*.pending*"))
        return f"{before} of {VIDEOS} were kept"

    return [(case.__name__.replace("_", " "), case)
            for case in (loses_a_worker, loses_a_node, loses_the_job)]


def print_seconds(cluster, rounds=3):
    """Prints the medians of paired, alternating rounds."""
    kinds = {"nothing is lost": lambda: None, "a worker is lost": cluster.lose_worker,
             "a node is lost": cluster.lose_node}
    seconds = {kind: [] for kind in kinds}
    for number in range(rounds):
        for kind, lose in kinds.items():
            seconds[kind].append(cluster.run(f"{kind} {number}", lose))
            if kind == "a node is lost":
                cluster.replace_node()
    for kind, measured in seconds.items():
        print(f"{kind}: {sorted(measured)[rounds // 2]:.1f} s of {[round(s, 1) for s in measured]}")


def main():
    with rig.folder() as folder:
        cluster = Rig(folder)
        try:
            if "--seconds" in sys.argv:
                return print_seconds(cluster)
            return rig.report(tests(cluster))
        finally:
            ray.shutdown()
            cluster.cluster.shutdown()


if __name__ == "__main__":
    sys.exit(main())
