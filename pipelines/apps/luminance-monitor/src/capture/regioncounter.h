// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts the lumas of a region without its masks. Histograms are additive: one element counts the
// region, others count the holes in it, and what they count is subtracted. This is exact, and reads
// pixels where they are, on the host or on a GPU.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "settings/region.h"
#include "watch/measurement.h"

namespace luminance {

class RegionCounter {
 public:
  /// Returns the text of the elements for gst_parse_launch(), with these properties. The first
  /// element is named "histogram".
  static std::string elements(const Region &region, const std::string &properties);

  /// Returns a counter for a pipeline with these elements. The region follows the size of the
  /// pictures. If a picture is so small that no pixel of the region is left, the first element
  /// posts an error.
  static std::shared_ptr<RegionCounter> in(GstElement *pipeline, const Region &region);

  /// Returns the measurement that this message of one of the elements completes, if any. All
  /// elements see the same frames in the same order. Called by one thread at a time.
  std::optional<Measurement> take(GstMessage *message);

 private:
  explicit RegionCounter(const Region &region) : cutout_(cutout_of(region)) {}

  static GstPadProbeReturn on_event(GstPad *, GstPadProbeInfo *info, gpointer counter);
  void follow(const GstCaps *caps);

  const Cutout<double> cutout_;
  std::vector<GstElement *> elements_;           // for the frame, and for each hole
  std::atomic<bool> is_empty_{false};            // whether nothing of pictures of this size is left
  std::vector<std::deque<Measurement>> counts_;  // measurements of each element, not used yet
};

/// Returns a measurement minus those of the holes of the same frame. A hole without a pixel is
/// measured with the region of the whole, and is ignored.
Measurement without(const Measurement &whole, const std::vector<Measurement> &holes);

}  // namespace luminance
