// SPDX-License-Identifier: LGPL-2.1-or-later
// The resize properties of cudaletterbox, cudanormalize and cudatensormux.
#pragma once

#include "gst/util/enums.h"
#include "gst/util/properties.h"
#include "kernels/resample.h"

namespace cudatensor {

/// `resize_of` is a function from settings to their Resize.
template <class S, class ResizeOf>
void add_resize_properties(Properties<S> &table, ResizeOf resize_of) {
  table.add(enum_property("method", "Method",
                          "Resampling filter; box, bicubic and lanczos require antialias=true, and "
                          "nearest excludes it",
                          scale_method_get_type(), static_cast<int>(Method::bilinear)),
            Effect::next_frame, [resize_of](S &s) -> Method & { return resize_of(s).method; });
  table.add(bool_property("antialias", "Antialias",
                          "Resize as Pillow does, with a filter that covers all source pixels; not "
                          "with method=nearest, resize-mode=affine or color=yuv",
                          false),
            Effect::next_frame, [resize_of](S &s) -> bool & { return resize_of(s).antialias; });
  table.add(int_property("shortest-edge", "Shortest edge",
                         "Length of the picture's shorter edge after the resize and before the "
                         "crop, in pixels; 0 = the longer side of the output; only for "
                         "resize-mode=torchvision and transformers",
                         0, kMaxImageSize, 0),
            Effect::next_frame, [resize_of](S &s) -> int & { return resize_of(s).shortest_edge; });
  table.add(int_property("pad-value", "Pad value",
                         "Value of all components outside the picture, 0 to 255, before "
                         "normalization; in YUV output the value of Y, with U = V = 128",
                         0, 255, 114),
            Effect::next_frame, [resize_of](S &s) -> int & { return resize_of(s).pad_value; });
  table.add(bool_property(
                "scale-up", "Scale up",
                "Enlarge pictures that are smaller than the output; only for resize-mode=affine, "
                "ultralytics and top-left",
                true),
            Effect::next_frame, [resize_of](S &s) -> bool & { return resize_of(s).scale_up; });
}

}  // namespace cudatensor
