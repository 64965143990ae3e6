// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/modelconfig/labels.h"

#include "gst/modelconfig/contents.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

using modelconfig::File;
using modelconfig::Node;
using modelconfig::Value;

constexpr size_t kMostText = 4 << 20;
constexpr int kMostLabels = 1 << 20;

void add(Labels &labels, int64_t id, const std::string &text) {
  const std::string label = modelconfig::shown(text);
  if (id >= 0 && id < kMostLabels && !label.empty()) labels[static_cast<int>(id)] = label;
}

/// Reads "{0: 'person', 1: \"rider's bag\"}" or "['person', 'bag']", as Python prints them.
class PythonNames {
 public:
  explicit PythonNames(const std::string &text) : text_(text) {}

  /// Returns none if the text is something else.
  Labels read() {
    skip_spaces();
    const char open = take();
    if (open != '{' && open != '[') return {};
    const char close = open == '{' ? '}' : ']';
    for (int64_t next = 0; skip_spaces(), peek() != close; ++next) {
      int64_t id = next;
      std::string label;
      if ((open == '{' && !read_key(id)) || !read_string(label)) return {};
      add(labels_, id, label);
      skip_spaces();
      if (peek() == ',')
        take();
      else if (peek() != close)
        return {};
    }
    return labels_;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char take() { return at_ < text_.size() ? text_[at_++] : '\0'; }
  void skip_spaces() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t') ++at_;
  }

  /// Reads "0:" or "'0':".
  bool read_key(int64_t &id) {
    std::string digits;
    if ((peek() == '\'' || peek() == '"') && !read_string(digits)) return false;
    while (peek() >= '0' && peek() <= '9') digits += take();
    const auto number = modelconfig::parse_integer(digits);
    skip_spaces();
    if (!number || take() != ':') return false;
    id = *number;
    return true;
  }

  bool read_string(std::string &to) {
    skip_spaces();
    const char quote = take();
    if (quote != '\'' && quote != '"') return false;
    while (at_ < text_.size()) {
      char next = take();
      if (next == quote) return true;
      if (next == '\\') next = take();
      to += next;
    }
    return false;
  }

  const std::string &text_;
  size_t at_ = 0;
  Labels labels_;
};

Labels names_of(const Node &names) {
  Labels labels;
  if (const Value::Map *map = names.map())
    for (const auto &[key, value] : *map)
      if (const auto id = modelconfig::parse_integer(key))
        if (const Node node(&value, key); node.is_text()) add(labels, *id, node.text());
  if (const Value::List *list = names.list())
    for (size_t i = 0; i < list->size(); ++i)
      if (const Node node(&(*list)[i], ""); node.is_text())
        add(labels, static_cast<int64_t>(i), node.text());
  return names.is_text() ? PythonNames(names.text()).read() : labels;
}

/// Reads a boolean, which is text in an ONNX model.
std::optional<bool> truth_of(const Node &node) {
  if (!node.is_present()) return std::nullopt;
  return node.is_text() ? node.text() == "True" || node.text() == "true" : node.boolean();
}

/// RT-DETR has the task of a detector, too.
bool is_rtdetr(const Node &root) {
  const auto says = [](const Node &node, const char *word) {
    return node.is_text() && node.text().find(word) != std::string::npos;
  };
  return says(root.at("head"), "RTDETR") || says(root.at("description"), "rtdetr");
}

ModelLabels labels_in(const File &file, const std::string &path) {
  const modelconfig::Contents contents = modelconfig::read_contents(file, path);
  const Node root(&contents.value, ""), task = root.at("task");
  ModelLabels model;
  model.labels = names_of(root.at("names"));
  if (task.is_text()) model.task = is_rtdetr(root) ? "rtdetr" : modelconfig::shown(task.text());
  model.end2end = truth_of(root.at("end2end"));
  return model;
}

/// Calls `read`. Adds the property and the file's name to its error.
template <class F>
auto named(const char *property, const std::string &path, const F &read) {
  try {
    return read();
  } catch (const Error &error) {
    throw Error(error.code(),
                std::string(property) + "=" + path + ": " + modelconfig::shown(error.what()));
  }
}

}  // namespace

ModelLabels read_model_labels(const std::string &path) {
  return named("model", path, [&] { return labels_in(File(path), path); });
}

ModelLabels parse_model_labels(const std::string &contents, const std::string &path) {
  return named("model", path, [&] { return labels_in(File::of(contents), path); });
}

Labels read_label_file(const std::string &path) {
  const std::string text = named("labels", path, [&] { return File(path).text(kMostText); });
  Labels labels;
  int64_t id = 0;
  for (const std::string &line : modelconfig::split(text, '\n')) add(labels, id++, line);
  return labels;
}

}  // namespace cudatensor
