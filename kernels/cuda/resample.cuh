// SPDX-License-Identifier: LGPL-2.1-or-later
// The floating-point path: kernel selection, and plans in device memory.
#pragma once

#include "kernels/cuda/resampler.cuh"
#include "kernels/cuda/unscaled.cuh"
#include "kernels/normalize.h"

namespace cudatensor::cuda {

/// Whether most rows of the picture read the same samples as the previous row, and the rows of all
/// components are blended.
inline bool should_share_rows(const ResamplePlan &plan) {
  const AxisPlan &y = plan.sampling.y;
  const bool subsampled = !y.chroma.empty() && plan.sampled > 1;
  if (!any_blends(y.luma) || (subsampled && !any_blends(y.chroma))) return false;
  size_t rows = 0, repeated = 0;
  for (size_t i = 1; i < y.luma.size(); ++i) {
    if (y.luma[i].inside == 0.0f) continue;
    ++rows;
    repeated += y.luma[i].i0 == y.luma[i - 1].i0;
  }
  return 2 * repeated > rows;
}

/// The family by which kernels of any direction read the samples of a plan.
enum class AnyFamily { samples, bytes, words };

/// Returns the fastest one. Common conversions to RGB have kernels of their own.
inline AnyFamily any_family_of(const ConversionPlan &plan) {
  using F = SampleFamily;
  const bool to_rgb = plan.conversion == Conversion::yuv_to_rgb;
  switch (plan.layout.family) {
    case F::semiplanar:
    case F::deep_semiplanar: return to_rgb ? AnyFamily::words : AnyFamily::samples;
    case F::packed_rgb3:
    case F::packed_rgb4:
    case F::planar_rgb: return plan.produced == 3 ? AnyFamily::bytes : AnyFamily::samples;
    case F::planar_444:
    case F::planar_subsampled:
    case F::packed_422: return to_rgb ? AnyFamily::bytes : AnyFamily::samples;
    case F::gray:
    case F::deep_gray:
    case F::deep_planar: return AnyFamily::samples;
  }
  throw_unknown_family();
}

/// Returns how that kernel reads them.
inline Reading any_reading_of(const ConversionPlan &plan) {
  return any_family_of(plan) == AnyFamily::words ? Reading::words : Reading::bytes;
}

/// Selects the kernel for a plan and a Sink. Only combinations that plans can need are compiled.
template <class Sink, int kSlots>
class ResampleLaunchers {
 public:
  using Work = PixelWork<ResampleArgs, typename Sink::Args, kSlots>;
  using Result = Launcher<Work>;

  /// Returns the kernel for pictures with aligned words.
  static Result pick(const ResamplePlan &plan) {
    using F = SampleFamily;
    if (plan.source.direction != Direction::identity) return pick_turned(plan);
    switch (plan.layout.family) {
      case F::gray:
      case F::packed_rgb3:
      case F::packed_rgb4:
      case F::planar_rgb:
      case F::planar_444:
      case F::planar_subsampled:
      case F::semiplanar: return pick_of<Separate>(plan);
      case F::packed_422:
        if (plan.sampled == 1) return of<Separate, SingleOf422, Conversion::luma_to_gray, 1>();
        return yuv_of<Separate, Packed422>(plan);
      case F::deep_gray: return pick_any(plan);  // rare, so it has no kernels of its own
      case F::deep_planar: return deep_yuv<DeepPlanar>(plan);
      case F::deep_semiplanar: return deep_yuv<DeepSemiPlanar>(plan);
    }
    throw_unknown_family();
  }

  /// Returns the kernel in which rows share loaded samples; null if the plan does not benefit from
  /// it, or the format has none.
  static Result pick_shared(const ResamplePlan &plan) {
    const bool stored = plan.source.direction == Direction::identity;
    return stored && should_share_rows(plan) ? pick_of<Shared>(plan) : nullptr;
  }

  /// Returns the Unscaled kernel, for pictures that can be read in quads; null if the plan does not
  /// allow it.
  static Result pick_unscaled(const ResamplePlan &plan) {
    if (plan.source.direction != Direction::identity || !is_unscaled(plan)) return nullptr;
    if (plan.layout.family == SampleFamily::semiplanar)
      return of<Unscaled, SemiPlanar, Conversion::yuv_to_rgb, 3>();
    return of<Unscaled, PlanarSubsampled, Conversion::yuv_to_rgb, 3>();
  }

  /// Returns the kernel that reads byte by byte, for pictures of any format in any direction, and
  /// for batches of different formats.
  static Result pick_any(const ResamplePlan &plan) {
    if (plan.produced == 1)
      return launch_per_pixel<Resampler<AnySamples, AnyConversion<1>>, Sink, kSlots>;
    return launch_per_pixel<Resampler<AnySamples, AnyConversion<3>>, Sink, kSlots>;
  }

 private:
  template <class F, class Converts>
  using Separate = Resampler<F, Converts, Order::apart>;
  template <class F, class Converts>
  using Shared = Resampler<F, Converts, Order::shared>;
  template <class F, class Converts>
  using Transposed = Resampler<F, Converts, Order::transposed>;

  /// Returns the kernel for a picture that is not upright.
  static Result pick_turned(const ResamplePlan &plan) {
    if constexpr (Sink::kHasTiles)
      if (orientation_of(plan.source.direction).transposed) return pick_turned_of<Transposed>(plan);
    return pick_turned_of<Separate>(plan);
  }

  template <template <class, class> class Sampler>
  static Result pick_turned_of(const ResamplePlan &plan) {
    switch (any_family_of(plan)) {
      case AnyFamily::samples: break;
      case AnyFamily::bytes:
        if (plan.conversion == Conversion::yuv_to_rgb)
          return of<Sampler, AnyBytes, Conversion::yuv_to_rgb, 3>();
        return of<Sampler, AnyBytes, Conversion::keep, 3>();
      case AnyFamily::words:
        if (plan.layout.is_deep())
          return of<Sampler, AnyDeepSemiPlanar, Conversion::yuv_to_rgb, 3>();
        return of<Sampler, AnySemiPlanar, Conversion::yuv_to_rgb, 3>();
    }
    return pick_any(plan);
  }

  /// Returns the kernel with this Sampler; null for families that only pick() supports.
  template <template <class, class> class Sampler>
  static Result pick_of(const ResamplePlan &plan) {
    using F = SampleFamily;
    switch (plan.layout.family) {
      case F::gray: return single<Sampler>(plan);
      case F::packed_rgb3: return rgb_of<Sampler, Packed3>(plan);
      case F::packed_rgb4: return rgb_of<Sampler, Packed4>(plan);
      case F::planar_rgb: return rgb_of<Sampler, Planar>(plan);
      case F::planar_444: return yuv<Sampler, Planar>(plan);
      case F::planar_subsampled: return yuv<Sampler, PlanarSubsampled>(plan);
      case F::semiplanar: return yuv<Sampler, SemiPlanar>(plan);
      case F::packed_422:
      case F::deep_gray:
      case F::deep_planar:
      case F::deep_semiplanar: return nullptr;
    }
    throw_unknown_family();
  }

  template <class F>
  static Result deep_yuv(const ResamplePlan &plan) {
    if (plan.sampled == 1) return of<Separate, DeepSingle, Conversion::luma_to_gray, 1>();
    return yuv_of<Separate, F>(plan);
  }

  template <template <class, class> class Sampler, class F, Conversion conversion, int produced>
  static Result of() {
    using Converts = OneConversion<conversion, produced, !Sink::kSaturates>;
    if constexpr (Sampler<F, Converts>::kTransposed)
      return launch_per_tile<Sampler<F, Converts>, Sink, kSlots>;
    else
      return launch_per_pixel<Sampler<F, Converts>, Sink, kSlots>;
  }

  template <template <class, class> class Sampler>
  static Result single(const ResamplePlan &plan) {
    switch (plan.conversion) {
      case Conversion::luma_to_gray: return of<Sampler, Single, Conversion::luma_to_gray, 1>();
      case Conversion::gray_to_rgb: return of<Sampler, Single, Conversion::gray_to_rgb, 3>();
      default: return of<Sampler, Single, Conversion::keep, 1>();
    }
  }

  template <template <class, class> class Sampler, class F>
  static Result rgb_of(const ResamplePlan &plan) {
    if (plan.conversion == Conversion::rgb_to_gray)
      return of<Sampler, F, Conversion::rgb_to_gray, 1>();
    return of<Sampler, F, Conversion::keep, 3>();
  }

  template <template <class, class> class Sampler, class F>
  static Result yuv_of(const ResamplePlan &plan) {
    if (plan.conversion == Conversion::keep) return of<Sampler, F, Conversion::keep, 3>();
    return of<Sampler, F, Conversion::yuv_to_rgb, 3>();
  }

  template <template <class, class> class Sampler, class F>
  static Result yuv(const ResamplePlan &plan) {
    return plan.sampled == 1 ? single<Sampler>(plan) : yuv_of<Sampler, F>(plan);
  }
};

/// Returns the parameters of a plan without the picture.
inline ResampleArgs resample_args(const ConversionPlan &plan, const Tables<float> &tables) {
  ResampleArgs args = {};
  args.tables = tables;
  args.yuv_to_rgb = plan.yuv_to_rgb;
  std::copy(plan.pad.begin(), plan.pad.end(), args.pad);
  std::copy(plan.pad.begin(), plan.pad.end(), args.outside);
  args.conversion = plan.conversion;
  for (int i = 0; i < 2; ++i)
    args.samples.depth[i] = {plan.depth[i].factor, plan.depth[i].center + kBias,
                             plan.depth[i].base};
  return args;
}

/// Makes pixels outside the picture NaN, for a Sink whose pad is 0.
inline void mark_outside(ResampleArgs &args) {
  std::fill(args.outside, args.outside + 3, std::nanf(""));
}

/// Adds the picture to the parameters.
inline void set_samples(ResampleArgs &args, const ConstImage &in, const FormatLayout &layout,
                        int sampled, Reading reading, Direction direction) {
  const Samples before = args.samples;
  args.samples = samples_of(in, layout, sampled, reading, direction);
  std::copy(before.depth, before.depth + 2, args.samples.depth);
}

/// A plan in device memory and the kernel parameters derived from it.
class UploadedResample {
 public:
  using Plan = ResamplePlan;
  using Args = ResampleArgs;
  using Out = TensorArgs;
  template <class Sink, int kSlots>
  using Launchers = ResampleLaunchers<Sink, kSlots>;

  using DeviceTables = Tables<float>;
  using PlanTables = UploadedTables<float>;

  UploadedResample(CudaDevice &device, const ResamplePlan &plan)
      : UploadedResample(
            PlanTables(device, plan.sampling.x, plan.sampling.y, !plan.layout.is_deep()), plan) {}

  UploadedResample(PlanTables tables, const ResamplePlan &plan, int /*slots*/ = 1)
      : tables_(std::move(tables)),
        layout_(plan.layout),
        sampled_(plan.sampled),
        direction_(plan.source.direction),
        reading_(direction_ == Direction::identity ? Reading::upright : any_reading_of(plan)),
        args_(resample_args(plan, tables_.get())) {}

  /// Returns a plan that is all pad.
  static ResamplePlan pad_plan(const TensorPlan &tensor) {
    const Tap pad = {0, 0, 0.0f, 0.0f};
    ResamplePlan plan = {};
    plan.layout = layout_of(PixelFormat::GRAY8);
    plan.sampling.x.luma.assign(tensor.slot.w, pad);
    plan.sampling.y.luma.assign(tensor.slot.h, pad);
    plan.sampled = 1;
    plan.produced = static_cast<int>(tensor.slot.c);
    plan.pad = tensor.pad;
    return plan;
  }

  static PlanTables::Places append(TableBytes &bytes, const ResamplePlan &plan) {
    return {bytes, plan.sampling.x, plan.sampling.y, !plan.layout.is_deep()};
  }

  /// Whether the kernel for the plan can read the picture; otherwise, the one for all pictures can.
  bool fits_words(const ConstImage &in) const {
    return reading_ == Reading::bytes || has_words(in, layout_, sampled_);
  }
  bool fits_sharing(const ConstImage &) const { return true; }

  ResampleArgs args(const ConstImage &in, bool words) const {
    ResampleArgs args = args_;
    set_samples(args, in, layout_, sampled_, words ? reading_ : Reading::bytes, direction_);
    return args;
  }
  ResampleArgs pad_args(const PadColor &) const { return args_; }

 private:
  PlanTables tables_;
  FormatLayout layout_;
  int sampled_;
  Direction direction_;
  Reading reading_;    // of the kernel for the plan
  ResampleArgs args_;  // all arguments except the samples
};

}  // namespace cudatensor::cuda
