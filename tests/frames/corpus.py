# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares Frames and pipelines with FFmpeg: pixel formats × depths × ranges × matrices ×
orientations × cuts.

corpus.py [--all]: makes videos with the program CUDATENSOR_TEST_FFMPEG, whose own decoder gives the
samples. NumPy converts them by the formulas of the matrix and the range. Errors must name formats
that Frames does not support. Without --all, runs a part of the cases, by CUDATENSOR_TEST_SEED,
which is printed."""
import collections
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

import numpy
from gst_cudatensor import ErrorCode, Frames, FramesError
from orientation import ORIENTATIONS

FFMPEG = os.environ.get("CUDATENSOR_TEST_FFMPEG", "")
WIDTH, HEIGHT, FRAMES = 32, 24, 3
#: Encoder, container, and pixel formats of FFmpeg.
CODECS = {
    "h264": ("libx264 -preset ultrafast -qp 4", "mp4", "yuv420p yuv422p yuv444p gray yuv420p10le "
             "yuv422p10le yuv444p10le"),
    "h265": ("libx265 -preset ultrafast -x265-params log-level=none:qp=4", "mkv", "yuv420p yuv422p "
             "yuv444p gray yuv420p10le yuv422p10le yuv444p10le yuv420p12le yuv422p12le yuv444p12le"),
    "prores": ("prores_ks", "mov", "yuv422p10le yuv444p10le yuva444p10le"),
    # Without formats that GStreamer has no name for: its decoder crashes or waits for ever with
    # them.
    "ffv1": ("ffv1", "mkv", "yuv420p yuv422p yuv444p yuv411p yuv410p yuva420p yuv420p10le yuv422p10le "
             "yuv444p10le yuva420p10le yuva422p10le yuva444p10le yuv420p12le yuv422p12le yuv444p12le "
             "gray gray16le"),
    "vp9": ("libvpx-vp9 -deadline realtime -cpu-used 8 -crf 4 -b:v 0", "webm", "yuv420p yuv422p "
            "yuv444p yuv420p10le yuv422p10le yuv444p10le"),
}
RANGES = ("tv", "pc")
MATRICES = {"bt709": (0.2126, 0.0722), "smpte170m": (0.299, 0.114), "bt2020nc": (0.2627, 0.0593)}
TRAITS = re.compile(r"(gray|yuva?)(\d\d\d)?p?(\d+)?(?:le)?$")
SUBSAMPLING = {"420": (2, 2), "422": (2, 1), "444": (1, 1), "440": (1, 2), "411": (4, 1), "410": (4, 4)}

Case = collections.namedtuple("Case", "codec pixels range matrix orientation")


def ffmpeg(*arguments, stdin=None):
    return subprocess.run([FFMPEG, "-v", "error", "-y", *map(str, arguments)], input=stdin, check=True,
                          stdout=subprocess.PIPE).stdout


def depth_of(pixels):
    found = TRAITS.match(pixels)
    return int(found[3]) if found[3] else 8


def layout_of(pixels):
    """Returns the shapes of the planes, in samples."""
    kind, sub = TRAITS.match(pixels)[1], TRAITS.match(pixels)[2]
    if kind == "gray":
        return [(HEIGHT, WIDTH)]
    across, along = SUBSAMPLING[sub]
    chroma = (-(-HEIGHT // along), -(-WIDTH // across))
    return [(HEIGHT, WIDTH), chroma, chroma] + [(HEIGHT, WIDTH)] * (kind == "yuva")


def make(folder, case):
    """Makes a video of smooth random pictures. Returns its path, the stored properties of the case,
    and the planes that FFmpeg decodes: frames × planes."""
    encoder, container, _ = CODECS[case.codec]
    path = folder / f"{'-'.join(case)}.{container}"
    rng = numpy.random.default_rng(abs(hash(case)) % 2**32)
    coarse = rng.uniform(0, 255, (FRAMES, 6, 8, 3))
    smooth = coarse.repeat(4, 1).repeat(4, 2)
    raw = numpy.clip(smooth + rng.uniform(-30, 30, smooth.shape), 0, 255).astype(numpy.uint8)
    colors = ["-color_range", case.range, "-colorspace", case.matrix]
    ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", 10, "-i", "-",
           "-vf", f"scale=out_range={case.range}", "-pix_fmt", case.pixels, "-c:v", *encoder.split(),
           *colors, path, stdin=raw.tobytes())
    stored = case._replace(**signal(path))
    return path, stored, decode(path, stored)


def signal(path):
    """Returns the pixel format, range and matrix by which FFmpeg decodes a file, because not every
    codec stores those of the case. Small pictures without a matrix have that of ITU-R BT.601."""
    text = subprocess.run([FFMPEG, "-hide_banner", "-i", path], check=False, capture_output=True,
                          text=True).stderr
    pixels, colors = re.search(r"Video: [^\n]*?, ((?:gray|yuv)\w*)(?:\(([^)]*)\))?", text).groups()
    colors = (colors or "").replace("/", ", ").split(", ")
    is_full = "pc" in colors or pixels.startswith("yuvj")
    return {"pixels": pixels.replace("yuvj", "yuv"), "range": "pc" if is_full else "tv",
            "matrix": next((each for each in colors if each in MATRICES), "smpte170m")}


def decode(path, case):
    # No pixel format is set, because FFmpeg would convert the range of some.
    data = ffmpeg("-noautorotate", "-i", path, "-f", "rawvideo", "-")
    shapes = layout_of(case.pixels)
    samples = numpy.frombuffer(data, numpy.uint8 if depth_of(case.pixels) == 8 else "<u2")
    frames = samples.reshape(FRAMES, -1)
    planes, begin = [], 0
    for height, width in shapes:
        planes.append(frames[:, begin:begin + height * width].reshape(FRAMES, height, width).astype(float))
        begin += height * width
    return list(zip(*planes))


def rotate(path, orientation):
    """Copies an MP4, QuickTime or Matroska file, and sets an orientation in the copy's track."""
    degrees = {"rotate-90": -90, "rotate-180": 180, "rotate-270": 90, "flip-rotate-270": -90,
               "flip-rotate-90": 90, "flip-rotate-180": 180}.get(orientation, 0)
    flip = ["-display_hflip"] if orientation.startswith("flip") else []
    turned = path.with_name("turned-" + path.name)
    ffmpeg("-display_rotation", degrees, *flip, "-i", path, "-c", "copy", turned)
    return turned


# -------------------------------------------------------------------------------------- the reference

def upsampled(plane, length, axis, is_cosited):
    """Interpolates linearly at the luma samples of an axis."""
    count = plane.shape[axis]
    if count == length:
        return plane
    ratio = length / count
    at = numpy.arange(length) / ratio if is_cosited else (numpy.arange(length) + 0.5) / ratio - 0.5
    low = numpy.floor(at).astype(int)
    weight = (at - low).reshape((-1, 1) if axis == 0 else (1, -1))
    taps = [numpy.take(plane, numpy.clip(low + k, 0, count - 1), axis) for k in (0, 1)]
    return taps[0] + weight * (taps[1] - taps[0])


def converted(planes, case, is_full):
    """Returns the possible RGB pictures of the planes, 0 to 255: chroma lies in the middle or at an
    edge."""
    bits = depth_of(case.pixels)
    scale = 255 / (2**bits - 1) if is_full else 2.0**(8 - bits)
    luma = planes[0] * scale if is_full else (planes[0] * scale - 16) * 255 / 219
    if len(planes) == 1:
        return [numpy.clip(numpy.stack([planes[0] * (255 / (2**bits - 1) if bits > 8 else 1)] * 3, -1),
                           0, 255)]
    kr, kb = MATRICES[case.matrix]
    pictures = []
    for across, along in itertools.product((True, False), repeat=2):
        u, v = [(upsampled(upsampled(p, luma.shape[0], 0, along), luma.shape[1], 1, across)
                 - 2**(bits - 1)) * scale * (1 if is_full else 255 / 224) for p in planes[1:3]]
        red, blue = luma + 2 * (1 - kr) * v, luma + 2 * (1 - kb) * u
        green = (luma - kr * red - kb * blue) / (1 - kr - kb)
        pictures.append(numpy.clip(numpy.stack([red, green, blue], -1), 0, 255))
    return pictures


def distance(got, planes, case, upright=lambda picture: picture):
    """Returns the greatest difference to the nearest possible picture as it is seen, in levels of
    255."""
    is_full = case.range == "pc"
    return min(float(numpy.abs(got - upright(each)).max())
               for each in converted(planes, case, is_full))


# ------------------------------------------------------------------------------------------ the cases

ARGUMENTS = {"device": "cpu", "layout": "nhwc", "timeout": 60, "scale": 1.0}


def read(path):
    with Frames(path, **ARGUMENTS) as frames:
        return [numpy.array(batch)[0] for batch in frames]


def pipeline_frames(path):
    pipeline = Gst.parse_launch(f"filesrc location={path} ! decodebin ! cudanormalize backend=cpu scale=1 "
                                "layout=nhwc qos=false ! appsink name=sink sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    found = []
    while sample := pipeline.get_by_name("sink").emit("pull-sample"):
        found.append(sample.get_buffer().extract_dup(0, sample.get_buffer().get_size()))
    pipeline.set_state(Gst.State.NULL)
    return found


def check_cut(path, whole, rng):
    data = path.read_bytes()
    cut = path.with_name("cut-" + path.name)
    cut.write_bytes(data[:rng.randrange(len(data))])
    got = []
    try:
        with Frames(cut, **ARGUMENTS) as frames:
            got += [numpy.array(batch)[0] for batch in frames]
    except FramesError as error:
        assert "truncated" in str(error), (cut, error)
        assert len(got) <= len(whole)
        # The last frame may be broken.
        assert all(numpy.array_equal(a, b) for a, b in zip(got[:-1], whole)), cut
        return
    raise AssertionError(f"{cut}: no error")


def check(folder, case, rng):
    """Returns the result of a case: "taken", "refused" with a name, or None if FFmpeg cannot make
    it."""
    try:
        path, stored, planes = make(folder, case)
    except subprocess.CalledProcessError:
        return None
    assert len(planes) == FRAMES, case
    # Older decoders output twelve bits as ten.
    most = 2 if depth_of(stored.pixels) > depth_of(case.pixels) else 0.02
    try:
        whole = read(path)
    except FramesError as error:
        is_named = re.search(r"pixel format \w+", str(error)) and error.code == ErrorCode.FORMAT
        assert is_named or error.code == ErrorCode.DECODER, (case, error)
        return "refused: " + (re.search(r"pixel format (\w+)", str(error)) or [0, "no decoder"])[1]
    assert len(whole) == FRAMES, (case, len(whole))
    for got, expected in zip(whole, planes):
        difference = distance(got, expected, stored)
        assert difference < most, f"{case}: differs by {difference:.2f} of 255"
    for data, expected in itertools.zip_longest(pipeline_frames(path), planes):
        got = numpy.frombuffer(data, numpy.float32).reshape(HEIGHT, WIDTH, 3)
        difference = distance(got, expected, stored)
        assert difference < most, f"{case}: differs by {difference:.2f} of 255 in a pipeline"
    if case.orientation != "rotate-0" and path.suffix in (".mp4", ".mov", ".mkv"):
        turned = read(rotate(path, case.orientation))
        for got, expected in itertools.zip_longest(turned, planes):
            difference = distance(got, expected, stored, ORIENTATIONS[case.orientation][1])
            assert difference < most, f"{case}: differs by {difference:.2f} of 255, turned"
    check_cut(path, whole, rng)
    return "taken"


def cases():
    orientations = itertools.cycle(ORIENTATIONS)
    for codec, (_, _, pixels) in CODECS.items():
        for each, range_, matrix in itertools.product(pixels.split(), RANGES, MATRICES):
            yield Case(codec, each, range_, matrix, next(orientations))


def main():
    if not FFMPEG:
        print("skipped: CUDATENSOR_TEST_FFMPEG is not set")
        sys.exit(77)
    Gst.init(None)
    seed = int(os.environ.get("CUDATENSOR_TEST_SEED") or random.randrange(10**6))
    print("CUDATENSOR_TEST_SEED", seed, flush=True)
    rng = random.Random(seed)
    chosen = list(cases())
    if "--all" not in sys.argv:
        # About four runs cover all formats of all codecs.
        chosen = rng.sample(chosen, 48)
    results, failed = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            try:
                result = check(pathlib.Path(folder), case, rng)
            except AssertionError as error:
                failed += 1
                print("FAILED", error, flush=True)
                continue
            results[result] += 1
    print(dict(results), failed, "failed", flush=True)
    assert results["taken"] > len(chosen) // 4
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
