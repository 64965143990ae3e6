// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "random.h"

namespace cudatensor {

/// Memory between protected pages. It begins right after one, at an address that is aligned for
/// every vector, or ends right before one. The rest of its own pages is poisoned for
/// AddressSanitizer.
class Block {
 public:
  enum class Edge { any, begin };

  Block() = default;
  Block(Random &random, size_t size, Edge edge = Edge::any);

  /// Makes AddressSanitizer report accesses to these bytes, too.
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
