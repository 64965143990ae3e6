// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/caps/memorycaps.h"

#include "gst/caps/tensorcaps.h"
#include "gst/cuda/gstcudalibrary.h"

namespace cudatensor {

bool in_cuda_memory(const GstCaps *caps) {
  return gst_caps_features_contains(gst_caps_get_features(caps, 0), gstcuda::kMemoryFeature);
}

GstCaps *with_cuda_memory(GstCaps *caps) {
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure *s = gst_caps_get_structure(caps, i);
    if (fits_cuda_memory(s))
      gst_caps_append_structure_full(result, gst_structure_copy(s),
                                     gst_caps_features_new(gstcuda::kMemoryFeature, nullptr));
    gst_caps_append_structure(result, gst_structure_copy(s));
  }
  gst_caps_unref(caps);
  return result;
}

GstCaps *without_features(GstCaps *caps) {
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    result = gst_caps_merge_structure(result, gst_structure_copy(gst_caps_get_structure(caps, i)));
  return result;
}

}  // namespace cudatensor
