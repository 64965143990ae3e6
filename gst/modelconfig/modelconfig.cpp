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

/// The first character that is neither white space nor part of a comment; 0 if there is none.
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

Value parse(const File &file, Syntax syntax) {
  if (syntax == Syntax::onnx) return modelconfig::read_onnx_metadata(file);
  std::string text = file.text(kMostText);
  if (text.compare(0, 3, "\xef\xbb\xbf") == 0) text.erase(0, 3);
  switch (syntax) {
    case Syntax::json: return modelconfig::parse_json(text);
    case Syntax::yaml: return modelconfig::parse_yaml(text);
    default: return modelconfig::parse_key_file(text);
  }
}

/// By the keys, and where there are none of them by the name, so that the error says what is absent.
ModelConfig read(const Node &root, Syntax syntax, const std::string &path) {
  if (modelconfig::is_timm(root)) return modelconfig::read_timm(root);
  if (modelconfig::is_transformers(root)) return modelconfig::read_transformers(root);
  if (modelconfig::is_ultralytics(root)) return modelconfig::read_ultralytics(root);
  if (modelconfig::is_model_info(root)) return modelconfig::read_model_info(root);
  if (modelconfig::is_deepstream(root)) return modelconfig::read_deepstream(root);
  if (ends_with(path, "processor_config.json")) return modelconfig::read_transformers(root);
  if (ends_with(path, "metadata.yaml") || syntax == Syntax::onnx)
    return modelconfig::read_ultralytics(root);
  if (ends_with(path, ".modelinfo")) return modelconfig::read_model_info(root);
  throw Error(Error::Code::settings,
              "has no preprocessing of Transformers, timm, Ultralytics, GStreamer or DeepStream");
}

}  // namespace

ModelConfig read_model_config(const std::string &path) {
  const std::string origin = "model-config=" + path;
  try {
    const File file(path);
    const Syntax syntax = syntax_of(file.read(0, kHead), path);
    const Value value = parse(file, syntax);
    ModelConfig config = read(Node(&value, ""), syntax, path);
    config.rule.origin = origin + ": " + config.rule.origin;
    return config;
  } catch (const Error &error) {
    throw Error(error.code(), origin + ": " + error.what());
  }
}

}  // namespace cudatensor
