// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/copiedmetas.h"

#include <gst/video/video.h>

#include "gst/analytics/batchstreams.h"
#include "gst/meta/carriedmetas.h"
#include "gst/meta/geometrymeta.h"

namespace cudatensor {

bool is_copied_meta(GType api) {
  if (is_carried_meta(api) || api == geometry_meta_api()) return false;
  // Copies of this meta leak: see attach_batch_streams().
  if (api == batch_streams_api()) return false;
  const gchar *const *tags = gst_meta_api_type_get_tags(api);
  for (; tags != nullptr && *tags != nullptr; ++tags)
    if (g_strcmp0(*tags, GST_META_TAG_VIDEO_STR) != 0) return false;
  return true;
}

void copy_metas(GstBuffer *in, GstBuffer *out) {
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta(in, &state)) {
    if (!is_copied_meta(meta->info->api) || GST_META_FLAG_IS_SET(meta, GST_META_FLAG_POOLED) ||
        meta->info->transform_func == nullptr)
      continue;
    GstMetaTransformCopy all = {FALSE, 0, static_cast<gsize>(-1)};
    meta->info->transform_func(out, meta, in, _gst_meta_transform_copy, &all);
  }
}

}  // namespace cudatensor
