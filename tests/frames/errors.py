# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that errors name the file and the cause: truncated files of all kinds, broken files, pixel
formats, empty ranges, invalid numbers, and names that are not UTF-8."""
import io
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import traceback

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

import clips
from gst_cudatensor import ErrorCode, Frames, FramesError

ROOT = pathlib.Path(__file__).parents[2]
WEBM = ROOT / "pipelines/media/pedestrians.webm"
SMALL = {"width": 32, "height": 24, "device": "cpu", "timeout": 60}
CHOICES = [{}, {"batch": 4}, {"count": 5}, {"every": 2}, {"every": 0.3}, {"every": "keyframes"},
           {"start": 0.4}, {"start": 0.1, "stop": 0.9}]
_X264 = "x264enc key-int-max=6 bframes=0 threads=1 option-string=scenecut=0 ! h264parse ! "
CONTAINERS = {"mp4": _X264 + "mp4mux", "fast.mp4": _X264 + "mp4mux faststart=true",
              "fragmented.mp4": _X264 + "mp4mux fragment-duration=300", "mov": _X264 + "qtmux",
              "mkv": _X264 + "matroskamux", "webm": "vp8enc deadline=1 ! webmmux",
              "ts": _X264 + "mpegtsmux", "m2ts": _X264 + "mpegtsmux m2ts-mode=true",
              "avi": "jpegenc ! avimux", "flv": _X264 + "flvmux", "ogg": "theoraenc ! oggmux"}
FRAMES = 24


def make(folder, name, encoder):
    path = folder / f"clip.{name}"
    clips.run(f"videotestsrc pattern=ball num-buffers={FRAMES} ! video/x-raw,format=I420,width=64,"
              f"height=48,framerate=15/1 ! {encoder} ! filesink location={path}")
    return path


def count_of(path, **options):
    with Frames(path, **{**SMALL, **options}) as frames:
        return sum(len(batch) for batch in frames)


def error_of(path, **options):
    """Returns the number of frames before the error, and the error."""
    count = 0
    try:
        with Frames(path, **{**SMALL, **options}) as frames:
            for batch in frames:
                count += len(batch)
    except FramesError as error:
        return count, error
    return count, None


# ------------------------------------------------------------------------------------------ truncated

def boundaries(name, data):
    """Returns lengths at which a cut file looks complete to its container."""
    if name == "ts":
        return set(range(188, len(data), 188))
    if name == "m2ts":
        return set(range(192, len(data), 192))
    found, at = set(), 13
    if name == "flv":  # flvmux does not store the length of the file
        while at < len(data):
            at += 11 + int.from_bytes(data[at + 1:at + 4], "big") + 4
            found.add(at)
    at = 0
    has_media = False
    while name == "fragmented.mp4" and at < len(data):
        has_media |= data[at + 4:at + 8] == b"mdat"
        at += int.from_bytes(data[at:at + 4], "big")
        if has_media:  # a part of a length may be anything
            found |= {at, at + 1, at + 2, at + 3}
    return found


def cuts_of(name, data, rng):
    """Returns cuts of all kinds: in and between the headers, near the end, anywhere."""
    begins = [0, 1, 7, 12, 15, 16, 21, 24, 31, 32, 33, 40, 48, 60]
    marks = [match.start() + shift for match in re.finditer(
        rb"mdat|moov|moof|\x1f\x43\xb6\x75|OggS|movi|idx1", data) for shift in (-4, 0, 4)]
    ends = [len(data) - k for k in (1, 2, 8, 30, 200)]
    anywhere = [rng.randrange(len(data)) for _ in range(4)]
    share = float(os.environ.get("CUDATENSOR_TEST_CASES", 100)) / 100
    chosen = [each for each in begins + marks if rng.random() < 0.4 * share] + ends[:3] + anywhere
    return sorted({max(0, each) for each in chosen})


def test_truncated_files_say_so():
    seed = int(os.environ.get("CUDATENSOR_TEST_SEED") or random.randrange(10**6))
    print("CUDATENSOR_TEST_SEED", seed, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, encoder in CONTAINERS.items():
            path = make(folder, name, encoder)
            whole = count_of(path)
            assert FRAMES - 3 <= whole <= FRAMES, (name, whole)
            data, cut = path.read_bytes(), folder / f"cut.{name}"
            seemingly_whole = boundaries(name, data)
            rng = random.Random(f"{seed} {name}")
            for length in cuts_of(name, data, rng):
                cut.write_bytes(data[:length])
                count, error = error_of(cut)
                case = f"{name} of {len(data)} bytes cut at {length}: {count} frames, {error}"
                assert count <= whole, case
                if length in seemingly_whole:
                    assert count > 0 or error is not None, case
                    continue
                assert error is not None and "truncated" in str(error), case
                assert str(error).startswith(f"{cut}: ") and error.source == str(cut), case
                assert error.code == ErrorCode.FORMAT, (case, error.code)
            print("  ", name, flush=True)


def test_whole_files_are_not_truncated():
    with tempfile.TemporaryDirectory() as folder:
        for name, encoder in CONTAINERS.items():
            path = make(pathlib.Path(folder), name, encoder)
            assert error_of(path)[1] is None, name
            if name.endswith(("mp4", "mov")):  # bytes that cameras append
                path.write_bytes(path.read_bytes() + b"\0\0\0\0trailer")
                assert error_of(path)[1] is None, name


# --------------------------------------------------------------------------------- nothing is given

def test_broken_payload_is_an_error_for_every_choice():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("mp4", "mkv", "ts", "avi"):
            path = make(pathlib.Path(folder), name, CONTAINERS[name])
            data = bytearray(path.read_bytes())
            begin = data.find({"mp4": b"mdat", "mkv": b"\x1f\x43\xb6\x75", "ts": b"\x47",
                               "avi": b"movi"}[name]) + 300
            end = len(data) - 300 if name != "mp4" else max(begin, data.find(b"moov") - 10)
            data[begin:end] = random.Random(1).randbytes(end - begin)
            path.write_bytes(data)
            for choice in CHOICES:
                count, error = error_of(path, **choice)
                assert count > 0 or error is not None, (name, choice)
                if error is not None:
                    assert str(path) in str(error) and error.source == str(path), error


def test_unsupported_formats_are_named():
    """This includes files whose only picture leaves the decoder at the end."""
    name = "v210"
    with tempfile.TemporaryDirectory() as folder:
        for frames in (1, 3, 40):
            path = pathlib.Path(folder) / f"{frames}.mov"
            clips.run(f"videotestsrc num-buffers={frames} ! video/x-raw,format={name},"
                      f"width=48,height=32,framerate=10/1 ! qtmux ! filesink location={path}")
            for choice in CHOICES:
                count, error = error_of(path, **choice)
                if error is None and count == 0 and "start" in choice:
                    raise AssertionError((name, choice))
                if error is not None and error.code == ErrorCode.NO_FRAMES:
                    assert frames <= 3 and "start" in choice, error
                    continue
                assert count == 0 and error is not None, (frames, choice, count)
                assert error.code == ErrorCode.FORMAT and name in str(error), (choice, error)
                assert "cudanormalize" in str(error) and str(path) in str(error), error


def test_empty_ranges_are_errors():
    for choice in ({"start": 100}, {"start": 100, "stop": 200}, {"start": 100, "count": 3},
                   {"start": 100, "every": 2}, {"start": 100, "every": 1.0},
                   {"start": 0.2, "stop": 0.9, "every": "keyframes"}, {"stop": 0},
                   {"stop": 0, "count": 4}):
        for sources in (WEBM, [WEBM, WEBM]):
            count, error = error_of(sources, **choice)
            assert count == 0 and error is not None, choice
            assert error.code == ErrorCode.NO_FRAMES, (choice, error.code, error)
            wanted = "no key frame" if "every" in choice and "stop" in choice else "no frame"
            assert wanted in str(error) and f"{choice.get('start', choice.get('stop'))} s" in str(error)
            assert sources is not WEBM or (str(WEBM) in str(error) and error.source == str(WEBM))
    with Frames(WEBM, start=100, **SMALL) as frames:
        for _ in range(2):
            try:
                next(frames)
                raise AssertionError("no error")
            except FramesError as error:
                assert error.code == ErrorCode.NO_FRAMES


# ------------------------------------------------------------------------------------------- numbers

def test_invalid_numbers_of_options_are_refused():
    """Either Python or the library refuses invalid numbers of all options."""
    bad = {"batch": [0, -1, 1025, 100000, 2**32, 2**32 + 1, 2**64, 1.5, math.nan, "", "2", True],
           "count": [0, -1, 2**64, 2**64 + 1, 1.5, math.nan, math.inf, "", "2", True],
           "every": [0, -1, 2**64, 2**64 + 1, -0.5, 0.0, math.nan, math.inf, -math.inf, 1e-9, 1e99,
                     "", " ", "s", "1x", "0 frames", "-1s", "nan", "inf", "1e99", True,
                     f"{2**64 + 1} frames"],
           "start": [-1, math.nan, math.inf, 1e10, "", "x", "nan", True],
           "stop": [-1, math.nan, math.inf, 1e10, "", "x", "nan", True],
           "timeout": [-1, math.nan, "", "x", "nan", True]}
    for name, values in bad.items():
        for value in values:
            try:
                with Frames(WEBM, **{**SMALL, name: value}) as frames:
                    next(frames)
            except (TypeError, ValueError) as error:
                assert name in str(error), (name, value, error)
            except FramesError as error:
                assert error.code == ErrorCode.SETTINGS and name in str(error), (name, value, error)
            else:
                raise AssertionError(f"{name}={value!r} is taken")


def test_invalid_numbers_of_properties_are_refused():
    from gst_cudatensor._library import _LIBRARY  # noqa: F401  loads the library

    kinds = {"gint", "guint", "gint64", "guint64", "gfloat", "gdouble"}
    walked = 0
    for factory, sources in (("cudanormalize", WEBM), ("cudatensormux", [WEBM, WEBM])):
        for spec in Gst.ElementFactory.make(factory).list_properties():
            kind = spec.value_type.name
            if kind not in kinds or not spec.flags & 2:
                continue
            walked += 1
            for text in ("", " ", "x", "1x", "1 2", "--1", "nan", "0x", "1e999", "9" * 30, "-" + "9" * 30,
                         "1,5", "\t"):
                if kind in ("gfloat", "gdouble") and text in ("9" * 30, "-" + "9" * 30):
                    continue  # in the range of the type; each property has its own
                count, error = error_of(sources, **{spec.name: text})
                case = f"{factory} {spec.name} ({kind}) = {text!r}: {count}, {error}"
                assert error is not None and error.code == ErrorCode.SETTINGS, case
                assert spec.name in str(error), case
        for name in ("mean", "std"):
            for text in ("", "<>", "<1,,2>", "<1,x,3>", "<nan,1,1>", "1,2", "<1,2,3", "x", "<,>"):
                count, error = error_of(sources, **{name: text})
                assert error is not None and error.code == ErrorCode.SETTINGS, (name, text, count, error)
    assert walked > 10, walked


# --------------------------------------------------------------------------------------------- names

def test_names_that_are_not_utf8_work():
    with tempfile.TemporaryDirectory() as folder:
        strange = os.path.join(os.fsencode(folder), b"f\xe9\xff \xc3.webm")
        with open(strange, "wb") as file:
            file.write(WEBM.read_bytes())
        name = os.fsdecode(strange)
        for choice in ({}, {"count": 3}, {"every": "keyframes"}, {"batch": 5, "start": 1}):
            assert count_of(name, **choice) > 0, choice
            assert count_of(pathlib.Path(name), **choice) > 0, choice
        assert count_of([name, str(WEBM)], count=3) > 0
        for source, choice, code in ((name + "x", {}, ErrorCode.NOT_FOUND),
                                     (name, {"start": 100}, ErrorCode.NO_FRAMES),
                                     ([str(WEBM), name + "x"], {}, ErrorCode.NOT_FOUND)):
            error = error_of(source, **choice)[1]
            assert error.code == code, (code, error)
            assert error.source == (source if isinstance(source, str) else source[1]), error
            assert r"f\xe9\xff \xc3.webm" in str(error), error
            print(error, file=io.TextIOWrapper(io.BytesIO(), "utf-8"))  # can be written
        with open(strange, "wb") as file:
            file.write(WEBM.read_bytes()[:30000])
        error = error_of(name)[1]
        assert "truncated" in str(error) and error.source == name, error
        for options in ({"model_config": name}, {"model_config": name + "x"}, {"resize_mode": "\udce9"},
                        {"dtype": "\udcff"}, {"device": "\udcff"}):
            assert error_of(WEBM, **options)[1].code == ErrorCode.SETTINGS, options
        # Also works if the encoding of file names is ASCII.
        program = ("import sys; from gst_cudatensor import Frames; "
                   "print(len(list(Frames(sys.argv[1], width=8, height=8, device='cpu', count=2))))")
        with open(strange, "wb") as file:
            file.write(WEBM.read_bytes())
        output = subprocess.run([sys.executable, "-c", program, strange], check=True, text=True,
                                stdout=subprocess.PIPE,
                                env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"}).stdout
        assert output == "2\n", output


def main():
    Gst.init(None)
    failed = 0
    for name, test in [(n, t) for n, t in globals().items() if n.startswith("test_")]:
        if len(sys.argv) > 1 and not any(each in name for each in sys.argv[1:]):
            continue
        try:
            test()
            print(f"ok {name}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            traceback.print_exc()
            print(f"FAILED {name}", flush=True)
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
