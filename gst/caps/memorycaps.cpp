// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/caps/memorycaps.h"

#include "gst/caps/inputcaps.h"
#include "gst/caps/tensorcaps.h"
#include "gst/caps/videocaps.h"
#include "gst/cuda/gstcudalibrary.h"
#include "gst/nvmm/colorformat.h"
#include "gst/nvmm/nvbufsurface.h"
#include "gst/util/ref.h"

namespace cudatensor {
namespace {

bool has_feature(const GstCaps *caps, guint i, const char *feature) {
  return gst_caps_features_contains(gst_caps_get_features(caps, i), feature);
}

void append(GstCaps *caps, const GstStructure *s, const char *feature) {
  gst_caps_append_structure_full(caps, gst_structure_copy(s),
                                 gst_caps_features_new(feature, nullptr));
}

const GstCaps *nvmm_formats() {
  static const GstCaps *const caps = [] {
    GstCaps *made = make_video_template_caps(CUDATENSOR_NVMM_FORMATS);
    GST_MINI_OBJECT_FLAG_SET(made, GST_MINI_OBJECT_FLAG_MAY_BE_LEAKED);
    return made;
  }();
  return caps;
}

/// Appends the part of a structure that NVMM surfaces can hold.
void append_in_nvmm(GstCaps *caps, const GstStructure *s) {
  const Ref<GstCaps> all(gst_caps_new_full(gst_structure_copy(s), nullptr));
  const Ref<GstCaps> held(gst_caps_intersect(all.get(), const_cast<GstCaps *>(nvmm_formats())));
  for (guint i = 0; i < gst_caps_get_size(held.get()); ++i)
    append(caps, gst_caps_get_structure(held.get(), i), nvmm::kMemoryFeature);
}

}  // namespace

bool in_cuda_memory(const GstCaps *caps) { return has_feature(caps, 0, gstcuda::kMemoryFeature); }

bool in_nvmm(const GstCaps *caps) { return has_feature(caps, 0, nvmm::kMemoryFeature); }

GstCaps *with_memories(GstCaps *caps, PadMemories memories) {
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure *s = gst_caps_get_structure(caps, i);
    if (memories.cuda && fits_cuda_memory(s)) append(result, s, gstcuda::kMemoryFeature);
    if (memories.nvmm) append_in_nvmm(result, s);
    gst_caps_append_structure(result, gst_structure_copy(s));
  }
  gst_caps_unref(caps);
  return result;
}

GstCaps *without_nvmm(GstCaps *caps) {
  caps = gst_caps_make_writable(caps);
  for (guint i = gst_caps_get_size(caps); i-- > 0;)
    if (has_feature(caps, i, nvmm::kMemoryFeature)) gst_caps_remove_structure(caps, i);
  return caps;
}

GstCaps *without_features(GstCaps *caps) {
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    GstStructure *s = gst_structure_copy(gst_caps_get_structure(caps, i));
    if (!has_feature(caps, i, nvmm::kMemoryFeature)) gst_structure_remove_field(s, kSurfacesField);
    result = gst_caps_merge_structure(result, s);
  }
  return result;
}

}  // namespace cudatensor
