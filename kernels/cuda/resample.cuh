// SPDX-License-Identifier: LGPL-2.1-or-later
// The float path: sampled, converted and laid over the pad colour.
#pragma once

#include "kernels/resample.h"
#include "perpixel.cuh"
#include "samples.cuh"

namespace cudatensor::cuda {

struct ResampleArgs {
  Samples samples;
  Tables<float> tables;
  YuvToRgb yuv_to_rgb;
  float pad[3];
  Conversion conversion;  // for an AnyConversion
};

/// A conversion that is compiled in, or one that the Args name, and how many components it gives.
template <Conversion conversion, int produced>
struct OneConversion {
  static constexpr int kProduced = produced;
  static __device__ __forceinline__ Pixel convert(const ResampleArgs &in, const Pixel &p) {
    return cudatensor::convert(conversion, in.yuv_to_rgb, p);
  }
};
template <int produced>
struct AnyConversion {
  static constexpr int kProduced = produced;
  static __device__ __forceinline__ Pixel convert(const ResampleArgs &in, const Pixel &p) {
    return cudatensor::convert(in.conversion, in.yuv_to_rgb, p);
  }
};

/// Two columns of a component over two rows, ready to be blended at any height between them.
struct Slopes {
  float above[2], change[2];

  __device__ __forceinline__ float at(float wx, float wy) const {
    const float a = fmaf(wy, change[0], above[0]), b = fmaf(wy, change[1], above[1]);
    return blend(a, b, wx);
  }
};

template <class G>
__device__ __forceinline__ void read_slopes(const Samples &s, const Corners &corners,
                                            Slopes (&slopes)[3]) {
  using Word = typename G::Word;
#pragma unroll
  for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c) {
    const float p00 = biased_sample<Word>(s, c, corners.p00),
                p01 = biased_sample<Word>(s, c, corners.p01);
    slopes[c] = {{p00 - kBias, p01 - kBias},
                 {biased_sample<Word>(s, c, corners.p10) - p00,
                  biased_sample<Word>(s, c, corners.p11) - p01}};
  }
}

template <class F, class Converts>
struct Resampler : TableSampler<ResampleArgs, float> {
  using Args = ResampleArgs;
  using Column = Taps<float>;
  using Line = Taps<float>;
  using Value = Pixel;
  static constexpr int kProduced = Converts::kProduced;

  /// The pixels of column x in rows y and below, which `lines` belong to. `kShares`: rows may share
  /// what they read, at the cost of code.
  template <bool kShares, int kRows>
  static __device__ __forceinline__ void sample(const Args &in, int x, int y, Column column,
                                                const Line (&lines)[kRows], Pixel (&p)[kRows]) {
    Line line[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) line[i] = lines[i];
    // The bits of -1 and of kPartial: whether any is, or all are, pad.
    int32_t any = column.luma.first, all = -1;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      any |= line[i].luma.first;
      all &= line[i].luma.first;
    }
    const bool border = static_cast<uint32_t>(any) >= static_cast<uint32_t>(kPartial);
    float inside[kRows];
    if (border) {
      if (column.luma.first < 0 || all < 0) return fill(in, p);
      enter(in, x, y, column, line, inside);
    }
    picture<kShares>(in, column, line, p);
    if (!border) return;
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      p[i] = {over_pad(p[i].c0, inside[i], in.pad[0]), over_pad(p[i].c1, inside[i], in.pad[1]),
              over_pad(p[i].c2, inside[i], in.pad[2])};
  }

 private:
  template <int kRows>
  static __device__ __forceinline__ void fill(const Args &in, Pixel (&p)[kRows]) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) p[i] = {in.pad[0], in.pad[1], in.pad[2]};
  }

  /// Turns entries at the border into ones that can be read, those of pad into any: the shares of
  /// the pixels that lie in the picture say what they are worth.
  template <int kRows>
  static __device__ __forceinline__ void enter(const Args &in, int x, int y, Column &column,
                                               Line (&line)[kRows], float (&inside)[kRows]) {
    const float inside_x = column.luma.first >= kPartial ? __ldg(in.tables.x.inside + x) : 1.0f;
    column = without_partial(column);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      inside[i] = inside_x;
      if (line[i].luma.first < 0) {
        inside[i] = 0.0f;
        line[i] = {};
      } else if (line[i].luma.first >= kPartial) {
        inside[i] *= __ldg(in.tables.y.inside + y + i);
      }
      line[i] = without_partial(line[i]);
    }
  }

  static __device__ __forceinline__ Taps<float> without_partial(Taps<float> taps) {
    taps.luma.first &= ~kPartial;
    taps.chroma.first &= ~kPartial;
    return taps;
  }

  template <bool kShares, int kRows>
  static __device__ __forceinline__ void picture(const Args &in, const Column &column,
                                                 const Line (&line)[kRows], Pixel (&p)[kRows]) {
    if (kShares && in.tables.shares_lines)
      together(in, column, line, p);
    else
      apart(in, column, line, p);
  }

  /// The samples of all rows are on the way at the same time.
  template <int kRows>
  static __device__ __forceinline__ void apart(const Args &in, const Column &column,
                                               const Line (&line)[kRows], Pixel (&p)[kRows]) {
    float c[kRows][3] = {};
    F::for_each([&](auto group) {
      if (in.tables.blends[decltype(group)::kChroma])
        read_blended<decltype(group)>(in.samples, column, line, c);
      else
        read_single<decltype(group)>(in.samples, column, line, c);
    });
#pragma unroll
    for (int i = 0; i < kRows; ++i) p[i] = Converts::convert(in, {c[i][0], c[i][1], c[i][2]});
  }

  template <class G, int kRows>
  static __device__ __forceinline__ void read_single(const Samples &s, const Column &column,
                                                     const Line (&line)[kRows],
                                                     float (&out)[kRows][3]) {
    using Word = typename G::Word;
    const ColumnOf<G> at(s, G::entry(column).first);
    uint32_t words[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) words[i] = at.sample(G::entry(line[i]).first);
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c)
        out[i][c] = biased_sample<Word>(s, c, words[i]) - kBias;
  }

  template <class G, int kRows>
  static __device__ __forceinline__ void read_blended(const Samples &s, const Column &column,
                                                      const Line (&line)[kRows],
                                                      float (&out)[kRows][3]) {
    const auto &x = G::entry(column);
    const ColumnOf<G> at(s, x.first);
    Corners corners[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) corners[i] = at.corners(G::entry(line[i]).first, x.w != 0.0f);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      Slopes slopes[3];
      read_slopes<G>(s, corners[i], slopes);
      for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c)
        out[i][c] = slopes[c].at(x.w, G::entry(line[i]).w);
    }
  }

  /// Rows that read the same samples share them. All threads of a warp have the same rows.
  template <int kRows>
  static __device__ __forceinline__ void together(const Args &in, const Column &column,
                                                  const Line (&line)[kRows], Pixel (&p)[kRows]) {
    Slopes slopes[3] = {};
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      float c[3] = {};
      F::for_each([&](auto group) {
        using G = decltype(group);
        const auto &x = G::entry(column), &y = G::entry(line[i]);
        if (i == 0 || y.first != G::entry(line[i - (i > 0)]).first) {
          const ColumnOf<G> at(in.samples, x.first);
          read_slopes<G>(in.samples, at.corners(y.first, x.w != 0.0f), slopes);
        }
        for (int k = G::kFirst; k < G::kFirst + G::kCount; ++k) c[k] = slopes[k].at(x.w, y.w);
      });
      p[i] = Converts::convert(in, {c[0], c[1], c[2]});
    }
  }
};

/// Which Resampler a plan needs, with a Sink: only pairs that a plan can ask for are compiled.
template <class Sink, int kFrames>
class ResampleLaunchers {
 public:
  using Work = PixelWork<ResampleArgs, typename Sink::Args, kFrames>;
  using Result = Launcher<Work>;

  /// For pictures whose words are aligned.
  static Result pick(const ResamplePlan &plan) {
    if (plan.sampled == 1) return single(plan);
    if (plan.layout.model == ColorModel::rgb) return rgb(plan);
    return yuv(plan);
  }

  /// For pictures of any kind, read byte by byte, and mixed.
  static Result pick_any(const ResamplePlan &plan) {
    if (plan.produced == 1)
      return launch_per_pixel<Resampler<AnyBytes, AnyConversion<1>>, Sink, kFrames>;
    return launch_per_pixel<Resampler<AnyBytes, AnyConversion<3>>, Sink, kFrames>;
  }

 private:
  template <class F, Conversion conversion, int produced>
  static constexpr Result of() {
    return launch_per_pixel<Resampler<F, OneConversion<conversion, produced>>, Sink, kFrames>;
  }

  static Result single(const ResamplePlan &plan) {
    switch (plan.conversion) {
      case Conversion::luma_to_gray: return of<Single, Conversion::luma_to_gray, 1>();
      case Conversion::gray_to_rgb: return of<Single, Conversion::gray_to_rgb, 3>();
      default: return of<Single, Conversion::keep, 1>();
    }
  }

  template <class F>
  static Result rgb_of(const ResamplePlan &plan) {
    if (plan.conversion == Conversion::rgb_to_gray) return of<F, Conversion::rgb_to_gray, 1>();
    return of<F, Conversion::keep, 3>();
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
    if (plan.conversion == Conversion::keep) return of<F, Conversion::keep, 3>();
    return of<F, Conversion::yuv_to_rgb, 3>();
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
  using Plan = ResamplePlan;
  using Args = ResampleArgs;
  template <class Sink, int kFrames>
  using Launchers = ResampleLaunchers<Sink, kFrames>;

  UploadedResample(CudaDevice &device, const ResamplePlan &plan)
      : tables_(device, plan.sampling.x, plan.sampling.y),
        layout_(plan.layout),
        sampled_(plan.sampled) {
    args_.tables = tables_.tables();
    args_.yuv_to_rgb = plan.yuv_to_rgb;
    std::copy(plan.pad, plan.pad + 3, args_.pad);
    args_.conversion = plan.conversion;
  }

  bool fits_words(const ConstImage &in) const { return cuda::fits_words(in, layout_, sampled_); }

  ResampleArgs args(const ConstImage &in, bool words) const {
    ResampleArgs args = args_;
    args.samples = samples_of(in, layout_, sampled_, words);
    return args;
  }
  ResampleArgs args_of_pad(const float (&)[3]) const { return args_; }

 private:
  UploadedTables<float> tables_;
  FormatLayout layout_;
  int sampled_;
  ResampleArgs args_ = {};  // all but the samples
};

/// The plan without any picture.
inline ResamplePlan pad_of(const ResamplePlan &plan) {
  const Tap pad = {0, 0, 0.0f, 0.0f};
  ResamplePlan pads = plan;
  pads.sampling.x = {std::vector<Tap>(plan.sampling.x.luma.size(), pad), {}};
  pads.sampling.y = {std::vector<Tap>(plan.sampling.y.luma.size(), pad), {}};
  return pads;
}

}  // namespace cudatensor::cuda
