// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/modelconfig/onnxfile.h"

namespace cudatensor {

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value > 0x7f; value >>= 7) bytes += static_cast<char>(0x80 | (value & 0x7f));
  return bytes + static_cast<char>(value);
}

std::string field(unsigned number, const std::string &contents) {
  return varint(number << 3 | 2) + varint(contents.size()) + contents;
}

std::string onnx_model(const OnnxMetadata &metadata, size_t graph) {
  return onnx_model(metadata, std::string(graph, '\x72'));
}

std::string onnx_model(const OnnxMetadata &metadata, const std::string &graph) {
  // ir_version, producer_name, graph, opset_import
  std::string bytes = varint(1 << 3) + varint(8) + field(2, "pytorch") + field(7, graph) +
                      field(8, varint(2 << 3) + varint(17));
  for (const auto &[key, value] : metadata) bytes += field(14, field(1, key) + field(2, value));
  return bytes;
}

std::string onnx_input(const std::string &name, OnnxType type, const std::vector<int> &dims) {
  std::string shape;
  for (const int dim : dims)
    shape += field(1, dim < 0 ? field(2, "symbol") : varint(1 << 3) + varint(dim));
  const std::string tensor = varint(1 << 3) + varint(type) + field(2, shape);
  return field(1, name) + field(2, field(1, tensor));
}

std::string onnx_graph(const std::vector<std::string> &inputs, const std::string &weights) {
  std::string bytes =
      field(1, field(1, "images") + field(2, "x") + field(4, "Conv")) + field(2, "main_graph");
  // dims, data_type, name, raw_data
  for (const std::string &name : {weights, std::string("v")})
    bytes += field(5, varint(1 << 3) + varint(2500) + varint(2 << 3) + varint(1) + field(8, name) +
                          field(9, std::string(10000, '\x0a')));
  for (const std::string &input : inputs) bytes += field(11, input);
  return bytes + field(12, onnx_input("output0", onnx_float, {1, 84, 8400}));
}

}  // namespace cudatensor
