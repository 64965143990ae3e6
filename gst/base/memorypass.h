// SPDX-License-Identifier: LGPL-2.1-or-later
// One pass of work that reads the memories of a buffer, each of which is a tensor, in any kind of
// memory.
#pragma once

#include <deque>
#include <vector>

#include "gst/base/framepass.h"
#include "gst/util/ref.h"

namespace cudatensor {

class MemoryPass {
 public:
  /// Maps the memories of a buffer and queues their uploads, if the session needs them. If a buffer
  /// of one tensor has several memories, they are joined. Throws an Error::Code::frame if it does not
  /// have `count` memories, or one cannot be mapped.
  MemoryPass(Session &session, GstBuffer *buffer, size_t count);

  size_t count() const { return memories_.size(); }
  gsize size(size_t i) const { return memories_[i].size; }
  /// Where the work reads a memory.
  const uint8_t *data(size_t i) const { return memories_[i].data; }
  /// Copies the first bytes of a memory to `to`. Waits for the memory if it is on a device.
  void read(size_t i, void *to, gsize bytes) const;

  Stream stream() const { return pass_.stream(); }
  /// Called after the work was queued; waits for it.
  void finish();

 private:
  struct Memory {
    gsize size;
    const uint8_t *data;
    const uint8_t *host;  ///< null: it is on the device
  };

  Session &session_;
  FramePass pass_;
  std::vector<Ref<GstBuffer>> parts_;
  std::deque<TensorMap> maps_;
  std::vector<Memory> memories_;
};

}  // namespace cudatensor
