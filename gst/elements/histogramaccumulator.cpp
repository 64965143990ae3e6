// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/elements/histogramaccumulator.h"

#include <algorithm>
#include <numeric>

#include "gst/util/values.h"

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

void CountedFrames::add(const CountedFrames &more) {
  if (frames == 0) {
    *this = more;
    return;
  }
  frames += more.frames;
  last = more.last;
}

bool HistogramInterval::takes(const FrameTime &frame, guint64 length,
                              const std::vector<int> &roi) const {
  if (empty_) return true;
  if (!GST_CLOCK_TIME_IS_VALID(frame.timestamp) || frame.reversed != reversed_) return false;
  const auto [earlier, later] = std::minmax(begin_, frame.timestamp);
  const bool turned_back = (reversed_ ? later : earlier) != begin_;
  return !turned_back && later - earlier < length && roi == roi_;
}

void HistogramInterval::add(const FrameTime &frame, const std::vector<int> &roi) {
  if (empty_) {
    begin_ = frame.timestamp;
    reversed_ = frame.reversed;
    roi_ = roi;
  }
  empty_ = false;
}

void HistogramAccumulator::add(const Bins &bins, const CountedFrames &counted) {
  counted_.add(counted);
  for (int i = 0; i < kBins; ++i) bins_[i] += bins[i];
  const auto [black, white] = counted.levels;
  black_ += std::accumulate(bins.begin(), bins.begin() + black + 1, uint64_t{0});
  white_ += std::accumulate(bins.begin() + white, bins.end(), uint64_t{0});
}

/// Returns the time from the start of the frame with the lowest timestamp to the end of the frame
/// with the highest.
GstClockTime HistogramAccumulator::duration() const {
  const bool reversed = counted_.last.reversed;
  const FrameTime &lowest = reversed ? counted_.last : counted_.first;
  const FrameTime &highest = reversed ? counted_.first : counted_.last;
  if (counted_.frames == 1) return highest.duration;
  const bool known = GST_CLOCK_TIME_IS_VALID(highest.duration);
  return highest.timestamp - lowest.timestamp + (known ? highest.duration : 0);
}

GstStructure *HistogramAccumulator::take() {
  const HistogramStatistics statistics = statistics_of(bins_);
  const FrameTime &first = counted_.first;
  GstStructure *s = gst_structure_new(
      "cudahistogram", "timestamp", G_TYPE_UINT64, first.timestamp, "stream-time", G_TYPE_UINT64,
      first.stream_time, "running-time", G_TYPE_UINT64, first.running_time, "duration",
      G_TYPE_UINT64, duration(), "frames", G_TYPE_UINT, counted_.frames, "pixels", G_TYPE_UINT64,
      statistics.pixels, nullptr);
  set_array(s, "histogram", bins_, G_TYPE_UINT64, g_value_set_uint64);
  set_statistics(s, statistics);
  gst_structure_set(s, "clipped-low", G_TYPE_DOUBLE, share(black_, statistics.pixels),
                    "clipped-high", G_TYPE_DOUBLE, share(white_, statistics.pixels), nullptr);
  if (const auto &roi = counted_.roi)
    gst_structure_set(s, "roi-x", G_TYPE_UINT, roi->x, "roi-y", G_TYPE_UINT, roi->y, "roi-width",
                      G_TYPE_UINT, roi->width, "roi-height", G_TYPE_UINT, roi->height, nullptr);
  discard();
  return s;
}

void HistogramAccumulator::discard() {
  counted_ = {};
  bins_ = {};
  black_ = white_ = 0;
}

}  // namespace cudatensor
