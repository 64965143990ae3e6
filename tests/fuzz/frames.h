// SPDX-License-Identifier: LGPL-2.1-or-later
// Random frames, each in two kinds of memory.
#pragma once

#include <gst/video/video.h>

#include "run.h"

namespace fuzz {

using Bytes = std::vector<guint8>;

/// A frame for an element, and the same content in one simple memory.
struct Frame {
  Ref<GstBuffer> buffer, plain;
  bool spoiled = false;  ///< the element may reject it
};

/// Null if the caps are neither video nor tensors, or if the frame would be too large.
Frame random_frame(Run &run, GstCaps *caps, GstBufferPool *pool = nullptr);

/// The size of a buffer with these caps, in bytes; 0 if the caps do not determine it.
gsize size_of(GstCaps *caps);
/// The samples of a buffer, without the padding between rows.
Bytes samples_of(GstBuffer *buffer, GstCaps *caps);
/// Reports a finding if an output does not match its caps.
void check_output(Run &run, GstBuffer *buffer, GstCaps *caps);

}  // namespace fuzz
