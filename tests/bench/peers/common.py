# SPDX-License-Identifier: LGPL-2.1-or-later
"""The counterparts of frames.h, measure.h, rotation.h and peer.h for the programs in Python, with
PyTorch's tensors."""
import argparse
import ctypes
import json
import statistics
import sys
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).parent.parent))  # for modules that the CPU's benchmarks use, too

PATTERNS = 4
L2 = 128 << 20
SCALE = [1 / (255 * std) for std in (0.229, 0.224, 0.225)]
OFFSET = [-mean / std for mean, std in ((0.485, 0.229), (0.456, 0.224), (0.406, 0.225))]
FLOAT16, FLOAT32 = 0x3bff3bff3bff3bff, 0x3f7fffff3f7fffff


def signed(word):
    return word - (1 << 64) if word >> 63 else word


# --------------------------------------------------------------------------------------- frames.h


def triangle(values):
    values = values & 127
    return torch.minimum(values, 128 - values)


def axis(length):
    return torch.arange(length, device="cuda")


def level(x, y, pattern):
    return 64 + triangle(x + 29 * pattern) + triangle(y + 13 * pattern)


def nv12(width, height, pattern):
    luma = level(axis(width)[None, :], axis(height)[:, None], pattern)
    u = 112 + triangle(axis(width // 2) + 29 * pattern) // 2
    v = 144 - triangle(axis(height // 2) + 13 * pattern) // 2
    chroma = torch.empty(height // 2, width // 2, 2, dtype=torch.int64, device="cuda")
    chroma[:, :, 0] = u[None, :]
    chroma[:, :, 1] = v[:, None]
    return torch.cat([luma.flatten(), chroma.flatten()]).to(torch.uint8)


def packed(width, height, channels, pattern):
    columns = axis(width)[None, :, None] + 40 * axis(channels)[None, None, :]
    return level(columns, axis(height)[:, None, None], pattern).to(torch.uint8)


def shifted(words, bits):
    """Shifted right as unsigned words."""
    return (words >> bits) & ((1 << (64 - bits)) - 1)


def noise(size, pattern, mask=None):
    z = torch.arange(size // 8, device="cuda") + ((pattern << 32) + 1)
    z = z * signed(0x9e3779b97f4a7c15)
    z = (z ^ shifted(z, 30)) * signed(0xbf58476d1ce4e5b9)
    z = (z ^ shifted(z, 27)) * signed(0x94d049bb133111eb)
    z = z ^ shifted(z, 31)
    return (z if mask is None else z & mask).view(torch.uint8)


def flat(size):
    return torch.full((size,), 114, dtype=torch.uint8, device="cuda")


def digest(data):
    words = data.contiguous().view(-1).view(torch.uint8).view(torch.int64)
    factors = 2 * torch.arange(len(words), device="cuda") + 1
    return int((words * factors).sum())


# -------------------------------------------------------------------------------------- measure.h


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--kernel-times", metavar="LIBRARY")
    parser.add_argument("results", type=Path)
    return parser.parse_args()


class Clock:
    """Times consecutive calls on the current stream with an event before and after many calls."""

    def __init__(self, quick):
        self.rounds = 3 if quick else 11

    def microseconds(self, calls, call):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1000 / calls

    def time(self, call):
        once = self.microseconds(10, call)
        calls = min(max(int(20000 / once), 5), 2000)
        return [self.microseconds(calls, call) for _ in range(self.rounds)]


class KernelClock:
    CALLS = 20

    def __init__(self, library, quick):
        self.rounds = 3 if quick else 5
        self.library = ctypes.CDLL(library)
        self.library.kernel_times_stop.restype = ctypes.c_double

    def microseconds(self, call):
        torch.cuda.synchronize()
        if self.library.kernel_times_start() != 0:
            raise RuntimeError("CUPTI fails to start")
        for _ in range(self.CALLS):
            call()
        torch.cuda.synchronize()
        return self.library.kernel_times_stop() / self.CALLS

    def time(self, call):
        self.microseconds(call)  # warms up
        times = [self.microseconds(call) for _ in range(self.rounds)]
        if min(times) <= 0:
            raise RuntimeError("CUPTI recorded no kernel")
        return times


# ------------------------------------------------------------------------------------- rotation.h


def frames_of(size):
    return min(L2 // size + 1, 512)


class Rotation:
    """Frames that take turns. `frame(pattern)` returns one, as bytes. `shape` is the shape of a
    call, with the number of frames as its first dimension."""

    def __init__(self, frame, shape, dtype=torch.uint8):
        patterns = [frame(pattern) for pattern in range(min(frames_of(frame(0).nbytes), PATTERNS))]
        batch = shape[0]
        count = -(-frames_of(patterns[0].nbytes) // batch) * batch
        frames = torch.stack([patterns[i % len(patterns)] for i in range(count)])
        self.calls = list(frames.view(-1).view(dtype).view(-1, *shape))
        self.batch = batch


def results(shape, dtype, calls):
    """Memory for the results of `calls` calls, or of as many as exceed the cache."""
    count = min(calls, frames_of(torch.empty(shape, dtype=dtype, device="meta").nbytes))
    return [torch.empty(shape, dtype=dtype, device="cuda") for _ in range(count)]


def poison(tensor):
    tensor.view(-1).view(torch.uint8).fill_(0xa5)


# ----------------------------------------------------------------------------------------- peer.h


class Expected:
    """Our results for the patterns."""

    def __init__(self, path, dtype):
        if not path.exists():
            raise RuntimeError("bench-gpu wrote no result to compare with")
        data = torch.frombuffer(bytearray(path.read_bytes()), dtype=dtype)
        self.data = data.cuda()

    def of(self, frame, size):
        """Our result for the frame, of `size` elements."""
        patterns = self.data.view(-1, size)
        return patterns[frame % len(patterns)]


def check_about(actual, expected, levels):
    """The tolerances are explained in peer.h."""
    difference = (actual.double().flatten() - expected.double()).abs() * levels
    mean, far = float(difference.mean()), float((~(difference <= 16)).double().mean())
    if not (mean <= 1.75 and far <= 0.005):
        raise RuntimeError(f"differs from ours by {mean:.2f} levels on average, {far:.2%} of the values "
                           "by more than 16")


def check_equal(actual, expected):
    if not torch.equal(actual.flatten().to(expected.dtype), expected):
        raise RuntimeError("the result differs from ours")


def check_digest(actual, expected):
    if digest(actual) != int(expected):
        raise RuntimeError("the result differs from ours")


class Peer:
    """One implementation of a work in other software. run(i) queues call i of `calls` and returns
    its result; `memory` holds the results if they have fixed addresses. compare(frame, result)
    checks the result of a frame."""

    def __init__(self, run, calls, batch, compare, memory=()):
        self.run, self.calls, self.batch, self.compare = run, calls, batch, compare
        self.memory = memory

    def check(self):
        calls = max(1, min(self.calls, 4 * PATTERNS // self.batch))
        for i in range(calls):
            for tensor in self.memory:
                poison(tensor)
            torch.cuda.synchronize()
            result = self.run(i)
            torch.cuda.synchronize()
            for j in range(self.batch):
                self.compare(i * self.batch + j, result[j] if self.batch > 1 else result)


class Peers:
    """Runs the peers of a program one after the other. If one fails, its row has the reason."""

    def __init__(self, options):
        self.options = options
        self.clock = (KernelClock(options.kernel_times, options.quick) if options.kernel_times
                      else Clock(options.quick))

    def expected(self, name, dtype):
        return Expected(self.options.results / "expected" / name, dtype)

    def add(self, work, who, make):
        row = {"work": work, "who": who}
        try:
            row.update(self.time(make()))
        except Exception as error:  # the others continue after any error
            row["why"] = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
        print(json.dumps(row), flush=True)
        torch.cuda.empty_cache()

    def time(self, peer):
        if not self.options.kernel_times:
            peer.check()
        number = 0

        def call():
            nonlocal number
            peer.run(number)
            number = (number + 1) % peer.calls

        times = [time / peer.batch for time in self.clock.time(call)]
        name = "kernel" if self.options.kernel_times else "called"
        return {name: [statistics.median(times), min(times), max(times)]}


def begin(program, version):
    """Prints the first row. All work then runs on a stream that is independent of the default one."""
    print(json.dumps({"program": program, "version": version}), flush=True)
    torch.cuda.set_stream(torch.cuda.Stream())
