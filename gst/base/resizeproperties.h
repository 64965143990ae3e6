// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudaletterbox and cudanormalize that say how a picture is resized.
#pragma once

#include "gst/util/enums.h"
#include "gst/util/properties.h"
#include "kernels/resample.h"

namespace cudatensor {

/// `S` has a member `resize`.
template <class S>
void add_resize_properties(Properties<S> &table) {
  table.add(enum_property("method", "Method", "How samples are taken", method_get_type(),
                          static_cast<int>(Method::bilinear)),
            Effect::next_frame, [](S &s) -> Method & { return s.resize.method; });
  table.add(int_property("pad-value", "Pad value",
                         "Value of every component outside the picture, 0 to 255 before any "
                         "normalisation; in a YUV result that of Y, with U = V = 128",
                         0, 255, 114),
            Effect::next_frame, [](S &s) -> int & { return s.resize.pad_value; });
  table.add(
      bool_property("scale-up", "Scale up",
                    "Enlarge a picture that is smaller than the output; not for stretch", true),
      Effect::next_frame, [](S &s) -> bool & { return s.resize.scale_up; });
}

}  // namespace cudatensor
