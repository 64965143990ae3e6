// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "kernels/device.h"

namespace cudatensor {

/// Blocks of pinned memory that queued copies read, taken again when those are done.
class PinnedRing {
 public:
  explicit PinnedRing(Device &device) : device_(device) {}

  /// At least `size` bytes, until done_after() is called and the stream has come there. Waits only
  /// where the device is a long way behind.
  uint8_t *take(size_t size);
  /// The block that was taken last is in use until the stream has come here.
  void done_after(Stream stream);

 private:
  struct Block {
    std::unique_ptr<Memory> memory;
    std::unique_ptr<Event> done;
  };
  Block &next(size_t size);

  Device &device_;
  std::vector<Block> blocks_;  // a circle: behind the one that was taken last is the oldest
  size_t current_ = 0;
};

}  // namespace cudatensor
