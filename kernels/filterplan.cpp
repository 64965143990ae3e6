// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/filterplan.h"

#include <algorithm>
#include <cmath>

#include "kernels/error.h"

namespace cudatensor {
namespace {

struct Filter {
  double support;
  double (*value)(double x);
};

double box(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

double triangle(double x) {
  x = std::abs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * a;
  return 0.0;
}

double sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= M_PI;
  return std::sin(x) / x;
}

double lanczos(double x) { return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0; }

Filter filter_of(Method method) {
  switch (method) {
    case Method::box: return {0.5, box};
    case Method::bilinear: return {1.0, triangle};
    case Method::bicubic: return {2.0, bicubic};
    case Method::lanczos: return {3.0, lanczos};
    case Method::nearest: break;
  }
  throw Error(Error::Code::settings, "method=nearest cannot be combined with antialias=true");
}

/// One axis of a geometry. Its pixels are those that the region touches, numbered from 0.
struct Axis {
  int64_t touched;  // position of pixel 0 in the picture
  int64_t pixels;   // number of pixels
  double begin;     // start of the region, in pixels
  double length;
  int64_t low, high;  // the pixels inside the picture, [low, high)
  int resized, offset, dst;
};

Axis axis_of(Extent region, int src, int resized, int offset, int dst) {
  const double first = std::floor(region.begin);
  const double end = std::max(std::ceil(region.begin + region.length), first + 1.0);
  Axis axis = {};
  axis.touched = static_cast<int64_t>(first);
  axis.pixels = static_cast<int64_t>(end - first);
  axis.begin = region.begin - first;
  axis.length = region.length;
  axis.low = std::max<int64_t>(0, -axis.touched);
  axis.high = std::min(axis.pixels, src - axis.touched);
  axis.resized = resized;
  axis.offset = offset;
  axis.dst = dst;
  return axis;
}

int32_t to_weight(double w) {
  return static_cast<int32_t>(w < 0.0 ? w * kFilterOne - 0.5 : w * kFilterOne + 0.5);
}

/// Collects the windows of an axis.
class AxisMaker {
 public:
  AxisMaker(const Axis &axis, const Filter &filter)
      : axis_(axis),
        filter_(filter),
        scale_(axis.length / axis.resized),
        stretch_(std::max(scale_, 1.0)),
        is_copy_(axis.pixels == axis.resized && axis.begin == 0.0 &&
                 axis.length == static_cast<double>(axis.pixels)) {}

  FilterAxis make() {
    made_.windows.reserve(axis_.dst);
    for (int k = 0; k < axis_.dst; ++k) made_.windows.push_back(window(k));
    set_extents();
    return std::move(made_);
  }

 private:
  FilterWindow window(int k) {
    const int64_t i = static_cast<int64_t>(k) - axis_.offset;
    if (i < 0 || i >= axis_.resized) return {};
    const double center = axis_.begin + (static_cast<double>(i) + 0.5) * scale_;
    if (center < static_cast<double>(axis_.low) || center >= static_cast<double>(axis_.high))
      return {};
    return is_copy_ ? copy(i) : filtered(center);
  }

  FilterWindow copy(int64_t i) {
    made_.weights.push_back(kFilterOne);
    return {static_cast<int32_t>(axis_.touched + i), 1,
            static_cast<int32_t>(made_.weights.size() - 1)};
  }

  FilterWindow filtered(double center) {
    const double support = filter_.support * stretch_;
    const auto first = std::max(axis_.low, static_cast<int64_t>(center - support + 0.5));
    const auto last = std::min(axis_.high, static_cast<int64_t>(center + support + 0.5));
    weights_.clear();
    double sum = 0.0;
    for (int64_t i = first; i < last; ++i) {
      const double x = (static_cast<double>(i) - center + 0.5) * (1.0 / stretch_);
      weights_.push_back(filter_.value(x));
      sum += weights_.back();
    }
    const FilterWindow window = {static_cast<int32_t>(axis_.touched + first),
                                 static_cast<int32_t>(last - first),
                                 static_cast<int32_t>(made_.weights.size())};
    for (const double w : weights_) made_.weights.push_back(to_weight(sum != 0.0 ? w / sum : w));
    made_.copies = false;
    return window;
  }

  /// Sets the ranges of output and source coordinates. The source range is extended to whole groups
  /// of four pixels, within the picture, because backends load such a group at once.
  void set_extents() {
    const auto is_content = [](const FilterWindow &w) { return w.count > 0; };
    const auto begin = std::find_if(made_.windows.begin(), made_.windows.end(), is_content);
    if (begin == made_.windows.end()) return;
    const auto end = std::find_if_not(begin, made_.windows.end(), is_content);
    made_.begin = static_cast<int>(begin - made_.windows.begin());
    made_.end = static_cast<int>(end - made_.windows.begin());
    int32_t first = begin->first, last = first;
    for (auto w = begin; w != end; ++w) {
      first = std::min(first, w->first);
      last = std::max(last, w->first + w->count);
    }
    const auto low = static_cast<int32_t>(axis_.touched + axis_.low);
    const auto high = static_cast<int32_t>(axis_.touched + axis_.high);
    made_.src_begin = std::max(low, first & ~3);
    made_.src_end = std::min(high, (last + 3) & ~3);
  }

  const Axis &axis_;
  const Filter filter_;
  double scale_, stretch_;
  bool is_copy_;
  FilterAxis made_;
  std::vector<double> weights_;  // weights of the current window
};

FilterAxis make_axis(const Axis &axis, const Filter &filter) {
  return AxisMaker(axis, filter).make();
}

FilterAxis pad_axis(int dst) {
  FilterAxis axis;
  axis.windows.resize(dst);
  return axis;
}

void keep_part(std::vector<Tap> &taps, int begin, int end) {
  if (taps.empty()) return;
  taps.erase(taps.begin() + end, taps.end());
  taps.erase(taps.begin(), taps.begin() + begin);
}

/// Plans the conversion of the source pixels that `x` and `y` read, without a resize.
ResamplePlan plan_pixels(const Source &source, const Resize &resize, Color color, const Axis &ax,
                         const Axis &ay, const FilterAxis &x, const FilterAxis &y) {
  const auto left = ax.touched + ax.low, top = ay.touched + ay.low;
  const auto width = static_cast<int>(ax.high - ax.low),
             height = static_cast<int>(ay.high - ay.low);
  const Region part = {static_cast<double>(left), static_cast<double>(top),
                       static_cast<double>(width), static_cast<double>(height)};
  Resize same_size;
  same_size.pad_value = resize.pad_value;
  ResamplePlan plan = make_resample_plan(source, same_size, color, width, height, part);
  for (auto *taps : {&plan.sampling.x.luma, &plan.sampling.x.chroma})
    keep_part(*taps, static_cast<int>(x.src_begin - left), static_cast<int>(x.src_end - left));
  for (auto *taps : {&plan.sampling.y.luma, &plan.sampling.y.chroma})
    keep_part(*taps, static_cast<int>(y.src_begin - top), static_cast<int>(y.src_end - top));
  plan.geometry.dst_width = x.src_end - x.src_begin;
  plan.geometry.dst_height = y.src_end - y.src_begin;
  return plan;
}

}  // namespace

FilterPlan make_filter_plan(const Source &source, const Resize &resize, Color color, int dst_width,
                            int dst_height, const std::optional<Region> &region) {
  const ImageDesc image = source.seen();
  check_size("an input", source.image.width, source.image.height);
  check_size("an output", dst_width, dst_height);
  check_resize(resize, color);
  FilterPlan plan = {};
  plan.geometry = make_geometry(resize.fit(), image.width, image.height,
                                region.value_or(whole(image)), dst_width, dst_height);
  plan.geometry.direction = source.direction;
  const Geometry &g = plan.geometry;
  const Axis x =
      axis_of({g.region.x, g.region.width}, image.width, g.resized_width, g.offset_x, dst_width);
  const Axis y = axis_of({g.region.y, g.region.height}, image.height, g.resized_height, g.offset_y,
                         dst_height);
  const Filter filter = filter_of(resize.method);
  plan.x = make_axis(x, filter);
  plan.y = make_axis(y, filter);
  if (plan.x.begin == plan.x.end || plan.y.begin == plan.y.end) {
    plan.x = pad_axis(dst_width);
    plan.y = pad_axis(dst_height);
    plan.pixels = {make_conversion_plan(source, resize, color), {}};
    return plan;
  }
  plan.pixels = plan_pixels(source, resize, color, x, y, plan.x, plan.y);
  return plan;
}

}  // namespace cudatensor
