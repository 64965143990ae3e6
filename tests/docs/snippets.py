#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs README.md's Python and its C++ that hands over a tensor, and compiles the rest.

The first Python block must print one line of three numbers for each message.  The second defines
box_in_source(), which must map a letterboxed picture's content back to the whole source.  The third
must print shape, mean and a box for each tensor.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()

BOX = """
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
pipeline = Gst.parse_launch(
    "videotestsrc num-buffers=1 ! video/x-raw,width=1280,height=720 ! cudaletterbox "
    "resize-mode=ultralytics ! video/x-raw,width=640,height=640 ! appsink name=sink")
pipeline.set_state(Gst.State.PLAYING)
sample = pipeline.get_by_name("sink").emit("pull-sample")
box = box_in_source(sample.get_buffer(), 0, 140, 640, 500)
pipeline.set_state(Gst.State.NULL)
assert [round(side, 6) for side in box] == [0, 0, 1280, 720], box
"""


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
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


def run_python(source):
    return subprocess.run([sys.executable, "-W", "ignore", "-c", source], cwd=ROOT, check=True,
                          text=True, timeout=120, stdout=subprocess.PIPE).stdout


def compile_cpp(source, *arguments):
    flags = subprocess.run(["pkg-config", "--cflags", "gstreamer-1.0"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    subprocess.run(["g++", "-std=c++17", "-Wall", "-Werror", f"-I{ROOT / 'gst' / 'library'}",
                    *flags, "-x", "c++", "-", *arguments], input=source, text=True, check=True)


def run_hand_over(source):
    """With the library of this build, whose own needs are met when the program starts."""
    library = os.environ["GST_CUDATENSOR_LIBRARY"]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        compile_cpp(source + INFER, "-x", "none", library, "-Wl,--allow-shlib-undefined",
                    f"-Wl,-rpath,{Path(library).parent}", "-lgstreamer-1.0", "-lgobject-2.0",
                    "-lglib-2.0", "-o", str(program))
        shown = subprocess.run([program], check=True, text=True, timeout=60,
                               stdout=subprocess.PIPE).stdout
    assert shown == "1 3 6 4 0.5\n", shown


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
    """Of the line that leads from decodebin to cudatensormux: the first batch has both cameras."""
    line, = re.findall(r"^gst-launch-1.0 (cudatensormux .*decodebin.*)$", README, re.M)
    line = line.replace("fakesink silent=false -v", "appsink name=sink sync=false")
    batches = run_python(DECODEBIN.replace("LINE", repr(line))).splitlines()
    assert len(batches) > 30 and batches[:30] == [f"{i * 10**8} 2" for i in range(30)], batches


def main():
    batches_are_whole()
    read_messages, map_box, hand_over = blocks("python")
    lines = run_python(read_messages).splitlines()
    assert len(lines) > 10, lines
    assert all(re.fullmatch(r"[\d.]+ \d+ \d+", line) for line in lines), lines[:3]
    run_python(map_box + BOX)
    tensors = run_python(hand_over).splitlines()
    assert len(tensors) > 10, tensors
    assert all(re.fullmatch(r"\(1, 3, 640, 640\) [\d.]+ \[\(.*\)\]", line)
               for line in tensors), tensors[:3]
    take_message, infer_sample = blocks("cpp")
    compile_cpp(take_message, "-fsyntax-only")
    run_hand_over(infer_sample)
    print(f"{len(lines)} messages read, a box mapped back, {len(tensors)} tensors handed over, "
          "the C++ compiles, and infers")


main()
