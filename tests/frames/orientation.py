# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that Frames turns videos that are not stored upright: the frames equal those of the upright
file, turned. Covers all eight orientations, all ways to select frames, the option video_direction,
and the geometry."""
import pathlib
import struct
import tempfile

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

import clips
import numpy
from gst_cudatensor import Frames
from trackmatrix import set_matrix

WIDTH, HEIGHT = 48, 32
#: By the tag: the matrix of a track's header, and the upright picture of a stored one of shape
#: (H, W, …).
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
#: By the option video_direction, the orientation that it has the effect of.
DIRECTIONS = {"identity": "rotate-0", "90r": "rotate-90", "180": "rotate-180", "90l": "rotate-270",
              "horiz": "flip-rotate-0", "vert": "flip-rotate-180", "ul-lr": "flip-rotate-270",
              "ur-ll": "flip-rotate-90"}
CHOICES = [{}, {"count": 5}, {"every": 7}, {"every": "0.25s"}, {"every": "keyframes"},
           {"start": 1.31, "stop": 2.0}, {"start": 2.05}, {"every": 0.03, "stop": 0.3}]
ARGUMENTS = {"device": "cpu", "timeout": 60, "layout": "nhwc", "dtype": "uint8",
             "scale": 1.0}


def set_projection(path, roll):
    """Adds a projection with this roll, in degrees, to the only track of a Matroska file without an
    index, which would contain positions."""
    data = bytearray(path.read_bytes())
    content = b"\x76\x71\x81\x00" + b"".join(
        name + b"\x84" + struct.pack(">f", angle)
        for name, angle in ((b"\x76\x73", 0), (b"\x76\x74", 0), (b"\x76\x75", roll)))
    projection = b"\x76\x70" + bytes([0x80 | len(content)]) + content
    at = 0
    for name in (b"\x16\x54\xae\x6b", b"\xae", b"\xe0\x01"):  # Tracks, TrackEntry, Video
        at = data.index(name, at) + len(name.rstrip(b"\x01"))
        assert data[at] == 1  # a size of eight bytes
        size = int.from_bytes(data[at + 1:at + 8], "big")
        data[at + 1:at + 8] = (size + len(projection)).to_bytes(7, "big")
        at += 8
    data[at + size:at + size] = projection
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


def check_options(path, stored, upright):
    """Checks that a direction wins over what the file says."""
    expected, _ = frames_of(stored, count=2)
    for direction, orientation in [*DIRECTIONS.items(), ("auto", None)]:
        turned = ORIENTATIONS[orientation][1] if orientation else upright
        got, size = frames_of(path, count=2, batch=2, video_direction=direction)
        assert size == turned(expected[0][1]).shape[1::-1], (path.name, direction, size)
        for (_, one), (_, other) in zip(got, expected, strict=True):
            assert numpy.array_equal(one, turned(other)), (path.name, direction)


def check_subsampled(path, stored, upright):
    """Checks that luma is turned without loss, and that chroma keeps its place: it is interpolated
    in another order, so that only roundings differ."""
    luma = [frames_of(each, color="gray", count=4)[0] for each in (path, stored)]
    colors = [frames_of(each, count=4)[0] for each in (path, stored)]
    for (_, one), (_, other) in zip(*luma, strict=True):
        assert numpy.array_equal(one, upright(other)), path.name
    for (_, one), (_, other) in zip(*colors, strict=True):
        difference = numpy.abs(one.astype(int) - upright(other))
        assert difference.max() <= 1, (path.name, difference.max())


def check_geometry(path, upright):
    """Checks that boxes and points are mapped to the stored picture."""
    for resize_mode in ("stretch", "ultralytics", "affine"):
        with Frames(path, width=64, height=80, resize_mode=resize_mode, device="cpu") as frames:
            batch = next(frames)
        geometry = batch.geometry[0]
        assert (geometry.src_width, geometry.src_height) == (WIDTH, HEIGHT), path.name
        content = [[geometry.pad_left, geometry.pad_top, geometry.pad_left + geometry.content_width,
                    geometry.pad_top + geometry.content_height]]
        mapped = batch.map_boxes(numpy.array(content, float), 0)
        assert numpy.allclose(mapped, [[0, 0, WIDTH, HEIGHT]], atol=1), (path.name, mapped)
    rows, columns = numpy.indices((HEIGHT, WIDTH)) + 0.5
    centers = upright(numpy.stack([columns, rows], -1))  # of stored pixels, as they are seen
    height, width = centers.shape[:2]
    with Frames(path, device="cpu") as frames:
        geometry = next(frames).geometry[0]
    assert (geometry.dst_width, geometry.dst_height) == (width, height), path.name
    rows, columns = numpy.indices((height, width)) + 0.5
    assert numpy.allclose(geometry.map_points(numpy.stack([columns, rows], -1)), centers), path.name


def check_several(path, stored):
    """Checks a turned video as one of several sources."""
    for direction in ("auto", "90r"):
        with Frames([stored, path], device="cpu", width=40, height=40, count=4,
                    video_direction=direction) as frames:
            together = [numpy.array(batch) for batch in frames]
        alone = [frames_of(each, layout="nchw", dtype="float32", scale=1 / 255, width=40, height=40,
                           count=4, video_direction=direction)[0] for each in (stored, path)]
        assert len(together) == 4
        for i, batch in enumerate(together):
            for k in range(2):
                assert numpy.array_equal(batch[k], alone[k][i][1]), (path.name, direction, i, k)


def check_matroska(folder, stored):
    """Checks the orientation in a container of which GStreamer makes no tag."""
    path = folder / "turned.mkv"
    clips.run(f"filesrc location={stored} ! qtdemux ! h264parse ! matroskamux streamable=true ! "
              f"filesink location={path}")
    set_projection(path, -90)
    expected, got = frames_of(stored)[0], frames_of(path)[0]
    for (_, one), (_, other) in zip(got, expected, strict=True):
        assert numpy.array_equal(one, numpy.rot90(other, -1))


def check_errors(path):
    for wrong in ("custom", "left", "", None, 1):
        try:
            Frames(path, video_direction=wrong)
        except ValueError as error:
            assert "video_direction" in str(error) and "ur-ll" in str(error), error
        else:
            raise AssertionError(f"video_direction={wrong!r} is no error")


def main():
    Gst.init(None)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        stored = {profile: make(folder, "rotate-0", profile) for profile in ("Y444", "I420")}
        check_errors(stored["Y444"])
        check_matroska(folder, stored["Y444"])
        for orientation, (_, upright) in ORIENTATIONS.items():
            path = make(folder, orientation)
            check_choices(path, stored["Y444"], upright)
            check_options(path, stored["Y444"], upright)
            check_geometry(path, upright)
            check_several(path, stored["Y444"])
            check_subsampled(make(folder, orientation, "I420"), stored["I420"], upright)
            print("ok", orientation, flush=True)


if __name__ == "__main__":
    main()
