#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""hanging.py DECODER_DIR: tests that a file whose decoder hangs is given up and named, and one whose
decoder is slow is not. The decoder is that of decoder/decoder.c in DECODER_DIR."""
import os
import subprocess
import sys

import rig

rig.need("archive, hanging decoders")

HANGS = "its reader or decoder hangs and cannot be stopped"
JOBS = ('{"model": "embed=models:blocks", "batch": 30, "properties": {"width": 32, "height": 32}}',
        '{"model": "luminance"}')
READ = """
import os, sys, time
from gst_cudatensor.archive import options
from gst_cudatensor.archive.chunks import Chunk
from gst_cudatensor.archive.jobs import make_job
from gst_cudatensor.archive.worker import rows_of
wanted = options.Options(output="x", device="cpu", timeout=1.5, **{job})
begin, rows = time.monotonic(), []
try:
    error = rows_of(make_job(wanted), Chunk("c", "f", {path!r}, 0, 1, {start}, None), rows)
except Exception as fault:
    error = f"{{type(fault).__name__}}: {{fault}}"
print(len(rows), round(time.monotonic() - begin, 1), error, sep="|", flush=True)
os._exit(0)  # a decoder may still hang
"""


def read(path, job, start=0):
    """Reads a file from `start`, in seconds, in a process of its own. Returns the number of rows, the
    seconds and the error."""
    code = READ.format(job=job, path=str(path), start=int(start * 1e9))
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], text=True, timeout=90, check=True,
                          stdout=subprocess.PIPE)
    rows, seconds, error = done.stdout.strip().split("|")
    return int(rows), float(seconds), error


def waits_for_slow_decoders():
    """A batch of all frames, and the frames before the start of a chunk, take longer than the timeout.
    The decoder uses no processor time."""
    with rig.folder() as folder:
        video = rig.make_video(folder / "slow.webm", 2)
        took = []
        for job, start, expected in (JOBS[0].replace("30,", "60,"), 0, 60), (JOBS[1], 1.9, 1):
            rows, seconds, error = read(video, job, start)
            assert error == "None" and rows == expected and seconds > 3, (rows, seconds, error)
            took.append(seconds)
        return f"{took} s"


def gives_hanging_decoders_up():
    """The decoder uses processor time while it hangs."""
    with rig.folder() as folder:
        video = rig.make_video(folder / "hangs.webm", 1, size=(64, 48))
        for job in JOBS:
            _, seconds, error = read(video, job)
            assert error == f"HungError: no frame in 1.5 s; {HANGS}", error
            assert seconds < 20, seconds


def gives_hanging_files_up():
    """A FIFO without a writer hangs when it is opened, as a file does whose disk or server is gone."""
    with rig.folder() as folder:
        os.mkfifo(folder / "fifo.webm")
        for job, cause in zip(JOBS, ("PassingError: no frame in 1.5 s", f"HungError: {HANGS}")):
            rows, seconds, error = read(folder / "fifo.webm", job)
            assert rows == 0 and error == cause and seconds < 40, (rows, seconds, error)


def a_job_ends_and_names_the_file():
    """A decoder that hangs costs its worker, not the rows of other files."""
    import ray

    from gst_cudatensor.archive import Options, run

    with rig.folder() as folder:
        (folder / "videos").mkdir()
        for name, size in (("a", (160, 120)), ("hangs", (64, 48)), ("z", (160, 120))):
            rig.make_video(folder / f"videos/{name}.webm", 0.5, size=size)
        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        try:
            done = run([str(folder / "videos")], Options(
                output=str(folder / "out"), device="cpu", timeout=1.5, model="luminance"))
        finally:
            ray.shutdown()
        rows = rig.rows_in(folder / "out")
        assert rig.check_once(folder / "out", rows) == 3 and done.errors == 1, (done, rows)
        (hung,) = [row for row in rows if row["error"]]
        assert hung["uri"].endswith("/hangs.webm") and hung["retryable"], hung
        assert hung["error"] == f"no frame in 1.5 s; {HANGS}", hung
        assert [row["frames"] for row in rows if not row["error"]] == [15, 15], rows


def main():
    with rig.folder() as folder:
        os.environ["GST_PLUGIN_PATH_1_0"] += f":{os.path.abspath(sys.argv[1])}"
        os.environ["GST_REGISTRY"] = str(folder / "registry.bin")  # one without the decoder for other tests
        return rig.report([(case.__name__.replace("_", " "), case) for case in (
            waits_for_slow_decoders, gives_hanging_decoders_up, gives_hanging_files_up,
            a_job_ends_and_names_the_file)])


if __name__ == "__main__":
    sys.exit(main())
