#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times jobs of the archive on this machine: with one worker and with two, each on a core, in
alternating pairs. Needs Ray: tests/bench/archive.sh fetches it.

usage: archive.py [--files N] [--rounds N]
"""
import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import ray

from gst_cudatensor.archive import Options, run

CLIP = Path(__file__).resolve().parents[2] / "pipelines/media/pedestrians-1080p.mp4"
FRAMES = 74  # of the clip
JOBS = {"luminance": {"model": "luminance"},
        "every frame to 224x224": {"model": "embed=archive:means", "batch": 16, "properties": {
            "width": 224, "height": 224}}}


def means(batch):
    """A model that costs nothing."""
    import numpy

    return numpy.asarray(batch)[:, :, 0, 0]


def seconds_of(folder, files, workers, job):
    with tempfile.TemporaryDirectory(dir=folder) as output:
        begin = time.monotonic()
        done = run([str(files)], Options(output=output, device="cpu", concurrency=workers, **job))
        seconds = time.monotonic() - begin
        assert done.errors == 0 and done.computed == len(list(files.iterdir())), done
        return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    os.environ["PYTHONPATH"] = f"{os.environ.get('PYTHONPATH', '')}:{Path(__file__).parent}"
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "files"
        files.mkdir()
        for i in range(given.files):
            (files / f"{i:03}.mp4").symlink_to(CLIP)
        for name, job in JOBS.items():
            pairs = [[seconds_of(folder, files, workers, job) for workers in (1, 2)]
                     for _ in range(given.rounds)]
            one, two = (statistics.median(column) for column in zip(*pairs))
            factor = statistics.median(a / b for a, b in pairs)
            print(f"{name}: {given.files * FRAMES / one:.0f} frames/s with one worker, "
                  f"{given.files * FRAMES / two:.0f} with two: {factor:.2f} times; "
                  f"{[[round(s, 1) for s in pair] for pair in pairs]} s", flush=True)


if __name__ == "__main__":
    main()
