# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the faces that pipelines/apps/faces aligns, and runs it like a user.

usage: faces.py CHECK
"""
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "pipelines/apps/faces"
sys.path[:0] = [str(APP), str(ROOT / "tests/interop"), str(ROOT / "tests/frames")]

import cv2  # noqa: E402
import gi  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

import prints  # noqa: E402
import sheet  # noqa: E402
from aligner import SIZE, TEMPLATE, align  # noqa: E402
from alignedfaces import umeyama  # noqa: E402
from detector import Detector  # noqa: E402
from place import place_of  # noqa: E402
from trackmatrix import set_matrix  # noqa: E402

SCRIPT = ROOT / "pipelines/apps/faces.sh"
CLIP = ROOT / "pipelines/media/pedestrians.webm"
# Landmarks in an aligned face may be that far from the template, in pixels: faces differ in shape.
SHAPE = 6
LINE = re.compile(r"^ *(\d+) +([\d.]+) +([+-][\d.]+)° +([\d.]+) +([\d.]+) pixels$", re.M)


def check(holds, what):
    if not holds:
        sys.exit(f"failed: {what}")


def tilt_of(landmarks):
    """The degrees by which the line through the eyes is turned clockwise."""
    x, y = landmarks[1] - landmarks[0]
    return math.degrees(math.atan2(y, x))


# The pictures

def expect_one_face_each(faces):
    """Checks that each print shows one face, turned as the print is and as the head is in the portrait."""
    centers = np.array([place for _, place, *_ in prints.PRINTS])
    tilts = {}
    for face in faces:
        nearest = np.argmin(((face.landmarks.mean(0) - centers) ** 2).sum(1))
        source, _, width, angle, mirrored = prints.PRINTS[nearest]
        check(np.hypot(*(face.landmarks.mean(0) - centers[nearest])) < width / 2, f"{face} is in a print")
        tilts.setdefault(source, {})[nearest] = (tilt_of(face.landmarks) - angle) * (-1 if mirrored else 1)
    print(tilts)
    for of_portrait in tilts.values():
        check(len(of_portrait) == 4 and np.ptp(list(of_portrait.values())) < 6, f"tilts {of_portrait}")


def expect_warp(picture, faces, crops):
    """Checks the aligned faces against OpenCV's warpAffine, as InsightFace calls it, which rounds."""
    for face, crop in zip(faces, crops):
        matrix = umeyama(face.landmarks, TEMPLATE)
        other = cv2.warpAffine(picture, matrix, (SIZE, SIZE), borderValue=[114] * 3)
        difference = abs(crop - other).mean()
        check(difference < 0.6, f"{difference} levels")


def expect_places(faces, batch):
    """Checks what the geometry of the slots says of the faces."""
    for face, slot in zip(faces, batch.slots):
        place = place_of(face, slot.geometry)
        matrix = umeyama(face.landmarks, TEMPLATE)
        turn = matrix[:, :2]
        outline = (np.array([[0, 0], [SIZE, 0], [SIZE, SIZE], [0, SIZE]]) - 0.5 - matrix[:, 2]) \
            @ np.linalg.inv(turn).T + 0.5
        left = face.landmarks @ turn.T + matrix[:, 2] - TEMPLATE
        found = np.hstack([place.outline.ravel(), place.angle, place.scale, place.distance])
        expected = np.hstack([outline.ravel(), -math.degrees(math.atan2(turn[1, 0], turn[0, 0])),
                              np.hypot(*turn[:, 0]), math.sqrt((left ** 2).sum(1).mean())])
        check(abs(found - expected).max() < 1e-6, f"{found}, not {expected}")


def expect_template(detector, crops):
    """Checks that the detector finds the landmarks of the aligned faces at the places of the template."""
    for index, crop in enumerate(crops):
        # Enlarged, and with a border, since the detector looks for whole heads.
        enlarged = cv2.resize(crop.round().astype(np.uint8), None, fx=2, fy=2)
        found = detector.find(cv2.copyMakeBorder(enlarged, 60, 60, 60, 60, cv2.BORDER_REPLICATE))
        check(len(found) == 1, f"face {index}: {found}")
        landmarks = (found[0].landmarks - 60 + 0.5) / 2 - 0.5
        distance = np.hypot(*(landmarks - TEMPLATE).T)
        print(f"face {index}: {distance.round(1)} pixels, tilt {tilt_of(landmarks):.1f}°")
        check(distance.mean() < SHAPE and distance.max() < 2 * SHAPE, f"face {index}: {distance}")
        check(abs(tilt_of(landmarks)) < 6, f"face {index} is upright: {tilt_of(landmarks)}")


def aligned(_):
    picture, detector = np.asarray(prints.table()), Detector()
    # A width that is no multiple of four pads GStreamer's rows.
    for shown in picture, picture[:, :-3]:
        faces = detector.find(shown)
        check(len(faces) == len(prints.PRINTS), f"{len(faces)} faces")
        check(all(a.box[0] <= b.box[0] for a, b in zip(faces, faces[1:])), "they are sorted")
        expect_one_face_each(faces)
        batch = align(shown, faces)
        expect_places(faces, batch)
        crops = np.asarray(batch)
        expect_warp(shown, faces, crops)
        expect_template(detector, crops)
    for blank in np.full((300, 400, 3), 90, np.uint8), np.zeros((20, 400, 3), np.uint8):
        check(detector.find(blank) == [], "a blank picture has no face")


# The command

def run(*arguments, expect=0):
    done = subprocess.run([SCRIPT, *map(str, arguments)], text=True, timeout=200, check=False, cwd="/",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(done.returncode == expect and "Traceback" not in done.stderr,
          f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def expect_tiles(path, crops):
    """Checks that the sheet shows each aligned face, and its place in the picture."""
    shown = np.asarray(Image.open(path).convert("RGB")).astype(int)
    side = sheet.tile_size(len(crops))
    top = sheet.HEADER + sheet.size_of(prints.table())[1] + 2 * sheet.GAP
    for index, crop in enumerate(crops):
        left = sheet.MARGIN + index * (side + sheet.GAP)
        tile = shown[top:top + side, left:left + side]
        tile = cv2.resize(tile.astype(np.uint8), (SIZE, SIZE), interpolation=cv2.INTER_AREA)
        difference = np.median(abs(tile - crop))  # most pixels are free of marks
        print(f"face {index}: {difference} levels in the sheet")
        check(difference < 4, f"face {index}: {difference} levels")
    marks = (abs(shown[sheet.HEADER:top] - sheet.CONTENT).sum(2) < 12).sum()
    check(marks > 3000, f"{marks} pixels of outlines")


def shows_prints(folder):
    """Without a source."""
    path = folder / "faces.png"
    text = run(f"--output={path}").stdout
    picture = np.asarray(prints.table())
    faces = Detector().find(picture)
    batch = align(picture, faces)
    lines = LINE.findall(text)
    check([int(line[0]) for line in lines] == list(range(1, len(faces) + 1)), text)
    for face, slot, (_, *shown) in zip(faces, batch.slots, lines):
        place = place_of(face, slot.geometry)
        printed = np.array(shown, float)
        expected = face.score, place.angle, place.scale, place.distance
        check((abs(printed - expected) < (0.01, 0.1, 0.01, 0.1)).all(), f"{place}: {text}")
    check(f"contact sheet: {path}" in text, text)
    expect_tiles(path, np.asarray(batch))


def turns_a_video(folder):
    """The video of a phone: stored lying on its side, with the matrix that turns it."""
    portrait, clip, path = folder / "portrait.png", folder / "phone.mov", folder / "faces.jpg"
    prints.portrait(*prints.HOPPER).resize((304, 360)).save(portrait)
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={portrait}", "!", "pngdec", "!",
                    "videoconvert", "!", "videoflip", "video-direction=90l", "!", "jpegenc", "!",
                    "qtmux", "!", "filesink", f"location={clip}"], check=True, timeout=60)
    set_matrix(clip, (0, 1, -1, 0))
    for source in portrait, clip:
        (number, _, angle, *_), = LINE.findall(run(source, f"--output={path}").stdout)
        check(number == "1" and abs(float(angle)) < 10, f"{source}: turned by {angle}°")
        check(Image.open(path).format == "JPEG", f"{path}")


def names_errors(folder):
    (folder / "text.mp4").write_text("no video\n" * 100)
    os.mkfifo(folder / "pipe")
    Image.new("RGB", (300, 200), (90, 90, 90)).save(folder / "blank.png")
    nowhere = folder / "folder.png"
    nowhere.mkdir()
    kept = folder / "kept.png"
    kept.write_text("earlier")
    begin = time.monotonic()
    for expected, arguments in (
            ("/no/such/file: there is no such file", ["/no/such/file"]),
            ("is a directory", [folder]),
            ("an argument is empty", [""]),
            ("text.mp4", [folder / "text.mp4"]),
            ("blank.png shows no face", [folder / "blank.png"]),
            ("no frame in 2 s", [folder / "pipe", "--timeout=2"])):
        errors = run(*arguments, f"--output={kept}", expect=1).stderr
        check(re.search(r"^faces(\.sh)?: ", errors) and expected in errors, f"'{expected}': {errors}")
        check(kept.read_text() == "earlier", f"{arguments} leaves the earlier result")
    check(time.monotonic() - begin < 120, "--timeout is kept")
    check("cannot write" in run(f"--output={nowhere}", expect=1).stderr, "a folder as output")
    for arguments in ["--output=x.gif"], ["--output=/no/such/folder/x.png"], ["--start=-1"], [CLIP, "two"]:
        run(*arguments, expect=2)


def lists_options(_):
    """The script lists the options of the program, and no others."""
    program = subprocess.run([sys.executable, APP, "--help"], check=True, text=True, timeout=60,
                             stdout=subprocess.PIPE).stdout
    documented = set(re.findall(r"--[a-z-]+", program)) - {"--help"}
    shown = run("--help").stdout
    check(set(re.findall(r"--[a-z-]+", shown)) == documented, f"options of {documented}: {shown}")


def command(folder):
    for part in shows_prints, turns_a_video, names_errors, lists_options:
        part(folder)


def main():
    checks = {"aligned": aligned, "command": command}
    Gst.init(None)
    with tempfile.TemporaryDirectory() as folder:
        checks[sys.argv[1]](Path(folder))


main()
