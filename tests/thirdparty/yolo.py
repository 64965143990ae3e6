#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the programs of docs/onnxruntime.md with a small model of the same input and output.

The model finds one box in each picture. Its score is computed from the tensor's padding, so it
shows which tensor the network has received. The program in C++ needs ONNX Runtime's headers, which
Debian has since release 13. If there is no Python package onnxruntime, ONNX's own evaluator
replaces it.
"""
import os
import re
import subprocess
import sys
import tempfile
import types
from pathlib import Path


def skip(why):
    print(f"ok 1 - yolo # SKIP {why}\n1..1")
    sys.exit(0)


try:
    import onnx
    import onnx.parser
    from onnx.reference import ReferenceEvaluator
except ImportError as error:
    skip(error)

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/onnxruntime.md").read_text()
LIBRARY = os.environ["GST_CUDATENSOR_LIBRARY"]
CLIP = str(ROOT / "pipelines/media/pedestrians.webm")  # 768x576, 79 frames
OTHER = str(ROOT / "pipelines/media/pedestrians-1080p.mp4")  # 1920x1080
BOX = [100, 200, 164, 328]  # in pixels of the tensor
IN_CLIP = "120.0 144.0 196.8 297.6"

# The padding of a letterbox, 114 of 255, doubled.
SCORE = "0.89"

MODEL = """
<ir_version: 8, opset_import: ["": 13]>
detector (float[1, 3, 640, 640] images) => (float[1, 2, columns] output0)
<int64[4] first = {{0, 0, 0, 0}}, int64[4] second = {{1, 1, 1, 1}}, int64[3] single = {{1, 1, 1}},
 float[1, 2, columns] rows = {{{rows}}}, float[1, 2, columns] scores = {{{scores}}}>
{{
  corner = Slice(images, first, second)
  pixel = Reshape(corner, single)
  scaled = Mul(pixel, scores)
  output0 = Add(rows, scaled)
}}
"""


def write_model(folder, columns=6):
    """A model with the metadata of Ultralytics' exports. Returns its path."""
    def numbers(row):
        return ", ".join(str(float(number)) for number in row + [0] * (2 * columns - len(row)))

    text = MODEL.format(rows=numbers(BOX + [0, 2]), scores=numbers([0, 0, 0, 0, 2]))
    model = onnx.parser.parse_model(text.replace("columns", str(columns)))
    for key, value in {"task": "detect", "stride": "32", "imgsz": "[640, 640]"}.items():
        model.metadata_props.add(key=key, value=value)
    path = folder / f"detector{columns}.onnx"
    onnx.save(model, path)
    return str(path)


def block(language, text):
    """Returns the code of a language that contains a text."""
    return next(each for each in re.findall(rf"```{language}\n(.*?)```", PAGE, re.S) if text in each)


def replaced(text, pattern, new):
    changed, count = re.subn(pattern, lambda _: new, text, flags=re.M)
    assert count == 1, f"{count} times {pattern}"
    return changed


class Session:
    """The part of onnxruntime.InferenceSession that the program uses."""

    def __init__(self, path, providers):
        assert providers == ["CPUExecutionProvider"], providers
        self._model = onnx.load(path)
        self._evaluator = ReferenceEvaluator(self._model)

    def get_inputs(self):
        return [types.SimpleNamespace(name=each.name) for each in self._model.graph.input]

    def run(self, _names, inputs):
        return self._evaluator.run(None, inputs)


def run_python(model):
    """Returns the output lines of the Python program for two videos."""
    program = replaced(block("python", "InferenceSession"), r"^MODEL = .*$", f"MODEL = {model!r}")
    program = replaced(program, r"^CAMERAS = .*$", f"CAMERAS = {[CLIP, OTHER]!r}")
    try:
        import onnxruntime
    except ImportError:
        onnxruntime = types.ModuleType("onnxruntime")
        onnxruntime.InferenceSession = Session
        sys.modules["onnxruntime"] = onnxruntime
    shown = []
    exec(compile(program, "onnxruntime.md", "exec"),  # pylint: disable=exec-used
         {"print": lambda *values: shown.append(" ".join(map(str, values)))})
    return shown


def check_python(folder):
    lines = run_python(write_model(folder))
    of_clip = [line for line in lines if line.startswith(CLIP)]
    of_other = [line for line in lines if line.startswith(OTHER)]
    assert len(of_clip) == 79 and of_other and len(of_clip) + len(of_other) == len(lines), lines
    for line in lines:
        source, _, kind, score, box = line.split(maxsplit=4)
        # 1080p is reduced by 3, and its content begins at 0,140.
        expected = [120, 144, 196.8, 297.6] if source == CLIP else [300, 180, 492, 564]
        found = [round(float(side), 1) for side in box.strip("[]").split()]
        assert kind == "2" and f"{float(score):.2f}" == SCORE and found == expected, line


def build_cpp(folder):
    """Builds the program in C++ as the page says, with the library of this build."""
    line = re.search(r"^g\+\+ -std=c\+\+17 -o yolo yolo\.cpp \$\(pkg-config --cflags --libs "
                     r"gstcudatensor-1\.0 libonnxruntime\)$", PAGE, re.M)
    assert line, "the page does not say how to compile the program"
    flags = {}
    for kind in ("--cflags", "--libs"):
        flags[kind] = subprocess.run(["pkg-config", kind, "gstreamer-1.0", "libonnxruntime"],
                                     check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    program = folder / "yolo"
    subprocess.run(["g++", "-std=c++17", "-Wall", "-Werror", f"-I{ROOT / 'gst/library'}",
                    *flags["--cflags"], "-x", "c++", "-", "-x", "none", LIBRARY,
                    "-Wl,--allow-shlib-undefined", f"-Wl,-rpath,{Path(LIBRARY).parent}",
                    *flags["--libs"], "-o", str(program)],
                   input=block("cpp", "Ort::Session"), text=True, check=True)
    return program


def check_cpp(folder):
    program = build_cpp(folder)
    done = subprocess.run([program, write_model(folder), CLIP], check=True, text=True, timeout=60,
                          stdout=subprocess.PIPE)
    expected = f"camera 0: class 2, score {SCORE}, box {IN_CLIP}"
    assert done.stdout.splitlines() == [expected] * 79, done.stdout
    assert expected in PAGE, "the page shows another line"
    for model, camera, problem in ((write_model(folder, 84), CLIP, "export it with nms=True"),
                                   (write_model(folder), "missing.mp4", "there is no such file")):
        done = subprocess.run([program, model, camera], check=False, text=True, timeout=60,
                              stderr=subprocess.PIPE)
        assert done.returncode == 1 and problem in done.stderr, done


def has_headers():
    return subprocess.run(["pkg-config", "--exists", "libonnxruntime"], check=False).returncode == 0


def main():
    failed = 0
    checks = {"python": check_python, "cpp": check_cpp}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, check) in enumerate(checks.items(), 1):
            if name == "cpp" and not has_headers():
                print(f"ok {number} - {name} # SKIP there is no libonnxruntime-dev")
                continue
            try:
                check(Path(folder))
                print(f"ok {number} - {name}")
            except (AssertionError, RuntimeError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"not ok {number} - {name}\n  {error}")
    print(f"1..{len(checks)}")
    return 1 if failed else 0


sys.exit(main())
