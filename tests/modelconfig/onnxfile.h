// SPDX-License-Identifier: LGPL-2.1-or-later
// ONNX models as bytes, as far as their metadata and their inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudatensor {

std::string varint(uint64_t value);
/// A field of bytes: its number, its length and its contents.
std::string field(unsigned number, const std::string &contents);
using OnnxMetadata = std::vector<std::pair<std::string, std::string>>;

/// A model with a graph of `graph` bytes, which cannot be read, before its metadata.
std::string onnx_model(const OnnxMetadata &metadata, size_t graph = 100);
/// The same with this graph.
std::string onnx_model(const OnnxMetadata &metadata, const std::string &graph);

enum OnnxType { onnx_float = 1, onnx_uint8 = 2, onnx_int64 = 7, onnx_float16 = 10 };

/// An input of a graph. A dimension of -1 has a name instead of a length.
std::string onnx_input(const std::string &name, OnnxType type, const std::vector<int> &dims);
/// A graph of operations and weights, which are `weights` and others, and then its inputs.
std::string onnx_graph(const std::vector<std::string> &inputs, const std::string &weights = "w");

}  // namespace cudatensor
