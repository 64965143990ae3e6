# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that Frames returns, byte for byte, the frames that are selected from all decoded frames.

selections.py [CLIP…]: tests random choices and prints their seed. CUDATENSOR_TEST_SEED repeats
it."""
import math
import os
import pathlib
import random
import sys
import tempfile

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

import clips
import numpy
from gst_cudatensor import ErrorCode, Frames, FramesError


def shown(times, last_end, choice):
    """Returns the indices of the frames that a choice selects."""
    ends = times[1:] + [last_end]
    start, stop = choice.get("start"), choice.get("stop", math.inf)
    first = 0 if start is None else round(start * 1e9)
    inside = [i for i in range(len(times))
              if ends[i] > (first if start is not None else -1) and times[i] < round(min(stop, 1e9) * 1e9)]
    every, count = choice.get("every"), choice.get("count")
    if count is not None:
        n = len(inside)
        chosen = numpy.linspace(0, n - 1, count, dtype=int) if count < n else range(n)
        return [inside[i] for i in chosen]
    if isinstance(every, int):
        return inside[::every]
    if every is None:
        return inside
    origin = first if start is not None else times[0]
    found = []
    for k in range(10**6):
        t = origin + math.floor(k * every * 1e9 + 0.5)
        if t >= last_end or t >= round(min(stop, 1e9) * 1e9):
            return found
        found += [i for i in range(len(times)) if times[i] <= t < ends[i]]
    raise AssertionError("no end")


def random_choice(rng, duration):
    choice = {}
    if rng.random() < 0.6:
        choice["start"] = rng.choice([0.0, round(rng.uniform(0, duration), 3), duration * 0.9])
    if rng.random() < 0.5:
        choice["stop"] = choice.get("start", 0) + rng.choice([0.05, rng.uniform(0.1, duration)])
    kind = rng.choice(["all", "step", "period", "count"])
    if kind == "step":
        choice["every"] = rng.choice([1, 2, 7, 10, 33, 500])
    if kind == "period":
        choice["every"] = rng.choice([0.01, 0.04, 0.1, 1 / 3, 0.5, 1.0, 2.5, 13.0])
    if kind == "count":
        choice["count"] = rng.choice([1, 2, 3, 8, 16, 64, 1000])
    return choice


def rounded_counts(n):
    """Returns counts whose steps end before the last of `n` frames, perhaps only by a rounding."""
    return [count for count in range(2, n)
            if math.floor((n - 1) / (count - 1) * (count - 1)) < n - 1]


def edges(times):
    """Returns choices that begin and end with a frame."""
    start, stop = times[len(times) // 3] / 1e9, times[len(times) // 3 + 5] / 1e9
    return [{"start": start, "stop": stop}, {"start": start, "stop": stop, "every": 2}]


def check_empty(path, choice):
    try:
        with Frames(path, device="cpu", timeout=60, **choice) as frames:
            next(frames)
    except FramesError as error:
        assert error.code == ErrorCode.NO_FRAMES, f"{path.name} {choice}: {error}"
        return
    raise AssertionError(f"{path.name} {choice}: a frame")


def check(path, times, tensors, last_end, choice, batch):
    wanted = shown(times, last_end, choice)
    got_times, got = [], b""
    if not wanted:
        return check_empty(path, choice)
    with Frames(path, device="cpu", width=clips.SIZE, height=clips.SIZE, batch=batch, timeout=60,
                **choice) as frames:
        for each in frames:
            assert len(each) == each.shape[0] == len(each.pts) <= batch
            got_times += each.pts.tolist()
            got += numpy.asarray(each).tobytes()
    assert got_times == [times[i] for i in wanted], (
        f"{path.name} {choice} batch={batch}: frames at {got_times}, "
        f"expected {[times[i] for i in wanted]}")
    expected = b"".join(tensors[i] for i in wanted)
    size = len(tensors[0])
    different = [k for k in range(len(wanted))
                 if got[k * size:(k + 1) * size] != expected[k * size:(k + 1) * size]]
    assert not different and len(got) == len(expected), (
        f"{path.name} {choice} batch={batch}: frames {different} of {got_times} differ")


def check_keyframes(path, times, tensors):
    with Frames(path, device="cpu", width=clips.SIZE, height=clips.SIZE, every="keyframes",
                timeout=60) as frames:
        got = [(int(each.pts[0]), numpy.asarray(each).tobytes()) for each in frames]
    known = dict(zip(times, tensors))
    assert 0 < len(got) < len(times) or path.name in ("mjpeg.avi", "raw.mkv")
    assert got[0][0] == times[0], f"{path.name}: key frames at {[t for t, _ in got]}"
    guessed = path.name == "equal.mkv"  # the decoder guesses missing timestamps
    for time, tensor in got:
        same = tensor in tensors if guessed else known[time] == tensor
        assert same, f"{path.name}: key frame at {time} differs"
    if len(got) > 2 and not guessed:
        with Frames(path, device="cpu", every="keyframes", start=got[1][0] / 1e9,
                    stop=got[2][0] / 1e9, timeout=60) as frames:
            between = [int(each.pts[0]) for each in frames]
        assert between == [got[1][0]], f"{path.name}: key frames from {got[1][0]} on: {between}"
    if path.name in clips.KEYFRAMES:
        assert len(got) == clips.KEYFRAMES[path.name], f"{path.name}: {len(got)} key frames"
    return len(got)


def main(names):
    seed = int(os.environ.get("CUDATENSOR_TEST_SEED") or random.randrange(10**6))
    print("CUDATENSOR_TEST_SEED", seed, flush=True)
    share = int(os.environ.get("CUDATENSOR_TEST_CASES", 100))  # percent
    Gst.init(None)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            rng = random.Random(f"{seed} {name}")
            try:
                path = clips.make(pathlib.Path(folder), name)
            except GLib.Error as error:
                print(f"{name}: skipped: {error.message}")
                continue
            times, tensors = clips.decode(path)
            for i in range(1, len(times)):  # frames of the same time are distinguished
                times[i] = max(times[i], times[i - 1] + 1)
            frames, rate = clips.CLIPS[name][0], clips.CLIPS[name][1].split("/")
            assert frames - 3 < len(times) <= frames, f"{name}: {len(times)} frames were decoded"
            assert len(set(tensors)) >= min(80, len(times))
            last_end = times[-1] + 10**9 * int(rate[1]) // int(rate[0])
            keyframes = check_keyframes(path, times, tensors)
            choices = [{}] + [random_choice(rng, last_end / 1e9) for _ in range(30 * share // 100)]
            choices += [{"count": count} for count in rounded_counts(len(times))[:1]]
            choices += edges(times)
            for choice in choices:
                try:
                    check(path, times, tensors, last_end, choice, rng.choice([1, 3, 16]))
                except FramesError as error:
                    raise AssertionError(f"{name} {choice}: {error}") from error
            print(f"{name}: {len(choices)} choices, {keyframes} key frames", flush=True)


if __name__ == "__main__":
    from gi.repository import GLib

    main(sys.argv[1:] or list(clips.CLIPS))
