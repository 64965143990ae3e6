#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times ways from files of H.264 to batches of tensors in Python, and prints Markdown.

The work: frames of 1080p, letterboxed to 640×640, float16 from 0 to 1, in batches of 64 on the GPU, or
on the CPU if there is none. Streams are read at the same time, each in a thread of its own. Every
measurement is made in a process of its own, after a first pass that is not counted.

usage: frames.py [--streams 1,8,16] [--ways NAME,...] [--seconds N] CLIP
"""
import argparse
import importlib.util
import json
import resource
import shutil
import subprocess
import sys
import threading
import time

BATCH, SIDE = 64, 640
WORKS = {"every frame": {}, "one a second": {"every": "1s"}, "16 of a file": {"count": 16}}


# ----------------------------------------------------------------------------------------- the ways

def ours(path, work):
    import gst_cudatensor
    import torch

    with gst_cudatensor.Frames(path, batch=BATCH, width=SIDE, height=SIDE,
                               resize_mode="ultralytics", dtype="float16", **work) as frames:
        for batch in frames:
            yield torch.from_dlpack(batch)


def letterboxed(frames):
    """Of a tensor (N, 3, H, W) of bytes; with PyTorch."""
    import torch

    height, width = frames.shape[2:]
    rows = round(height * SIDE / width)
    out = torch.full((len(frames), 3, SIDE, SIDE), 114 / 255, dtype=torch.float16,
                     device=frames.device)
    top = (SIDE - rows) // 2
    # Resizing in float16 takes the GPU less time than in float32, and is exact to half a level.
    kind = torch.float16 if frames.is_cuda else torch.float32
    out[:, :, top:top + rows] = torch.nn.functional.interpolate(
        frames.to(kind) / 255, size=(rows, SIDE), mode="bilinear", align_corners=False)
    return out


def in_batches(frames):
    """`frames` are tensors (3, H, W)."""
    import torch

    kept = []
    for frame in frames:
        kept.append(frame)
        if len(kept) == BATCH:
            yield letterboxed(torch.stack(kept))
            kept = []
    if kept:
        yield letterboxed(torch.stack(kept))


def wanted(work, count, rate):
    """The indices of the wanted frames among `count`."""
    import numpy

    if "every" in work:
        return list(range(0, count, round(rate)))
    if "count" in work:
        return numpy.linspace(0, count - 1, work["count"], dtype=int).tolist()
    return list(range(count))


def pynvvideocodec(path, work):
    import PyNvVideoCodec
    import torch

    settings = {"gpu_id": 0, "use_device_memory": True,
                "output_color_type": PyNvVideoCodec.OutputColorType.RGBP}

    def batch_of(frames):
        return letterboxed(torch.stack([torch.from_dlpack(frame) for frame in frames]))

    if not work:
        decoder = PyNvVideoCodec.ThreadedDecoder(path, BATCH, **settings)
        while frames := decoder.get_batch_frames(BATCH):
            yield batch_of(frames)
        return decoder.end()
    decoder = PyNvVideoCodec.SimpleDecoder(path, **settings)
    indices = wanted(work, len(decoder), decoder.get_stream_metadata().average_fps)
    for i in range(0, len(indices), BATCH):
        yield batch_of(decoder.get_batch_frames_by_index(indices[i:i + BATCH]))


def pyav(path, work):
    import av
    import torch

    with av.open(path) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        indices = set(wanted(work, stream.frames, float(stream.average_rate)))
        yield from in_batches(
            torch.from_numpy(frame.to_ndarray(format="rgb24")).permute(2, 0, 1)
            for i, frame in enumerate(container.decode(stream)) if i in indices)


def torchcodec(path, work):
    import torch
    from torchcodec.decoders import VideoDecoder

    decoder = VideoDecoder(path, device="cuda" if torch.cuda.is_available() else "cpu")
    indices = wanted(work, len(decoder), decoder.metadata.average_fps)
    for i in range(0, len(indices), BATCH):
        yield letterboxed(decoder.get_frames_at(indices[i:i + BATCH]).data)


WAYS = {"gst-cudatensor": (ours, "gst_cudatensor"),
        "PyNvVideoCodec and PyTorch": (pynvvideocodec, "PyNvVideoCodec"),
        "torchcodec and PyTorch": (torchcodec, "torchcodec"),
        "PyAV and PyTorch": (pyav, "av")}


# ------------------------------------------------------------------------------------- measurements

def used_gpu_memory():
    """Of the whole GPU, in MiB; 0 where there is none."""
    if shutil.which("nvidia-smi") is None:
        return 0
    done = subprocess.run(["nvidia-smi", "--id=0", "--query-gpu=memory.used",
                           "--format=csv,noheader,nounits"], capture_output=True, text=True,
                          check=False)
    return int(done.stdout) if done.returncode == 0 else 0


class Counter:
    """Passes of one stream over the clip, until the time is up."""

    def __init__(self, way, work, path, seconds):
        self._arguments = way, work, path
        self._seconds = seconds
        self.frames = 0
        self.error = None
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        way, work, path = self._arguments
        try:
            end = time.perf_counter() + self._seconds
            while time.perf_counter() < end:
                for tensor in way(path, work):
                    self.frames += len(tensor)
        except BaseException as error:  # reported by the main thread
            self.error = error

    def start(self):
        self._thread.start()

    def join(self):
        self._thread.join()
        if self.error is not None:
            raise self.error


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def settle():
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def measure(way, work, streams, seconds, path):
    before = used_gpu_memory()
    for _ in way(path, WORKS["16 of a file"]):
        pass
    settle()
    counters = [Counter(way, work, path, seconds) for _ in range(streams)]
    cpu, begin = cpu_seconds(), time.perf_counter()
    for counter in counters:
        counter.start()
    for counter in counters:
        counter.join()
    settle()
    elapsed = time.perf_counter() - begin
    frames = sum(counter.frames for counter in counters)
    return {"rate": frames / elapsed, "cpu": (cpu_seconds() - cpu) / frames * 1e6,
            "host": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "gpu": used_gpu_memory() - before}


def greatest_difference(way, path):
    """From float64, in levels of 255, of the first batch."""
    import exact
    import gst_cudatensor
    import numpy

    tensor = next(iter(way(path, {}))).cpu().numpy().astype(numpy.float64) * 255
    greatest = 0.0
    with gst_cudatensor.Frames(path, batch=len(tensor), color="yuv", dtype="uint8",
                               device="cpu") as frames:
        decoded = numpy.asarray(next(iter(frames)))
    rows = round(decoded.shape[2] * SIDE / decoded.shape[3])
    top = (SIDE - rows) // 2
    for result, (luma, blue, red) in zip(tensor, decoded):
        expected = exact.rgb(luma, blue[::2, ::2], red[::2, ::2], (rows, SIDE))
        difference = result[:, top:top + rows].transpose(1, 2, 0) - expected
        greatest = max(greatest, float(numpy.abs(difference).max()))
    return greatest


def in_a_process(*arguments):
    """The JSON that this program prints, or why it failed."""
    done = subprocess.run([sys.executable, __file__, *map(str, arguments)], capture_output=True,
                          text=True, check=False, timeout=300)
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        return {"why": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(lines[-1])


def print_table(ways, streams, seconds, path):
    print("| work | streams | way | frames/s | CPU time per frame, µs | memory, MiB | GPU memory, MiB |")
    print("|---|---|---|---|---|---|---|")
    for work in WORKS:
        for count in streams:
            for way in ways:
                row = in_a_process("--one", way, "--work", work, "--streams", count, "--seconds",
                                   seconds, path)
                text = (f"{row['rate']:.0f} | {row['cpu']:.0f} | {row['host']:.0f} | {row['gpu']}"
                        if "rate" in row else f"{row['why']} | | |")
                print(f"| {work} | {count} | {way} | {text} |", flush=True)
    print("\n| way | greatest difference from float64, levels of 255 |\n|---|---|")
    for way in ways:
        row = in_a_process("--difference", way, path)
        print(f"| {way} | {row.get('why') or format(row['greatest'], '.3g')} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", default="1,8,16")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--work", default="every frame")
    parser.add_argument("--one")
    parser.add_argument("--difference")
    parser.add_argument("clip")
    given = parser.parse_args()
    if given.one:
        return print(json.dumps(measure(WAYS[given.one][0], WORKS[given.work], int(given.streams),
                                        given.seconds, given.clip)))
    if given.difference:
        return print(json.dumps({"greatest": greatest_difference(WAYS[given.difference][0],
                                                                 given.clip)}))
    ways = [way for way in given.ways.split(",") if importlib.util.find_spec(WAYS[way][1])]
    print_table(ways, [int(count) for count in given.streams.split(",")], given.seconds, given.clip)


main()
