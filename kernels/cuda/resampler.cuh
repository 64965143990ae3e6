// SPDX-License-Identifier: LGPL-2.1-or-later
// The floating-point path: samples, converts and blends with the pad color.
#pragma once

#include "kernels/cuda/perpixel.cuh"
#include "kernels/cuda/samples.cuh"
#include "kernels/resample.h"

namespace cudatensor::cuda {

struct ResampleArgs {
  Samples samples;
  Tables<float> tables;
  YuvToRgb yuv_to_rgb;
  float pad[3];           // blended with samples at the border
  float outside[3];       // value of pixels without any sample: pad, or NaN if they become 0
  Conversion conversion;  // used by AnyConversion only
};

/// A conversion known at compile time (OneConversion) or read from the Args (AnyConversion), and
/// the number of components it produces. `clamps`: results are clamped to 0..255 here; otherwise
/// the Sink and the border blending clamp them.
template <Conversion conversion, int produced, bool clamps = true>
struct OneConversion {
  static constexpr int kProduced = produced;
  static constexpr bool kMayExceedRange = conversion == Conversion::yuv_to_rgb && !clamps;
  static __device__ __forceinline__ Pixel convert(const ResampleArgs &in, const Pixel &p) {
    if constexpr (kMayExceedRange) return yuv_to_rgb_unclamped(in.yuv_to_rgb, p);
    return cudatensor::convert(conversion, in.yuv_to_rgb, p);
  }
};
template <int produced>
struct AnyConversion {
  static constexpr int kProduced = produced;
  static constexpr bool kMayExceedRange = false;
  static __device__ __forceinline__ Pixel convert(const ResampleArgs &in, const Pixel &p) {
    return cudatensor::convert(in.conversion, in.yuv_to_rgb, p);
  }
};

/// The samples of one component in two columns and two rows, prepared for blending at any height
/// between the rows.
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
#pragma unroll
  for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c) {
    if constexpr (G::kDeep) {
      const float p00 = sample_of<G>(s, c, corners.p00), p01 = sample_of<G>(s, c, corners.p01);
      slopes[c] = {{p00, p01},
                   {sample_of<G>(s, c, corners.p10) - p00, sample_of<G>(s, c, corners.p11) - p01}};
    } else {
      const float p00 = biased_sample<G>(s, c, corners.p00),
                  p01 = biased_sample<G>(s, c, corners.p01);
      slopes[c] = {
          {p00 - kBias, p01 - kBias},
          {biased_sample<G>(s, c, corners.p10) - p00, biased_sample<G>(s, c, corners.p11) - p01}};
    }
  }
}

/// The three ways in which apart() reads a group of components: samples without weights, with
/// weights along x, and with weights along both axes.
struct OneSample {
  using Words = uint32_t;

  template <class Column>
  static __device__ __forceinline__ Words load(const Column &at, int32_t line, bool, bool) {
    return at.sample(line);
  }
  template <class G>
  static __device__ __forceinline__ void blend(const Samples &s, Words words, float, float,
                                               float (&out)[3]) {
#pragma unroll
    for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c) out[c] = sample_of<G>(s, c, words);
  }
};

struct TwoSamples {
  using Words = Sides;

  template <class Column>
  static __device__ __forceinline__ Words load(const Column &at, int32_t line, bool right, bool) {
    return at.sides(line, right);
  }
  template <class G>
  static __device__ __forceinline__ void blend(const Samples &s, const Words &words, float wx,
                                               float, float (&out)[3]) {
#pragma unroll
    for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c)
      out[c] =
          cudatensor::blend(sample_of<G>(s, c, words.left), sample_of<G>(s, c, words.right), wx);
  }
};

struct FourSamples {
  using Words = Corners;

  template <class Column>
  static __device__ __forceinline__ Words load(const Column &at, int32_t line, bool right, bool) {
    return at.corners(line, right);
  }
  template <class G>
  static __device__ __forceinline__ void blend(const Samples &s, Words words, float wx, float wy,
                                               float (&out)[3]) {
    if (G::kDeep && wy == kSecondOnly) words = {words.p10, words.p11, words.p10, words.p11};
    Slopes slopes[3];
    read_slopes<G>(s, words, slopes);
#pragma unroll
    for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c) out[c] = slopes[c].at(wx, wy);
  }
};

/// The same for the transposed seen picture. Its columns are the rows of the seen picture, along
/// which samples are blended first.
struct FourTransposed {
  using Words = Corners;

  template <class Column>
  static __device__ __forceinline__ Words load(const Column &at, int32_t line, bool right,
                                               bool below) {
    return at.corners(line, right, below);
  }
  template <class G>
  static __device__ __forceinline__ void blend(const Samples &s, Words words, float wx, float wy,
                                               float (&out)[3]) {
    if (G::kDeep && wx == kSecondOnly) words = {words.p01, words.p01, words.p11, words.p11};
#pragma unroll
    for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c) {
      const float above =
          cudatensor::blend(sample_of<G>(s, c, words.p00), sample_of<G>(s, c, words.p01), wx);
      const float below =
          cudatensor::blend(sample_of<G>(s, c, words.p10), sample_of<G>(s, c, words.p11), wx);
      out[c] = cudatensor::blend(above, below, wy);
    }
  }
};

/// The order in which a thread computes its pixels.
enum class Order {
  apart,       ///< each row with its own loads
  shared,      ///< rows that need the same samples load them once
  transposed,  ///< apart; columns and rows are those of the transposed seen picture
};

/// Computes pixels in floating point.
template <class F, class Converts, Order order = Order::apart>
struct Resampler : TableSampler<ResampleArgs, float> {
  using Args = ResampleArgs;
  using Column = Taps<float>;
  using Line = Taps<float>;
  using Value = Pixel;
  static constexpr int kProduced = Converts::kProduced;
  static constexpr bool kTransposed = order == Order::transposed;
  template <class Sink>
  static constexpr int kBlocksPerSm = order == Order::shared
                                          ? std::min(kSharedBlocksPerSm, Sink::kBlocksPerSm)
                                          : Sink::kBlocksPerSm;
  template <int kColumns, int kRows>
  using Patch = ColumnByColumn<Resampler, kColumns, kRows>;

  template <int kColumns>
  static __device__ __forceinline__ void columns(const Args &in, int x,
                                                 Column (&columns)[kColumns]) {
    if constexpr (kTransposed)
      load_lines(in.tables, x, columns);
    else
      load_columns(in.tables, x, columns);
  }
  template <int kLines>
  static __device__ __forceinline__ void lines(const Args &in, int y, Line (&lines)[kLines]) {
    if constexpr (kTransposed)
      load_columns(in.tables, y, lines);
    else
      load_lines(in.tables, y, lines);
  }

  /// Computes the pixels of column x in the rows from y on; `lines` are the table entries of these
  /// rows.
  template <int kRows>
  static __device__ __forceinline__ void sample(const Args &in, int x, int y, Column column,
                                                const Line (&lines)[kRows], Pixel (&p)[kRows]) {
    Line line[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) line[i] = lines[i];
    // OR and AND of the entries show whether any or all rows are pad (-1) or partly pad (kPartial).
    int32_t any = column.luma.first, all = -1;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      any |= line[i].luma.first;
      all &= line[i].luma.first;
    }
    const bool border = is_border(any);
    if (border) {
      if (column.luma.first < 0 || all < 0) return fill(in, p);
      column = without_partial(column);
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        line[i] = line[i].luma.first < 0 ? Line{} : without_partial(line[i]);
    }
    if constexpr (order == Order::shared)
      together(in, column, line, p);
    else
      apart(in, column, line, p);
    if (border) blend_border(in, x, y, p);
  }

 private:
  /// Whether any of the ORed entries is pad or partly pad.
  static __device__ __forceinline__ bool is_border(int32_t firsts) {
    return static_cast<uint32_t>(firsts) >= static_cast<uint32_t>(kPartial);
  }

  template <int kRows>
  static __device__ __forceinline__ void blend_border(const Args &in, int x, int y,
                                                      Pixel (&p)[kRows]) {
    const float *const columns = kTransposed ? in.tables.y.inside : in.tables.x.inside;
    const float *const rows = kTransposed ? in.tables.x.inside : in.tables.y.inside;
    const float inside_x = __ldg(columns + x);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const float inside = inside_x * __ldg(rows + y + i);
      if constexpr (Converts::kMayExceedRange) p[i] = clamp_to_samples(p[i]);
      p[i] = inside == 0.0f ? outside(in)
                            : Pixel{blend_with_pad(p[i].c0, inside, in.pad[0]),
                                    blend_with_pad(p[i].c1, inside, in.pad[1]),
                                    blend_with_pad(p[i].c2, inside, in.pad[2])};
    }
  }

  template <int kRows>
  static __device__ __forceinline__ void fill(const Args &in, Pixel (&p)[kRows]) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) p[i] = outside(in);
  }

  static __device__ __forceinline__ Pixel outside(const Args &in) {
    return {in.outside[0], in.outside[1], in.outside[2]};
  }

  static __device__ __forceinline__ Taps<float> without_partial(Taps<float> taps) {
    taps.luma.first &= ~kPartial;
    taps.chroma.first &= ~kPartial;
    return taps;
  }

  /// Computes each row from its own loads. The loads of all rows are in flight at the same time,
  /// and those of all planes if they have the same positions.
  template <int kRows>
  static __device__ __forceinline__ void apart(const Args &in, const Column &column,
                                               const Line (&line)[kRows], Pixel (&p)[kRows]) {
    float c[kRows][3] = {};
    if constexpr (F::kSamePositions)
      read_groups(in, column, line, c, F());
    else
      F::for_each([&](auto group) { read_groups(in, column, line, c, Family<decltype(group)>()); });
#pragma unroll
    for (int i = 0; i < kRows; ++i) p[i] = Converts::convert(in, {c[i][0], c[i][1], c[i][2]});
  }

  /// Reads groups that have the same positions.
  template <int kRows, class G, class... Others>
  static __device__ __forceinline__ void read_groups(const Args &in, const Column &column,
                                                     const Line (&line)[kRows],
                                                     float (&out)[kRows][3],
                                                     Family<G, Others...> groups) {
    if (kTransposed && in.tables.blends[G::kChroma])
      read<FourTransposed>(in.samples, column, line, out, groups);
    else if (!kTransposed && in.tables.blends_rows[G::kChroma])
      read<FourSamples>(in.samples, column, line, out, groups);
    else if (in.tables.blends[G::kChroma])
      read<TwoSamples>(in.samples, column, line, out, groups);
    else
      read<OneSample>(in.samples, column, line, out, groups);
  }

  template <class Reads, int kRows, class... Groups>
  static __device__ __forceinline__ void read(const Samples &s, const Column &column,
                                              const Line (&line)[kRows], float (&out)[kRows][3],
                                              Family<Groups...>) {
    typename Reads::Words words[3][kRows];  // by the first component of a group
    (load<Reads, Groups>(s, column, line, words[Groups::kFirst]), ...);
    (blend_rows<Reads, Groups>(s, column, line, words[Groups::kFirst], out), ...);
  }

  template <class Reads, class G, int kRows>
  static __device__ __forceinline__ void load(const Samples &s, const Column &column,
                                              const Line (&line)[kRows],
                                              typename Reads::Words (&words)[kRows]) {
    const auto &x = G::entry(column);
    const ColumnOf<G, kTransposed> at(s, x.first);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const auto &y = G::entry(line[i]);
      words[i] = Reads::load(at, y.first, x.w != 0.0f, y.w != 0.0f);
    }
  }

  template <class Reads, class G, int kRows>
  static __device__ __forceinline__ void blend_rows(const Samples &s, const Column &column,
                                                    const Line (&line)[kRows],
                                                    const typename Reads::Words (&words)[kRows],
                                                    float (&out)[kRows][3]) {
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      Reads::template blend<G>(s, words[i], G::entry(column).w, G::entry(line[i]).w, out[i]);
  }

  /// Computes the rows with shared loads. The branches do not diverge, because all threads of a
  /// warp have the same rows.
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

}  // namespace cudatensor::cuda
