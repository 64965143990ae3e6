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

std::string onnx_model(const std::vector<std::pair<std::string, std::string>> &metadata,
                       size_t graph) {
  // ir_version, producer_name, graph, opset_import
  std::string bytes = varint(1 << 3) + varint(8) + field(2, "pytorch") +
                      field(7, std::string(graph, '\x72')) + field(8, varint(2 << 3) + varint(17));
  for (const auto &[key, value] : metadata) bytes += field(14, field(1, key) + field(2, value));
  return bytes;
}

}  // namespace cudatensor
