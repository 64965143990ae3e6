// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/modelconfig/corpus.h"

#include "tests/modelconfig/onnxfile.h"

namespace cudatensor {
namespace {

const std::string kRescaled =
    R"("do_rescale":true,"rescale_factor":0.00392156862745098,"do_normalize":true,)"
    R"("image_mean":[0.485,0.456,0.406],"image_std":[0.229,0.224,0.225])";

}  // namespace

const std::vector<ModelFile> &model_files() {
  static const auto *files = new std::vector<ModelFile>{
      {"preprocessor_config.json",
       R"({"image_processor_type":"CLIPImageProcessor","size":24,"crop_size":20,)"
       R"("do_center_crop":true,"resample":3,)" +
           kRescaled + "}"},
      {"preprocessor_config.json", R"({"image_processor_type":"ViTImageProcessor","resample":2,)"
                                   R"("size":{"height":48,"width":64},)" +
                                       kRescaled + "}"},
      {"preprocessor_config.json",
       R"({"image_processor_type":"SamImageProcessor","size":{"longest_edge":64},"do_pad":true,)"
       R"("pad_size":{"height":64,"width":64},)" +
           kRescaled + "}"},
      {"video_preprocessor_config.json",
       R"({"video_processor_type":"VivitVideoProcessor","size":36,"crop_size":32,)"
       R"("do_sample_frames":true,"num_frames":3})"},
      {"preprocessor_config.json",
       R"({"image_processor_type":"VivitImageProcessor","size":36,"crop_size":32,"offset":true})"},
      {"processor_config.json",
       R"({"image_processor":{"image_processor_type":"ViTImageProcessor","size":24}})"},
      {"config.json",
       R"({"pretrained_cfg":{"crop_pct":1,"crop_mode":"border","mean":[0.5,0.5,0.5]}})"},
      {"config.json",
       R"({"architecture":"resnet50","num_classes":1000,"pretrained_cfg":{"input_size":[3,24,24],)"
       R"("interpolation":"bicubic","crop_pct":0.95,"crop_mode":"center",)"
       R"("mean":[0.5,0.5,0.5],"std":[0.5,0.5,0.5]}})"},
      {"metadata.yaml",
       "description: Ultralytics YOLO11n model\ntask: detect\nstride: 32\n"
       "batch: 1\nimgsz:\n- 64\n- 64\nnames:\n  0: person\n  1: 'a \"b\"'\n"},
      {"metadata.yaml", "task: classify\nstride: 1\nimgsz: [32, 32]\n"},
      {"metadata.yaml",
       "task: detect\nhead: RTDETRDecoder\nimgsz: 64\nargs: {dynamic: true, quantize: 16}\n"
       "channels: 3\nend2end: false\n"},
      {"model.onnx", onnx_model({{"task", "detect"}, {"stride", "32"}, {"imgsz", "[64, 64]"}})},
      {"model.onnx", onnx_model({{"task", "detect"},
                                 {"head", "Detect"},
                                 {"imgsz", "[32, 64]"},
                                 {"args", "{'dynamic': True}"}},
                                onnx_graph({onnx_input("w", onnx_float, {8, 3, 3, 3}),
                                            onnx_input("images", onnx_float16, {1, 3, -1, 64})}))},
      {"model.modelinfo",
       "[modelinfo]\nversion=1.0\ngroup-id=a\n[input]\nid=images\n"
       "type=float32\ndims=-1,3,32,32\ndir=input\n"
       "ranges=0.0,1.0;0.0,1.0;0.0,1.0\n"},
      {"config_infer.txt",
       "[property]\nnet-scale-factor=0.0039215697906911373\n"
       "model-color-format=0\ninfer-dims=3;32;40\nmaintain-aspect-ratio=1\n"
       "symmetric-padding=1\noffsets=0;1;2\nnetwork-mode=2\n"},
      {"config_infer.txt", "[property]\nuff-input-dims=3;32;40;1\nnetwork-input-order=1\n"},
      {"config_infer.yml",
       "property:\n  gpu-id: 0\n  net-scale-factor: 0.25\n  offsets: 1;2;3\n"
       "  infer-dims: 3;32;40\n  maintain-aspect-ratio: 1\nclass-attrs-all:\n  topk: 20\n"},
      {"config_preprocess.txt",
       "[property]\nenable=1\nnetwork-input-order=0\n"
       "network-input-shape=1;3;32;40\nnetwork-color-format=0\n"
       "tensor-data-type=0\ntensor-name=images\n"
       "processing-width=40\nprocessing-height=32\n"
       "maintain-aspect-ratio=1\nsymmetric-padding=0\n"
       "[user-configs]\npixel-normalization-factor=0.003921568\n"
       "[group-0]\nsrc-ids=0\nprocess-on-roi=0\n"},
  };
  return *files;
}

namespace {

/// Returns parts of files, with and without a meaning of their own.
const std::vector<std::string> &fragments() {
  static const auto *all = new std::vector<std::string>{"0",
                                                        "1",
                                                        "-1",
                                                        "1e999",
                                                        "1e308",
                                                        "-1e308",
                                                        "1e-320",
                                                        "nan",
                                                        "inf",
                                                        "null",
                                                        "true",
                                                        "~",
                                                        "[",
                                                        "]",
                                                        "{",
                                                        "}",
                                                        ",",
                                                        ";",
                                                        ":",
                                                        "\"",
                                                        "'",
                                                        "\\",
                                                        "#",
                                                        "\n",
                                                        "=",
                                                        "- ",
                                                        "\t",
                                                        "&a ",
                                                        "*a",
                                                        "<<: ",
                                                        "!!int ",
                                                        "| ",
                                                        "? ",
                                                        "99999999999999999999",
                                                        "9223372036854775808",
                                                        "32767",
                                                        "32768",
                                                        "0.5",
                                                        std::string(1, '\0'),
                                                        "\xff",
                                                        "\xc3\xa4",
                                                        "\xef\xbb\xbf",
                                                        "[property]\n",
                                                        "imgsz: 32\n",
                                                        "\"size\":3,",
                                                        "\\u0000",
                                                        "\\ud800",
                                                        "/*",
                                                        "//",
                                                        "[[[[[[[[[[[[[[[[",
                                                        "{\"a\":",
                                                        "\x0a\x04",
                                                        "\x80\x80\x80\x80\x10"};
  return *all;
}

}  // namespace

void damage(RandomBits &bits, std::string &contents) {
  const auto below = [&](size_t most) { return bits() % most; };
  const auto place = [&] { return below(contents.size() + 1); };
  for (size_t times = 1 + below(4); times > 0; --times) {
    const size_t at = place();
    switch (below(7)) {
      case 0: contents.resize(at); break;
      case 1: contents.insert(at, fragments()[below(fragments().size())]); break;
      case 2: contents.erase(at, 1 + below(20)); break;
      case 3: contents.insert(place(), contents.substr(at, 1 + below(60))); break;
      case 4:
        for (size_t i = at; i < contents.size(); ++i) {
          if (contents[i] < '0' || contents[i] > '9') continue;
          contents.replace(i, 1, fragments()[below(fragments().size())]);
          break;
        }
        break;
      default:
        if (at < contents.size()) contents[at] = static_cast<char>(bits());
    }
  }
}

}  // namespace cudatensor
