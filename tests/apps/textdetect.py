# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares pipelines/apps/textdetect with rapidocr's preprocessing, and runs it like a user.

usage: textdetect.py CHECK
"""
import functools
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "pipelines/apps/textdetect"
sys.path.insert(0, str(APP))

import cv2  # noqa: E402
import gi  # noqa: E402
import numpy as np  # noqa: E402

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

from detector import Detector  # noqa: E402
from gst_cudatensor import Tensor  # noqa: E402
from output import Frame  # noqa: E402
from stream import Stream  # noqa: E402

SCRIPT = ROOT / "pipelines/apps/text-detect.sh"
SERVER = ROOT / "tests/apps/rtspserver.py"
CLIP = ROOT / "pipelines/media/pedestrians.webm"
DECODED = f'filesrc location="{CLIP}" ! matroskademux ! vp8dec ! videoconvert ! videoscale'
SIGN = 415, 205, 442, 242  # position of the text: left, top, right, bottom in the clip's pixels
# The number of frames of a clip to compare, and their distance.
FRAMES, STEP = 4, 15


def check(holds, what):
    if not holds:
        sys.exit(f"failed: {what}")


def frames_of(video, size, detector, count, step=1):
    """Yields tensors with their BGR pictures."""
    stream = Stream(video, size, detector.mean, detector.std)
    try:
        stream.start()
        for tensor, frame in itertools.islice(stream, 0, count * step, step):
            check(tensor.get_buffer().pts == frame.get_buffer().pts, "the frame is the tensor's")
            yield Tensor.from_sample(tensor), Frame.from_sample(frame).picture
    finally:
        stream.close()


# Comparison with rapidocr

def distances(quads, others):
    """Returns for each quad the largest distance of its corners to those of the nearest other
    quad."""
    return [min((np.abs(quad - other).max() for other in others), default=np.inf)
            for quad in quads]


def compare(detector, tensor, picture):
    """Returns the number of pixels in both masks and in either, and the distances of rapidocr's
    boxes to ours."""
    rapidocr, shape = detector.rapidocr, picture.shape[:2]
    expected = rapidocr.get_preprocess(max(shape))(picture)
    check(np.shape(tensor) == expected.shape, f"{np.shape(tensor)} is {expected.shape}")
    ours, theirs = (detector.probabilities(x) for x in (np.asarray(tensor), expected))
    a, b = (probabilities > rapidocr.postprocess_op.thresh for probabilities in (ours, theirs))

    boxes, _ = rapidocr.postprocess_op(theirs, shape)
    quads = [text.quad for text in detector.texts(ours, tensor.geometry)]
    check(all((quad >= 0).all() and (quad < shape[::-1]).all() for quad in quads),
          f"{quads} lie in the frame")
    return (np.count_nonzero(a & b), np.count_nonzero(a | b),
            distances(rapidocr.filter_tag_det_res(boxes, shape), quads))


def masks(side, caps, least, pooled, near):
    """Compares the masks of our tensors with those of rapidocr's.

    `least`: minimum IoU of a frame, `pooled`: of all frames together, `near`: minimum share of boxes
    within 2 pixels. A faint box may appear, disappear or turn with the last bit of a pixel.
    """
    detector = Detector(side)
    video = f"{DECODED} ! video/x-raw,{caps}"
    both, either, apart = [], [], []
    for tensor, picture in frames_of(video, detector.tensor_size, detector, FRAMES, STEP):
        inside, outside, distance = compare(detector, tensor, picture)
        if outside > 0:
            both.append(inside)
            either.append(outside)
        apart += distance
    check(sum(either) > 500, f"there is text in {caps}")
    worst, all_of_them = np.divide(both, either).min(), sum(both) / sum(either)
    share = np.mean(np.array(apart) <= 2)
    print(f"side {side}, {caps}: IoU of {len(both)} masks {all_of_them:.4f}, the least "
          f"{worst:.4f}; {share:.0%} of {len(apart)} boxes within 2 pixels", flush=True)
    check(worst >= least and all_of_them >= pooled and share >= near, "they are within the limits")


def bgr(_):
    masks(1088, "format=BGR", 0.98, 0.99, 0.8)
    masks(736, "format=BGR", 0.98, 0.98, 0.8)
    masks(736, "format=BGR,width=1920,height=1080", 0.98, 0.99, 0.8)


def nv12(_):
    """rapidocr's input has chroma enlarged and colors clipped before the resize, not in one step
    with it. Saturated edges therefore differ by up to 40 of 255."""
    masks(1088, "format=NV12", 0.85, 0.93, 0.5)
    masks(736, "format=NV12,width=1920,height=1080", 0.95, 0.97, 0.6)


# Text at a known position

def write_picture(path, width, height):
    """Writes a picture with one word. Returns its left, top, right and bottom."""
    picture = np.full((height, width, 3), 200, np.uint8)
    (w, h), _ = cv2.getTextSize("TENSOR", cv2.FONT_HERSHEY_DUPLEX, 2, 4)
    left, bottom = width - w - 20, height // 4
    cv2.putText(picture, "TENSOR", (left, bottom), cv2.FONT_HERSHEY_DUPLEX, 2, (20, 20, 20), 4)
    cv2.imwrite(str(path), picture)
    return left, bottom - h, left + w, bottom


def is_around(points, box, margin):
    """Returns whether the points' bounding box is `box`, or up to `margin` pixels larger or 5
    smaller."""
    left, top, right, bottom = box
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    grown = np.array([left - x0, top - y0, x1 - right, y1 - bottom])
    return (grown >= -5).all() and (grown <= margin).all()


def mapping(folder):
    """Boxes are mapped back to the text, wherever the picture is in the tensor."""
    detector = Detector()
    for width, height in (800, 450), (450, 800), (2600, 900):
        word = write_picture(folder / "word.png", width, height)
        video = f'filesrc location="{folder}/word.png" ! pngdec'
        for size in detector.tensor_size, (960, 960), (1280, 640):
            (tensor, _), = frames_of(video, size, detector, 1)
            found = detector.find(tensor)
            check(len(found) == 1 and is_around(found[0].quad, word, 25),
                  f"{found} is the word at {word} of {width}×{height} in {np.shape(tensor)}")
            check(found[0].score > 0.7, f"the score {found[0].score} is high")
    check(detector.tensor_size(3840, 2160) == (1984, 1120), "4K frames are reduced as theirs")


def turned(folder):
    """Frames that are not stored upright are turned, and boxes are those of the turned frames."""
    detector = Detector()
    word = write_picture(folder / "word.png", 800, 450)
    upright = cv2.imread(str(folder / "word.png"))
    # How the tag's picture is stored.
    for tag, stored in (
            ("rotate-0", upright), ("rotate-90", np.rot90(upright)),
            ("rotate-180", np.rot90(upright, 2)), ("rotate-270", np.rot90(upright, -1)),
            ("flip-rotate-0", np.fliplr(upright)), ("flip-rotate-180", np.flipud(upright)),
            ("flip-rotate-90", np.rot90(upright, 2).swapaxes(0, 1)),
            ("flip-rotate-270", upright.swapaxes(0, 1))):
        cv2.imwrite(str(folder / "stored.png"), stored)
        video = (f'filesrc location="{folder}/stored.png" ! pngdec ! '
                 f"taginject tags=image-orientation={tag}")
        for size in detector.tensor_size, (960, 960):
            (tensor, picture), = frames_of(video, size, detector, 1)
            check(np.array_equal(picture, upright), f"the frame of {tag} is upright")
            expected = size if isinstance(size, tuple) else detector.tensor_size(800, 450)
            check(np.shape(tensor) == (1, 3, *expected[::-1]), f"{tag}: {np.shape(tensor)}")
            found = detector.find(tensor)
            check(len(found) == 1 and is_around(found[0].quad, word, 25),
                  f"{found} is the word at {word} of {tag} in {np.shape(tensor)}")


def changes(_):
    """The tensor follows the frame's size when that changes."""
    detector = Detector(320)
    shots = [f"videotestsrc num-buffers=2 ! video/x-raw,width={w},height={h} ! join."
             for w, h in ((640, 480), (200, 300))]
    video = " ".join(shots) + " concat name=join"
    got = [(np.shape(tensor), tensor.geometry.src_width, picture.shape)
           for tensor, picture in frames_of(video, detector.tensor_size, detector, 4)]
    check(got == [((1, 3, 480, 640), 640, (480, 640, 3))] * 2 +
          [((1, 3, 480, 320), 200, (300, 200, 3))] * 2, f"sizes {got}")


def live(folder):
    """In live video, the newest frame is used, and nothing waits."""
    word = write_picture(folder / "word.png", 640, 480)
    detector = Detector(320)
    video = (f'filesrc location="{folder}/word.png" ! pngdec ! imagefreeze is-live=true ! '
             "video/x-raw,framerate=50/1")
    stream = Stream(video, detector.tensor_size, detector.mean, detector.std)
    try:
        stream.start()
        times = []
        for tensor, frame in itertools.islice(stream, 8):
            pts = tensor.get_buffer().pts
            check(pts == frame.get_buffer().pts, "the frame is the tensor's")
            times.append(pts / Gst.SECOND)
            found = detector.find(Tensor.from_sample(tensor))
            check(any(is_around(text.quad, word, 25) for text in found), f"{found}")
            time.sleep(0.2)
    finally:
        stream.close()
    gaps = np.diff(times)
    print(f"gaps between frames: {gaps}")
    check((gaps > 0.15).all(), "frames are dropped meanwhile")


def late(_):
    """Frames that arrive long before the pipeline plays neither prevent it from playing, nor from
    ending before that."""
    def pause_for_long(pause):
        result = pause()
        time.sleep(0.3)
        return result

    for starts in (True, False):
        stream = Stream("videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48",
                        lambda width, height: (width, height), [0.0] * 3, [1.0] * 3)
        stream._pause = functools.partial(pause_for_long, stream._pause)
        try:
            if starts:
                stream.start()
                check(sum(1 for _ in stream) == 5, "all frames arrive")
            else:
                stream._pause()
        finally:
            stream.close()


# The command

def run(*arguments, program=(sys.executable, APP), expect=0):
    done = subprocess.run([*program, *arguments], text=True, timeout=200, check=False, cwd="/",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(done.returncode == expect and "Traceback" not in done.stderr,
          f"{arguments} ends well: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def finds_the_sign(folder):
    picture = folder / "sign.png"
    lines = run("--json", "--frames", "5", "--start", "2.8", "--output", picture,
                program=(SCRIPT,)).stdout
    found = [json.loads(line) for line in lines.splitlines()]
    check([line["pts"] for line in found] == [n * 10**8 for n in range(28, 33)],
          f"five frames:\n{lines}")
    for line in found:
        scores = [score for quad, score in zip(line["quads"], line["scores"])
                  if is_around(np.array(quad), SIGN, 3)]
        check(len(scores) == 1 and scores[0] > 0.6, f"the sign is found: {line}")
    check(cv2.imread(str(picture)).shape == (576, 768, 3), "the picture is the frame")


def draws_boxes(folder):
    """Only the box and its score are drawn."""
    source, drawn = folder / "word.png", folder / "drawn.png"
    word = write_picture(source, 800, 600)
    text = run(source, "--headless", "--output", drawn).stdout
    check(re.search(r"^ +0\.00 s +score 0\.\d\d at \(\d+, \d+\)", text, re.M), text)
    check(re.search(r"^1 frames, .* 1 frames with text; tensor 1×3×1088×1440", text, re.M), text)
    changed = np.argwhere((cv2.imread(str(source)) != cv2.imread(str(drawn))).any(axis=2))
    drawn = np.array([changed.min(axis=0), changed.max(axis=0)])[:, ::-1]
    check(is_around(drawn, word, 60), f"what is drawn lies around {word}: {drawn}")


def writes_video(folder):
    path = folder / 'a "film".webm'
    run(CLIP, "--frames", "3", "--min-side", "320", "--output", path)
    film = cv2.VideoCapture(str(path))
    shapes = []
    while (frame := film.read()[1]) is not None:
        shapes.append(frame.shape)
    check(shapes == [(576, 768, 3)] * 3, f"three frames: {shapes}")


def finds_no_text(folder):
    cv2.imwrite(str(folder / "empty.png"), np.full((200, 300, 3), 90, np.uint8))
    done = run(folder / "empty.png", "--json")
    check(json.loads(done.stdout) == {"pts": 0, "quads": [], "scores": []}, done.stdout)
    check(" 0 frames with text;" in done.stderr, done.stderr)


def names_errors(folder):
    (folder / "words.txt").write_text("no video")
    nowhere = folder / "folder.png"
    nowhere.mkdir()
    for expected, arguments in (
            ("'/no/such/file' does not exist", ["/no/such/file"]),
            ("is a directory", [folder]),
            ("SOURCE is empty", [""]),
            ("Could not determine type of stream", [folder / "words.txt"]),
            ("sent no frame", [CLIP, "--start", "100"]),
            ("cannot write", [CLIP, "--frames", "1", "--output", nowhere])):
        errors = run(*arguments, expect=1).stderr
        check(errors.count("text-detect: ") == 1 and expected in errors, f"'{expected}': {errors}")
    for arguments in ["--size", "100x100"], ["--output", "x.gif"], ["--frames", "0"]:
        run(*arguments, expect=2)


def keeps_what_came_before(folder):
    """If a camera is lost, the best of its frames is still written."""
    if not has_rtsp():
        print("not tested: H.264 over RTSP is not installed")
        return
    picture = folder / "lost.png"
    with subprocess.Popen(["/usr/bin/python3", SERVER], text=True, stdout=subprocess.PIPE) as server:
        uri = f"rtsp://viewer:geheim@127.0.0.1:{int(server.stdout.readline())}/die"
        done = run(uri, "--headless", "--min-side", "32", "--output", picture, expect=1)
    check(re.search(r"^\d+ frames, ", done.stdout, re.M), done.stdout)
    check(cv2.imread(str(picture)).shape == (240, 320, 3), "the picture is the frame")
    check(re.match(r"text-detect: 'rtsp://127\.0\.0\.1:\d+/die': ", done.stderr), done.stderr)
    check("geheim" not in done.stdout + done.stderr, "the password is not shown")


def has_rtsp():
    wanted = ("x264enc", "avdec_h264", "rtspsrc")
    server = "import gi; gi.require_version('GstRtspServer', '1.0')"
    return all(Gst.ElementFactory.find(name) for name in wanted) and not subprocess.run(
        ["/usr/bin/python3", "-c", server], check=False, stderr=subprocess.DEVNULL).returncode


def ends_on_signals(_):
    for number in signal.SIGINT, signal.SIGTERM:
        with subprocess.Popen([sys.executable, APP, CLIP, "--json"], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
        frames = re.search(r"^(\d+) frames", errors, re.M)
        check(process.returncode == 0 and frames and int(frames[1]) < 79, f"{number}: {errors}")


def lists_options(_):
    """The script lists the options of the program, and no others."""
    documented = set(re.findall(r"--[a-z-]+", run("--help").stdout)) - {"--help"}
    shown = run("--help", program=(SCRIPT,)).stdout
    check(set(re.findall(r"--[a-z-]+", shown)) == documented, f"options of {documented}: {shown}")


def shows_true_text_only(folder):
    """Without arguments, the sign has the only box."""
    picture = folder / "example.png"
    lines = run("--output", picture, program=(SCRIPT,)).stdout.splitlines()
    found = [line for line in lines if " score " in line]
    check(len(found) == 1, f"one box: {lines}")
    corners = re.findall(r"\((\d+), (\d+)\)", found[0])
    check(is_around(np.array(corners, float), SIGN, 3), f"it is the sign: {found}")


def waits_for_no_pipe(folder):
    """A pipe without a writer delays neither --timeout nor a signal."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    errors = run(pipe, "--headless", "--timeout", "2", expect=1).stderr
    check(f"'{pipe}' has sent no frame for 2 s" in errors, errors)
    with subprocess.Popen([sys.executable, APP, pipe, "--timeout", "0", "--json"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(10)  # imports take a while; a signal before that ends the program, too
        check(process.poll() is None, "it waits")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    check(process.returncode == 1 and "interrupted" in errors or process.returncode < 0,
          f"{process.returncode}: {errors}")


def command(folder):
    for part in (lists_options, shows_true_text_only, waits_for_no_pipe, finds_the_sign, draws_boxes, writes_video, finds_no_text, names_errors,
                 keeps_what_came_before, ends_on_signals):
        part(folder)


def main():
    checks = {"bgr": [bgr], "nv12": [nv12], "mapping": [mapping, turned, changes, live, late],
              "command": [command]}
    Gst.init(None)
    with tempfile.TemporaryDirectory() as folder:
        for function in checks[sys.argv[1]]:
            function(Path(folder))


main()
