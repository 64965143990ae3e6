// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "kernels/eventring.h"

namespace cudatensor {

/// Blocks of pinned memory that queued copies read, taken again when the copies are done.
class PinnedRing {
 public:
  explicit PinnedRing(Device &device) : device_(device), ring_(device) {}

  /// At least `size` bytes, until in_use_until() is called and the stream comes there. Waits only where
  /// the device is a long way behind.
  uint8_t *take(size_t size) {
    ring_.release_done([](const std::unique_ptr<Memory> &) {});
    std::unique_ptr<Memory> &block = ring_.next();
    if (block == nullptr || block->size() < size) block = device_.allocate_pinned(size);
    return block->data();
  }
  /// Copies read the block that was taken last until the stream comes here.
  void in_use_until(Stream stream) { ring_.in_use_until(stream); }

 private:
  Device &device_;
  EventRing<std::unique_ptr<Memory>> ring_;
};

}  // namespace cudatensor
