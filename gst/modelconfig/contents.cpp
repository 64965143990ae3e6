// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/modelconfig/contents.h"

#include <algorithm>

#include "gst/modelconfig/syntax.h"

namespace cudatensor::modelconfig {
namespace {

constexpr size_t kMostText = 4 << 20;
constexpr size_t kHead = 4096;

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

Contents parse(const File &file, Syntax syntax) {
  if (syntax == Syntax::onnx) {
    OnnxModel model = read_onnx(file);
    auto input = picture_of(model);
    return {syntax, std::move(model.metadata), std::move(input)};
  }
  std::string text = file.text(kMostText);
  if (text.compare(0, 3, "\xef\xbb\xbf") == 0) text.erase(0, 3);
  switch (syntax) {
    case Syntax::json: return {syntax, parse_json(text), {}};
    case Syntax::yaml: return {syntax, parse_yaml(text), {}};
    default: return {syntax, parse_key_file(text), {}};
  }
}

}  // namespace

bool ends_with(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Contents read_contents(const File &file, const std::string &path) {
  return parse(file, syntax_of(file.read(0, kHead), path));
}

}  // namespace cudatensor::modelconfig
