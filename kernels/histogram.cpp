// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/histogram.h"

#include <algorithm>

#include "kernels/error.h"
#include "kernels/resample.h"

namespace cudatensor {
namespace {

std::string text_of(const Rect &r) {
  return "roi <" + std::to_string(r.x) + "," + std::to_string(r.y) + "," + std::to_string(r.width) +
         "," + std::to_string(r.height) + ">";
}

/// Returns the lowest bin whose cumulative count is at least ceil(percent · pixels / 100).
unsigned percentile(const Bins &bins, uint64_t pixels, unsigned percent) {
  // The product is split, so that it cannot overflow.
  const uint64_t rest = pixels % 100 * percent;
  const uint64_t wanted = pixels / 100 * percent + (rest + 99) / 100;
  uint64_t sum = 0;
  for (unsigned i = 0; i < kBins; ++i) {
    sum += bins[i];
    if (sum >= wanted) return i;
  }
  return kBins - 1;
}

double variance_of(const Bins &bins, double mean, uint64_t pixels) {
  double sum = 0.0;
  for (int i = 0; i < kBins; ++i) sum += (i - mean) * (i - mean) * static_cast<double>(bins[i]);
  return sum / static_cast<double>(pixels);
}

}  // namespace

std::optional<int> counted_byte(const FormatLayout &layout) {
  const int offset = layout.component[0].offset;
  if (!layout.is_deep()) return offset;
  if (layout.shift + layout.bits == 16) return offset + 1;
  return std::nullopt;
}

void check_histogram(const HistogramParams &p) {
  check_size("an input", p.in.width, p.in.height);
  const Rect &r = p.roi;
  if (r.x < 0 || r.y < 0 || r.width < 1 || r.height < 1 || r.width > p.in.width - r.x ||
      r.height > p.in.height - r.y)
    throw Error(Error::Code::settings, text_of(r) + " is not inside the picture");
}

std::optional<Rect> clip_roi(Rect r, int width, int height) {
  if (r.width < 1 || r.height < 1)
    throw Error(Error::Code::settings, text_of(r) + ": width and height must be at least 1");
  const auto x0 = std::max<int64_t>(r.x, 0), y0 = std::max<int64_t>(r.y, 0);
  const auto x1 = std::min<int64_t>(static_cast<int64_t>(r.x) + r.width, width);
  const auto y1 = std::min<int64_t>(static_cast<int64_t>(r.y) + r.height, height);
  if (x0 >= x1 || y0 >= y1) return std::nullopt;
  return Rect{static_cast<int>(x0), static_cast<int>(y0), static_cast<int>(x1 - x0),
              static_cast<int>(y1 - y0)};
}

HistogramStatistics statistics_of(const Bins &bins) {
  HistogramStatistics s = {};
  uint64_t weighted = 0;
  for (unsigned i = 0; i < kBins; ++i) {
    s.pixels += bins[i];
    weighted += i * bins[i];
  }
  if (s.pixels == 0) return s;
  s.mean = static_cast<double>(weighted) / static_cast<double>(s.pixels);
  s.stddev = std::sqrt(variance_of(bins, s.mean, s.pixels));
  const auto used = [](uint64_t count) { return count != 0; };
  s.min = static_cast<unsigned>(std::find_if(bins.begin(), bins.end(), used) - bins.begin());
  s.max = static_cast<unsigned>(bins.rend() - std::find_if(bins.rbegin(), bins.rend(), used)) - 1;
  s.median = percentile(bins, s.pixels, 50);
  s.p1 = percentile(bins, s.pixels, 1);
  s.p5 = percentile(bins, s.pixels, 5);
  s.p95 = percentile(bins, s.pixels, 95);
  s.p99 = percentile(bins, s.pixels, 99);
  return s;
}

}  // namespace cudatensor
