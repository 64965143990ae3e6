// SPDX-License-Identifier: LGPL-2.1-or-later
// ONNX models as bytes, with metadata and inputs only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudatensor {

std::string varint(uint64_t value);
/// Returns a field of bytes: its number, its length and its content.
std::string field(unsigned number, const std::string &contents);
using OnnxMetadata = std::vector<std::pair<std::string, std::string>>;

/// Returns a model with an unreadable graph of `graph` bytes before its metadata.
std::string onnx_model(const OnnxMetadata &metadata, size_t graph = 100);
/// Returns a model with this graph.
std::string onnx_model(const OnnxMetadata &metadata, const std::string &graph);

enum OnnxType {
  onnx_float = 1,
  onnx_uint8 = 2,
  onnx_int64 = 7,
  onnx_float16 = 10,
  onnx_bfloat16 = 16
};

/// Returns an input of a graph. A dimension of -1 has a name instead of a length.
std::string onnx_input(const std::string &name, OnnxType type, const std::vector<int> &dims);
/// Returns a graph with operations, weights (`weights` and others), and then its inputs.
std::string onnx_graph(const std::vector<std::string> &inputs, const std::string &weights = "w");

}  // namespace cudatensor
