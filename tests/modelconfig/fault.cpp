// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/modelconfig/fault.h"

#include <glib.h>

#include <algorithm>
#include <cmath>

#include "gst/modelconfig/labels.h"
#include "gst/modelconfig/modelconfig.h"
#include "kernels/error.h"

namespace cudatensor {
namespace {

// The path has no folder, so that no other file is found.
const std::string kFolder = "/nonexistent/";
constexpr size_t kMostText = 1000;

bool is_line(const std::string &text) {
  const bool printable = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
  });
  return printable && text.size() < kMostText &&
         g_utf8_validate(text.data(), static_cast<gssize>(text.size()), nullptr);
}

bool is_side(const std::optional<int> &side) {
  return !side || (*side >= 1 && *side <= kMaxImageSize);
}

bool is_finite(const std::optional<double> &number) { return !number || std::isfinite(*number); }

bool is_list(const std::optional<std::vector<double>> &list, size_t channels) {
  return !list ||
         ((list->size() == 1 || list->size() == channels) &&
          std::all_of(list->begin(), list->end(), [](double x) { return std::isfinite(x); }));
}

std::string fault_of_config(const ModelConfig &c) {
  const size_t channels = c.color == Color::gray ? 1 : 3;
  if (!is_side(c.width) || !is_side(c.height) || !is_side(c.shortest_edge)) return "a side";
  if ((c.width && c.height) != c.open_size.empty()) return "a size that is neither there nor open";
  if (c.layout && !c.open_layout.empty()) return "a layout that is there and open";
  if (c.pad_value && (*c.pad_value < 0 || *c.pad_value > 255)) return "pad-value";
  if (!c.normalization) return "no normalization";
  if (!is_finite(c.scale) || c.scale == 0.0) return "scale";
  if (!is_list(c.mean, channels)) return "mean";
  if (!is_list(c.std, channels)) return "std";
  if (c.std && std::find(c.std->begin(), c.std->end(), 0.0) != c.std->end()) return "a std of 0";
  if (!is_list(c.alpha, channels)) return "alpha";
  if (!is_list(c.beta, channels)) return "beta";
  for (const std::string &text : {c.open_size, c.open_layout, c.rule.origin})
    if (!is_line(text)) return "the text " + text;
  return "";
}

/// Returns what is wrong with the labels.
std::string fault_of_labels(const std::string &path, const std::string &contents) {
  const std::string start = "model=" + path + ": ";
  try {
    const ModelLabels model = parse_model_labels(contents, path);
    for (const auto &[id, label] : model.labels)
      if (id < 0 || label.empty() || !is_line(label)) return "the label " + label;
    return is_line(model.task) ? "" : "the task " + model.task;
  } catch (const Error &error) {
    const std::string text = error.what();
    const bool is_named = text.compare(0, start.size(), start) == 0 && is_line(text);
    return is_named ? "" : "the text " + text;
  }
}

}  // namespace

std::string fault_of(const std::string &name, const std::string &contents) {
  const std::string labels = fault_of_labels(kFolder + name, contents);
  if (!labels.empty()) return labels;
  const std::string path = kFolder + name, start = "model-config=" + path + ": ";
  std::string before;
  for (int i = 0; i < 2; ++i) {
    std::string result;
    try {
      const ModelConfig config = parse_model_config(contents, path);
      const std::string fault = fault_of_config(config);
      if (!fault.empty()) return fault;
      result = launch_line("cudanormalize", config);
    } catch (const Error &error) {
      result = error.what();
      if (result.compare(0, start.size(), start) != 0)
        return "an error without the file: " + result;
    }
    if (!is_line(result)) return "the text " + result;
    if (i > 0 && result != before) return "another result: " + before + ", then " + result;
    before = result;
  }
  return "";
}

}  // namespace cudatensor
