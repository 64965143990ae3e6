// SPDX-License-Identifier: LGPL-2.1-or-later
// The property model-config of cudanormalize and cudatensormux. tests/modelconfig/ tests the files.
#include <map>
#include <memory>

#include "muxrig.h"
#include "pipeline.h"
#include "rig.h"
#include "tests/modelconfig/files.h"
#include "tests/modelconfig/onnxfile.h"

namespace cudatensor {
namespace {

const ImageDesc kNv12 = {PixelFormat::NV12, 64, 48};
const std::string kVideo = video_caps(kNv12);

// Reading key files needs no further library.
const char *const kInfer =
    "[property]\nnet-scale-factor=0.25\noffsets=4;8;12\nmodel-color-format=1\ninfer-dims=3;24;40\n"
    "maintain-aspect-ratio=1\n";
const char *const kInfo =
    "[modelinfo]\nversion=1.0\n[in]\ndir=input\ntype=uint8\ndims=1,20,30,3\nranges=0,255\n";
const char *const kBad = "[property]\ninfer-dims=3;24;40\nscaling-filter=4\n";

class ModelConfigTest : public testing::Test {
 protected:
  ModelConfigTest()
      : infer_(folder_.write("config_infer.txt", kInfer)),
        info_(folder_.write("a.modelinfo", kInfo)),
        bad_(folder_.write("bad.txt", kBad)) {}

  Folder folder_;
  const std::string infer_, info_, bad_;
};

std::string element_with(const std::string &path, const std::string &more = "") {
  return "cudanormalize model-config=" + path + " " + more;
}

BufferRef frame() { return buffer_of(Picture(kNv12, 7)); }

TEST_F(ModelConfigTest, SetsTheProperties) {
  Rig rig(element_with(infer_));
  EXPECT_EQ(rig.get("model-config"), infer_);
  EXPECT_EQ(rig.get("width"), "40");
  EXPECT_EQ(rig.get("height"), "24");
  EXPECT_EQ(rig.get("resize-mode"), "top-left");
  EXPECT_EQ(rig.get("pad-value"), "0");
  EXPECT_EQ(rig.get("color"), "bgr");
  EXPECT_EQ(rig.get("normalization"), "alpha-beta");
  EXPECT_EQ(rig.get("round"), "true");
  ASSERT_TRUE(rig.caps(kVideo));
  EXPECT_EQ(rig.output("dimensions"), "40:24:3:1");
}

/// The file gives the same tensor as the properties.
TEST_F(ModelConfigTest, EqualsTheProperties) {
  const std::string imagenet =
      " scale=0.00392156862745098 mean=<0.485,0.456,0.406> "
      "std=<0.229,0.224,0.225>";
  std::vector<std::pair<std::string, std::string>> cases = {
      {infer_,
       "width=40 height=24 resize-mode=top-left pad-value=0 color=bgr round=true "
       "normalization=alpha-beta alpha=<0.25> beta=<-1,-2,-3>"},
      {info_, "width=30 height=20 layout=nhwc dtype=uint8"},
      {folder_.write("yolo.onnx", onnx_model({{"task", "detect"}, {"imgsz", "[32, 64]"}})),
       "width=64 height=32 resize-mode=ultralytics round=true"},
      {folder_.write("cls.onnx", onnx_model({{"task", "classify"}, {"imgsz", "32"}})),
       "width=32 height=32 resize-mode=torchvision antialias=true"}};
#ifdef HAVE_JSON
  cases.emplace_back(folder_.write("preprocessor_config.json",
                                   R"({"image_processor_type":"MobileNetV2ImageProcessor",)"
                                   R"("size":36,"crop_size":31,"resample":3})"),
                     "width=31 height=31 resize-mode=transformers shortest-edge=36 method=bicubic "
                     "antialias=true mean=<0.5> std=<0.5>");
  cases.emplace_back(
      folder_.write("sam.json", R"({"image_processor_type":"SamImageProcessor",)"
                                R"("size":{"longest_edge":32},"pad_size":32})"),
      "width=32 height=32 resize-mode=top-left antialias=true pad-normalized=true" + imagenet);
  cases.emplace_back(
      folder_.write("config.json", R"({"pretrained_cfg":{"input_size":[3,28,28],"crop_pct":0.9}})"),
      "width=28 height=28 resize-mode=torchvision shortest-edge=31 antialias=true" + imagenet);
#endif
  for (const auto &[path, properties] : cases) {
    Rig by_file(element_with(path)), by_hand("cudanormalize " + properties);
    ASSERT_TRUE(by_file.caps(kVideo) && by_hand.caps(kVideo)) << properties;
    EXPECT_EQ(by_file.output("types"), by_hand.output("types"));
    EXPECT_EQ(by_file.output("dimensions"), by_hand.output("dimensions"));
    EXPECT_EQ(bytes_of(by_file.process(frame()).get()), bytes_of(by_hand.process(frame()).get()))
        << properties;
  }
}

#ifdef HAVE_JSON
/// A batch of several cameras has one frame of each.
TEST_F(ModelConfigTest, SetsTheFramesOfAClip) {
  const std::string path =
      folder_.write("video_preprocessor_config.json",
                    R"({"video_processor_type":"VivitVideoProcessor","size":36,"crop_size":32,)"
                    R"("do_sample_frames":true,"num_frames":5})");
  Rig rig(element_with(path, "layout=ncthw"));
  EXPECT_EQ(rig.get("frames-per-tensor"), "5");
  ASSERT_TRUE(rig.caps(kVideo));
  EXPECT_EQ(rig.output("dimensions"), "32:32:5:3:1");
  Rig given(element_with(path, "frames-per-tensor=2"));
  ASSERT_TRUE(given.caps(kVideo));
  EXPECT_EQ(given.output("dimensions"), "32:32:3:2");
  MuxRig mux("model-config=" + path, 1);
  mux.camera(0).caps(kVideo);
  EXPECT_EQ(mux.camera(0).push(frame()), GST_FLOW_OK);
  mux.camera(0).eos();
  EXPECT_NE(mux.pull(), nullptr);
  EXPECT_EQ(mux.output("dimensions"), "32:32:3:1");
}
#endif

TEST_F(ModelConfigTest, PropertiesSetBeforeWin) {
  Rig rig("cudanormalize width=16 pad-value=114 color=rgb model-config=" + infer_);
  EXPECT_EQ(rig.get("width"), "16");
  EXPECT_EQ(rig.get("height"), "24");
  EXPECT_EQ(rig.get("pad-value"), "114");  // the default, but set
  EXPECT_EQ(rig.get("color"), "rgb");
  EXPECT_EQ(rig.get("resize-mode"), "top-left");
}

TEST_F(ModelConfigTest, PropertiesSetAfterWin) {
  Rig rig(element_with(infer_, "width=16 resize-mode=stretch"));
  EXPECT_EQ(rig.get("width"), "16");
  EXPECT_EQ(rig.get("resize-mode"), "stretch");
  rig.set("model-config", infer_);
  EXPECT_EQ(rig.get("width"), "16");
  EXPECT_EQ(rig.get("height"), "24");
}

TEST_F(ModelConfigTest, ASecondFileReplacesTheFirstWhole) {
  Rig rig(element_with(infer_, "height=10"));
  ASSERT_TRUE(rig.caps(kVideo));
  EXPECT_EQ(rig.output_caps() != nullptr, true);
  rig.set("model-config", info_);
  EXPECT_EQ(rig.get("resize-mode"), "stretch");
  EXPECT_EQ(rig.get("color"), "rgb");
  EXPECT_EQ(rig.get("round"), "false");
  EXPECT_EQ(rig.get("pad-value"), "114");
  EXPECT_EQ(rig.get("dtype"), "uint8");
  rig.process(frame());
  EXPECT_EQ(rig.output("dimensions"), "3:30:10:1");
  EXPECT_EQ(rig.output("types"), "uint8");
}

TEST_F(ModelConfigTest, NoneRemovesTheFile) {
  const Rig fresh("cudanormalize");
  Rig rig(element_with(infer_));
  rig.set("model-config", "");
  for (const char *name : {"width", "height", "resize-mode", "method", "color", "layout",
                           "normalization", "alpha", "beta", "round", "pad-value", "model-config"})
    EXPECT_EQ(rig.get(name), fresh.get(name)) << name;
  g_object_set(rig.element(), "model-config", infer_.c_str(), nullptr);
  EXPECT_EQ(rig.get("width"), "40");
  g_object_set(rig.element(), "model-config", nullptr, nullptr);
  EXPECT_EQ(rig.get("width"), "0");
}

/// The element reads the file when the property is set, not later.
TEST_F(ModelConfigTest, IsReadOnce) {
  Rig rig(element_with(infer_));
  folder_.write("config_infer.txt", kBad);
  ASSERT_TRUE(rig.caps(kVideo));
  rig.process(frame());
  EXPECT_EQ(rig.output("dimensions"), "40:24:3:1");
}

TEST_F(ModelConfigTest, OneErrorNamesFileKeyAndValue) {
  Rig rig(element_with(bad_));
  ASSERT_TRUE(rig.caps(kVideo));
  expect_error(rig, frame(), "model-config=" + bad_ + ": property.scaling-filter=4: must be");
  EXPECT_EQ(rig.get("width"), "0");
}

TEST_F(ModelConfigTest, AnAbsentFileIsOneError) {
  Rig rig(element_with(folder_.path("absent.json")));
  ASSERT_TRUE(rig.caps(kVideo));
  expect_error(rig, frame(), folder_.path("absent.json") + ": No such file");
}

TEST_F(ModelConfigTest, AReadableFileEndsTheError) {
  Rig rig(element_with(bad_));
  ASSERT_TRUE(rig.caps(kVideo));
  expect_error(rig, frame(), "scaling-filter");
  rig.set("model-config", infer_);
  rig.process(frame());
  EXPECT_EQ(rig.output("dimensions"), "40:24:3:1");
  rig.set("model-config", bad_);
  expect_error(rig, frame(), "scaling-filter");
}

TEST_F(ModelConfigTest, AFailedNegotiationNamesTheFile) {
  Rig rig(element_with(bad_));
  rig.downstream("other/tensors,format=static,num_tensors=1,types=float16");
  const std::string text = expect_refusal(rig, kVideo, frame());
  EXPECT_TRUE(mentions(text, "scaling-filter=4")) << text;
}

TEST_F(ModelConfigTest, SizesOfTheFileAreNegotiated) {
  Rig rig(element_with(infer_));
  rig.downstream("other/tensors,format=static,num_tensors=1,dimensions=(string)64:64:3:1");
  expect_refusal(rig, kVideo, frame());
}

TEST_F(ModelConfigTest, WorksInALaunchLine) {
  Pipeline pipeline(
      "videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=64,height=48 ! "
      "cudanormalize model-config=" +
      infer_ + " ! fakesink name=out");
  EXPECT_EQ(pipeline.run(), "");
  Pipeline bad(
      "videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=64,height=48 ! "
      "cudanormalize model-config=\"" +
      bad_ + "\" ! fakesink name=out");
  EXPECT_TRUE(mentions(bad.run(), "scaling-filter=4"));
}

// --- sources for which the file asks for another size --------------------------------------------

TEST_F(ModelConfigTest, DynamicExportsMayNeedBothLengths) {
  const std::string path = folder_.write(
      "dynamic.onnx",
      onnx_model({{"task", "detect"}, {"imgsz", "64"}, {"args", "{'dynamic': True}"}}));
  // If only one length is set, the other follows from the file.
  for (const char *more : {"", "width=64", "height=64"}) {
    Rig wide(element_with(path, more));
    ASSERT_TRUE(wide.caps(video_caps({PixelFormat::NV12, 64, 24})));
    expect_error(wide, buffer_of(Picture({PixelFormat::NV12, 64, 24}, 7)), "args.dynamic=true");
  }
  Rig square(element_with(path));
  ASSERT_TRUE(square.caps(kVideo));
  square.process(frame());
  Rig set(element_with(path, "width=64 height=64"));
  ASSERT_TRUE(set.caps(video_caps({PixelFormat::NV12, 64, 24})));
  set.process(buffer_of(Picture({PixelFormat::NV12, 64, 24}, 7)));
}

#ifdef HAVE_JSON
TEST_F(ModelConfigTest, ASizeThatFollowsFromThePictureIsSetByTheUser) {
  const std::string path =
      folder_.write("detr.json", R"({"image_processor_type":"DetrImageProcessor"})");
  for (const char *more : {"", "width=64", "resize-mode=stretch"}) {
    Rig rig(element_with(path, more));
    const std::string text = expect_refusal(rig, kVideo, frame());
    EXPECT_TRUE(mentions(text, "size is absent: the aspect ratio is kept; set width and height"))
        << text;
  }
  Rig by_file(element_with(path, "width=64 height=48"));
  Rig by_hand(
      "cudanormalize width=64 height=48 antialias=true mean=<0.485,0.456,0.406> "
      "std=<0.229,0.224,0.225>");
  ASSERT_TRUE(by_file.caps(kVideo));
  ASSERT_TRUE(by_hand.caps(kVideo));
  EXPECT_EQ(bytes_of(by_file.process(frame()).get()), bytes_of(by_hand.process(frame()).get()));
}

TEST_F(ModelConfigTest, SamRefusesOnlySizesThatItRoundsOtherwise) {
  const std::string path = folder_.write(
      "sam.json", R"({"image_processor_type":"SamImageProcessor","size":{"longest_edge":32},)"
                  R"("pad_size":{"height":32,"width":32}})");
  const ImageDesc halves = {PixelFormat::RGB, 64, 33}, others = {PixelFormat::RGB, 64, 35};
  Rig rig(element_with(path));
  ASSERT_TRUE(rig.caps(video_caps(others)));  // 17.5 becomes 18 either way
  rig.process(buffer_of(Picture(others, 7)));
  ASSERT_TRUE(rig.caps(video_caps(halves)));  // 16.5 becomes 17, and 16
  expect_error(rig, buffer_of(Picture(halves, 7)), "64x33 becomes 32x17");
  Rig other(element_with(path, "resize-mode=ultralytics"));
  ASSERT_TRUE(other.caps(video_caps(halves)));
  other.process(buffer_of(Picture(halves, 7)));
}
#endif

// --- sizes that the file leaves open -----------------------------------------------------------

const char *const kSized = "other/tensors,format=static,num_tensors=1,dimensions=(string)40:24:3:1";

/// Returns files of every kind, and the key that the error names.
std::vector<std::pair<std::string, std::string>> open_files(const Folder &folder) {
  std::vector<std::pair<std::string, std::string>> files = {
      {folder.write("infer.txt", "[property]\nnet-scale-factor=0.25\n"), "property.infer-dims"},
      {folder.write("yolo.txt", "[property]\nonnx-file=absent.onnx\n"), "property.onnx-file"},
      {folder.write("dynamic.txt", "[property]\nonnx-file=dynamic.onnx\n"), "onnx-file=dynamic"},
      {folder.write("open.modelinfo",
                    "[modelinfo]\nversion=1.0\n[in]\ndir=input\ntype=float32\n"
                    "dims=1,3,-1,-1\nranges=0,255\n"),
       "in.dims=1,3,-1,-1"}};
  folder.write("dynamic.onnx",
               onnx_model({}, onnx_graph({onnx_input("input", onnx_float, {-1, 3, -1, -1})})));
#ifdef HAVE_JSON
  files.emplace_back(
      folder.write("preprocessor_config.json", R"({"image_processor_type":"ViTImageProcessor",)"
                                               R"("do_resize":false})"),
      "preprocessor_config.json");
#endif
  return files;
}

TEST_F(ModelConfigTest, AnOpenSizeIsNeverTakenFromTheCamera) {
  for (const auto &[path, key] : open_files(folder_)) {
    for (const char *more :
         {"", "width=40", "height=24", "width=0", "regions=tiles", "frames-per-tensor=2"}) {
      Rig rig(element_with(path, more));
      const std::string text = expect_refusal(rig, kVideo, frame());
      EXPECT_TRUE(mentions(text, "model-config=" + path)) << text;
      EXPECT_TRUE(mentions(text, key)) << text;
      EXPECT_TRUE(mentions(text, "set width and height")) << text;
    }
  }
}

TEST_F(ModelConfigTest, AnOpenSizeIsTakenFromDownstream) {
  for (const auto &[path, key] : open_files(folder_)) {
    Rig rig(element_with(path));
    rig.downstream(kSized);
    ASSERT_TRUE(rig.caps(kVideo)) << path;
    rig.process(frame());
    EXPECT_EQ(rig.output("dimensions"), "40:24:3:1") << path;
  }
}

TEST_F(ModelConfigTest, AnOpenSizeIsSetByTheUser) {
  for (const auto &[path, key] : open_files(folder_)) {
    for (const auto &[properties, dimensions] :
         std::map<std::string, std::string>{{"width=40 height=24", "40:24:3:1"},
                                            {"width=0 height=24", "64:24:3:1"},
                                            {"width=0 height=0", "64:48:3:1"}}) {
      Rig rig(element_with(path, properties));
      ASSERT_TRUE(rig.caps(kVideo)) << path;
      rig.process(frame());
      EXPECT_EQ(rig.output("dimensions"), dimensions) << path << " " << properties;
    }
  }
}

/// The property is set while frames flow, and reset.
TEST_F(ModelConfigTest, ASecondFileMayLeaveTheSizeOpen) {
  const std::string open = folder_.write("open.txt", "[property]\nnet-scale-factor=0.25\n");
  Rig rig(element_with(infer_));
  ASSERT_TRUE(rig.caps(kVideo));
  rig.process(frame());
  rig.set("model-config", open);
  EXPECT_EQ(rig.push(frame()), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_TRUE(mentions(rig.messages().errors().at(0).text, "property.infer-dims is absent"));
  Rig other(element_with(open));
  other.set("model-config", "");
  ASSERT_TRUE(other.caps(kVideo));
  other.process(frame());
  EXPECT_EQ(other.output("dimensions"), "64:48:3:1");
}

TEST_F(ModelConfigTest, TakesTheSizeOfTheModelThatDeepStreamReads) {
  folder_.write("yolo.onnx",
                onnx_model({}, onnx_graph({onnx_input("input", onnx_float, {-1, 3, 32, 40})})));
  Rig rig(element_with(folder_.write("yolo.txt", "[property]\nonnx-file=yolo.onnx\n")));
  ASSERT_TRUE(rig.caps(kVideo));
  rig.process(frame());
  EXPECT_EQ(rig.output("dimensions"), "40:32:3:1");
}

TEST_F(ModelConfigTest, TakesTheTypeOfTheModelThatUltralyticsExports) {
  const std::string graph = onnx_graph({onnx_input("images", onnx_float16, {1, 3, 32, 64})});
  const std::string path =
      folder_.write("half.onnx", onnx_model({{"task", "detect"}, {"imgsz", "[32, 64]"}}, graph));
  Rig rig(element_with(path));
  ASSERT_TRUE(rig.caps(kVideo));
  EXPECT_EQ(rig.output("types"), "float16");
}

#ifdef HAVE_LIBYAML
TEST_F(ModelConfigTest, AnOpenLayoutIsSetByTheUser) {
  folder_.write("yolo_float32.tflite", "");
  const std::string path = folder_.write("metadata.yaml", "task: detect\nimgsz: [32, 64]\n");
  Rig rig(element_with(path));
  ASSERT_TRUE(rig.caps(kVideo));
  expect_error(rig, frame(), "does not tell the layout of yolo_float32.tflite; set layout");
  for (const auto &[layout, dimensions] :
       std::map<std::string, std::string>{{"nchw", "64:32:3:1"}, {"nhwc", "3:64:32:1"}}) {
    Rig set(element_with(path, "layout=" + layout));
    ASSERT_TRUE(set.caps(kVideo));
    set.process(frame());
    EXPECT_EQ(set.output("dimensions"), dimensions);
  }
}
#endif

// --- cudatensormux -----------------------------------------------------------------------------

TEST_F(ModelConfigTest, MuxTakesTheProperties) {
  MuxRig rig("height=20 model-config=" + infer_, 2);
  for (size_t i = 0; i < 2; ++i) {
    rig.camera(i).caps(kVideo);
    rig.camera(i).push(frame());
    rig.camera(i).eos();
  }
  EXPECT_NE(rig.pull(), nullptr);
  EXPECT_EQ(rig.output("dimensions"), "40:20:3:2");
}

TEST_F(ModelConfigTest, MuxReportsTheError) {
  MuxRig rig("model-config=" + bad_, 1);
  rig.camera(0).caps(kVideo);
  rig.camera(0).push(frame());
  EXPECT_TRUE(mentions(rig.wait_for_error(), bad_ + ": property.scaling-filter=4"));
}

TEST_F(ModelConfigTest, MuxNamesTheCamera) {
  const std::string path = folder_.write(
      "dynamic.onnx",
      onnx_model({{"task", "detect"}, {"imgsz", "64"}, {"args", "{'dynamic': True}"}}));
  MuxRig rig("model-config=" + path, 1);
  const ImageDesc wide = {PixelFormat::NV12, 64, 24};
  rig.camera(0).caps(video_caps(wide));
  rig.camera(0).push(buffer_of(Picture(wide, 7)));
  const std::string text = rig.wait_for_error();
  EXPECT_TRUE(mentions(text, "sink_0: ")) << text;
  EXPECT_TRUE(mentions(text, "args.dynamic=true")) << text;
}

TEST_F(ModelConfigTest, MuxRequiresAnOpenSize) {
  const auto run = [&](const std::string &properties, const std::string &downstream) {
    auto rig = std::make_unique<MuxRig>(properties, 1);
    if (!downstream.empty()) rig->downstream(downstream);
    rig->camera(0).caps(kVideo);
    rig->camera(0).push(frame());
    return rig;
  };
  for (const auto &[path, key] : open_files(folder_)) {
    for (const char *more : {"", " width=40", " height=24"}) {
      const std::string text = run("model-config=" + path + more, "")->wait_for_error();
      EXPECT_TRUE(mentions(text, "model-config=" + path)) << text;
      EXPECT_TRUE(mentions(text, key)) << text;
      EXPECT_TRUE(mentions(text, "set width and height")) << text;
    }
    const auto sized = run("model-config=" + path, kSized);
    EXPECT_NE(sized->pull(), nullptr);
    EXPECT_EQ(sized->output("dimensions"), "40:24:3:1");
    const auto own = run("width=0 height=0 model-config=" + path, "");
    EXPECT_NE(own->pull(), nullptr);
    EXPECT_EQ(own->output("dimensions"), "64:48:3:1");
  }
}

#ifdef HAVE_LIBYAML
TEST_F(ModelConfigTest, MuxRequiresAnOpenLayout) {
  folder_.write("yolo_float32.tflite", "");
  const std::string path = folder_.write("metadata.yaml", "task: detect\nimgsz: [32, 64]\n");
  MuxRig rig("model-config=" + path, 1);
  rig.camera(0).caps(kVideo);
  rig.camera(0).push(frame());
  EXPECT_TRUE(mentions(rig.wait_for_error(), "does not tell the layout of yolo_float32.tflite"));
}
#endif

}  // namespace
}  // namespace cudatensor
