// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/blocks.h"

#include <array>

namespace luminance {
namespace {

constexpr size_t kSide = 16;  // pixels of a block that are looked at, each way
constexpr size_t kAcross = Blocks::kColumns * kSide, kDown = Blocks::kRows * kSide;
static_assert(kSide * kSide == Blocks::kLuma, "the sum of a block is its mean times 256");

// Of measurements that are on their way, at most.
constexpr size_t kCapacity = 64;

/// The lumas of a line, at these places. RGB is weighed as BT.601 does, in which a camera's noise
/// and movements show as in any other.
class Line {
 public:
  explicit Line(const GstVideoFrame &frame)
      : frame_(frame), is_rgb_(GST_VIDEO_INFO_IS_RGB(&frame.info)) {
    const auto step = static_cast<size_t>(GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0));
    const auto width = static_cast<size_t>(GST_VIDEO_FRAME_WIDTH(&frame));
    for (size_t i = 0; i < kAcross; ++i) places_[i] = (2 * i + 1) * width / (2 * kAcross) * step;
    // Of more than 8 bits, little endian, the upper byte.
    if (GST_VIDEO_FRAME_COMP_DEPTH(&frame, 0) > 8) upper_ = 1;
  }

  /// Adds the lumas of line `y` to the blocks of a row.
  void add(size_t y, uint16_t *row) const {
    const guint8 *const first = start(0, y) + upper_;
    if (!is_rgb_) return sum(row, [&](size_t at) { return first[at]; });
    const guint8 *const green = start(1, y), *const blue = start(2, y);
    sum(row, [&](size_t at) { return (77 * first[at] + 150 * green[at] + 29 * blue[at]) >> 8; });
  }

 private:
  template <class Luma>
  void sum(uint16_t *row, const Luma &luma_at) const {
    for (size_t block = 0; block < Blocks::kColumns; ++block) {
      unsigned sum = 0;
      for (size_t i = block * kSide; i < (block + 1) * kSide; ++i)
        sum += static_cast<unsigned>(luma_at(places_[i]));
      row[block] = static_cast<uint16_t>(row[block] + sum);
    }
  }

  const guint8 *start(guint component, size_t y) const {
    const auto stride = static_cast<size_t>(GST_VIDEO_FRAME_COMP_STRIDE(&frame_, component));
    return static_cast<const guint8 *>(GST_VIDEO_FRAME_COMP_DATA(&frame_, component)) + y * stride;
  }

  const GstVideoFrame &frame_;
  const bool is_rgb_;
  size_t upper_ = 0;
  std::array<size_t, kAcross> places_;  // bytes from the begin of the line
};

bool is_known(const GstVideoInfo &info) {
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&info);
  if (format == GST_VIDEO_FORMAT_P010_10LE) return true;
  return (GST_VIDEO_INFO_IS_YUV(&info) || GST_VIDEO_INFO_IS_RGB(&info) ||
          GST_VIDEO_INFO_IS_GRAY(&info)) &&
         GST_VIDEO_INFO_COMP_DEPTH(&info, 0) == 8;
}

}  // namespace

std::shared_ptr<const Blocks> blocks_of(GstBuffer *buffer, const GstVideoInfo &info) {
  GstVideoFrame frame;
  if (!is_known(info) || !gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) return nullptr;
  auto blocks = std::make_shared<Blocks>();
  const Line line(frame);
  const auto height = static_cast<size_t>(GST_VIDEO_FRAME_HEIGHT(&frame));
  for (size_t i = 0; i < kDown; ++i)
    line.add((2 * i + 1) * height / (2 * kDown), &blocks->means[i / kSide * Blocks::kColumns]);
  gst_video_frame_unmap(&frame);
  return blocks;
}

std::shared_ptr<BlockTap> BlockTap::on(GstPad *pad) {
  auto tap = std::make_shared<BlockTap>();
  const auto destroy = [](gpointer kept) { delete static_cast<std::shared_ptr<BlockTap> *>(kept); };
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, new std::shared_ptr<BlockTap>(tap),
                    destroy);
  return tap;
}

GstPadProbeReturn BlockTap::on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer tap) {
  (*static_cast<std::shared_ptr<BlockTap> *>(tap))->look(pad, GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

void BlockTap::look(GstPad *pad, GstBuffer *buffer) {
  GstCaps *const caps = gst_pad_get_current_caps(pad);
  if (caps == nullptr) return;
  if (caps != caps_) {
    gst_caps_replace(&caps_, caps);
    if (!gst_video_info_from_caps(&info_, caps)) gst_video_info_init(&info_);
    is_on_gpu_ = gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:CUDAMemory");
    if (!is_in_surfaces(caps))
      sampler_.reset();
    else if (sampler_ == nullptr)
      sampler_ = std::make_unique<SurfaceSampler>(2 * kAcross, 2 * kDown);
  }
  gst_caps_unref(caps);
  if ((is_on_gpu_ || sampler_ != nullptr) && !limit_.takes(time_of(buffer))) return;
  std::shared_ptr<const Blocks> blocks =
      sampler_ != nullptr ? blocks_in_surfaces(buffer) : blocks_of(buffer, info_);
  if (blocks == nullptr) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.push_back({GST_BUFFER_PTS(buffer), std::move(blocks)});
  if (entries_.size() > kCapacity) entries_.pop_front();
}

/// The same lumas as of a frame on the host: of twice as many samples each way, the odd ones.
std::shared_ptr<const Blocks> BlockTap::blocks_in_surfaces(GstBuffer *buffer) {
  GstBuffer *const lumas = sampler_->lumas(buffer, caps_);
  if (lumas == nullptr) return nullptr;
  std::shared_ptr<const Blocks> blocks = blocks_of(lumas, sampler_->info());
  gst_buffer_unref(lumas);
  return blocks;
}

std::shared_ptr<const Blocks> BlockTap::take(GstClockTime timestamp) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].timestamp != timestamp) continue;
    const std::shared_ptr<const Blocks> blocks = std::move(entries_[i].blocks);
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return blocks;
  }
  return nullptr;
}

}  // namespace luminance
