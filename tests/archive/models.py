# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions that the tests pass to embed=."""
import json
import os
import signal
import time
from pathlib import Path

import numpy


def blocks(batch):
    """Returns the means of 4 x 4 blocks of each channel."""
    array = numpy.asarray(batch, numpy.float32)
    n, c, h, w = array.shape
    return array.reshape(n, c, 4, h // 4, 4, w // 4).mean((3, 5)).reshape(n, -1)


class Gated:
    """Waits after the first batches until the file CUDATENSOR_TEST_GATE exists, so that a test can
    interrupt the job."""

    FREE = 16  # batches

    def __init__(self):
        self.batches = 0

    def __call__(self, batch):
        self.batches += 1
        end = time.monotonic() + 300
        while (self.batches > self.FREE and time.monotonic() < end
               and not os.path.exists(os.environ["CUDATENSOR_TEST_GATE"])):
            time.sleep(0.05)
        return blocks(batch)


def deadly(batch):
    """Kills the worker at a black picture."""
    array = numpy.asarray(batch, numpy.float32)
    if array.max() < 0.1:
        os.kill(os.getpid(), signal.SIGKILL)
    return blocks(batch)


class Memory:
    """Returns the number of the worker's clip, and the worker's memory in MiB."""

    def __init__(self):
        self.clips = 0

    def __call__(self, batch):
        self.clips += 1
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return numpy.array([[self.clips, pages * os.sysconf("SC_PAGE_SIZE") / 2**20]] * len(batch))


def broken(batch):
    raise ArithmeticError("the model is broken")


_failures = 0


def scarce(batch):
    """Like `blocks`, but the file CUDATENSOR_TEST_GATE may ask for a number of `failures` from lack
    of memory in each process, for results of another `type`, for other `numbers`, and to `wait`."""
    global _failures  # pylint: disable=global-statement
    gate = Path(os.environ["CUDATENSOR_TEST_GATE"])
    wanted = json.loads(gate.read_text())
    if "failures" in wanted and _failures < wanted["failures"]:
        _failures += 1
        with open(f"{gate}.failures", "a", encoding="ascii") as file:
            file.write("x")
        raise RuntimeError("CUDA error: out of memory")
    end = time.monotonic() + 120
    while wanted.get("wait") and time.monotonic() < end:
        time.sleep(0.1)
        wanted = json.loads(gate.read_text() or "{}")
    return blocks(batch)[:, :wanted.get("numbers")].astype(wanted.get("type", "float32"))
