#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the memory of the workers does not grow in a job of many short clips.
CUDATENSOR_TEST_CLIPS is the number of clips."""
import os
import sys
import time

import rig

rig.need("archive, many clips")

import ray  # noqa: E402

from gst_cudatensor.archive import Options, run  # noqa: E402

CLIPS = int(os.environ.get("CUDATENSOR_TEST_CLIPS", "200"))
GROWTH = 24  # MiB from a quarter of the clips to the end


def make_clips(folder):
    """Creates links to one clip of half a second. Each link counts as a file."""
    folder.mkdir()
    first = rig.make_video(folder.parent / "first.webm", 0.5)
    for i in range(CLIPS):
        os.link(first, folder / f"{i:05}.webm")
    return folder


def memory_does_not_grow(model, **options):
    """Checks the job's rows: `models.Memory` returns the number of the clip and the worker's
    memory."""
    with rig.folder() as folder:
        clips, output = make_clips(folder / "clips"), folder / "out"
        begin = time.monotonic()
        done = run([str(clips)], Options(output=str(output), model=model, device="cpu", **options))
        seconds = time.monotonic() - begin
        rows = rig.rows_in(output)
        assert done.computed == CLIPS and done.errors == 0 and rig.check_once(output, rows) == CLIPS
        memory = sorted(tuple(row["embedding"]) for row in rows)
        last = memory[-1][0]
        early = max(size for number, size in memory if number <= max(10, last / 4))
        late = max(size for _, size in memory)
        assert late - early < GROWTH, f"from {early:.0f} to {late:.0f} MiB"
        return f"{CLIPS} clips, {CLIPS / seconds:.1f} a second, {early:.0f} to {late:.0f} MiB"


def main():
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    return rig.report([("memory does not grow", lambda: memory_does_not_grow(
        "embed=models:Memory", every="1s", properties={"width": 32, "height": 32}))])


if __name__ == "__main__":
    sys.exit(main())
