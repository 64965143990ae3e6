// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "random.h"

namespace cudatensor {

/// Memory among pages that nobody may touch: it begins right behind one, and so on an address that
/// suits every vector, or ends right before one. What of its own pages lies beside it is poisoned for
/// AddressSanitizer.
class Block {
 public:
  enum class Edge { any, begin };

  Block() = default;
  Block(Random &random, size_t size, Edge edge = Edge::any);

  /// Nobody may touch these bytes either, where AddressSanitizer looks.
  void poison(size_t offset, size_t size);

  uint8_t *data() const { return data_; }
  size_t size() const { return size_; }

 private:
  struct Unmap {
    size_t bytes;
    void operator()(uint8_t *pages) const;
  };

  std::unique_ptr<uint8_t, Unmap> pages_;
  uint8_t *data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace cudatensor
