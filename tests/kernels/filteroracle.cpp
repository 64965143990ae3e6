// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>

#include "oracle.h"

namespace cudatensor::oracle {
namespace {

constexpr double kPi = 3.14159265358979323846;

double support_of(Method method) {
  switch (method) {
    case Method::box: return 0.5;
    case Method::bilinear: return 1.0;
    case Method::bicubic: return 2.0;
    default: return 3.0;
  }
}

double sinc(double x) { return x == 0.0 ? 1.0 : std::sin(x * kPi) / (x * kPi); }

double weight_at(Method method, double x) {
  const double distance = std::fabs(x);
  switch (method) {
    case Method::box: return -0.5 < x && x <= 0.5 ? 1.0 : 0.0;
    case Method::bilinear: return distance < 1.0 ? 1.0 - distance : 0.0;
    case Method::bicubic: {
      const double a = -0.5;
      if (distance < 1.0) return ((a + 2.0) * distance - (a + 3.0)) * distance * distance + 1.0;
      if (distance < 2.0) return (((distance - 5.0) * distance + 8.0) * distance - 4.0) * a;
      return 0.0;
    }
    default: return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0;
  }
}

int64_t integer_weight(double w) {
  return static_cast<int64_t>(w < 0.0 ? w * 4194304.0 - 0.5 : w * 4194304.0 + 0.5);
}

uint8_t finished(int64_t sum) {
  const int64_t value = (sum + 2097152) >> 22;
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

/// The pixels in the picture that one output coordinate reads. Without weights, the output is
/// padding.
struct Window {
  int first;
  std::vector<int64_t> weights;
};

/// One axis: the pixels that a part covers, of which [low, high) are in the picture.
struct Line {
  Part part;
  int length, offset;  ///< of the resized part, in the output
  Method method;

  int low() const { return std::max(0, -part.first()); }
  int high() const { return std::min(part.count(), part.picture - part.first()); }
  bool is_copied() const {
    return length == part.count() && part.rest() == 0.0 && part.length == part.count();
  }

  Window window(int k) const;
};

Window Line::window(int k) const {
  k -= offset;
  if (k < 0 || k >= length) return {};
  const double scale = part.length / length, fs = scale > 1.0 ? scale : 1.0;
  const double center = part.rest() + (k + 0.5) * scale;
  if (center < low() || center >= high()) return {};
  if (is_copied()) return {k - low(), {4194304}};
  const double reach = support_of(method) * fs;
  const int first = std::max(low(), static_cast<int>(std::trunc(center - reach + 0.5)));
  const int last = std::min(high(), static_cast<int>(std::trunc(center + reach + 0.5)));
  std::vector<double> weights;
  double sum = 0.0;
  for (int i = first; i < last; ++i) {
    weights.push_back(weight_at(method, (i - center + 0.5) * (1.0 / fs)));
    sum += weights.back();
  }
  Window window = {first - low(), {}};
  for (const double w : weights) window.weights.push_back(integer_weight(w / sum));
  return window;
}

/// Filters lines of `from` samples, `step` apart, to as many as there are windows.
std::vector<uint8_t> filtered(const std::vector<Window> &windows, const uint8_t *from,
                              ptrdiff_t step) {
  std::vector<uint8_t> line;
  for (const Window &window : windows) {
    int64_t sum = 0;
    for (size_t i = 0; i < window.weights.size(); ++i)
      sum += window.weights[i] * from[(window.first + static_cast<ptrdiff_t>(i)) * step];
    line.push_back(finished(sum));
  }
  return line;
}

std::vector<Window> windows_of(const Line &line, int dst) {
  std::vector<Window> windows;
  for (int k = 0; k < dst; ++k) windows.push_back(line.window(k));
  return windows;
}

std::vector<bool> pads_of(const std::vector<Window> &windows) {
  std::vector<bool> pads;
  for (const Window &window : windows) pads.push_back(window.weights.empty());
  return pads;
}

}  // namespace

Filtered::Filtered(const ConstImage &in, const Source &source, const Resize &resize, Color color,
                   int dst_w, int dst_h, const std::optional<Region> &region)
    : pad_(resize.pad_value) {
  const Seen seen(in, source.direction);
  const double width = in.desc.width, height = in.desc.height;
  const Region all = seen.region(region.value_or(Region{0.0, 0.0, width, height}));
  const Placement p = place(resize.mode, all.width, all.height, dst_w, dst_h, resize.scale_up,
                            resize.shortest_edge);
  const Line across = {{all.x, all.width, seen.width()}, p.width, p.left, resize.method};
  const Line down = {{all.y, all.height, seen.height()}, p.height, p.top, resize.method};
  const std::vector<Window> columns = windows_of(across, dst_w), rows = windows_of(down, dst_h);
  pad_columns_ = pads_of(columns);
  pad_rows_ = pads_of(rows);
  const int w = across.high() - across.low(), h = down.high() - down.low();
  if (w <= 0 || h <= 0) return;

  const Part columns_read = {across.part.first() + across.low() + 0.0, w + 0.0, seen.width()};
  const Part rows_read = {down.part.first() + down.low() + 0.0, h + 0.0, seen.height()};
  const Resampler pixels(in, source, Resize{}, color, w, h, columns_read, rows_read);
  std::vector<uint8_t> between[3];
  for (int y = 0; y < h; ++y) {
    std::vector<uint8_t> line[3];
    for (int x = 0; x < w; ++x) {
      const Triple pixel = pixels.at(x, y);
      for (int c = 0; c < 3; ++c)
        line[c].push_back(static_cast<uint8_t>(std::floor(pixel[c] + 0.5f)));
    }
    for (int c = 0; c < 3; ++c) {
      const std::vector<uint8_t> narrow = filtered(columns, line[c].data(), 1);
      between[c].insert(between[c].end(), narrow.begin(), narrow.end());
    }
  }
  for (int c = 0; c < 3; ++c)
    for (int x = 0; x < dst_w; ++x) {
      const std::vector<uint8_t> column = filtered(rows, between[c].data() + x, dst_w);
      result_[c].insert(result_[c].end(), column.begin(), column.end());
    }
}

bool Filtered::is_pad(int x, int y) const { return pad_columns_[x] || pad_rows_[y]; }

Triple Filtered::at(int x, int y) const {
  if (is_pad(x, y)) return {pad_ * 1.0f, pad_ * 1.0f, pad_ * 1.0f};
  const size_t i = static_cast<size_t>(x) * pad_rows_.size() + static_cast<size_t>(y);
  return {result_[0][i] * 1.0f, result_[1][i] * 1.0f, result_[2][i] * 1.0f};
}

}  // namespace cudatensor::oracle
