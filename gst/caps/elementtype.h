// SPDX-License-Identifier: LGPL-2.1-or-later
// The types of tensors' elements in caps: NNStreamer's, and bfloat16.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>

namespace cudatensor {

/// The values are those of NNStreamer's tensor_type, which has no bfloat16.
enum class ElementType : uint8_t {
  int32,
  uint32,
  int16,
  uint16,
  int8,
  uint8,
  float64,
  float32,
  int64,
  uint64,
  float16,
  bfloat16,
};

/// Returns the name of a type in caps.
const char *type_text(ElementType type);
/// Returns the type of this name; no value if there is none.
std::optional<ElementType> parse_element_type(const char *text);
/// Returns the size of an element in bytes.
gsize size_of(ElementType type);

}  // namespace cudatensor
