// SPDX-License-Identifier: LGPL-2.1-or-later
// The fixed-point path.
#pragma once

#include "resample.cuh"

namespace cudatensor::cuda {

struct Yuv444Args {
  Samples samples;
  Tables<FixedTap> taps;
};

template <int step>
__device__ __forceinline__ float fixed_sample_at(const uint8_t *data, int64_t stride,
                                                 const FixedTap &x, const FixedTap &y) {
  const uint8_t *row0 = data + y.i0 * stride, *row1 = data + y.i1 * stride;
  const int x0 = x.i0 * step, x1 = x.i1 * step;
  const int32_t v0 = fixed_horizontal(__ldg(row0 + x0), __ldg(row0 + x1), x.w);
  const int32_t v1 = fixed_horizontal(__ldg(row1 + x0), __ldg(row1 + x1), x.w);
  return fixed_vertical(v0, v1, y.w);
}

template <class F>
struct Yuv444Sampler {
  using Args = Yuv444Args;
  static constexpr int kProduced = 3;

  static __device__ Pixel sample(const Args &in, int x, int y) {
    const FixedTap tx = load(in.taps.x[0] + x), ty = load(in.taps.y[0] + y);
    FixedTap cx = tx, cy = ty;
    if constexpr (F::kSubsampled) {
      cx = load(in.taps.x[1] + x);
      cy = load(in.taps.y[1] + y);
    }
    const Samples &s = in.samples;
    return {fixed_sample_at<F::kFirstStep>(s.data[0], s.stride[0], tx, ty),
            fixed_sample_at<F::kOtherStep>(s.data[1], s.stride[1], cx, cy),
            fixed_sample_at<F::kOtherStep>(s.data[2], s.stride[2], cx, cy)};
  }
};

template <class Sink>
Launcher<Yuv444Args, typename Sink::Args> pick_yuv444(const FormatLayout &layout) {
  if (!layout.subsampled) return launch_per_pixel<Yuv444Sampler<Planar>, Sink>;
  if (layout.component[1].step == 2) return launch_per_pixel<Yuv444Sampler<SemiPlanar420>, Sink>;
  return launch_per_pixel<Yuv444Sampler<Planar420>, Sink>;
}

/// A plan on the device, and what of it goes into a launch.
class UploadedYuv444 {
 public:
  UploadedYuv444(CudaDevice &device, const Yuv444Plan &plan)
      : tables_(device, plan.x, plan.y), layout_(plan.layout) {}

  Yuv444Args args(const ConstImage &in) const {
    return {samples_of(in, layout_, 3), tables_.tables()};
  }

 private:
  UploadedTables<FixedTap> tables_;
  FormatLayout layout_;
};

}  // namespace cudatensor::cuda
