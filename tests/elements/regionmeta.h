// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions of pictures, and their fields in the batch meta.
#pragma once

#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "picture.h"

namespace cudatensor {

/// Returns a rectangle of a picture that begins on an even column and row.
inline Picture cut_out(const Picture &from, int left, int top, int width, int height) {
  Picture crop({from.desc().format, width, height});
  const size_t luma_columns = from.planes()[0].row_bytes / static_cast<size_t>(from.desc().width);
  for (size_t i = 0; i < crop.planes().size(); ++i) {
    auto &to = crop.planes()[i];
    const auto &plane = from.planes()[i];
    const size_t x = i == 0 ? static_cast<size_t>(left) * luma_columns : static_cast<size_t>(left);
    const size_t y = static_cast<size_t>(i == 0 ? top : top / 2);
    for (size_t row = 0; row < static_cast<size_t>(to.rows); ++row)
      std::copy_n(plane.bytes.begin() + static_cast<ptrdiff_t>((y + row) * plane.row_bytes + x),
                  to.row_bytes, to.bytes.begin() + static_cast<ptrdiff_t>(row * to.row_bytes));
  }
  return crop;
}

inline const GstStructure *batch_meta(GstBuffer *batch) {
  GstCustomMeta *meta = gst_buffer_get_custom_meta(batch, "GstCudaTensorBatchMeta");
  return meta != nullptr ? gst_custom_meta_get_structure(meta) : nullptr;
}

inline guint left_out_of(GstBuffer *batch) {
  guint left_out = G_MAXUINT;
  gst_structure_get_uint(batch_meta(batch), "left-out", &left_out);
  return left_out;
}

template <size_t kCount>
std::array<double, kCount> doubles_of(const GstStructure *s, const char *field) {
  std::array<double, kCount> numbers = {};
  const GValue *array = gst_structure_get_value(s, field);
  if (array == nullptr || gst_value_array_get_size(array) != kCount) {
    ADD_FAILURE() << field << " is no array of " << kCount;
    return numbers;
  }
  for (guint i = 0; i < kCount; ++i)
    numbers[i] = g_value_get_double(gst_value_array_get_value(array, i));
  return numbers;
}

inline const GstStructure *slot_of(GstBuffer *batch, guint i) {
  const GValue *slots = gst_structure_get_value(batch_meta(batch), "slots");
  return gst_value_get_structure(gst_value_array_get_value(slots, i));
}

inline std::array<double, 4> region_of(GstBuffer *batch, guint i) {
  return doubles_of<4>(slot_of(batch, i), "region");
}

inline void add_interest(GstBuffer *buffer, const char *type, guint x, guint y, guint w, guint h,
                         gint id = 0) {
  gst_buffer_add_video_region_of_interest_meta(buffer, type, x, y, w, h)->id = id;
}

}  // namespace cudatensor
