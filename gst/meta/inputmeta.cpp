// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/inputmeta.h"

#include <gst/video/video.h>

#include <optional>
#include <utility>

#include "gst/util/videomatrix.h"

namespace cudatensor {
namespace {

struct InputMeta {
  GstMeta meta;
  KeptInput *input;  // null after take_input()
};

InputMeta *meta_of(GstBuffer *buffer) {
  return reinterpret_cast<InputMeta *>(gst_buffer_get_meta(buffer, input_meta_api()));
}

gboolean init_meta(GstMeta *meta, gpointer, GstBuffer *) {
  reinterpret_cast<InputMeta *>(meta)->input = nullptr;
  return TRUE;
}

void free_meta(GstMeta *meta, GstBuffer *) { delete reinterpret_cast<InputMeta *>(meta)->input; }

KeptInput share(const KeptInput &input) {
  return {Ref<GstBuffer>(gst_buffer_ref(input.frame.get())),
          Ref<GstCaps>(gst_caps_ref(input.caps.get())), input.map, input.same, input.orientation};
}

/// Returns how a transform of GStreamer changes the picture; no value if that is not known.
std::optional<BoxMap> change_of(const BoxMap &map, GQuark type, gpointer data) {
  if (GST_META_TRANSFORM_IS_COPY(type)) {
    const bool is_whole = !static_cast<GstMetaTransformCopy *>(data)->region;
    const int width = map.out_width, height = map.out_height;
    return is_whole ? std::optional<BoxMap>(scaling(width, height, width, height)) : std::nullopt;
  }
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE(type)) {
    const auto *scale = static_cast<GstVideoMetaTransform *>(data);
    return scaling(GST_VIDEO_INFO_WIDTH(scale->in_info), GST_VIDEO_INFO_HEIGHT(scale->in_info),
                   GST_VIDEO_INFO_WIDTH(scale->out_info), GST_VIDEO_INFO_HEIGHT(scale->out_info));
  }
  if (VideoMatrix::is_known() && type == VideoMatrix::quark())
    return box_map_of(*static_cast<VideoMatrix *>(data));
  return std::nullopt;
}

gboolean transform_meta(GstBuffer *to, GstMeta *meta, GstBuffer *, GQuark type, gpointer data) {
  const KeptInput *input = reinterpret_cast<InputMeta *>(meta)->input;
  if (input == nullptr) return FALSE;
  const auto change = change_of(input->map, type, data);
  if (!change) return FALSE;
  KeptInput shared = share(*input);
  shared.map = compose(input->map, *change);
  attach_input(to, std::move(shared));
  return TRUE;
}

GType register_api() {
  static const gchar *tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_ORIENTATION_STR,
                                GST_META_TAG_VIDEO_SIZE_STR, nullptr};
  return gst_meta_api_type_register("GstCudaTensorInputMetaAPI", tags);
}

const GstMetaInfo *input_meta_info() {
  static const GstMetaInfo *const info =
      gst_meta_register(input_meta_api(), "GstCudaTensorInputMeta", sizeof(InputMeta), init_meta,
                        free_meta, transform_meta);
  return info;
}

}  // namespace

GType input_meta_api() {
  static const GType api = register_api();
  return api;
}

void attach_input(GstBuffer *picture, KeptInput input) {
  InputMeta *meta = meta_of(picture);
  if (meta == nullptr)
    meta = reinterpret_cast<InputMeta *>(gst_buffer_add_meta(picture, input_meta_info(), nullptr));
  delete meta->input;
  meta->input = new KeptInput(std::move(input));
}

void carry_input(GstBuffer *in, GstBuffer *out, const BoxMap &map,
                 const std::vector<SameResult> &results) {
  const InputMeta *meta = meta_of(in);
  if (meta == nullptr || meta->input == nullptr) return;
  KeptInput shared = share(*meta->input);
  shared.map = compose(shared.map, map);
  shared.same.clear();
  for (const SameResult &known : meta->input->same)
    for (const SameResult &result : results)
      if (result.from == known.from) shared.same.push_back({result.to, known.to});
  attach_input(out, std::move(shared));
}

KeptInput take_input(GstBuffer *picture) {
  InputMeta *meta = meta_of(picture);
  if (meta == nullptr || meta->input == nullptr) return {};
  if (!gst_buffer_is_writable(picture)) return share(*meta->input);
  KeptInput taken = std::move(*meta->input);
  gst_buffer_remove_meta(picture, &meta->meta);
  return taken;
}

}  // namespace cudatensor
