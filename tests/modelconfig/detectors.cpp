// SPDX-License-Identifier: LGPL-2.1-or-later
// Models that Ultralytics has exported.
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

std::string stretched(const char *size) {
  return std::string(size) + " resize-mode=stretch method=bilinear antialias=false color=rgb " +
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
        model("semantic", "semantic", "[512, 1024]", letterboxed("width=1024 height=512")),
        model("depth", "depth", "[480, 640]", stretched("width=640 height=480")),
        model("unknown task", "track", "[640, 640]",
              "!task=track: must be one of detect, segment, pose, obb, semantic, depth, classify"),
        model("no multiple of the stride", "detect", "[640, 641]",
              "!imgsz=[640, 641]: must be a multiple of stride 32, to which Ultralytics "
              "enlarges other sizes"),
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

/// Metadata as Ultralytics 8.4 writes it.
Case headed(const char *title, const char *task, const char *head, const std::string &expected) {
  return {title, "model.onnx",
          onnx_model({{"description", "Ultralytics YOLO26n model"},
                      {"stride", "32"},
                      {"task", task},
                      {"head", head},
                      {"imgsz", "[320, 640]"},
                      {"args", "{'batch': 1, 'quantize': 16, 'dynamic': False}"},
                      {"channels", "3"},
                      {"end2end", "True"}}),
          expected};
}

const std::string kBox = letterboxed("width=640 height=320");
const std::string kStretch = stretched("width=640 height=320");

INSTANTIATE_TEST_SUITE_P(
    Heads, Ultralytics,
    testing::Values(
        headed("RT-DETR", "detect", "RTDETRDecoder", kStretch),
        headed("Depth", "depth", "Depth", kStretch), headed("Detect", "detect", "Detect", kBox),
        headed("YOLOv10", "detect", "v10Detect", kBox),
        headed("YOLO-World", "detect", "WorldDetect", kBox),
        headed("YOLOE", "detect", "YOLOEDetect", kBox),
        headed("Segment", "segment", "Segment", kBox),
        headed("Segment26", "segment", "Segment26", kBox),
        headed("YOLOE, segments", "segment", "YOLOESegment", kBox),
        headed("YOLOE26, segments", "segment", "YOLOESegment26", kBox),
        headed("Pose", "pose", "Pose", kBox), headed("Pose26", "pose", "Pose26", kBox),
        headed("OBB", "obb", "OBB", kBox), headed("OBB26", "obb", "OBB26", kBox),
        headed("SemanticSegment", "semantic", "SemanticSegment", kBox),
        headed(
            "Classify", "classify", "Classify",
            "width=640 height=320 resize-mode=stretch method=bilinear antialias=true color=rgb " +
                kRest),
        headed("an unknown head", "detect", "NewDetect",
               "!head=NewDetect: must be one of Detect, v10Detect, WorldDetect, YOLOEDetect, "
               "Segment, Segment26, YOLOESegment, YOLOESegment26, Pose, Pose26, OBB, OBB26, "
               "SemanticSegment, Depth, RTDETRDecoder, Classify"),
        headed("another task's head", "classify", "Detect",
               "!head=Detect: does not belong to task=classify"),
        Case{"RT-DETR before 8.4", "model.onnx",
             onnx_model({{"description", "Ultralytics rtdetr-l model trained on coco.yaml"},
                         {"stride", "32"},
                         {"task", "detect"},
                         {"imgsz", "[640, 640]"}}),
             stretched("width=640 height=640")},
        Case{"RT-DETR, dynamic", "model.onnx",
             onnx_model({{"task", "detect"},
                         {"head", "RTDETRDecoder"},
                         {"imgsz", "[640, 640]"},
                         {"args", "{'dynamic': True}"}}),
             stretched("width=640 height=640")},
        Case{"RT-DETR, no multiple of the stride", "model.onnx",
             onnx_model({{"task", "detect"}, {"head", "RTDETRDecoder"}, {"imgsz", "[600, 640]"}}),
             "!imgsz=[600, 640]: must be a multiple of stride 32, to which Ultralytics "
             "enlarges other sizes"}));

/// Returns a detector of 384x640 with this graph.
Case graph(const char *title, const std::string &graph, const std::string &expected) {
  return {title, "model.onnx", onnx_model({{"task", "detect"}, {"imgsz", "[384, 640]"}}, graph),
          expected};
}

Case input(const char *title, OnnxType type, const std::vector<int> &dims,
           const std::string &expected) {
  return graph(title, onnx_graph({onnx_input("images", type, dims)}), expected);
}

std::string taken(const char *layout, const char *dtype) {
  return "width=640 height=384 resize-mode=ultralytics method=bilinear antialias=false "
         "pad-value=114 color=rgb layout=" +
         std::string(layout) + " dtype=" + dtype + " " + kRest;
}

const std::string kFound = letterboxed("width=640 height=384");

INSTANTIATE_TEST_SUITE_P(
    Inputs, Ultralytics,
    testing::Values(
        input("single precision", onnx_float, {1, 3, 384, 640}, taken("nchw", "float32")),
        input("half precision", onnx_float16, {1, 3, 384, 640}, taken("nchw", "float16")),
        input("open sizes", onnx_float, {-1, 3, -1, -1}, taken("nchw", "float32")),
        input("interleaved", onnx_float, {1, 384, 640, 3}, taken("nhwc", "float32")),
        input("bfloat16", onnx_bfloat16, {1, 3, 384, 640}, taken("nchw", "bfloat16")),
        input("interleaved, open sizes", onnx_float16, {-1, -1, -1, 3}, taken("nhwc", "float16")),
        input("open channels", onnx_float, {-1, -1, 384, 640}, taken("nchw", "float32")),
        input("integers", onnx_uint8, {1, 3, 384, 640},
              "!the model's input images of 1x3x384x640 must have the type float32, float16 "
              "or bfloat16, but has type 2 of ONNX"),
        input("four channels", onnx_float, {1, 4, 384, 640},
              "!the model's input images of 1x4x384x640 does not have 3 channels"),
        input("another size", onnx_float, {1, 3, 640, 640},
              "!imgsz=[384, 640]: must be the size of the model's input images of 1x3x640x640"),
        input("another width, interleaved", onnx_float, {1, -1, 384, 3},
              "!imgsz=[384, 640]: must be the size of the model's input images of 1x?x384x3"),
        input("no picture", onnx_float, {1, 768}, kFound),
        graph("no input", onnx_graph({}), kFound),
        graph("a second input that is no picture",
              onnx_graph({onnx_input("text", onnx_int64, {1, 80}),
                          onnx_input("images", onnx_float16, {1, 3, 384, 640})}),
              taken("nchw", "float16")),
        graph("a second picture",
              onnx_graph({onnx_input("a", onnx_float16, {1, 3, 384, 640}),
                          onnx_input("b", onnx_float16, {1, 3, 384, 640})}),
              kFound),
        graph("weights among the inputs",
              onnx_graph({onnx_input("w", onnx_float, {32, 3, 3, 3}),
                          onnx_input("images", onnx_float16, {1, 3, 384, 640})}),
              taken("nchw", "float16")),
        graph("a graph that ends early",
              onnx_graph({onnx_input("images", onnx_float16, {1, 3, 384, 640})}).substr(0, 10000),
              kFound),
        graph("zeros", std::string(3000, '\0'), kFound)));

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
        Case{"RT-DETR", "metadata.yaml",
             "task: detect\nhead: RTDETRDecoder\nimgsz: 640\nend2end: true\n",
             stretched("width=640 height=640")},
        Case{"no task", "metadata.yaml", "imgsz: 640\n", "!task is absent: must be text"},
        Case{"an alias", "metadata.yaml", "task: &a detect\nimgsz: 640\nx: *a\n",
             "!has an alias (*), which is not read"}));

/// metadata.yaml does not tell the formats of TensorFlow from others.
TEST(UltralyticsFormat, IsToldByTheModelBesideIt) {
  const std::string yaml = "task: detect\nimgsz: 64\n";
  const auto with = [&](const std::vector<std::string> &names) {
    const Folder folder;
    for (const std::string &name : names) folder.write(name, "");
    return read_model_config(folder.write("metadata.yaml", yaml));
  };
  EXPECT_EQ(with({}).layout, std::nullopt);
  EXPECT_EQ(with({"yolo.xml", "yolo.bin"}).layout, std::nullopt);
  EXPECT_EQ(with({"yolo.xml"}).open_layout, "");
  for (const auto &names : std::vector<std::vector<std::string>>{
           {"saved_model.pb"}, {"saved_model.pb", "yolo_float32.tflite"}}) {
    EXPECT_EQ(with(names).layout, Layout::nhwc);
    EXPECT_EQ(with(names).open_layout, "");
  }
  const ModelConfig lite = with({"yolo_float32.tflite"});
  EXPECT_EQ(lite.layout, std::nullopt);
  EXPECT_NE(lite.open_layout.find("does not tell the layout of yolo_float32.tflite"),
            std::string::npos);
  for (const char *name : {"yolo.rknn", "yolo.dxnn", "yolo.hef"}) {
    const Folder folder;
    folder.write(name, "");
    EXPECT_EQ(
        outcome(folder.write("metadata.yaml", yaml)),
        "!describes " + std::string(name) + ", which takes integers that no property describes");
    EXPECT_EQ(outcome(folder.write("other.yaml", yaml)).substr(0, 8), "width=64");
  }
}
#endif

}  // namespace
}  // namespace cudatensor
