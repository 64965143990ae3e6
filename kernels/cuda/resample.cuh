// SPDX-License-Identifier: LGPL-2.1-or-later
// The float path: sampled, converted and laid over the pad colour.
#pragma once

#include "kernels/resample.h"
#include "perpixel.cuh"

namespace cudatensor::cuda {

/// How the samples of a picture lie, as far as the inner loop must know at compile time.
template <int components, int first_step, int other_step, bool subsampled>
struct Family {
  static constexpr int kComponents = components;
  static constexpr bool kSubsampled = subsampled;
  static constexpr int kFirstStep = first_step;
  static constexpr int kOtherStep = other_step;
};

using Packed3 = Family<3, 3, 3, false>;
using Packed4 = Family<3, 4, 4, false>;
using Planar = Family<3, 1, 1, false>;
using Planar420 = Family<3, 1, 1, true>;
using SemiPlanar420 = Family<3, 1, 2, true>;
using Single = Family<1, 1, 1, false>;

/// The tables of both axes: luma's, then chroma's, which is luma's where that is not subsampled.
template <class Entry>
struct Tables {
  const Entry *x[2], *y[2];
};

/// The tables of a plan in device memory.
template <class Entry>
class UploadedTables {
 public:
  template <class Axis>
  UploadedTables(CudaDevice &device, const Axis &x, const Axis &y) {
    std::vector<Entry> all;
    size_t begin[4];
    const std::vector<Entry> *const tables[4] = {&x.luma, &x.chroma, &y.luma, &y.chroma};
    for (int i = 0; i < 4; ++i) {
      begin[i] = tables[i]->empty() ? begin[i - 1] : all.size();
      all.insert(all.end(), tables[i]->begin(), tables[i]->end());
    }
    memory_ = device.table(all.data(), all.size() * sizeof(Entry));
    const auto *data = reinterpret_cast<const Entry *>(memory_->data());
    tables_ = {{data + begin[0], data + begin[1]}, {data + begin[2], data + begin[3]}};
  }

  const Tables<Entry> &tables() const { return tables_; }

 private:
  std::shared_ptr<const Memory> memory_;
  Tables<Entry> tables_;
};

/// An entry in one load.
template <class Entry>
__device__ __forceinline__ Entry load(const Entry *at) {
  static_assert(sizeof(Entry) == sizeof(int4), "an entry is one vector");
  return bit_cast<Entry>(__ldg(reinterpret_cast<const int4 *>(at)));
}

struct ResampleArgs {
  Samples samples;
  Tables<Tap> taps;
  YuvToRgb yuv_to_rgb;
  float pad[3];
};

template <Method method, int step>
__device__ __forceinline__ float sample_at(const uint8_t *data, int64_t stride, const Tap &x,
                                           const Tap &y) {
  const uint8_t *row0 = data + y.i0 * stride;
  const float p00 = __ldg(row0 + x.i0 * step);
  if constexpr (method == Method::nearest) return p00;
  const uint8_t *row1 = data + y.i1 * stride;
  const float p01 = __ldg(row0 + x.i1 * step);
  const float p10 = __ldg(row1 + x.i0 * step);
  const float p11 = __ldg(row1 + x.i1 * step);
  return blend(blend(p00, p10, y.w), blend(p01, p11, y.w), x.w);
}

template <class F, Method method, Conversion conversion>
struct Resampler {
  using Args = ResampleArgs;
  static constexpr bool kToGray =
      conversion == Conversion::luma_to_gray || conversion == Conversion::rgb_to_gray;
  static constexpr bool kGray = conversion == Conversion::keep && F::kComponents == 1;
  static constexpr int kProduced = kToGray || kGray ? 1 : 3;

  static __device__ Pixel sample(const Args &in, int x, int y) {
    const Tap tx = load(in.taps.x[0] + x), ty = load(in.taps.y[0] + y);
    const float inside = tx.inside * ty.inside;
    if (inside == 0.0f) return {in.pad[0], in.pad[1], in.pad[2]};
    const Pixel p = convert(conversion, in.yuv_to_rgb, read(in, x, y, tx, ty));
    if (inside == 1.0f) return p;
    return {over_pad(p.c0, inside, in.pad[0]), over_pad(p.c1, inside, in.pad[1]),
            over_pad(p.c2, inside, in.pad[2])};
  }

 private:
  static __device__ __forceinline__ Pixel read(const Args &in, int x, int y, const Tap &tx,
                                               const Tap &ty) {
    const Samples &s = in.samples;
    Pixel p = {sample_at<method, F::kFirstStep>(s.data[0], s.stride[0], tx, ty), 0.0f, 0.0f};
    if constexpr (F::kComponents == 3) {
      Tap cx = tx, cy = ty;
      if constexpr (F::kSubsampled) {
        cx = load(in.taps.x[1] + x);
        cy = load(in.taps.y[1] + y);
      }
      p.c1 = sample_at<method, F::kOtherStep>(s.data[1], s.stride[1], cx, cy);
      p.c2 = sample_at<method, F::kOtherStep>(s.data[2], s.stride[2], cx, cy);
    }
    return p;
  }
};

/// Which Resampler a plan needs, with a Sink: only pairs that a plan can ask for are compiled.
template <class Sink>
class ResampleLaunchers {
 public:
  using Result = Launcher<ResampleArgs, typename Sink::Args>;

  static Result pick(const ResamplePlan &plan) {
    if (plan.sampled == 1) return single(plan);
    if (plan.layout.model == ColorModel::rgb) return rgb(plan);
    return yuv(plan);
  }

 private:
  template <class F, Conversion conversion>
  static Result of(Method method) {
    if (method == Method::nearest)
      return launch_per_pixel<Resampler<F, Method::nearest, conversion>, Sink>;
    return launch_per_pixel<Resampler<F, Method::bilinear, conversion>, Sink>;
  }

  static Result single(const ResamplePlan &plan) {
    switch (plan.conversion) {
      case Conversion::luma_to_gray: return of<Single, Conversion::luma_to_gray>(plan.method);
      case Conversion::gray_to_rgb: return of<Single, Conversion::gray_to_rgb>(plan.method);
      default: return of<Single, Conversion::keep>(plan.method);
    }
  }

  template <class F>
  static Result rgb_of(const ResamplePlan &plan) {
    if (plan.conversion == Conversion::rgb_to_gray)
      return of<F, Conversion::rgb_to_gray>(plan.method);
    return of<F, Conversion::keep>(plan.method);
  }

  static Result rgb(const ResamplePlan &plan) {
    switch (plan.layout.component[0].step) {
      case 3: return rgb_of<Packed3>(plan);
      case 4: return rgb_of<Packed4>(plan);
      default: return rgb_of<Planar>(plan);
    }
  }

  template <class F>
  static Result yuv_of(const ResamplePlan &plan) {
    if (plan.conversion == Conversion::keep) return of<F, Conversion::keep>(plan.method);
    return of<F, Conversion::yuv_to_rgb>(plan.method);
  }

  static Result yuv(const ResamplePlan &plan) {
    if (!plan.layout.subsampled) return yuv_of<Planar>(plan);
    if (plan.layout.component[1].step == 2) return yuv_of<SemiPlanar420>(plan);
    return yuv_of<Planar420>(plan);
  }
};

/// A plan on the device, and what of it goes into a launch.
class UploadedResample {
 public:
  UploadedResample(CudaDevice &device, const ResamplePlan &plan)
      : tables_(device, plan.sampling.x, plan.sampling.y),
        layout_(plan.layout),
        yuv_to_rgb_(plan.yuv_to_rgb),
        sampled_(plan.sampled),
        pad_{plan.pad[0], plan.pad[1], plan.pad[2]} {}

  ResampleArgs args(const ConstImage &in) const {
    return {samples_of(in, layout_, sampled_),
            tables_.tables(),
            yuv_to_rgb_,
            {pad_[0], pad_[1], pad_[2]}};
  }

 private:
  UploadedTables<Tap> tables_;
  FormatLayout layout_;
  YuvToRgb yuv_to_rgb_;
  int sampled_;
  float pad_[3];
};

}  // namespace cudatensor::cuda
