// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/normalize.h"

#include <algorithm>
#include <tuple>

#include "kernels/error.h"

namespace cudatensor {
namespace {

[[noreturn]] void refuse(const std::string &text) { throw Error(Error::Code::settings, text); }

void check_list(const char *name, const std::vector<double> &values, int channels) {
  if (values.size() != 1 && values.size() != static_cast<size_t>(channels))
    refuse(std::string(name) + " has " + std::to_string(values.size()) +
           " values; it needs one, or one for each of the " + std::to_string(channels) +
           " channels");
  for (const double value : values)
    if (!std::isfinite(value)) refuse(std::string(name) + " holds a value that is not finite");
}

double value_for(const std::vector<double> &values, int channel) {
  return values.size() == 1 ? values[0] : values[channel];
}

/// Rounds the factors to float32. `names` are the properties that they come from, for the error.
ChannelScale rounded(double a, double b, const char *names) {
  const ChannelScale k = {static_cast<float>(a), static_cast<float>(b)};
  if (!std::isfinite(k.a) || !std::isfinite(k.b))
    refuse(std::string(names) + " give factors beyond the range of float32");
  return k;
}

/// Checks all lists, including those of the normalization that is not selected.
void check_lists(const NormalizeParams &p) {
  const int channels = p.channels();
  check_list("mean", p.mean, channels);
  check_list("std", p.std, channels);
  check_list("alpha", p.alpha, channels);
  check_list("beta", p.beta, channels);
  if (std::find(p.std.begin(), p.std.end(), 0.0) != p.std.end()) refuse("std is 0 for a channel");
  if (!std::isfinite(p.scale)) refuse("scale is not finite");
}

double effective_scale(const NormalizeParams &p, DType dtype) {
  if (p.scale != 0.0) return p.scale;
  return is_float(dtype) ? 1.0 / 255.0 : 1.0;
}

ChannelScale scale_of_channel(const NormalizeParams &p, DType dtype, int channel) {
  if (p.normalization == Normalization::alpha_beta)
    return rounded(value_for(p.alpha, channel), value_for(p.beta, channel), "alpha and beta");
  const double std = value_for(p.std, channel);
  return rounded(effective_scale(p, dtype) / std, -value_for(p.mean, channel) / std,
                 "scale, mean and std");
}

void check_shape(const NormalizeParams &p, const TensorDesc &out) {
  if (out.n < 1 || out.n > kMaxBatch)
    refuse("expected a batch of 1 to " + std::to_string(kMaxBatch) + ", got " +
           std::to_string(out.n));
  if (out.c != p.channels())
    refuse("the tensor has " + std::to_string(out.c) + " channels, but the color has " +
           std::to_string(p.channels()));
  check_size("an output", out.w, out.h);
}

void check_pad(const NormalizeParams &p, DType dtype) {
  if (!p.pad_normalized) return;
  if (!is_float(dtype)) refuse("pad-normalized=true requires dtype float32, float16 or bfloat16");
  if (p.resize.mode == ResizeMode::affine)
    refuse("pad-normalized=true cannot be combined with resize-mode=affine");
}

void check_part(const NormalizeParams &p, const ImageDesc &image, const Region &region) {
  check_region(region);
  if (!p.pad_outside && !(clip(region, image.width, image.height) == region))
    refuse("a region leaves the picture of " + std::to_string(image.width) + "x" +
           std::to_string(image.height));
}

bool is_fixed_point(const NormalizeParams &p, const ImageDesc &image) {
  const FormatLayout layout = layout_of(image.format);
  return p.color == Color::yuv && !p.pad_outside && p.resize.mode == ResizeMode::stretch &&
         p.resize.method == Method::bilinear && layout.model == ColorModel::yuv &&
         !layout.is_deep();
}

/// The members that are compared with operator==.
auto as_tuple(const NormalizeParams &p) {
  return std::tie(p.resize, p.color, p.normalization, p.scale, p.mean, p.std, p.alpha, p.beta,
                  p.round, p.pad_normalized, p.pad_outside, p.repeat_edge);
}

}  // namespace

bool operator==(const NormalizeParams &a, const NormalizeParams &b) {
  return as_tuple(a) == as_tuple(b);
}

TensorPlan make_tensor_plan(const NormalizeParams &p, const TensorDesc &out) {
  check_shape(p, out);
  check_resize(p.resize, p.color);
  check_pad(p, out.dtype);
  check_lists(p);
  TensorPlan plan = {};
  plan.slot = out.part(1);
  plan.pad = make_pad_color(p.color, p.resize.pad_value);
  plan.swap = p.color == Color::bgr;
  plan.round = p.round;
  plan.pad_is_zero = p.pad_normalized;
  for (int c = 0; c < p.channels(); ++c) plan.channel[c] = scale_of_channel(p, out.dtype, c);
  return plan;
}

SlotPlan make_slot_plan(const NormalizeParams &p, const TensorDesc &out, const Source &source,
                        const std::optional<Region> &region) {
  const ImageDesc &image = source.image;
  const auto width = static_cast<int>(out.w), height = static_cast<int>(out.h);
  if (region) check_part(p, source.seen(), *region);
  if (is_fixed_point(p, image)) {
    const Yuv444Plan plan = make_yuv444_plan(
        {image, {PixelFormat::Y444, width, height}, width, height, 0, 0, region, source.direction});
    return {plan.geometry, plan};
  }
  if (p.resize.antialias) {
    FilterPlan plan = make_filter_plan(source, p.resize, p.color, width, height, region);
    return {plan.geometry, std::move(plan)};
  }
  ResamplePlan plan = make_resample_plan(source, p.resize, p.color, width, height, region);
  return {plan.geometry, std::move(plan)};
}

SlotPlan make_matrix_slot_plan(const NormalizeParams &p, const TensorDesc &out,
                               const Source &source, const Matrix &matrix) {
  if (p.pad_normalized && !p.repeat_edge)
    refuse("pad-normalized=true cannot be combined with a matrix unless region-edge=repeat");
  MatrixPlan plan = make_matrix_plan(source, p.resize, p.color, static_cast<int>(out.w),
                                     static_cast<int>(out.h), matrix, p.repeat_edge);
  return {plan.conversion.geometry, std::move(plan)};
}

}  // namespace cudatensor
