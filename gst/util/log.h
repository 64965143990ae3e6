// SPDX-License-Identifier: LGPL-2.1-or-later
// The debug category of code that elements share. Included by .cpp files only.
#pragma once

#include <gst/gst.h>

namespace cudatensor {

/// Its name begins as those of the elements do, so that GST_DEBUG=cuda*:4 shows all.
inline GstDebugCategory *log_category() {
  static GstDebugCategory *const category =
      _gst_debug_category_new("cudatensor", 0, "gst-cudatensor and libgstcuda");
  return category;
}

}  // namespace cudatensor

#define GST_CAT_DEFAULT cudatensor::log_category()
