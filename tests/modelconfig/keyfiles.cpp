// SPDX-License-Identifier: LGPL-2.1-or-later
// .modelinfo files of GStreamer, and configuration files of DeepStream.
#include <gtest/gtest.h>

#include "tests/modelconfig/files.h"
#include "tests/modelconfig/onnxfile.h"

namespace cudatensor {
namespace {

class KeyFile : public testing::TestWithParam<Case> {};
TEST_P(KeyFile, GivesTheProperties) { check(GetParam()); }

std::string model_info(const std::string &keys) {
  return "[modelinfo]\nversion=1.0\ngroup-id=yolo\n\n[images]\nid=images\ndir=input\n" + keys +
         "\n[output0]\ndir=output\ntype=float32\ndims=1,84,8400\n";
}

const char *const kInfo = "yolo.onnx.modelinfo";

INSTANTIATE_TEST_SUITE_P(
    ModelInfo, KeyFile,
    testing::Values(
        Case{"planar", kInfo, model_info("type=float32\ndims=-1,3,480,640\nranges=0.0,1.0"),
             "width=640 height=480 color=rgb layout=nchw dtype=float32 normalization=alpha-beta "
             "alpha=\"<0.00392156862745098>\" beta=\"<0>\""},
        Case{"interleaved", kInfo, model_info("type=uint8\ndims=1,300,320,3\nranges=0.0,255.0"),
             "width=320 height=300 color=rgb layout=nhwc dtype=uint8 normalization=alpha-beta "
             "alpha=\"<1>\" beta=\"<0>\""},
        Case{"signs", kInfo, model_info("type=uint8\ndims=+1,+300,+320,+3\nranges=+0,+255"),
             "width=320 height=300 color=rgb layout=nhwc dtype=uint8 normalization=alpha-beta "
             "alpha=\"<1>\" beta=\"<0>\""},
        Case{"a range for each channel", kInfo,
             model_info("type=float16\ndims=3,8,8\nranges=0.0,255.0;-1.0,1.0;0.0,1.0"),
             "width=8 height=8 color=rgb layout=nchw dtype=float16 normalization=alpha-beta "
             "alpha=\"<1,0.00784313725490196,0.00392156862745098>\" beta=\"<0,-1,0>\""},
        Case{"open sizes", kInfo, model_info("type=int8\ndims=1,-1,-1,1\nranges=-128,127"),
             "color=gray layout=nhwc dtype=int8 normalization=alpha-beta alpha=\"<1>\" "
             "beta=\"<-128>\""},
        Case{"another type", kInfo, model_info("type=float64\ndims=1,3,8,8\nranges=0,1"),
             "!images.type=float64: dtype must be float32, float16, bfloat16, uint8 or int8"},
        Case{"no ranges", kInfo, model_info("type=float32\ndims=1,3,8,8"),
             "!images.ranges is absent: must be text"},
        Case{"half a range", kInfo, model_info("type=float32\ndims=1,3,8,8\nranges=0.0"),
             "!images.ranges=0: must be text"},
        Case{"two ranges", kInfo, model_info("type=float32\ndims=1,3,8,8\nranges=0,1;0,1"),
             "!images.ranges=0,1;0,1: must be one range, or one for each of 3 channels"},
        Case{"a range of words", kInfo, model_info("type=float32\ndims=1,3,8,8\nranges=0,max"),
             "!images.ranges=0,max: must be a minimum and a maximum, separated by a comma"},
        Case{"an endless range", kInfo, model_info("type=float32\ndims=1,3,8,8\nranges=0,1e999"),
             "!images.ranges=0,1e999: must be finite numbers"},
        Case{"a range that is too large", kInfo,
             model_info("type=float32\ndims=1,3,8,8\nranges=-1e308,1e308"),
             "!images.ranges=-1e308,1e308: must be finite numbers"},
        Case{"no channels", kInfo, model_info("type=float32\ndims=1,-1,-1,-1\nranges=0,1"),
             "!images.dims=1,-1,-1,-1: neither the first nor the last size is 1 or 3 channels"},
        Case{"channels at both ends", kInfo, model_info("type=float32\ndims=1,3,8,3\nranges=0,1"),
             "!images.dims=1,3,8,3: both the first and the last size may be the channels"},
        Case{"a size of 0", kInfo, model_info("type=float32\ndims=1,3,0,8\nranges=0,1"),
             "!images.dims=1,3,0,8: must be whole numbers from 1 to 32767, or -1"},
        Case{"the header is no input", kInfo,
             "[modelinfo]\nversion=1.5\ndir=input\ndims=1,3,4,4\n" +
                 model_info("type=uint8\ndims=1,8,16,3\nranges=0,255"),
             "width=16 height=8 color=rgb layout=nhwc dtype=uint8 normalization=alpha-beta "
             "alpha=\"<1>\" beta=\"<0>\""},
        Case{"no picture", kInfo, model_info("type=float32\ndims=1,768\nranges=0,1"),
             "!has no group with dir=input and dims of a picture"},
        Case{"two pictures", kInfo,
             model_info("type=float32\ndims=1,3,8,8\nranges=0,1\n[more]\ndir=input\ndims=1,3,8,8"),
             "!more.dir=input: only one input may have dims of a picture, but images has them, "
             "too"},
        Case{"columns first", kInfo,
             model_info("type=float32\ndims=1,3,8,8\nranges=0,1\ndims-order=col-major"),
             "!images.dims-order=col-major: must be row-major"},
        Case{"a newer version", kInfo, "[modelinfo]\nversion=2.0\n",
             "!modelinfo.version=2: only version 1 is read"},
        Case{"without a version", kInfo, "[images]\ndir=input\ndims=1,3,8,8\n",
             "!modelinfo.version is absent: only version 1 is read"}));

const char *const kInfer = "config_infer_primary.txt";

/// Properties of 16x8 in RGB with the defaults.
std::string sized(const char *layout) {
  return "width=16 height=8 resize-mode=stretch method=bilinear antialias=false color=rgb layout=" +
         std::string(layout) + " normalization=alpha-beta alpha=\"<1>\" beta=\"<0>\" round=true";
}

/// Returns a configuration of nvdspreprocess with this type.
Case preprocessed(const char *dtype, const char *key) {
  return {dtype, "config_preprocess.txt",
          "[property]\nnetwork-input-shape=1;3;8;16\n" + std::string(key),
          "width=16 height=8 resize-mode=stretch method=bilinear antialias=false color=rgb "
          "layout=nchw dtype=" +
              std::string(dtype) +
              " normalization=alpha-beta alpha=\"<1>\" beta=\"<0>\" round=true"};
}

INSTANTIATE_TEST_SUITE_P(
    DeepStream, KeyFile,
    testing::Values(
        Case{"nvinfer", kInfer,
             "# DeepStream\n[property]\ngpu-id=0\nnet-scale-factor=0.0039215697906911373\n"
             "model-color-format=0\ninfer-dims=3;480;640\nbatch-size=4\nmaintain-aspect-ratio=1\n"
             "symmetric-padding=1\nscaling-filter=1\n[class-attrs-all]\ntopk=20\n",
             "width=640 height=480 resize-mode=ultralytics method=bilinear antialias=false "
             "pad-value=0 color=rgb layout=nchw normalization=alpha-beta "
             "alpha=\"<0.003921569790691137>\" beta=\"<0>\" round=true"},
        Case{"defaults", kInfer, "[property]\nnetwork-mode=2\n",
             "resize-mode=stretch method=bilinear antialias=false color=rgb layout=nchw "
             "normalization=alpha-beta alpha=\"<1>\" beta=\"<0>\" round=true"},
        Case{
            "means in the order of the network", kInfer,
            "[property]\nnet-scale-factor=0.5\noffsets=103.5;116.25;123.75;\nmodel-color-format=1\n"
            "infer-dims=3;8;16\nnetwork-input-order=1\nmaintain-aspect-ratio=1\nscaling-filter=0\n",
            "width=16 height=8 resize-mode=top-left method=nearest antialias=false pad-value=0 "
            "color=bgr layout=nhwc normalization=alpha-beta alpha=\"<0.5>\" "
            "beta=\"<-51.75,-58.125,-61.875>\" round=true"},
        Case{"input-dims", kInfer, "[property]\ninput-dims=3;8;16;0\n", sized("nchw")},
        Case{"uff-input-dims", kInfer, "[property]\nuff-input-dims=3;8;16;0\n", sized("nchw")},
        Case{"uff-input-dims, interleaved", kInfer, "[property]\nuff-input-dims=3;8;16;1\n",
             sized("nhwc")},
        Case{"uff-input-order", kInfer, "[property]\ninfer-dims=3;8;16\nuff-input-order=1\n",
             sized("nhwc")},
        Case{"network-input-order comes before uff-input-order", kInfer,
             "[property]\ninfer-dims=3;8;16\nnetwork-input-order=0\nuff-input-order=1\n",
             sized("nchw")},
        Case{"infer-dims comes before the others", kInfer,
             "[property]\ninput-dims=3;4;4;1\ninfer-dims=3;8;16\nuff-input-dims=1;2;3;4\n",
             sized("nchw")},
        Case{"input-dims without an order", kInfer, "[property]\ninput-dims=3;8;16\n",
             "!property.input-dims=3;8;16: must be c;h;w;order"},
        Case{"input-dims without a picture", kInfer, "[property]\ninput-dims=3;8;16;2\n",
             "!property.input-dims=3;8;16;2: the order must be 0 (nchw) or 1 (nhwc)"},
        Case{"two orders", kInfer, "[property]\ninput-dims=3;8;16;1\nnetwork-input-order=0\n",
             "!property.network-input-order=0: must be the order of property.input-dims=3;8;16;1"},
        Case{"gray", kInfer, "[property]\nmodel-color-format=2\ninfer-dims=1;8;8\noffsets=128\n",
             "width=8 height=8 resize-mode=stretch method=bilinear antialias=false color=gray "
             "layout=nchw normalization=alpha-beta alpha=\"<1>\" beta=\"<-128>\" round=true"},
        Case{"other filters", kInfer, "[property]\nscaling-filter=2\n",
             "!property.scaling-filter=2: must be 0 (nearest) or 1 (bilinear)"},
        Case{"other colors", kInfer, "[property]\nmodel-color-format=3\n",
             "!property.model-color-format=3: must be 0 (rgb), 1 (bgr) or 2 (gray)"},
        Case{"other orders", kInfer, "[property]\nnetwork-input-order=2\n",
             "!property.network-input-order=2: the order must be 0 (nchw) or 1 (nhwc)"},
        Case{"a mean picture", kInfer, "[property]\nmean-file=mean.ppm\n",
             "!property.mean-file=mean.ppm: means are per channel, not per pixel"},
        Case{"one channel of color", kInfer, "[property]\ninfer-dims=1;8;8\n",
             "!property.infer-dims=1;8;8: the color requires 3 channels"},
        Case{"two offsets", kInfer, "[property]\noffsets=1;2\n",
             "!property.offsets=1;2: must be 3 numbers, one for each channel"},
        Case{"offsets that are too large", kInfer,
             "[property]\nnet-scale-factor=1e200\noffsets=1;1e200;1\n",
             "!property.offsets=1;1e200;1: a number times the factor is too large"},
        Case{"an endless factor", kInfer, "[property]\nnet-scale-factor=1e999\n",
             "!property.net-scale-factor=inf: must be a finite number"},
        Case{
            "nvdspreprocess", "config_preprocess.txt",
            "[property]\nenable=1\nnetwork-input-order=0\nnetwork-input-shape=8;3;544;960\n"
            "processing-width=960\nprocessing-height=544\nnetwork-color-format=1\n"
            "tensor-data-type=5\nmaintain-aspect-ratio=1\n[user-configs]\n"
            "pixel-normalization-factor=0.25\noffsets=4;8;12\n[group-0]\nsrc-ids=0;1\n",
            "width=960 height=544 resize-mode=top-left method=bilinear antialias=false pad-value=0 "
            "color=bgr layout=nchw dtype=float16 normalization=alpha-beta alpha=\"<0.25>\" "
            "beta=\"<-1,-2,-3>\" round=true"},
        preprocessed("float32", "tensor-data-type=0\n"),
        preprocessed("uint8", "tensor-data-type=1\n"), preprocessed("int8", "tensor-data-type=2\n"),
        preprocessed("float16", "tensor-data-type=5\n"),
        Case{"nvdspreprocess, a smaller size before", "config_preprocess.txt",
             "[property]\nnetwork-input-shape=1;3;8;8\nprocessing-height=4\n",
             "!property.processing-height=4: must be 8, as in network-input-shape"},
        Case{"the mark of UTF-8", kInfer, "\xef\xbb\xbf[property]\ninfer-dims=3;8;16\n",
             sized("nchw")},
        Case{"spaces of all kinds", kInfer, "[property]\ninfer-dims= 3 ;\t8; +16\f\n",
             sized("nchw")},
        Case{"told by content, behind a comment", "a.yaml",
             "# [\n\n[property]\ninfer-dims=3;8;16\n", sized("nchw")},
        Case{"a comment of other key files", "a.yaml", "; a\n[property]\ninfer-dims=3;8;16\n",
             "!is not a key file: Key file contains line “; a” which is not a key-value pair, "
             "group, or comment"},
        Case{"nvdspreprocess without a shape", "config_preprocess.txt",
             "[property]\nprocessing-width=8\n[user-configs]\n",
             "!property.network-input-shape is absent: nvdspreprocess requires it"},
        Case{"nvdspreprocess, no batch", "config_preprocess.txt",
             "[property]\nnetwork-input-shape=0;3;8;8\n",
             "!property.network-input-shape=0;3;8;8: must be n;c;h;w"},
        Case{"nvdspreprocess, 32-bit integers", "config_preprocess.txt",
             "[property]\nnetwork-input-shape=1;3;8;8\ntensor-data-type=3\n",
             "!property.tensor-data-type=3: must be 0 (float32), 1 (uint8), 2 (int8) or 5 "
             "(float16)"},
        Case{"nvdspreprocess, another size before", "config_preprocess.txt",
             "[property]\nnetwork-input-shape=1;3;8;8\nprocessing-width=16\n",
             "!property.processing-width=16: must be 8, as in network-input-shape"},
        Case{"another key file", "desktop.txt", "[Desktop Entry]\nName=x\n",
             "!has no preprocessing of Transformers, timm, Ultralytics, GStreamer or DeepStream"}));

/// nvinfer takes the size from the model, as all files of DeepStream-Yolo require.
class DeepStreamModel : public testing::Test {
 protected:
  ModelConfig read(const std::string &keys) {
    return read_model_config(folder_.write(kInfer, "[property]\n" + keys));
  }
  void write(const std::string &name, OnnxType type, const std::vector<int> &dims) {
    folder_.write(name, onnx_model({}, onnx_graph({onnx_input("input", type, dims)})));
  }
  std::string open_size(const std::string &keys) {
    const ModelConfig config = read(keys);
    EXPECT_FALSE(config.width || config.height);
    const std::string start = "model-config=" + folder_.path(kInfer) + ": ";
    EXPECT_EQ(config.open_size.compare(0, start.size(), start), 0) << config.open_size;
    return config.open_size.substr(std::min(start.size(), config.open_size.size()));
  }
  Folder folder_;
};

TEST_F(DeepStreamModel, GivesTheSize) {
  write("yolo.onnx", onnx_float, {-1, 3, 480, 640});
  EXPECT_EQ(read("onnx-file=yolo.onnx\n").width, 640);
  EXPECT_EQ(read("onnx-file=yolo.onnx\n").height, 480);
  EXPECT_EQ(read("onnx-file=yolo.onnx\n").open_size, "");
  EXPECT_EQ(read("onnx-file=" + folder_.path("yolo.onnx") + "\n").width, 640);
  EXPECT_EQ(read("onnx-file=yolo.onnx\ninfer-dims=3;8;16\n").width, 16);
  write("nhwc.onnx", onnx_float, {1, 480, 640, 3});
  EXPECT_EQ(read("onnx-file=nhwc.onnx\nnetwork-input-order=1\n").width, 640);
  write("gray.onnx", onnx_float, {1, 1, 480, 640});
  EXPECT_EQ(read("onnx-file=gray.onnx\nmodel-color-format=2\n").height, 480);
}

TEST_F(DeepStreamModel, LeavesTheSizeOpen) {
  const std::string absent = "property.infer-dims is absent";
  EXPECT_EQ(open_size("network-mode=2\n"), absent);
  EXPECT_EQ(open_size("onnx-file=yolo.onnx\n"),
            absent + ", property.onnx-file=yolo.onnx: No such file or directory");
  write("open.onnx", onnx_float, {-1, 3, -1, -1});
  EXPECT_EQ(open_size("onnx-file=open.onnx\n"),
            absent + ", property.onnx-file=open.onnx: the model's input input of ?x3x?x?");
  write("half.onnx", onnx_float, {-1, 3, 480, -1});
  EXPECT_EQ(open_size("onnx-file=half.onnx\n").substr(0, absent.size()), absent);
  write("text.onnx", onnx_int64, {1, 80});
  EXPECT_EQ(open_size("onnx-file=text.onnx\n"),
            absent + ", property.onnx-file=text.onnx: has no single input of four dimensions");
}

TEST_F(DeepStreamModel, IsRefused) {
  const auto refusal = [&](const std::string &keys) {
    return outcome(folder_.write(kInfer, "[property]\n" + keys));
  };
  write("gray.onnx", onnx_float, {1, 1, 480, 640});
  EXPECT_EQ(refusal("onnx-file=gray.onnx\n"),
            "!property.onnx-file=gray.onnx: the color requires 3 channels");
  write("large.onnx", onnx_float, {1, 3, 40000, 640});
  EXPECT_EQ(refusal("onnx-file=large.onnx\n"),
            "!property.onnx-file=large.onnx: sizes must be whole numbers from 1 to 32767");
  folder_.write("bad.onnx", "\xff\xff");
  EXPECT_EQ(refusal("onnx-file=bad.onnx\n"),
            "!property.onnx-file=bad.onnx: is no ONNX model: it ends within a field");
  EXPECT_EQ(refusal("onnx-file=7\n"), "!property.onnx-file=7: must be text");
}

TEST(OpenSize, IsSaidOfEveryKindOfFile) {
  const Folder folder;
  const auto open_size = [&](const char *name, const std::string &contents) {
    const std::string path = folder.write(name, contents);
    const std::string start = "model-config=" + path + ": ",
                      text = read_model_config(path).open_size;
    return text.compare(0, start.size(), start) == 0 ? text.substr(start.size()) : text;
  };
  EXPECT_EQ(open_size("a.modelinfo", model_info("type=int8\ndims=1,-1,-1,1\nranges=-128,127")),
            "images.dims=1,-1,-1,1");
  EXPECT_EQ(open_size("a.modelinfo", model_info("type=int8\ndims=1,1,8,-1\nranges=-128,127")),
            "images.dims=1,1,8,-1");
  EXPECT_EQ(open_size("a.modelinfo", model_info("type=int8\ndims=1,1,8,8\nranges=-128,127")), "");
#ifdef HAVE_JSON
  EXPECT_NE(open_size("preprocessor_config.json",
                      R"({"image_processor_type":"ViTImageProcessor","do_resize":false})"),
            "");
#endif
}

}  // namespace
}  // namespace cudatensor
