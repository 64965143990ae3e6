// SPDX-License-Identifier: LGPL-2.1-or-later
#include "models.h"

#include <glib/gstdio.h>

#include <algorithm>

#include "tests/modelconfig/onnxfile.h"

namespace fuzz {
namespace {

struct ModelFile {
  const char *name;
  std::string contents;
};

const std::string kRescaled =
    R"("do_rescale":true,"rescale_factor":0.00392156862745098,"do_normalize":true,)"
    R"("image_mean":[0.485,0.456,0.406],"image_std":[0.229,0.224,0.225])";

const std::vector<ModelFile> &whole_files() {
  static const auto *files = new std::vector<ModelFile>{
      {"preprocessor_config.json",
       R"({"image_processor_type":"CLIPImageProcessor","size":24,"crop_size":20,)"
       R"("do_center_crop":true,"resample":3,)" +
           kRescaled + "}"},
      {"preprocessor_config.json",
       R"({"do_resize":true,"resample":2,"size":{"height":48,"width":64},)" + kRescaled + "}"},
      {"config.json",
       R"({"architecture":"resnet50","num_classes":1000,"pretrained_cfg":{"input_size":[3,24,24],)"
       R"("interpolation":"bicubic","crop_pct":0.95,"crop_mode":"center",)"
       R"("mean":[0.5,0.5,0.5],"std":[0.5,0.5,0.5]}})"},
      {"metadata.yaml",
       "description: Ultralytics YOLO11n model\ntask: detect\nstride: 32\n"
       "batch: 1\nimgsz:\n- 64\n- 64\nnames:\n  0: person\n  1: 'a \"b\"'\n"},
      {"metadata.yaml", "task: classify\nstride: 1\nimgsz: [32, 32]\n"},
      {"model.onnx",
       cudatensor::onnx_model({{"task", "detect"}, {"stride", "32"}, {"imgsz", "[64, 64]"}})},
      {"model.modelinfo",
       "[modelinfo]\nversion=1.0\ngroup-id=a\n[input]\nid=images\n"
       "type=float32\ndims=-1,3,32,32\ndir=input\n"
       "ranges=0.0,1.0;0.0,1.0;0.0,1.0\n"},
      {"config_infer.txt",
       "[property]\nnet-scale-factor=0.0039215697906911373\n"
       "model-color-format=0\ninfer-dims=3;32;40\nmaintain-aspect-ratio=1\n"
       "symmetric-padding=1\noffsets=0;1;2\nnetwork-mode=2\n"},
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

/// A part of the file that has a meaning of its own, or none.
std::string fragment(Random &random) {
  return random.pick<std::string>({"0",
                                   "-1",
                                   "1e999",
                                   "nan",
                                   "null",
                                   "true",
                                   "[",
                                   "]",
                                   "{",
                                   "}",
                                   ",",
                                   ";",
                                   ":",
                                   "\"",
                                   "\n",
                                   "=",
                                   "- ",
                                   "\t",
                                   "&a ",
                                   "*a",
                                   "99999999999999999999",
                                   "32768",
                                   std::string(1, '\0'),
                                   "\xff",
                                   "[property]\n",
                                   "imgsz: 32\n",
                                   "\"size\":3,"});
}

void damage(Random &random, std::string &contents) {
  const auto place = [&] { return random.bits() % (contents.size() + 1); };
  const size_t at = place();
  switch (random.between(0, 4)) {
    case 0: contents.resize(at); break;
    case 1: contents.insert(at, fragment(random)); break;
    case 2: contents.erase(at, 1 + random.bits() % 20); break;
    case 3: contents.insert(place(), contents.substr(at, 1 + random.bits() % 60)); break;
    default:
      if (at < contents.size()) contents[at] = static_cast<char>(random.bits());
  }
}

/// The folder of the files, which is removed when the process ends.
class Folder {
 public:
  Folder() : path_(g_dir_make_tmp("fuzz-models-XXXXXX", nullptr)) {
    if (path_ == nullptr) g_error("a temporary folder cannot be created");
  }
  ~Folder() {
    for (const ModelFile &file : whole_files()) g_unlink(path_of(file.name).c_str());
    g_rmdir(path_);
    g_free(path_);
  }
  std::string path_of(const std::string &name) const { return std::string(path_) + "/" + name; }

 private:
  gchar *path_;
};

}  // namespace

std::string model_file(Run &run) {
  static const Folder folder;
  Random &random = run.random;
  ModelFile file = random.pick(whole_files());
  if (!random.one_in(4))
    for (long i = random.between(1, 4); i > 0; --i) damage(random, file.contents);
  // Readers select by name as well.
  if (random.one_in(20)) file.name = random.pick(whole_files()).name;
  const std::string path = folder.path_of(file.name);
  const auto size = static_cast<gssize>(file.contents.size());
  if (!g_file_set_contents(path.c_str(), file.contents.data(), size, nullptr))
    g_error("%s cannot be written", path.c_str());
  return path;
}

}  // namespace fuzz
