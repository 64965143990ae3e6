// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of buffers with several tensors, one memory each, in NNStreamer's format; what networks put
// out. tensorcaps.h has the caps of the one tensor that becomes of pictures.
#pragma once

#include <string>
#include <vector>

#include "gst/caps/elementtype.h"

namespace cudatensor {

/// The largest number of tensors in a buffer: GStreamer merges memories beyond it.
constexpr size_t kMaxTensors = 16;

/// The type and the dimensions of a tensor, innermost first, as many as it has; of a scalar, 1. A
/// tensor without elements has a dimension 0, which only flexible memories can say.
struct TensorShape {
  ElementType type = ElementType::float32;
  std::vector<int64_t> dimensions;

  /// Return the number of elements, and of bytes. Throw Error if that overflows.
  gsize elements() const;
  gsize bytes() const;
};

bool operator==(const TensorShape &a, const TensorShape &b);
inline bool operator!=(const TensorShape &a, const TensorShape &b) { return !(a == b); }

/// Returns the dimensions as text, "8400:84:1".
std::string dimensions_text(const TensorShape &shape);
/// Returns type and dimensions as text, "float32 8400:84:1".
std::string text_of(const TensorShape &shape);

/// What caps of other/tensors tell. Flexible ones do not tell the shapes: each memory begins with a
/// header (flexibletensor.h).
struct TensorList {
  bool is_flexible = false;
  size_t count = 0;                 ///< 0: flexible caps that do not tell it
  std::vector<TensorShape> shapes;  ///< `count`; empty if the caps are flexible
  std::vector<std::string> names;   ///< `count`, or empty if the caps have none
  int fps_n = 0, fps_d = 1;
};

/// Parses fixed caps. Throws Error that names the field that is missing or wrong. Names that are not
/// as many as the tensors are ignored.
TensorList parse_tensor_list(const GstStructure *caps);

/// Creates other/tensors caps. Leaves the names out if one of them contains a comma or is empty.
GstStructure *new_tensor_list(const TensorList &list);

}  // namespace cudatensor
