#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the parts of the archive that need no Ray: options, lists, chunks, boxes, verdicts,
stores."""
import os
import subprocess
import sys
from pathlib import Path

import rig

rig.need("archive, files")

import models  # noqa: E402
import numpy  # noqa: E402
from pyarrow import fs  # noqa: E402

from gst_cudatensor import Frames  # noqa: E402
from gst_cudatensor.archive import __main__ as command  # noqa: E402
from gst_cudatensor.archive import (detections, embedding, flicker, luminance, network,  # noqa: E402
                                    options, verdicts)
from gst_cudatensor.archive.chunks import SECOND, chunks_of  # noqa: E402
from gst_cudatensor.archive.faults import MediaError  # noqa: E402
from gst_cudatensor.archive.listing import File, list_files  # noqa: E402
from gst_cudatensor.archive.places import place_of  # noqa: E402
from gst_cudatensor.archive.player import Player  # noqa: E402
from gst_cudatensor.archive.remote import RangeServer  # noqa: E402


def refuses_options():
    wrong = [{"model": "other"}, {"every": "1 day"}, {"every": "0s"}, {"batch": 0}, {"chunk": 0},
             {"concurrency": 0}, {"count": 3, "every": "1s", "model": "a.onnx"},
             {"count": 3}, {"every": "10 frames"}, {"timeout": -1}, {"video_direction": "left"}]
    for values in wrong:
        rig.raises(ValueError, options.Options, **{"output": "x", "model": "luminance", **values})
    return f"{len(wrong)} sets"


def keeps_periods_whole():
    def length(**values):
        return options.chunk_length(options.Options(
            **{"output": "x", "model": "a.onnx", "chunk": 10, **values}))
    def seconds(**values):
        return length(**values) / SECOND
    assert seconds(every="3s") == 12 and seconds(every="200ms") == 10 and seconds() == 10
    assert length(every="10 frames") is None and length(count=4) is None
    assert seconds(every="keyframes") == 10 and seconds(model="luminance", chunk=1.5) == 2


def covers_files():
    file = File("/a.mp4", 1, 2)
    for duration in (0.1, 9.9, 10, 14.9, 15, 100, 104.9, 12345.6):
        chunks = chunks_of(file, int(duration * SECOND), 10 * SECOND)
        assert chunks[0].start == 0 and chunks[-1].end is None
        assert all(a.end == b.start for a, b in zip(chunks, chunks[1:]))
        assert all(c.end - c.start == 10 * SECOND for c in chunks[:-1]), chunks
        assert len(chunks) == 1 or 5 <= duration - chunks[-1].start / SECOND <= 15
        assert len({chunk.chunk_id for chunk in chunks}) == len(chunks) == chunks[0].chunks
    assert len(chunks_of(file, None, 10)) == len(chunks_of(file, 10**17, SECOND)) == 1
    other = chunks_of(File("/a.mp4", 1, 3), 100, 10)
    assert not {c.chunk_id for c in other} & {c.chunk_id for c in chunks_of(file, 100, 10)}


def lists_files():
    with rig.folder() as folder:
        (folder / "b" / "c").mkdir(parents=True)
        for name in ("z.mp4", "b/a.MKV", "b/c/x.webm", "notes.txt", "named"):
            (folder / name).write_bytes(b"1")
        (folder / "empty.mp4").touch()
        os.mkfifo(folder / "pipe.mp4")
        found = list_files([str(folder), str(folder / "named"), str(folder / "z.mp4"),
                            str(folder / "none.mp4"), "http://localhost/a.mp4"])
        names = [file.uri.removeprefix(f"{folder}/") for file in found]
        assert names == ["b/a.MKV", "b/c/x.webm", "empty.mp4", "pipe.mp4", "z.mp4", "named",
                         "none.mp4", "http://localhost/a.mp4"], names
        assert [file.error for file in found] == [None, None, "the file is empty",
                                                  "not a regular file", None, None,
                                                  "there is no such file", None]
        rig.raises(ValueError, list_files, ["rtsp://camera/"])
        rig.raises(ValueError, list_files, ["nonsense://x"])


def finds_places():
    here = place_of("a b/c%20d.mp4")
    assert here.path.endswith("/a b/c%20d.mp4") and here.uri_of(here.path) == here.path
    assert place_of("file:///a%20b.mp4").path == "/a b.mp4"
    rig.raises(ValueError, place_of, "nonsense://host/x")
    remote = place_of("gs://bucket/a b/c?d%20e.mp4")
    assert remote.path == "bucket/a b/c?d%20e.mp4", remote.path
    assert remote.uri_of("bucket/x y.mp4") == "gs://bucket/x y.mp4"


def has_exit_statuses():
    with rig.folder() as folder:
        same = ["x", "--output", str(folder / "out"), "--model"]
        for arguments in (["other"], ["luminance", "--every", "1 day"], ["luminance", "--set", "a"]):
            assert command.main(same + arguments) == 2, arguments
        assert command.main(same + ["luminance", "--video-direction", "left"]) == 2
        assert command.main(["rtsp://x/", *same[1:], "luminance"]) == 2
        assert command.main(["--retry-errors", "rtsp://x/", *same[1:], "luminance"]) == 2


def turns_pictures():
    with rig.folder() as folder:
        clip = str(rig.make_video(folder / "clip.webm", 0.2))
        chunk = chunks_of(File(clip, 1, 2), None, 10 * SECOND)[0]
        size = {"width": 32, "height": 32}
        for direction in ("auto", "identity", "90r", "vert"):
            asked = options.Options(output="x", model="embed=models:blocks", device="cpu",
                                    video_direction=direction, properties=size)
            job = network.FramesJob(asked, embedding.EmbeddingFunction("models:blocks"))
            with Frames(clip, device="cpu", video_direction=direction, **size) as frames:
                expected = [models.blocks(batch)[0] for batch in frames]
            got = [row["embedding"] for row in job.rows(chunk, clip)]
            numpy.testing.assert_array_equal(got, expected)


def chooses_boxes():
    end_to_end = numpy.array([[0, 0, 2, 2, 0.3, 1], [5, 5, 6, 6, 0.9, 0], [1, 1, 2, 2, 0.1, 0]])
    boxes, scores, classes = detections.boxes_of(end_to_end, 0.25)
    assert boxes.tolist() == [[5, 5, 6, 6], [0, 0, 2, 2]] and classes.tolist() == [0, 1]
    raw = numpy.zeros((6, 9))
    raw[:4, 0], raw[4, 0] = (10, 10, 4, 4), 0.8
    raw[:4, 1], raw[4, 1] = (10, 10, 4, 3.9), 0.7  # nearly the same
    raw[:4, 2], raw[5, 2] = (10, 10, 4, 4), 0.6  # another class
    raw[:4, 3], raw[5, 3] = (30, 10, 4, 4), 0.2
    boxes, scores, classes = detections.boxes_of(raw, 0.25)
    assert boxes.tolist() == [[8, 8, 12, 12]] * 2, boxes
    assert scores.tolist() == [0.8, 0.6] and classes.tolist() == [0, 1]
    assert all(len(part) == 0 for part in detections.boxes_of(raw, 0.95))


def knows_detectors():
    def detects(shape, **metadata):
        return detections.is_detector(shape, metadata)

    raw, yolo = (1, 84, 8400), {"imgsz": "[640, 640]", "task": "detect"}
    assert detects(("N", 300, 6)) and detects(raw, **yolo) and detects((1, 300, 6), **yolo)
    assert detects(raw, **yolo, head="Detect") and detects((1, 300, 6), **yolo, head="v10Detect")
    assert not detects((1, 197, 768)) and not detects((1, 512)) and not detects(raw, task="detect")
    assert not detects((1, 1000), imgsz="[224, 224]", task="classify", head="Classify")
    # Their numbers would otherwise be read as boxes, or as an embedding.
    others = [({"head": "RTDETRDecoder"}, "head RTDETRDecoder"), ({"head": "Newer"}, "head Newer"),
              ({"description": "Ultralytics rtdetr-l model"}, "head RTDETRDecoder")]
    others += [({"task": task}, f"task '{task}'")
               for task in ("segment", "pose", "obb", "semantic", "depth", "")]
    for other, cause in others:
        for shape in (raw, (1, 300, 84), (1, 300, 6), (1, 116, 8400)):
            try:
                detects(shape, **{**yolo, **other})
                raise AssertionError(f"{other} is taken")
            except ValueError as error:
                assert cause in str(error), error


def has_the_monitors_rules():
    """Archive and monitor have copies of the rules, because each is installed without the other."""
    ours = Path(verdicts.__file__).with_name("rules.json").read_bytes()
    monitors = rig.ROOT / "pipelines/apps/luminance-monitor/src/settings/rules.json"
    assert ours == monitors.read_bytes()
    assert len(verdicts.RULES) == 9 and verdicts.RULES["too-dark"] == verdicts.Rule(40, 45, 5, False)
    assert verdicts.RULES["frozen"].is_duration and "moved" not in verdicts.RULES


def make_rows(values, period=1.0, **same):
    """Returns a dictionary, the row, for each value."""
    usual = {"mean": 120.0, "p5": 20, "p95": 220, "clipped_low": 0.0, "clipped_high": 0.0,
             "flicker": 0.0, "still": False, "quantiles": list(range(100, 132)), **same}
    return [{**usual, "time": i * period, "last_time": (i + 0.9) * period,
             "first_digest": bytes([i % 250]), "last_digest": bytes([i % 250, 1]), **value}
            for i, value in enumerate(values)]


def verdicts_of(values):
    return [(v["verdict"], v["start"], v["end"], v["at_end"], v["value"])
            for v in verdicts.judge(make_rows(values))]


def judges_rows():
    usual = [{}] * 20
    assert verdicts_of(usual * 3) == []
    assert verdicts_of(usual + [{"mean": 30.0}] * 4 + usual) == [], "shorter than the hold time"
    dark = [{"mean": 30.0}] * 9 + [{"mean": 25.0}] + [{"mean": 42.0}] * 10
    assert verdicts_of(usual + dark + usual) == [("too-dark", 20, 40, False, 25.0)]
    assert verdicts_of(usual + [{"clipped_high": 0.2}] * 10) == [("clipped-high", 20, 29.9, True, 0.2)]
    assert verdicts_of(usual + [{"p5": 100, "p95": 120}] * 10 + usual) == \
        [("low-contrast", 20, 30, False, 20.0)]
    assert verdicts_of(usual + [{"flicker": 2.0}] * 10 + usual) == [("flicker", 20, 30, False, 2.0)]
    moved = [{"quantiles": list(range(150, 182))}] * 15
    assert verdicts_of(usual + moved + usual) == [("sudden-change", 20, 35, False, 50.0)]
    frozen = [{"still": True, "first_digest": b"x", "last_digest": b"x"}] * 30
    (name, start, end, at_end, value), = verdicts_of(usual + frozen + usual)
    assert (name, start, end, at_end) == ("frozen", 20, 50, False) and 29 < value < 30, value
    rows = make_rows(usual * 2)
    (gap,) = verdicts.judge([row for row in rows if not 10 <= row["time"] < 20])
    assert (gap["verdict"], gap["start"], gap["end"]) == ("no-frames", 9.9, 20)
    kept = [row for row in rows if row["time"] % 10 == 0]
    assert list(verdicts.judge(kept, has_gaps=False)) == []
    assert [verdict["verdict"] for verdict in verdicts.judge(kept)] == ["no-frames"] * 3
    assert list(verdicts.judge([{**rows[0], "time": None}])) == []


def accepts_a_change_that_stays():
    (name, start, end, *_), = verdicts_of([{}] * 20 + [{"quantiles": list(range(150, 182))}] * 700)
    assert name == "sudden-change" and start == 20 and 600 <= end - start <= 603, end


def finds_flicker():
    def swing(rate, light, percent, gap=()):
        found = flicker.Flicker()
        for i in range(round(rate * 6)):
            if i not in gap:
                found.add(i / rate, 100 + percent * numpy.cos(2 * numpy.pi * light * i / rate + 1))
        return found.percent()
    for rate, light in ((30, 100), (12, 100), (25, 120), (29.97, 100.1)):
        assert abs(swing(rate, light, 3) - 3) < 0.3, (rate, light, swing(rate, light, 3))
    assert abs(swing(30, 100, 3, gap=(70, 71, 95)) - 3) < 0.5
    assert swing(25, 100, 3) == 0, "the frame rate hides it"
    assert swing(30, 97, 3) == 0, "not a lamp"
    assert flicker.Flicker().percent() is None


def serves_ranges():
    """Reads a file of a store through the server, as GStreamer does."""
    part = 3 * SECOND, 6 * SECOND
    server, store = RangeServer(), fs.SubTreeFileSystem(str(rig.CLIP.parent), fs.LocalFileSystem())
    with server.open(store, rig.CLIP.name) as url, Player(url, 10) as player:
        served = [(frame.stream_time, list(frame.bins)) for frame in player.histograms(*part)]
    with Player(str(rig.CLIP), 10) as player:
        direct = [(frame.stream_time, list(frame.bins)) for frame in player.histograms(*part)]
    assert served == direct and len(direct) == 30, (len(served), len(direct))

    def read_missing():
        with server.open(store, "none.webm") as url, Player(url, 10) as player:
            list(player.histograms(0, None))
    assert "none.webm" in rig.raises(OSError, read_missing)
    assert not server.served
    server.shutdown()


def plays_parts():
    with Player(str(rig.CLIP), 10) as player:
        whole = [(frame.stream_time, frame.mean) for frame in player.histograms(0, None)]
    parts = []
    for start, end in ((0, 25 * SECOND // 10), (25 * SECOND // 10, 5 * SECOND), (5 * SECOND, None)):
        with Player(str(rig.CLIP), 10) as player:
            parts += [(frame.stream_time, frame.mean) for frame in player.histograms(start, end)]
    assert parts == whole and len(whole) == 79, (len(parts), len(whole))
    with Player(str(rig.CLIP), 10) as player:
        keys = [(frame.stream_time, frame.mean) for frame in player.histograms(0, None, True)]
    assert 1 <= len(keys) < 20 and set(keys) <= set(whole), keys
    return f"{len(keys)} key frames"


def finds_durations_without_decoders():
    """Runs in a separate process, in which no decoder is found."""
    code = f"""
from gst_cudatensor.archive import opened, player
with opened.CodedFile({str(rig.CLIP)!r}, 10) as file:
    assert file.duration() == 7_900_000_000 and file.is_seekable(), file.known_duration()
try:
    with player.Player({str(rig.CLIP)!r}, 10) as video:
        next(video.histograms(0, None))
except player.MediaError:
    pass
else:
    raise AssertionError("there is a decoder")
"""
    decoders = ("vp8dec", "vp9dec", "avdec_vp8", "avdec_vp9", "nvvp8dec", "nvvp9dec", "vavp8dec",
                "vavp9dec", "v4l2slvp8dec")
    ranks = ",".join(f"{name}:NONE" for name in decoders)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=60, check=False,
                          env={**os.environ, "GST_PLUGIN_FEATURE_RANK": ranks},
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


def names_causes():
    with rig.folder() as folder:
        (folder / "junk.mp4").write_text("junk")
        (folder / "sound.ogg").write_bytes(b"")
        (folder / "cut.webm").write_bytes(rig.CLIP.read_bytes()[:300_000])
        for name, cause in (("junk.mp4", "type"), ("none.mp4", ""), ("cut.webm", "")):
            def play(name=name):
                with Player(str(folder / name), 10) as player:
                    list(player.histograms(0, None))
            assert cause in rig.raises(MediaError, play), name


def main():
    return rig.report([(case.__name__.replace("_", " "), case) for case in (
        refuses_options, keeps_periods_whole, covers_files, lists_files,
        finds_places, has_exit_statuses, turns_pictures, chooses_boxes, knows_detectors,
        has_the_monitors_rules, judges_rows, accepts_a_change_that_stays, finds_flicker,
        serves_ranges, plays_parts, finds_durations_without_decoders, names_causes)])


assert luminance.QUANTILES == 32
sys.exit(main())
