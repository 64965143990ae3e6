// SPDX-License-Identifier: LGPL-2.1-or-later
// The contents of a file of any syntax, which is told by the file itself, then by its name.
#pragma once

#include <optional>
#include <string>

#include "gst/modelconfig/readers.h"

namespace cudatensor::modelconfig {

enum class Syntax { json, yaml, key_file, onnx };

struct Contents {
  Syntax syntax;
  Value value;                     ///< of an ONNX model: its metadata
  std::optional<OnnxInput> input;  ///< picture input of an ONNX model
};

/// Reads a file. `path` is where it is. Throws Error if it cannot be read or parsed.
Contents read_contents(const File &file, const std::string &path);

bool ends_with(const std::string &text, const std::string &end);

}  // namespace cudatensor::modelconfig
