// SPDX-License-Identifier: LGPL-2.1-or-later
// Models that Ultralytics exported.
#include <gtest/gtest.h>

#include "tests/modelconfig/files.h"
#include "tests/modelconfig/onnxfile.h"

namespace cudatensor {
namespace {

class Ultralytics : public testing::TestWithParam<Case> {};
TEST_P(Ultralytics, GivesTheProperties) { check(GetParam()); }

const std::string kRest =
    "normalization=mean-std scale=0.00392156862745098 mean=\"<0>\" std=\"<1>\" round=true";

std::string letterboxed(const char *size) {
  return std::string(size) +
         " resize-mode=ultralytics method=bilinear antialias=false pad-value=114 color=rgb " +
         kRest;
}

Case model(const char *title, const char *task, const char *imgsz, const std::string &expected) {
  return {title, "model.onnx",
          onnx_model({{"description", "Ultralytics YOLO11n model"},
                      {"stride", "32"},
                      {"task", task},
                      {"batch", "1"},
                      {"imgsz", imgsz},
                      {"names", "{0: 'person', 1: 'bicycle'}"},
                      {"args", "{'batch': 1, 'half': False, 'dynamic': False, 'nms': False}"},
                      {"channels", "3"}}),
          expected};
}

INSTANTIATE_TEST_SUITE_P(
    Onnx, Ultralytics,
    testing::Values(
        model("detect", "detect", "[640, 640]", letterboxed("width=640 height=640")),
        model("segment", "segment", "[384, 640]", letterboxed("width=640 height=384")),
        model("pose", "pose", "(640, 640)", letterboxed("width=640 height=640")),
        model("obb", "obb", "1024", letterboxed("width=1024 height=1024")),
        model("classify", "classify", "[224, 224]",
              "width=224 height=224 resize-mode=torchvision shortest-edge=224 method=bilinear "
              "antialias=true color=rgb " +
                  kRest),
        model("classify, no square", "classify", "[224, 320]",
              "width=320 height=224 resize-mode=stretch method=bilinear antialias=true color=rgb " +
                  kRest),
        model("unknown task", "depth", "[640, 640]",
              "!task=depth: must be detect, segment, pose, obb or classify"),
        model("no multiple of the stride", "detect", "[640, 641]",
              "!imgsz=[640, 641]: is no multiple of stride 32, to which Ultralytics enlarges it"),
        model("three sizes", "detect", "[1, 640, 640]",
              "!imgsz=[1, 640, 640]: must be height and width"),
        model("no number", "detect", "[640, None]",
              "!imgsz=[640, None]: must be whole numbers from 1 to 32767"),
        model("too large", "detect", "[640, 99999999999999999999]",
              "!imgsz=[640, 99999999999999999999]: must be whole numbers from 1 to 32767"),
        Case{"another program's model", "model.onnx", onnx_model({}),
             "!imgsz is absent: must be height and width"},
        Case{"gray", "model.onnx",
             onnx_model({{"task", "detect"}, {"imgsz", "640"}, {"channels", "1"}}),
             "!channels=1: only 3 channels are possible"},
        Case{"told by content", "weights.bin",
             onnx_model({{"task", "detect"}, {"imgsz", "640"}}, 5000000),
             letterboxed("width=640 height=640")}));

#ifdef HAVE_LIBYAML
INSTANTIATE_TEST_SUITE_P(
    Yaml, Ultralytics,
    testing::Values(
        Case{"lists", "metadata.yaml",
             "description: Ultralytics YOLO11n model\nauthor: Ultralytics\n"
             "date: '2026-01-01T10:00:00'\nversion: 8.3.40\nstride: 32\ntask: detect\nbatch: 1\n"
             "imgsz:\n- 480\n- 640\nnames:\n  0: person\n  1: bicycle\n? [a, b]\n: c\n"
             "args:\n  batch: 1\n  dynamic: false\nchannels: 3\n",
             letterboxed("width=640 height=480")},
        Case{"flow", "metadata.yaml", "task: detect\nimgsz: [640, 640]\n",
             letterboxed("width=640 height=640")},
        Case{"one number", "metadata.yml", "--- \n# a comment\ntask: pose\nimgsz: 640\n",
             letterboxed("width=640 height=640")},
        Case{"no task", "metadata.yaml", "imgsz: 640\n", "!task is absent: must be text"},
        Case{"an alias", "metadata.yaml", "task: &a detect\nimgsz: 640\nx: *a\n",
             "!has an alias (*), which is not read"}));
#endif

}  // namespace
}  // namespace cudatensor
