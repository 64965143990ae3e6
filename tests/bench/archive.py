#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times jobs of the archive on this machine: with one worker and with two, each on a core, in
alternating pairs; with --gpu-workers, with one GPU and with two, each with N workers. With
--fewer-files, each job also runs with that many files, and the start is subtracted. Needs Ray,
which tests/bench/archive.sh downloads.

usage: archive.py [--files N] [--fewer-files N] [--rounds N] [--job NAME] [--clip FILE]
                  [--gpu-workers N]
"""
import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import ray

from gst_cudatensor import Frames
from gst_cudatensor.archive import Options, run

CLIP = Path(__file__).resolve().parents[2] / "pipelines/media/pedestrians-1080p.mp4"
JOBS = {"luminance": {"model": "luminance"},
        "every frame to 224x224": {"model": "embed=archive:means", "batch": 16, "properties": {
            "width": 224, "height": 224}}}


def means(batch):
    """A model that costs nothing."""
    import numpy

    if batch.__dlpack_device__()[0] == 1:  # the CPU
        return numpy.asarray(batch)[:, :, 0, 0]
    import torch

    return torch.from_dlpack(batch)[:, :, 0, 0].cpu().numpy()


def placement(units, gpu_workers):
    """Returns options for a number of cores, or of GPUs with this many workers each."""
    if not gpu_workers:
        return {"device": "cpu", "concurrency": units}
    return {"device": "cuda", "concurrency": units * gpu_workers,
            "num_gpus_per_worker": 1 / gpu_workers}


def keep_gpus_awake():
    """Keeps the GPUs initialized. Otherwise the driver may take seconds to start them."""
    import torch

    return [torch.zeros(1, device=f"cuda:{i}") for i in range(torch.cuda.device_count())]


def seconds_of(folder, files, **options):
    with tempfile.TemporaryDirectory(dir=folder) as output:
        begin = time.monotonic()
        done = run([str(files)], Options(output=output, **options))
        seconds = time.monotonic() - begin
        assert done.errors == 0 and done.computed == len(list(files.iterdir())), done
        return seconds


def frames_in(clip, device):
    with Frames(str(clip), device=device, width=16, height=16, batch=64) as frames:
        return sum(len(batch) for batch in frames)


def links_to(clip, folder, count):
    files = folder / f"{count} files"
    files.mkdir()
    for i in range(count):
        (files / f"{i:03}.mp4").symlink_to(clip.resolve())
    return files


def print_factor(what, frames, unit, rounds):
    """`rounds`: a pair of seconds for `frames`, with one unit and with two, for each round."""
    one, two = (statistics.median(column) for column in zip(*rounds))
    factor = statistics.median(a / b for a, b in rounds)
    print(f"{what}: {frames / one:.0f} frames/s with one {unit}, {frames / two:.0f} with two: "
          f"{factor:.2f} times; {[[round(s, 1) for s in pair] for pair in rounds]} s", flush=True)


def time_job(name, folder, given, frames):
    """Prints the factors; `frames` is the number of frames of a file."""
    unit = "GPU" if given.gpu_workers else "worker"
    counts = [count for count in (given.fewer_files, given.files) if count]
    samples = [folder / f"{count} files" for count in counts]
    rounds = [[[seconds_of(folder, files, **JOBS[name], **placement(units, given.gpu_workers))
                for files in samples] for units in (1, 2)] for _ in range(given.rounds)]
    print_factor(name, given.files * frames, unit,
                 [[seconds[-1] for seconds in pair] for pair in rounds])
    if given.fewer_files:
        print_factor(f"{name}, without the start", (given.files - given.fewer_files) * frames,
                     unit, [[more - fewer for fewer, more in pair] for pair in rounds])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--fewer-files", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--job", choices=JOBS, action="append")
    parser.add_argument("--clip", type=Path, default=CLIP)
    parser.add_argument("--gpu-workers", type=int, default=0)
    given = parser.parse_args()
    os.environ["PYTHONPATH"] = f"{os.environ.get('PYTHONPATH', '')}:{Path(__file__).parent}"
    ray.init("local", num_cpus=None if given.gpu_workers else 2, include_dashboard=False,
             log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    kept = keep_gpus_awake() if given.gpu_workers else []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in {given.files, given.fewer_files} - {0}:
            links_to(given.clip, folder, count)
        frames = frames_in(given.clip, "cuda" if given.gpu_workers else "cpu")
        for job in given.job or JOBS:
            time_job(job, folder, given, frames)
    del kept


if __name__ == "__main__":
    main()
