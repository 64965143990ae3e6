// SPDX-License-Identifier: LGPL-2.1-or-later
// The preprocessing that a model's file requires, as settings of the tensor properties.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gst/modelconfig/sourcerule.h"
#include "kernels/normalize.h"

namespace cudatensor {

/// The settings, one member for each property. A member without a value leaves the property at its
/// default. Lists are in the order of the tensor's channels.
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
  std::optional<int> frames;  ///< frames-per-tensor, which only cudanormalize has
  // These are not properties. Each is the reason, for an error, why the file leaves the size or the
  // layout of the tensor open; empty if the file defines it.
  std::string open_size, open_layout;
  SourceRule rule;
};

/// Reads a file of Transformers, timm, Ultralytics, GStreamer or DeepStream. Throws Error if it
/// cannot be read, or requires something that the properties cannot do exactly; the text names the
/// file, and the key with its value.
ModelConfig read_model_config(const std::string &path);
/// Does the same for contents in memory; `path` is where the file would be.
ModelConfig parse_model_config(const std::string &contents, const std::string &path);

/// Returns the properties that the file sets, as a gst-launch-1.0 description of `element`, quoted
/// for a shell.
std::string launch_line(const std::string &element, const ModelConfig &config);

}  // namespace cudatensor
