#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the Python, C and C++ code of README.md and docs/.

A text in each block selects the function that checks it. A block without a check is an error.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FRAMES = 79  # frames of the clip

INFER = """
void infer(const void *data, const gint64 *shape, gpointer) {
  for (int i = 0; i < 4; ++i) g_print("%d ", static_cast<int>(shape[i]));
  g_print("%g\\n", static_cast<const float *>(data)[0]);
}

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  GstCaps *caps = gst_caps_from_string(
      "other/tensors,format=static,num_tensors=1,types=float32,dimensions=4:6:3:1,framerate=0/1");
  GstBuffer *buffer = gst_buffer_new_allocate(nullptr, 4 * 6 * 3 * 4, nullptr);
  const float first = 0.5f;
  gst_buffer_fill(buffer, 0, &first, sizeof(first));
  GstSample *sample = gst_sample_new(buffer, caps, nullptr, nullptr);
  gst_caps_unref(caps);
  gst_buffer_unref(buffer);
  const gboolean done = infer_sample(sample, nullptr, nullptr);
  gst_sample_unref(sample);
  return done ? 0 : 1;
}
"""


def blocks(language):
    return [block for page in PAGES
            for block in re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.S)]


def run_python(source):
    return subprocess.run([sys.executable, "-W", "ignore", "-c", source], cwd=ROOT, check=True,
                          text=True, timeout=120, stdout=subprocess.PIPE).stdout


def pkg_config(*arguments):
    return subprocess.run(["pkg-config", *arguments], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.split()


COMPILERS = {"c": ["gcc", "-std=gnu11"], "c++": ["g++", "-std=c++17"]}


def run_compiled(language, source, *arguments, packages=("gstreamer-1.0",)):
    """Returns the output of a program that is linked with the library of this build. The library's
    dependencies are found when the program starts."""
    library = os.environ["GST_CUDATENSOR_LIBRARY"]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        subprocess.run([*COMPILERS[language], "-Wall", "-Wextra", "-Werror",
                        f"-I{ROOT / 'gst' / 'library'}", *pkg_config("--cflags", *packages),
                        "-x", language, "-", "-x", "none", library,
                        "-Wl,--allow-shlib-undefined", f"-Wl,-rpath,{Path(library).parent}",
                        *pkg_config("--libs", *packages), "-o", str(program)],
                       input=source, text=True, check=True)
        return subprocess.run([program, *arguments], check=True, text=True, timeout=60, cwd=ROOT,
                              stdout=subprocess.PIPE).stdout


def compile_line(page, program):
    """Returns the packages that a page names for pkg-config, to compile a program."""
    line = re.search(rf"^\S+ -o {program} .*\$\(pkg-config --cflags --libs ([^)]*)\)$",
                     (ROOT / "docs" / page).read_text(), re.M)
    assert line, f"{page} does not say how to compile {program}"
    packages = line[1].split()
    assert "gstcudatensor-1.0" in packages, packages
    return [each for each in packages if each != "gstcudatensor-1.0"]


def prints_boxes(source):
    """The page shows a line of the output."""
    packages = compile_line("interop.md", "boxes")
    clip = (ROOT / "pipelines/media/pedestrians.webm").as_uri()
    lines = run_compiled("c", source, clip, packages=packages).splitlines()
    line = next(each for each in blocks("text") if "first value" in each)
    assert lines == [line.strip()] * FRAMES, lines


RUN = r"""
void run(float *, const gint64 *shape, gdouble box[4]) {
  box[0] = box[1] = 0;
  box[2] = static_cast<gdouble>(shape[3]);
  box[3] = static_cast<gdouble>(shape[2]);
}

int main(int, char **argv) {
  GError *error = nullptr;
  print_boxes(argv[1], argv[2], &error);
  return error == nullptr ? 0 : 1;
}
"""


def surrounds_a_session(source):
    """The model takes the square in the middle of the clip."""
    media = ROOT / "pipelines/media"
    lines = run_compiled("c++", source + RUN, media / "pedestrians.webm",
                         media / "preprocessor_config.json").splitlines()
    assert lines == ["box 95.4 0.0 672.6 576.0"] * FRAMES, lines


def infers(source):
    shown = run_compiled("c++", source + INFER)
    assert shown == "1 3 6 4 0.5\n", shown


SLOTS = r"""
int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  GstElement *pipeline = gst_parse_launch(
      "videotestsrc num-buffers=1 ! video/x-raw,width=1280,height=720 ! cudanormalize width=640 "
      "height=640 resize-mode=ultralytics regions=list region-list=\"<0,0,1280,720>\" ! "
      "other/tensors ! appsink name=sink", nullptr);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstSample *sample = nullptr;
  g_signal_emit_by_name(sink, "pull-sample", &sample);
  GstCudaTensor *batch = gst_cuda_tensor_new_from_sample(sample, nullptr);
  print_slots(batch);
  gst_cuda_tensor_unref(batch);
  gst_sample_unref(sample);
  gst_object_unref(sink);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return 0;
}
"""


def prints_slots(source):
    """A box in a slot of 640x640, whose picture of 1280x720 begins at 0,140."""
    shown = run_compiled("c++", source + SLOTS)
    assert shown == "0 200 120 328 376\n", shown


HISTOGRAM = r"""
int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  GstElement *pipeline = gst_parse_launch(
      "videotestsrc num-buffers=1 pattern=black ! video/x-raw,format=GRAY8,width=32,height=8 ! "
      "cudahistogram ! fakesink", nullptr);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ELEMENT);
  GstCudaTensorHistogram sum = {};
  take_message(message, &sum);
  g_print("%" G_GUINT64_FORMAT "\n", sum.pixels);
  gst_message_unref(message);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return 0;
}
"""


def prints_histogram(source):
    """All 256 pixels of videotestsrc's black have the luminance 16."""
    shown = run_compiled("c++", source + HISTOGRAM)
    assert shown == "16 16 256\n256\n", shown


def reads_messages(source):
    lines = run_python(source).splitlines()
    assert len(lines) > 10, lines
    assert all(re.fullmatch(r"[\d.]+ \d+ \d+", line) for line in lines), lines[:3]


def maps_boxes(source):
    """The clip is 768x576: 1.2 of its pixels are one pixel of the tensor, whose content begins at
    0,80."""
    lines = run_python(source).splitlines()
    assert len(lines) == FRAMES, lines
    for line in lines:
        box = [round(float(side), 3) for side in line.strip("()").split(",")]
        assert box == [120, 144, 196.8, 297.6], line


def maps_batches(source):
    """The page shows a line of the output."""
    lines = run_python(source).splitlines()
    shown = next(block for block in blocks("text") if block.startswith("(1, 3, 640, 640) "))
    assert lines == [shown.strip()] * FRAMES, lines


def reads_tensors(source):
    lines = run_python(source).splitlines()
    assert len(lines) == FRAMES, lines
    for line in lines:
        box = re.fullmatch(r"\(1, 3, 640, 640\) [\d.]+ \[\((.*)\)\]", line)
        assert box, line
        assert [round(float(side), 1) for side in box[1].split(",")] == [120, 144, 196.8, 297.6], line


def reads_slots(source):
    """Maps boxes of two cameras: the clip as above, and one of 1280x720, whose content begins at
    0,140."""
    boxes = {"0": [120, 144, 196.8, 297.6], "1": [200, 120, 328, 376]}
    lines = run_python(source).splitlines()
    assert {line.split()[0] for line in lines} == boxes.keys() and len(lines) > FRAMES, lines
    for line in lines:
        found = re.fullmatch(r"(\d) \d+ [\d.]+ \[\((.*)\)\]", line)
        assert found, line
        assert [round(float(side), 1) for side in found[2].split(",")] == boxes[found[1]], line


DECODEBIN = """
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
pipeline = Gst.parse_launch(LINE)
pipeline.set_state(Gst.State.PLAYING)
while sample := pipeline.get_by_name("sink").emit("pull-sample"):
    batch = sample.get_buffer().get_custom_meta("GstCudaTensorBatchMeta").get_structure()
    _, slots = batch.get_array("slots")
    valid = sum(slots.get_nth(i).get_value("valid") for i in range(slots.n_values))
    print(sample.get_buffer().pts, valid)
pipeline.set_state(Gst.State.NULL)
"""


def batches_are_whole():
    """With the line from decodebin to cudatensormux, the first batch has both cameras."""
    line = re.search(r"^gst-launch-1.0 (cudatensormux .*decodebin.*)$",
                     (ROOT / "docs/cameras.md").read_text(), re.M)[1]
    line = line.replace("fakesink silent=false -v", "appsink name=sink sync=false")
    batches = run_python(DECODEBIN.replace("LINE", repr(line))).splitlines()
    assert len(batches) > 30 and batches[:30] == [f"{i * 10**8} 2" for i in range(30)], batches


def reads_batches(source):
    lines = run_python(source).splitlines()
    assert lines[0] == "768 576 10 7.9", lines
    text = "".join(lines[1:])
    assert text.count("(4, 3, 640, 640)") == 2 and "[[120.  144.  196.8 297.6]]" in text, lines
    assert "[0. 1. 2. 3.]" in text and "[4. 5. 6. 7.]" in text, lines


def aligns_faces(source):
    """The page shows a line of the output."""
    shown = next(block for block in blocks("text") if block.startswith("face "))
    assert run_python(source).splitlines() == [shown.strip()] * FRAMES


def decodes_boxes(source):
    """The page shows the output."""
    shown = next(block for block in blocks("text") if block.startswith("0 0.9 "))
    assert run_python(source) == shown


def finds_no_file(source):
    assert run_python(source) == "missing.mp4: there is no such file\n"


# A replacement for the parts of PyTorch that the data set needs, with NumPy.
TORCH = '''
import sys, types
import numpy


class Array(numpy.ndarray):
    clone = numpy.ndarray.copy


data = types.SimpleNamespace(IterableDataset=object, get_worker_info=lambda: types.SimpleNamespace(
    id=1, num_workers=2))
sys.modules["torch"] = types.SimpleNamespace(
    utils=types.SimpleNamespace(data=data), from_numpy=lambda array: array,
    from_dlpack=lambda batch: numpy.from_dlpack(batch).view(Array))
'''


def iterates_over_videos(source):
    clip = "pipelines/media/pedestrians.webm"
    use = (f"for tensor, pts in Videos(['missing.mp4', {clip!r}], batch=8, width=32, height=32):\n"
           "    print(tensor.shape, tensor.flags.owndata, pts[0])\n")
    lines = run_python(TORCH + source + use).splitlines()
    assert len(lines) == 10 and lines[-1] == "(7, 3, 32, 32) True 7200000000", lines


def compiles(source):
    """Compiles code whose model is not available here."""
    compile(source, "snippet", "exec")


CHECKS = {
    # tests/archive/adapters.py runs the blocks of adapters.md. Those of detections.md need
    # GStreamer 1.26, so tests/thirdparty/detections.py runs them. Those of onnxruntime.md need ONNX
    # Runtime, so tests/thirdparty/yolo.py runs them.
    "python": {"ARCFACE": aligns_faces, "cudadetections": decodes_boxes, "GstAnalytics": lambda source: None, "cudahistogram": reads_messages, "def box_in_source": maps_boxes,
               "every=\"1s\"": reads_batches, "missing.mp4": finds_no_file,
               "IterableDataset": iterates_over_videos, "VIDEO_LOADER_REGISTRY": compiles,
               "ProcessingStage": compiles, "load_model": compiles, "results/verdicts": compiles,
               "InferenceSession": lambda source: None, "error.source, error": compiles,
               "what your network finds": maps_batches,
               "batch.slots": reads_slots, "tensor.map_boxes": reads_tensors},
    "c": {"print_objects": lambda source: None, "gst_cuda_tensor_to_dlpack": prints_boxes},
    "cpp": {"take_message": prints_histogram, "infer_sample": infers,
            "print_slots": prints_slots, "void run(float": surrounds_a_session,
            "Ort::Session": lambda source: None},
}


def main():
    batches_are_whole()
    for language, checks in CHECKS.items():
        left = dict(checks)
        for block in blocks(language):
            text = next((text for text in left if text in block), None)
            if text is None:
                sys.exit(f"no check for this {language} code:\n{block}")
            left.pop(text)(block)
            print(f"{language}: {text}")
        if left:
            sys.exit(f"no {language} code contains {sorted(left)}")


main()
