// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/picturetap.h"

#include <utility>

#include "capture/thumbnail.h"

namespace luminance {
namespace {

// Frames whose measurements are still on their way, at most.
constexpr size_t kCapacity = 64;
// Samples of a frame in surfaces.
constexpr Size kSamples = {2 * kBlockColumns, 2 * kBlockLines};

}  // namespace

std::shared_ptr<PictureTap> PictureTap::on(GstPad *pad, const Region &region) {
  auto tap = std::make_shared<PictureTap>(region);
  const auto destroy = [](gpointer kept) {
    delete static_cast<std::shared_ptr<PictureTap> *>(kept);
  };
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, new std::shared_ptr<PictureTap>(tap),
                    destroy);
  return tap;
}

GstPadProbeReturn PictureTap::on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer tap) {
  (*static_cast<std::shared_ptr<PictureTap> *>(tap))->look(pad, GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

void PictureTap::look(GstPad *pad, GstBuffer *buffer) {
  GstCaps *const caps = gst_pad_get_current_caps(pad);
  if (caps == nullptr) return;
  if (caps != caps_) change_caps(caps);
  gst_caps_unref(caps);
  const Time time = time_of(buffer);
  if ((is_on_gpu_ || sampler_ != nullptr) && !limit_.takes(time)) return;
  Pictures pictures =
      sampler_ != nullptr ? pictures_in_surfaces(buffer) : pictures_of(buffer, info_, time);
  if (pictures.blocks == nullptr) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.push_back({GST_BUFFER_PTS(buffer), std::move(pictures)});
  if (entries_.size() > kCapacity) entries_.pop_front();
}

void PictureTap::change_caps(GstCaps *caps) {
  gst_caps_replace(&caps_, caps);
  if (!gst_video_info_from_caps(&info_, caps)) gst_video_info_init(&info_);
  is_on_gpu_ = gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:CUDAMemory");
  if (!is_in_surfaces(caps))
    sampler_.reset();
  else if (sampler_ == nullptr)
    sampler_ = std::make_unique<SurfaceSampler>(static_cast<int>(kSamples.width),
                                                static_cast<int>(kSamples.height));
  const Size size = {static_cast<size_t>(GST_VIDEO_INFO_WIDTH(&info_)),
                     static_cast<size_t>(GST_VIDEO_INFO_HEIGHT(&info_))};
  pixels_ = pixels_of(cutout_, size.width, size.height);
  if (sampler_ != nullptr) pixels_ = samples_of(pixels_, size, kSamples);
  blocks_.emplace(pixels_);
}

PictureTap::Pictures PictureTap::pictures_of(GstBuffer *buffer, const GstVideoInfo &info,
                                             Time time) {
  const bool has_thumbnail = thumbnail_limit_.takes(time);
  return {blocks_->blocks_of(buffer, info),
          has_thumbnail ? thumbnail_of(buffer, info, pixels_) : nullptr};
}

/// Computes the same blocks as for a frame on the host: they use only the odd ones of twice as many
/// samples each way. Thumbnails use all samples.
PictureTap::Pictures PictureTap::pictures_in_surfaces(GstBuffer *buffer) {
  GstBuffer *const lumas = sampler_->lumas(buffer, caps_);
  if (lumas == nullptr) return {};
  Pictures pictures = pictures_of(lumas, sampler_->info(), time_of(buffer));
  gst_buffer_unref(lumas);
  return pictures;
}

PictureTap::Pictures PictureTap::take(GstClockTime timestamp) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].timestamp != timestamp) continue;
    const Pictures pictures = std::move(entries_[i].pictures);
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return pictures;
  }
  return {};
}

}  // namespace luminance
