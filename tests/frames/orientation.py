# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that Frames turns videos that are not stored upright: the frames equal those of the upright
file, turned. Covers all eight orientations, all ways to select frames, and the geometry."""
import pathlib
import struct
import tempfile

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

import clips
import numpy
from gst_cudatensor import Frames

WIDTH, HEIGHT = 48, 32
#: The matrix of a track's header, and the upright picture of a stored one of shape (H, W, …).
ORIENTATIONS = {
    "rotate-0": ((1, 0, 0, 1), lambda p: p),
    "rotate-90": ((0, 1, -1, 0), lambda p: numpy.rot90(p, -1)),
    "rotate-180": ((-1, 0, 0, -1), lambda p: numpy.rot90(p, 2)),
    "rotate-270": ((0, -1, 1, 0), numpy.rot90),
    "flip-rotate-0": ((-1, 0, 0, 1), numpy.fliplr),
    "flip-rotate-180": ((1, 0, 0, -1), numpy.flipud),
    "flip-rotate-270": ((0, 1, 1, 0), lambda p: p.swapaxes(0, 1)),
    "flip-rotate-90": ((0, -1, -1, 0), lambda p: numpy.rot90(p, 2).swapaxes(0, 1)),
}
CHOICES = [{}, {"count": 5}, {"every": 7}, {"every": "0.25s"}, {"every": "keyframes"},
           {"start": 1.31, "stop": 2.0}, {"start": 2.05}, {"every": 0.03, "stop": 0.3}]
ARGUMENTS = {"device": "cpu", "timeout": 60, "layout": "nhwc", "dtype": "uint8",
             "scale": 1.0}


def set_matrix(path, matrix):
    """Sets the matrix of the only track of an MP4 file."""
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + 4
    at += 52 if data[at] == 1 else 40
    a, b, c, d = (each << 16 for each in matrix)
    data[at:at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(data)


def make(folder, orientation, profile="Y444"):
    path = folder / f"{orientation}-{profile}.mp4"
    clips.run(f"videotestsrc pattern=zone-plate kx2=4 ky2=4 kt=3 num-buffers=40 ! video/x-raw,"
              f"format={profile},width={WIDTH},height={HEIGHT},framerate=15/1 ! x264enc bframes=2 "
              f"key-int-max=12 threads=1 ! mp4mux ! filesink location={path}")
    set_matrix(path, ORIENTATIONS[orientation][0])
    return path


def frames_of(path, **options):
    """Returns the times and pictures, and the size that the source tells."""
    with Frames(path, **{**ARGUMENTS, **options}) as frames:
        found = [(int(t), numpy.array(batch)[i]) for batch in frames for i, t in enumerate(batch.pts)]
        return found, (frames.width, frames.height)


def check_choices(path, stored, upright):
    """Checks that 4:4:4 is turned without loss."""
    for i, choice in enumerate(CHOICES):
        expected, size = frames_of(stored, **choice)
        assert size == (WIDTH, HEIGHT) and expected
        got, size = frames_of(path, batch=1 + i % 4, **choice)
        turned = upright(expected[0][1]).shape
        assert size == (turned[1], turned[0]), (path.name, choice, size)
        assert [t for t, _ in got] == [t for t, _ in expected], (path.name, choice)
        for (_, one), (_, other) in zip(got, expected):
            assert numpy.array_equal(one, upright(other)), (path.name, choice)


def check_subsampled(path, stored, upright):
    """Checks that luma is turned without loss; chroma may be off by a quarter of a sample."""
    luma = [frames_of(each, color="gray", count=4)[0] for each in (path, stored)]
    colors = [frames_of(each, count=4)[0] for each in (path, stored)]
    for (_, one), (_, other) in zip(*luma):
        assert numpy.array_equal(one, upright(other)), path.name
    for (_, one), (_, other) in zip(*colors):
        difference = numpy.abs(one.astype(int) - upright(other))
        assert difference.mean() < 3, (path.name, difference.mean())


def check_geometry(path, upright):
    """Checks that boxes are mapped to the upright picture."""
    width, height = upright(numpy.empty((HEIGHT, WIDTH))).shape[::-1]
    for resize_mode in ("stretch", "ultralytics", "affine"):
        with Frames(path, width=64, height=64, resize_mode=resize_mode, device="cpu") as frames:
            batch = next(frames)
        geometry = batch.geometry[0]
        assert (geometry.src_width, geometry.src_height) == (width, height), path.name
        content = [[geometry.pad_left, geometry.pad_top, geometry.pad_left + geometry.content_width,
                    geometry.pad_top + geometry.content_height]]
        mapped = batch.map_boxes(numpy.array(content, float), 0)
        assert numpy.allclose(mapped, [[0, 0, width, height]], atol=0.6), (path.name, mapped)


def check_several(path, stored, upright):
    """Checks a turned video as one of several sources."""
    with Frames([stored, path], device="cpu", width=40, height=40, count=4) as frames:
        together = [numpy.array(batch) for batch in frames]
    alone = [frames_of(each, layout="nchw", dtype="float32", scale=1 / 255, width=40, height=40,
                       count=4)[0] for each in (stored, path)]
    for i, batch in enumerate(together):
        for k in range(2):
            assert numpy.allclose(batch[k], alone[k][i][1]), (path.name, i, k)


def main():
    Gst.init(None)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        stored = {profile: make(folder, "rotate-0", profile) for profile in ("Y444", "I420")}
        for orientation, (_, upright) in ORIENTATIONS.items():
            path = make(folder, orientation)
            check_choices(path, stored["Y444"], upright)
            check_geometry(path, upright)
            check_several(path, stored["Y444"], upright)
            check_subsampled(make(folder, orientation, "I420"), stored["I420"], upright)
            print("ok", orientation, flush=True)


if __name__ == "__main__":
    main()
