# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds faces in a picture with a detector from PyPI, aligns them with cudanormalize as networks that
recognize faces expect them, and writes a contact sheet."""
import argparse
import math
import os
import signal
import sys
from pathlib import Path

signal.signal(signal.SIGINT, signal.SIG_DFL)

import gi  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

import sheet  # noqa: E402
from aligner import SIZE, align  # noqa: E402
from detector import Detector  # noqa: E402
from failure import Failure  # noqa: E402
from gst_cudatensor import Frames, FramesError  # noqa: E402
from place import place_of  # noqa: E402
from prints import table  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]


def name_of(source):
    """Returns the name of a file. URIs may contain passwords."""
    return os.path.basename(source) if os.path.exists(source) else "SOURCE"


def first_with_faces(source, start, timeout, detector):
    """Returns the first picture of a source that has faces, and the faces."""
    # Pixels stay as they are; pictures are turned as the file says.
    with Frames(source, dtype="uint8", layout="nhwc", device="cpu", start=start or None,
                timeout=timeout or None) as frames:
        for batch in frames:
            picture = np.asarray(batch)[0]
            if faces := detector.find(picture):
                return picture, faces
    raise Failure(f"{name_of(source)} shows no face")


def output_of(text):
    if not text.lower().endswith((".jpg", ".jpeg", ".png")):
        raise argparse.ArgumentTypeError(f"'{text}' must end in .jpg or .png")
    if not os.path.isdir(os.path.dirname(text) or "."):
        raise argparse.ArgumentTypeError(f"the folder of '{text}' does not exist")
    return text


def seconds(text):
    value = float(text)
    if not 0 <= value < math.inf:
        raise ValueError
    return value


def parse_arguments():
    parser = argparse.ArgumentParser(prog="faces", description=__doc__)
    parser.add_argument("source", nargs="?", metavar="SOURCE",
                        help="a picture, a video, a URI or a camera device (default: prints of two "
                             "portraits)")
    parser.add_argument("--output", type=output_of, metavar="FILE",
                        default=os.path.join(os.environ.get("BUILD_DIR", ROOT / "build-scripts"),
                                             "faces.png"),
                        help="write the contact sheet to this .jpg or .png (default: %(default)s)")
    parser.add_argument("--start", type=seconds, default=0, metavar="SECONDS",
                        help="position in a file at which to start")
    parser.add_argument("--timeout", type=seconds, default=15, metavar="SECONDS",
                        help="fail if SOURCE sends no frame for this time (default: %(default)s); "
                             "0: no limit")
    return parser.parse_args()


def report(places):
    print("face  score    turned   scale   from the template")
    for number, place in enumerate(places, 1):
        print(f"{number:4}{place.face.score:7.2f}{place.angle:+9.1f}°{place.scale:8.2f}"
              f"{place.distance:8.1f} pixels")


def save(picture, path):
    try:
        picture.save(path, quality=85)
    except OSError as error:
        raise Failure(f"cannot write '{path}': {error.strerror}") from None


def draw(name, picture, places, crops):
    return sheet.draw(f"{name} → cudanormalize → faces of {SIZE}×{SIZE}",
                      "Squares: what the tensors show of the picture. Dots: the landmarks that MTCNN found. "
                      "Rings: where ArcFace expects them.",
                      Image.fromarray(picture), places, crops)


def run(arguments):
    detector = Detector()
    if arguments.source is None:
        name, picture = "Prints", np.asarray(table())
        faces = detector.find(picture)
    else:
        name = name_of(arguments.source)
        picture, faces = first_with_faces(arguments.source, arguments.start, arguments.timeout, detector)
    batch = align(picture, faces)
    places = [place_of(face, slot.geometry) for face, slot in zip(faces, batch.slots)]
    report(places)
    save(draw(name, picture, places, np.asarray(batch)), arguments.output)
    print(f"contact sheet: {arguments.output}")


def main():
    arguments = parse_arguments()
    Gst.init(None)
    try:
        run(arguments)
    except (Failure, FramesError) as failure:
        sys.exit(f"faces: {failure}")


if __name__ == "__main__":
    main()
