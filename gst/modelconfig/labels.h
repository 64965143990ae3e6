// SPDX-License-Identifier: LGPL-2.1-or-later
// The names of classes, and the task of a model.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace cudatensor {

using Labels = std::map<int, std::string>;

/// What a model's metadata tells of its outputs. Ultralytics writes it into an ONNX model and into
/// metadata.yaml.
struct ModelLabels {
  Labels labels;                ///< empty if the file has none
  std::string task;             ///< "detect", "classify", …; "rtdetr" for that network; or empty
  std::optional<bool> end2end;  ///< whether the network selects its boxes itself
};

/// Throws Error, which names the property and the file, if it cannot be read.
ModelLabels read_model_labels(const std::string &path);
/// Does the same for contents in memory.
ModelLabels parse_model_labels(const std::string &contents, const std::string &path);

/// Reads a text file with a label in each line, counted from 0; empty lines are no labels. Throws
/// Error, which names the property and the file, if it cannot be read.
Labels read_label_file(const std::string &path);

}  // namespace cudatensor
