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

/// `names` are the properties that the two factors come from.
ChannelScale rounded(double a, double b, const char *names) {
  const ChannelScale k = {static_cast<float>(a), static_cast<float>(b)};
  if (!std::isfinite(k.a) || !std::isfinite(k.b))
    refuse(std::string(names) + " give factors beyond the range of float32");
  return k;
}

/// All of them, also those of the normalisation that is not chosen.
void check_lists(const NormalizeParams &p, int channels) {
  check_list("mean", p.mean, channels);
  check_list("std", p.std, channels);
  check_list("alpha", p.alpha, channels);
  check_list("beta", p.beta, channels);
  if (std::find(p.std.begin(), p.std.end(), 0.0) != p.std.end()) refuse("std is 0 for a channel");
  if (!std::isfinite(p.scale)) refuse("scale is not finite");
}

double effective_scale(const NormalizeParams &p) {
  if (p.scale != 0.0) return p.scale;
  const bool floating = p.out.dtype == DType::float32 || p.out.dtype == DType::float16;
  return floating ? 1.0 / 255.0 : 1.0;
}

ChannelScale scale_of_channel(const NormalizeParams &p, int channel) {
  if (p.normalization == Normalization::alpha_beta)
    return rounded(value_for(p.alpha, channel), value_for(p.beta, channel), "alpha and beta");
  const double std = value_for(p.std, channel);
  return rounded(effective_scale(p) / std, -value_for(p.mean, channel) / std,
                 "scale, mean and std");
}

void check_part(const NormalizeParams &p) {
  if (!p.region) return;
  check_region(*p.region);
  const ImageDesc &image = p.source.image;
  if (!p.beyond_is_pad && !(clip(*p.region, image.width, image.height) == p.region))
    refuse("a region leaves the picture of " + std::to_string(image.width) + "x" +
           std::to_string(image.height));
}

bool is_fixed_point(const NormalizeParams &p) {
  return p.color == Color::yuv && !p.beyond_is_pad && p.resize.mode == ResizeMode::stretch &&
         p.resize.method == Method::bilinear &&
         layout_of(p.source.image.format).model == ColorModel::yuv;
}

/// All that is compared one by one.
auto facts_of(const NormalizeParams &p) {
  return std::tie(p.source, p.out, p.resize, p.color, p.normalization, p.scale, p.mean, p.std,
                  p.alpha, p.beta, p.round, p.region, p.beyond_is_pad);
}

}  // namespace

bool operator==(const NormalizeParams &a, const NormalizeParams &b) {
  return facts_of(a) == facts_of(b);
}

NormalizePlan make_normalize_plan(const NormalizeParams &p) {
  const int channels = p.color == Color::gray ? 1 : 3;
  if (p.out.n != 1 || p.out.c != channels)
    refuse("the tensor has " + std::to_string(p.out.c) + " channels and a batch of " +
           std::to_string(p.out.n) + "; the colour needs " + std::to_string(channels) + " and 1");
  check_size("an output", p.out.w, p.out.h);
  check_pad_value(p.resize.pad_value);
  check_part(p);
  const auto width = static_cast<int>(p.out.w), height = static_cast<int>(p.out.h);
  NormalizePlan plan = {};
  plan.out = p.out;
  plan.swap = p.color == Color::bgr;
  plan.round = p.round;
  if (is_fixed_point(p)) {
    plan.fixed = make_yuv444_plan(
        {p.source.image, {PixelFormat::Y444, width, height}, width, height, 0, 0, p.region});
  } else {
    plan.resample = make_resample_plan(p.source, p.resize, p.color, width, height, p.region);
  }
  plan.pad[0] = static_cast<float>(p.resize.pad_value);
  plan.pad[1] = plan.pad[2] = p.color == Color::yuv ? 128.0f : plan.pad[0];
  check_lists(p, channels);
  for (int c = 0; c < channels; ++c) plan.channel[c] = scale_of_channel(p, c);
  return plan;
}

NormalizeParams one_slot(NormalizeParams params) {
  if (params.out.n < 1) refuse("a batch of " + std::to_string(params.out.n));
  params.out.n = 1;
  return params;
}

std::vector<NormalizePlan> make_normalize_plans(const std::vector<Source> &sources,
                                                NormalizeParams params) {
  if (sources.empty() || params.out.n != static_cast<int64_t>(sources.size()))
    refuse("a batch of " + std::to_string(params.out.n) + " for " + std::to_string(sources.size()) +
           " sources");
  params = one_slot(std::move(params));
  std::vector<NormalizePlan> plans;
  for (const Source &source : sources) {
    params.source = source;
    plans.push_back(make_normalize_plan(params));
  }
  return plans;
}

}  // namespace cudatensor
