// SPDX-License-Identifier: LGPL-2.1-or-later
#include "histogramaccumulator.h"

#include <numeric>

#include "values.h"

namespace cudatensor {
namespace {

void set_statistics(GstStructure *s, const HistogramStatistics &h) {
  gst_structure_set(s, "mean", G_TYPE_DOUBLE, h.mean, "stddev", G_TYPE_DOUBLE, h.stddev, "min",
                    G_TYPE_UINT, h.min, "max", G_TYPE_UINT, h.max, "median", G_TYPE_UINT, h.median,
                    "p1", G_TYPE_UINT, h.p1, "p5", G_TYPE_UINT, h.p5, "p95", G_TYPE_UINT, h.p95,
                    "p99", G_TYPE_UINT, h.p99, nullptr);
}

double share(uint64_t part, uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

bool HistogramAccumulator::takes(const FrameTime &frame, guint64 interval) const {
  if (empty()) return true;
  if (!GST_CLOCK_TIME_IS_VALID(frame.timestamp) || frame.timestamp < first_.timestamp) return false;
  return frame.timestamp - first_.timestamp < interval;
}

void HistogramAccumulator::add(const Bins &bins, ClipLevels levels, const FrameTime &frame,
                               const std::optional<Rect> &roi) {
  if (empty()) {
    first_ = frame;
    roi_ = roi;
  }
  last_ = frame;
  ++frames_;
  for (int i = 0; i < kBins; ++i) bins_[i] += bins[i];
  black_ += std::accumulate(bins.begin(), bins.begin() + levels.black + 1, uint64_t{0});
  white_ += std::accumulate(bins.begin() + levels.white, bins.end(), uint64_t{0});
}

/// From the first frame's start to the last one's end.
GstClockTime HistogramAccumulator::duration() const {
  const bool known = GST_CLOCK_TIME_IS_VALID(last_.duration);
  if (frames_ == 1) return last_.duration;
  return last_.timestamp - first_.timestamp + (known ? last_.duration : 0);
}

GstStructure *HistogramAccumulator::take() {
  const HistogramStatistics statistics = statistics_of(bins_);
  GstStructure *s = gst_structure_new("cudahistogram", "timestamp", G_TYPE_UINT64, first_.timestamp,
                                      "stream-time", G_TYPE_UINT64, first_.stream_time,
                                      "running-time", G_TYPE_UINT64, first_.running_time,
                                      "duration", G_TYPE_UINT64, duration(), "frames", G_TYPE_UINT,
                                      frames_, "pixels", G_TYPE_UINT64, statistics.pixels, nullptr);
  set_array(s, "histogram", bins_, G_TYPE_UINT64, g_value_set_uint64);
  set_statistics(s, statistics);
  gst_structure_set(s, "clipped-low", G_TYPE_DOUBLE, share(black_, statistics.pixels),
                    "clipped-high", G_TYPE_DOUBLE, share(white_, statistics.pixels), nullptr);
  if (roi_)
    gst_structure_set(s, "roi-x", G_TYPE_UINT, roi_->x, "roi-y", G_TYPE_UINT, roi_->y, "roi-width",
                      G_TYPE_UINT, roi_->width, "roi-height", G_TYPE_UINT, roi_->height, nullptr);
  discard();
  return s;
}

void HistogramAccumulator::discard() {
  frames_ = 0;
  bins_ = {};
  black_ = white_ = 0;
}

}  // namespace cudatensor
