// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "kernels/eventring.h"

namespace cudatensor {

/// Blocks of pinned memory that queued copies read, reused when the copies are complete.
class PinnedRing {
 public:
  explicit PinnedRing(Device &device) : device_(device), ring_(device) {}

  /// Returns a block of at least `size` bytes. It is reserved until the copies declared with
  /// in_use_until() are complete. Waits only if the device is far behind.
  uint8_t *take(size_t size) {
    ring_.release_done([](const std::unique_ptr<Memory> &) {});
    std::unique_ptr<Memory> &block = ring_.next();
    if (block == nullptr || block->size() < size) block = device_.allocate_pinned(size);
    return block->data();
  }
  /// Declares that copies queued so far on the stream read the block that take() returned last.
  void in_use_until(Stream stream) { ring_.in_use_until(stream); }

 private:
  Device &device_;
  EventRing<std::unique_ptr<Memory>> ring_;
};

}  // namespace cudatensor
