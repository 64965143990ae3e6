// SPDX-License-Identifier: LGPL-2.1-or-later
// The preprocessing that the file of a model asks for, as settings of the tensor properties.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gst/modelconfig/sourcerule.h"
#include "kernels/normalize.h"

namespace cudatensor {

/// One member for each property. Those without a value are left to the property's default. Lists are
/// in the order of the tensor's channels.
struct ModelConfig {
  std::optional<int> width, height;
  std::optional<ResizeMode> resize_mode;
  std::optional<Method> method;
  std::optional<bool> antialias;
  std::optional<int> shortest_edge;
  std::optional<int> pad_value;
  std::optional<bool> pad_normalized;
  std::optional<Color> color;
  std::optional<Layout> layout;
  std::optional<DType> dtype;
  std::optional<Normalization> normalization;
  std::optional<double> scale;
  std::optional<std::vector<double>> mean, std, alpha, beta;
  std::optional<bool> round;
  // Not properties. What the tensor depends on and the file does not tell: the reason, for an error;
  // empty if it tells.
  std::string open_size, open_layout;
  SourceRule rule;
};

/// Reads a file of Transformers, timm, Ultralytics, GStreamer or DeepStream. Throws Error if it
/// cannot be read, or asks for something that the properties cannot give exactly; the text names the
/// file, and the key with its value.
ModelConfig read_model_config(const std::string &path);
/// The same of contents in memory; `path` is where the file would be.
ModelConfig parse_model_config(const std::string &contents, const std::string &path);

/// The properties that the file sets, as a gst-launch-1.0 description of `element`, with quotes for
/// a shell.
std::string launch_line(const std::string &element, const ModelConfig &config);

}  // namespace cudatensor
