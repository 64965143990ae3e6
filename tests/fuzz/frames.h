// SPDX-License-Identifier: LGPL-2.1-or-later
// Random frames: the same content in memories of every kind.
#pragma once

#include <gst/video/video.h>

#include "run.h"

namespace fuzz {

using Bytes = std::vector<guint8>;

/// A frame as an element gets it, and the same in one plain memory.
struct Frame {
  Ref<GstBuffer> buffer, plain;
  bool spoiled = false;  ///< it need not be taken
};

/// Null where the caps are no picture and no tensor, or one that is too large to be tried.
Frame random_frame(Run &run, GstCaps *caps, GstBufferPool *pool = nullptr);

/// How many bytes a buffer of these caps has; 0 where they do not say.
gsize size_of(GstCaps *caps);
/// What a buffer shows, without what lies between its rows.
Bytes samples_of(GstBuffer *buffer, GstCaps *caps);
/// Whether an output is what its caps say; a finding otherwise.
void check_output(Run &run, GstBuffer *buffer, GstCaps *caps);

}  // namespace fuzz
