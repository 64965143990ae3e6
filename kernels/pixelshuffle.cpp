// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/pixelshuffle.h"

#include "kernels/error.h"
#include "kernels/resample.h"

namespace cudatensor {
namespace {

[[noreturn]] void refuse(const std::string &text) { throw Error(Error::Code::settings, text); }

bool is_picture_of(int64_t channels, PixelFormat format) {
  if (channels == 1) return format == PixelFormat::GRAY8;
  return channels == 3 &&
         (format == PixelFormat::RGB || format == PixelFormat::BGR || format == PixelFormat::RGBP);
}

}  // namespace

TensorDesc shuffled(const PixelShuffleParams &p) {
  const TensorDesc &in = p.in;
  const bool has_type = in.dtype != DType::int8 && in.dtype != DType::bfloat16;
  if (in.layout != Layout::nchw || !has_type)
    refuse("pixel shuffle requires an NCHW tensor of type float16, float32 or uint8");
  check_tensor_size(in);
  if (p.factor < 1) refuse("upscale-factor must be at least 1");
  const int64_t square = static_cast<int64_t>(p.factor) * p.factor;
  if (in.c % square != 0)
    refuse("upscale-factor=" + std::to_string(p.factor) +
           " requires the number of channels to be a multiple of " + std::to_string(square) +
           ", not " + std::to_string(in.c));
  // The output has as many elements as the input, so the sides cannot overflow.
  return {in.dtype, in.layout, in.n, in.c / square, in.h * p.factor, in.w * p.factor};
}

std::optional<Geometry> geometry_of(const PixelShuffleParams &p) {
  const TensorDesc out = shuffled(p);
  if (out.w > kMaxImageSize || out.h > kMaxImageSize) return std::nullopt;
  return make_geometry({}, static_cast<int>(p.in.w), static_cast<int>(p.in.h),
                       static_cast<int>(out.w), static_cast<int>(out.h));
}

SampleScale make_sample_scale(const PixelShuffleToVideoParams &p) {
  const TensorDesc out = shuffled({p.in, p.factor});
  check_size("an output", p.out.width, p.out.height);
  if (out.n != 1 || !is_picture_of(out.c, p.out.format) || out.w != p.out.width ||
      out.h != p.out.height)
    refuse("a tensor of " + std::to_string(out.n) + "x" + std::to_string(out.c) + "x" +
           std::to_string(out.h) + "x" + std::to_string(out.w) + " does not match the " +
           name_of(p.out.format) + " picture of " + std::to_string(p.out.width) + "x" +
           std::to_string(p.out.height));
  const double automatic = p.in.dtype == DType::uint8 ? 1.0 : 255.0;
  const SampleScale k = {static_cast<float>(p.scale == 0.0 ? automatic : p.scale),
                         static_cast<float>(p.offset)};
  if (!std::isfinite(k.scale)) refuse("scale is not finite in float32");
  if (!std::isfinite(k.offset)) refuse("offset is not finite in float32");
  return k;
}

}  // namespace cudatensor
