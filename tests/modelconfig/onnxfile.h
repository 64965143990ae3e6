// SPDX-License-Identifier: LGPL-2.1-or-later
// ONNX models as bytes, as far as their metadata.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudatensor {

std::string varint(uint64_t value);
/// A field of bytes: its number, its length and its contents.
std::string field(unsigned number, const std::string &contents);
/// A model with a graph of `graph` bytes before its metadata.
std::string onnx_model(const std::vector<std::pair<std::string, std::string>> &metadata,
                       size_t graph = 100);

}  // namespace cudatensor
