// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/modelconfig/modelconfig.h"

#include <algorithm>

#include "gst/modelconfig/readers.h"
#include "gst/modelconfig/syntax.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

using modelconfig::File;
using modelconfig::Node;
using modelconfig::Value;

constexpr size_t kMostText = 4 << 20;
constexpr size_t kHead = 4096;
constexpr size_t kMostShown = 500;  // bytes of an error, which may quote the file

enum class Syntax { json, yaml, key_file, onnx };

bool ends_with(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_binary(const std::string &head) {
  return std::any_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f';
  });
}

/// Returns the first character that is neither white space nor part of a comment; 0 if there is
/// none.
char first_character(const std::string &head) {
  size_t at = head.compare(0, 3, "\xef\xbb\xbf") == 0 ? 3 : 0;
  for (; at < head.size(); ++at) {
    if (head[at] == '#' || head[at] == ';') {
      at = head.find('\n', at);
      if (at == std::string::npos) return '\0';
    } else if (head[at] > ' ' || head[at] < 0) {
      return head[at];
    }
  }
  return '\0';
}

Syntax syntax_of(const std::string &head, const std::string &path) {
  if (is_binary(head)) return Syntax::onnx;
  switch (first_character(head)) {
    case '{': return Syntax::json;
    case '[': return ends_with(path, ".json") ? Syntax::json : Syntax::key_file;
    default: break;
  }
  if (ends_with(path, ".onnx")) return Syntax::onnx;
  if (ends_with(path, ".json")) return Syntax::json;
  if (ends_with(path, ".modelinfo") || ends_with(path, ".txt")) return Syntax::key_file;
  return Syntax::yaml;
}

/// The contents of a file.
struct Contents {
  Value value;
  std::optional<modelconfig::OnnxInput> input;  // picture input of an ONNX model
};

Contents parse(const File &file, Syntax syntax) {
  if (syntax == Syntax::onnx) {
    modelconfig::OnnxModel model = modelconfig::read_onnx(file);
    return {std::move(model.metadata), modelconfig::picture_of(model)};
  }
  std::string text = file.text(kMostText);
  if (text.compare(0, 3, "\xef\xbb\xbf") == 0) text.erase(0, 3);
  switch (syntax) {
    case Syntax::json: return {modelconfig::parse_json(text), {}};
    case Syntax::yaml: return {modelconfig::parse_yaml(text), {}};
    default: return {modelconfig::parse_key_file(text), {}};
  }
}

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
ModelConfig read(const Contents &contents, Syntax syntax, const std::string &path) {
  const Node root(&contents.value, "");
  const bool yaml = ends_with(path, "metadata.yaml");
  const auto ultralytics = [&] {
    const std::string folder = yaml ? folder_of(path) : std::string();
    return modelconfig::read_ultralytics(root, contents.input, folder);
  };
  if (modelconfig::is_timm(root)) return modelconfig::read_timm(root);
  if (modelconfig::is_transformers(root)) return read_image_processor(root);
  if (modelconfig::is_ultralytics(root)) return ultralytics();
  if (modelconfig::is_model_info(root)) return modelconfig::read_model_info(root);
  if (modelconfig::is_deepstream(root)) return modelconfig::read_deepstream(root, folder_of(path));
  if (ends_with(path, "processor_config.json")) return read_image_processor(root);
  if (yaml || syntax == Syntax::onnx) return ultralytics();
  if (ends_with(path, ".modelinfo")) return modelconfig::read_model_info(root);
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
  const Syntax syntax = syntax_of(file.read(0, kHead), path);
  return read(parse(file, syntax), syntax, path);
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
