// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the lumas of a frame in the memory of the host.
#pragma once

#include <gst/video/video.h>

namespace luminance {

/// Whether lumas of frames in this format can be read, as they can for all formats that the plugin
/// takes.
bool has_lumas(const GstVideoInfo &info);

/// Lumas of more than 8 bits lose their lower bits. RGB is weighted as in BT.601; a camera's noise
/// and movements show with any weights.
class Lumas {
 public:
  /// The frame must outlive this object, and its format must have lumas.
  explicit Lumas(const GstVideoFrame &frame);

  size_t width() const { return static_cast<size_t>(GST_VIDEO_FRAME_WIDTH(&frame_)); }
  size_t height() const { return static_cast<size_t>(GST_VIDEO_FRAME_HEIGHT(&frame_)); }
  /// Bytes from a pixel to the next.
  size_t step() const { return static_cast<size_t>(GST_VIDEO_FRAME_COMP_PSTRIDE(&frame_, 0)); }

  /// Calls `use` with a function that returns the luma of the pixel at a byte offset in line `y`.
  template <class Use>
  void read(size_t y, const Use &use) const {
    const guint8 *const first = line(0, y);
    if (is_deep_)
      return use([first, below = below_](size_t at) -> unsigned {
        return (first[at] | unsigned{first[at + 1]} << 8) >> below & 255;
      });
    if (!is_rgb_) return use([first](size_t at) -> unsigned { return first[at]; });
    const guint8 *const green = line(1, y), *const blue = line(2, y);
    use([=](size_t at) -> unsigned {
      return (77u * first[at] + 150u * green[at] + 29u * blue[at]) >> 8;
    });
  }

 private:
  const guint8 *line(guint component, size_t y) const {
    const auto stride = static_cast<size_t>(GST_VIDEO_FRAME_COMP_STRIDE(&frame_, component));
    return static_cast<const guint8 *>(GST_VIDEO_FRAME_COMP_DATA(&frame_, component)) + y * stride;
  }

  const GstVideoFrame &frame_;
  const bool is_rgb_, is_deep_;  // deep: two bytes, little endian
  const unsigned below_;         // bits below the 8 upper ones
};

}  // namespace luminance
