// SPDX-License-Identifier: LGPL-2.1-or-later
// A stand-in for libnvdsgst_meta: the meta of a batch of surfaces, with the two functions that the
// plugin and its tests call.
#include <gst/gst.h>

namespace {

struct NvDsMeta {
  GstMeta meta;
  gpointer meta_data;
  gpointer user_data;
  gint meta_type;
  gpointer functions[4];
};

GType api() {
  static const GType type = [] {
    static const gchar *tags[] = {"nvdsmeta", nullptr};
    return gst_meta_api_type_register("NvDsMetaAPI", tags);
  }();
  return type;
}

gboolean init(GstMeta *meta, gpointer, GstBuffer *) {
  auto *self = reinterpret_cast<NvDsMeta *>(meta);
  self->meta_data = self->user_data = nullptr;
  self->meta_type = 0;
  return TRUE;
}

gboolean refuse_copy(GstBuffer *, GstMeta *, GstBuffer *, GQuark, gpointer) { return FALSE; }

const GstMetaInfo *info() {
  static const GstMetaInfo *const info = gst_meta_register(
      api(), "NvDsMeta", sizeof(NvDsMeta), init, [](GstMeta *, GstBuffer *) {}, refuse_copy);
  return info;
}

}  // namespace

extern "C" {

NvDsMeta *gst_buffer_add_nvds_meta(GstBuffer *buffer, gpointer meta_data, gpointer user_data,
                                   gpointer, gpointer) {
  auto *self = reinterpret_cast<NvDsMeta *>(gst_buffer_add_meta(buffer, info(), nullptr));
  self->meta_data = meta_data;
  self->user_data = user_data;
  return self;
}

gpointer gst_buffer_get_nvds_batch_meta(GstBuffer *buffer) {
  auto *self = reinterpret_cast<NvDsMeta *>(gst_buffer_get_meta(buffer, api()));
  return self != nullptr ? self->meta_data : nullptr;
}
}
