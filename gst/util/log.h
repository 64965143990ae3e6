// SPDX-License-Identifier: LGPL-2.1-or-later
// The debug category of code that all elements share. Include only in .cpp files.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// Returns the category. Its name starts with "cuda", like the elements' categories, so that
/// GST_DEBUG=cuda*:4 enables all.
inline GstDebugCategory *log_category() {
  static GstDebugCategory *const category =
      _gst_debug_category_new("cudatensor", 0, "gst-cudatensor and libgstcuda");
  return category;
}

}  // namespace cudatensor

#define GST_CAT_DEFAULT cudatensor::log_category()
