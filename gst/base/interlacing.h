// SPDX-License-Identifier: LGPL-2.1-or-later
// The property `interlaced`. The two fields of an interlaced frame show different moments; a resize
// of the whole frame mixes them.
#pragma once

#include <gst/video/video.h>

#include "gst/util/enums.h"
#include "gst/util/properties.h"

namespace cudatensor {

/// Adds the property to a table. `member` takes the settings and returns a reference to their
/// Interlaced.
template <class S, class Member>
void add_interlaced_property(Properties<S> &table, Member member) {
  table.add(enum_property("interlaced", "Interlaced", "Handling of interlaced frames",
                          interlaced_get_type(), static_cast<int>(Interlaced::refuse)),
            Effect::next_frame, member);
}

/// Throws Error if the frame is interlaced and `setting` refuses such frames.
void check_interlacing(const GstVideoInfo &info, GstBuffer *frame, Interlaced setting);

/// Clears the flags that `frame`, a resized picture, has inherited from an interlaced source: a
/// resized picture has no fields.
void clear_fields(const GstVideoInfo &source, GstBuffer *frame);

}  // namespace cudatensor
