// SPDX-License-Identifier: LGPL-2.1-or-later
// A pool of buffers with several tensors, one memory each.
#pragma once

#include <vector>

#include "gst/device/session.h"

namespace cudatensor {

/// A memory of a buffer: it has room for `allocated` bytes, of which `used` are its tensor.
struct TensorMemory {
  gsize allocated, used;
};

/// Leaves one pool of buffers with these memories in an allocation query, and its allocator: that of
/// the session's device if the caps ask for it, otherwise system memory. `session` may be null.
/// Throws Error.
void decide_tensor_list_pool(GstQuery *query, const std::vector<TensorMemory> &memories,
                             Session *session);

/// Removes the pools and the allocators of an allocation query.
void remove_allocation(GstQuery *query);

}  // namespace cudatensor
