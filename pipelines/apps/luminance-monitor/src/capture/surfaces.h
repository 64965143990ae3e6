// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads frames in DeepStream's surfaces (caps feature memory:NVMM), which only elements can read: a
// buffer maps to the description of its surfaces, not to a picture.
#pragma once

#include <gst/video/video.h>

namespace luminance {

bool is_in_surfaces(const GstCaps *caps, guint structure = 0);

/// Whether cudahistogram, as it is set up now, counts frames in surfaces.
bool takes_surfaces(GstElement *histogram);

/// Samples the luma of frames in surfaces. Used by one thread at a time.
class SurfaceSampler {
 public:
  /// `width`, `height`: the number of samples each way.
  SurfaceSampler(int width, int height);
  ~SurfaceSampler();
  SurfaceSampler(const SurfaceSampler &) = delete;
  SurfaceSampler &operator=(const SurfaceSampler &) = delete;

  /// Returns a buffer that the caller owns, with the picture that info() describes: sample i of n
  /// of an axis is pixel i · length / n, rounded down. Returns null if the frame cannot be read.
  GstBuffer *lumas(GstBuffer *frame, GstCaps *caps);
  /// Describes a gray picture.
  const GstVideoInfo &info() const { return info_; }

 private:
  static GstFlowReturn on_result(GstPad *pad, GstObject *parent, GstBuffer *buffer);
  void start(GstCaps *caps);

  GstVideoInfo info_;
  GstElement *element_;      // null if the plugin is missing
  GstPad *to_, *from_;       // linked to the element
  GstCaps *caps_ = nullptr;  // the element's input
  GstBuffer *result_ = nullptr;
};

}  // namespace luminance
