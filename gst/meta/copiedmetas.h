// SPDX-License-Identifier: LGPL-2.1-or-later
// The metas that are copied unchanged to a converted picture.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// Whether a meta is copied unchanged, because it does not depend on the picture's size, orientation
/// or colors. Others are mapped after the frame has been processed.
bool is_copied_meta(GType api);

/// Copies such metas from one buffer to another.
void copy_metas(GstBuffer *in, GstBuffer *out);

}  // namespace cudatensor
