// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/library/frames/wholepictures.h"

#include "gst/util/ref.h"

namespace cudatensor {
namespace {

/// Returns caps of the codecs that may come in parts, with whole pictures only.
GstCaps *whole_pictures() {
  static GstCaps *const caps = [] {
    GstCaps *made = gst_caps_from_string(
        "video/x-h264,alignment=au; video/x-h265,alignment=au; video/x-av1,alignment=tu; "
        "video/x-vp9,alignment=super-frame");
    GST_MINI_OBJECT_FLAG_SET(made, GST_MINI_OBJECT_FLAG_MAY_BE_LEAKED);
    return made;
  }();
  return caps;
}

}  // namespace

GstCaps *in_whole_pictures(GstCaps *caps) {
  if (gst_caps_is_any(caps)) {
    GstCaps *result = gst_caps_copy(whole_pictures());
    gst_caps_append(result, gst_caps_from_string("video/x-vp8; image/jpeg"));
    gst_caps_append(result, gst_caps_new_any());
    return result;
  }
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    Ref<GstCaps> one(gst_caps_copy_nth(caps, i));
    const gchar *name = gst_structure_get_name(gst_caps_get_structure(one.get(), 0));
    for (guint j = 0; j < gst_caps_get_size(whole_pictures()); ++j) {
      if (!gst_structure_has_name(gst_caps_get_structure(whole_pictures(), j), name)) continue;
      const Ref<GstCaps> whole(gst_caps_copy_nth(whole_pictures(), j));
      one.reset(gst_caps_intersect(one.get(), whole.get()));
    }
    gst_caps_append(result, one.release());
  }
  return result;
}

}  // namespace cudatensor
