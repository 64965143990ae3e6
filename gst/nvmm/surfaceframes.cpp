// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/nvmm/surfaceframes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "gst/nvmm/deepstream.h"
#include "kernels/image.h"

namespace cudatensor::nvmm {
namespace {

class MetaLock {
 public:
  explicit MetaLock(NvDsBatchMeta *meta) : meta_(meta) { g_rec_mutex_lock(&meta->meta_mutex); }
  ~MetaLock() { g_rec_mutex_unlock(&meta_->meta_mutex); }
  MetaLock(const MetaLock &) = delete;
  MetaLock &operator=(const MetaLock &) = delete;

 private:
  NvDsBatchMeta *meta_;
};

/// Rounds a length to pixels; NaN becomes 0.
int pixels(float length) {
  constexpr float kMost = 2.0f * kMaxImageSize;
  return std::isfinite(length) ? static_cast<int>(std::lround(std::clamp(length, -kMost, kMost)))
                               : 0;
}

Detection detection_of(const NvDsObjectMeta &object, guint id) {
  const size_t length = strnlen(object.label, sizeof object.label);
  const std::string label(object.label, length);
  return {id,
          label.empty() ? 0 : g_quark_from_string(label.c_str()),
          {pixels(object.left), pixels(object.top), pixels(object.width), pixels(object.height)},
          object.confidence};
}

SurfaceFrame frame_of(const NvDsFrameMeta &meta) {
  SurfaceFrame frame = {static_cast<int>(meta.pad_index),
                        meta.source_id,
                        meta.buf_pts,
                        static_cast<int>(meta.source_frame_width),
                        static_cast<int>(meta.source_frame_height),
                        {}};
  for (const GList *l = meta.obj_meta_list; l != nullptr; l = l->next)
    frame.objects.push_back(detection_of(*static_cast<const NvDsObjectMeta *>(l->data),
                                         static_cast<guint>(frame.objects.size())));
  return frame;
}

}  // namespace

std::vector<std::optional<SurfaceFrame>> frames_of(GstBuffer *buffer, size_t count) {
  std::vector<std::optional<SurfaceFrame>> frames(count);
  NvDsBatchMeta *batch = batch_meta_of(buffer);
  if (batch == nullptr) return frames;
  const MetaLock lock(batch);
  for (const GList *l = batch->frame_meta_list; l != nullptr; l = l->next) {
    const auto &meta = *static_cast<const NvDsFrameMeta *>(l->data);
    if (meta.batch_id < count) frames[meta.batch_id] = frame_of(meta);
  }
  return frames;
}

}  // namespace cudatensor::nvmm
