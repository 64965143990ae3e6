// SPDX-License-Identifier: LGPL-2.1-or-later
// Small networks, written as ONNX models.
#pragma once

#include <string>
#include <vector>

#include "tests/modelconfig/onnxfile.h"

namespace cudatensor {

class OnnxGraph {
 public:
  /// Axes are numbers, or names of open axes; "" is an open axis without a name.
  using Axes = std::vector<std::string>;
  using Names = std::vector<std::string>;

  OnnxGraph &input(const std::string &name, int type, const Axes &axes);
  OnnxGraph &output(const std::string &name, int type, const Axes &axes);
  /// An output without a shape.
  OnnxGraph &open_output(const std::string &name, int type);
  /// An output that is a sequence of tensors.
  OnnxGraph &sequence_output(const std::string &name, int type);
  OnnxGraph &node(const std::string &kind, const Names &inputs, const Names &outputs,
                  const std::string &attributes = "");
  OnnxGraph &constant(const std::string &name, const std::vector<float> &values,
                      const std::vector<int> &dims = {});
  OnnxGraph &integers(const std::string &name, const std::vector<int64_t> &values);

  /// Returns the model's bytes.
  std::string model(int opset = 17) const;

 private:
  std::string nodes_, constants_, inputs_, outputs_;
};

// ONNX's types that tests/modelconfig/onnxfile.h does not have.
constexpr int onnx_string = 8, onnx_bool = 9, onnx_double = 11;

/// Attributes of a node.
std::string attribute(const std::string &name, int64_t value);
std::string attribute(const std::string &name, const std::vector<int64_t> &values);

}  // namespace cudatensor
