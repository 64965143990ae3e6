// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/modelconfig/modelconfig.h"

#include <algorithm>

#include "gst/modelconfig/contents.h"
#include "gst/modelconfig/readers.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

using modelconfig::Contents;
using modelconfig::File;
using modelconfig::Node;
using modelconfig::Syntax;

constexpr size_t kMostShown = 500;  // bytes of an error, which may quote the file

/// Returns the folder of a path, with the slash at its end; "./" for a name without a folder.
std::string folder_of(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

/// Reads a file of Transformers. Without a resize, the size is that of the picture.
ModelConfig read_image_processor(const Node &root) {
  ModelConfig config = modelconfig::read_transformers(root);
  const Node nested = root.at("image_processor");
  if (!config.width && config.open_size.empty())
    config.open_size = (nested.is_map() ? nested : root).at("do_resize").described();
  return config;
}

/// Chooses the reader by the keys of the file, or, if it has none of them, by its name, so that the
/// error says which key is absent.
ModelConfig read(const Contents &contents, const std::string &path) {
  const Node root(&contents.value, "");
  const bool yaml = modelconfig::ends_with(path, "metadata.yaml");
  const auto ultralytics = [&] {
    const std::string folder = yaml ? folder_of(path) : std::string();
    return modelconfig::read_ultralytics(root, contents.input, folder);
  };
  if (modelconfig::is_timm(root)) return modelconfig::read_timm(root);
  if (modelconfig::is_transformers(root)) return read_image_processor(root);
  if (modelconfig::is_ultralytics(root)) return ultralytics();
  if (modelconfig::is_model_info(root)) return modelconfig::read_model_info(root);
  if (modelconfig::is_deepstream(root)) return modelconfig::read_deepstream(root, folder_of(path));
  if (modelconfig::ends_with(path, "processor_config.json")) return read_image_processor(root);
  if (yaml || contents.syntax == Syntax::onnx) return ultralytics();
  if (modelconfig::ends_with(path, ".modelinfo")) return modelconfig::read_model_info(root);
  throw Error(Error::Code::settings,
              "has no preprocessing of Transformers, timm, Ultralytics, GStreamer or DeepStream");
}

/// Completes the result of any reader: a size that is not in the file is marked as open, and
/// `origin` is added to the texts.
void complete(ModelConfig &config, const std::string &origin) {
  const bool sized = config.width && config.height;
  if (!sized && config.open_size.empty()) config.open_size = "has no size";
  if (sized) config.open_size.clear();
  for (std::string *reason : {&config.rule.origin, &config.open_size, &config.open_layout})
    if (!reason->empty()) *reason = origin + ": " + modelconfig::shown(*reason, kMostShown);
}

ModelConfig read_file(const File &file, const std::string &path) {
  return read(modelconfig::read_contents(file, path), path);
}

/// Calls `read` and returns its configuration. Adds the file's name to its texts, and to the error
/// that it throws.
template <class F>
ModelConfig named(const std::string &path, F &&read) {
  const std::string origin = "model-config=" + path;
  try {
    ModelConfig config = read();
    complete(config, origin);
    return config;
  } catch (const Error &error) {
    throw Error(error.code(), origin + ": " + modelconfig::shown(error.what(), kMostShown));
  }
}

}  // namespace

ModelConfig read_model_config(const std::string &path) {
  return named(path, [&] { return read_file(File(path), path); });
}

ModelConfig parse_model_config(const std::string &contents, const std::string &path) {
  return named(path, [&] { return read_file(File::of(contents), path); });
}

}  // namespace cudatensor
