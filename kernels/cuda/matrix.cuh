// SPDX-License-Identifier: LGPL-2.1-or-later
// Slots by a matrix. Each pixel reads samples at a position of its own.
#pragma once

#include "kernels/cuda/resample.cuh"
#include "kernels/matrixplan.h"

namespace cudatensor::cuda {

/// A picture of a launch that has slots by a matrix.
struct MatrixArgs {
  ResampleArgs pixels;  ///< for a slot by a matrix, without tables
  MatrixAxis x, y;
  bool by_matrix;  ///< otherwise the slot has tables
  bool nearest, repeats_edge;
};

/// The part of a pixel's position that its column or its row determines, along both axes of the
/// stored picture.
struct PartialPosition {
  int64_t x, y;
};

/// The samples that a pixel reads along one axis.
struct AxisTaps {
  Tap luma, chroma;
};

__device__ __forceinline__ AxisTaps taps_at(const MatrixAxis &axis, bool nearest,
                                            int64_t position) {
  const Chroma &chroma = axis.chroma;
  AxisTaps taps;
  if (nearest) {
    taps.luma = nearest_tap_at(position, axis.length);
    const int32_t sample = taps.luma.i0 >> chroma.shift;
    taps.chroma = {sample, sample, 0.0f, 1.0f};
  } else {
    taps.luma = tap_at(position, axis.length);
    taps.chroma = chroma.shift > 0 ? tap_at(chroma_position(position, chroma.shift, chroma.cosited),
                                            axis.chroma_length)
                                   : taps.luma;
  }
  return taps;
}

template <class F, class Converts>
struct MatrixSampler {
  using Args = MatrixArgs;
  using Column = PartialPosition;
  using Line = PartialPosition;
  using Value = Pixel;
  static constexpr int kProduced = Converts::kProduced;
  static constexpr bool kTransposed = false;
  template <class Sink>
  static constexpr int kRows = Sink::kRows;
  template <class Sink>
  static constexpr int kBlocksPerSm = kMatrixBlocksPerSm;
  template <int kColumns, int kRows>
  using Patch = ColumnByColumn<MatrixSampler, kColumns, kRows>;

  template <int kColumns>
  static __device__ __forceinline__ void columns(const Args &in, int x,
                                                 Column (&columns)[kColumns]) {
#pragma unroll
    for (int k = 0; k < kColumns; ++k)
      columns[k] = {position_at(in.x.position, x + k, 0), position_at(in.y.position, x + k, 0)};
  }

  template <int kLines>
  static __device__ __forceinline__ void lines(const Args &in, int y, Line (&lines)[kLines]) {
#pragma unroll
    for (int i = 0; i < kLines; ++i)
      lines[i] = {in.x.position.b * (y + i), in.y.position.b * (y + i)};
  }

  /// Computes the pixels of a column. The loads of all rows are in flight at the same time.
  template <int kRows>
  static __device__ __forceinline__ void sample(const Args &in, int, int, const Column &column,
                                                const Line (&lines)[kRows], Pixel (&p)[kRows]) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const AxisTaps x = taps_at(in.x, in.nearest, column.x + lines[i].x);
      const AxisTaps y = taps_at(in.y, in.nearest, column.y + lines[i].y);
      const float inside = in.repeats_edge ? 1.0f : x.luma.inside * y.luma.inside;
      p[i] = inside == 0.0f
                 ? Pixel{in.pixels.outside[0], in.pixels.outside[1], in.pixels.outside[2]}
                 : with_border(in.pixels, converted(in.pixels, x, y), inside);
    }
  }

 private:
  static __device__ __forceinline__ Pixel converted(const ResampleArgs &in, const AxisTaps &x,
                                                    const AxisTaps &y) {
    float c[3] = {};
    F::for_each([&](auto group) {
      using G = decltype(group);
      blend_group<G>(in.samples, G::kChroma ? x.chroma : x.luma, G::kChroma ? y.chroma : y.luma, c);
    });
    return Converts::convert(in, {c[0], c[1], c[2]});
  }

  template <class G>
  static __device__ __forceinline__ void blend_group(const Samples &s, const Tap &x, const Tap &y,
                                                     float (&out)[3]) {
    const uint32_t stride = s.stride[G::kFirst], step = G::step_of(s);
    const uint8_t *const above = moved<G>(s.data[G::kFirst], y.i0, stride);
    const uint8_t *const below = moved<G>(s.data[G::kFirst], y.i1, stride);
    const uint32_t p00 = load_of<G>(s, moved<G>(above, x.i0, step)),
                   p01 = load_of<G>(s, moved<G>(above, x.i1, step)),
                   p10 = load_of<G>(s, moved<G>(below, x.i0, step)),
                   p11 = load_of<G>(s, moved<G>(below, x.i1, step));
#pragma unroll
    for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c)
      out[c] = blend(blend(sample_of<G>(s, c, p00), sample_of<G>(s, c, p10), y.w),
                     blend(sample_of<G>(s, c, p01), sample_of<G>(s, c, p11), y.w), x.w);
  }

  static __device__ __forceinline__ Pixel with_border(const ResampleArgs &in, const Pixel &p,
                                                      float inside) {
    return {blend_with_pad(p.c0, inside, in.pad[0]), blend_with_pad(p.c1, inside, in.pad[1]),
            blend_with_pad(p.c2, inside, in.pad[2])};
  }
};

/// Computes slots by a matrix and slots by tables, of any format and direction, in one launch.
template <class Converts>
struct MixedSampler {
  using Args = MatrixArgs;
  using Value = Pixel;
  using ByMatrix = MatrixSampler<AnySamples, Converts>;
  using ByTables = Resampler<AnySamples, Converts>;
  static constexpr int kProduced = Converts::kProduced;
  template <class Sink>
  static constexpr int kRows = Sink::kRows;
  template <class Sink>
  static constexpr int kBlocksPerSm = kMatrixBlocksPerSm;

  template <int kColumns, int kRows>
  class Patch {
   public:
    static_assert(kColumns == 1);

    __device__ __forceinline__ Patch(const Args &in, int x, int y) : in_(in), x_(x), y_(y) {}
    __device__ __forceinline__ bool read() { return true; }
    __device__ __forceinline__ void pad(Pixel (&)[kRows]) const {}
    __device__ __forceinline__ void column(int, Pixel (&p)[kRows]) const {
      if (in_.by_matrix)
        typename ByMatrix::template Patch<1, kRows>(in_, x_, y_).column(0, p);
      else
        typename ByTables::template Patch<1, kRows>(in_.pixels, x_, y_).column(0, p);
    }

   private:
    const Args &in_;
    int x_, y_;
  };
};

/// The plan of a slot in a launch that has slots by a matrix. For a slot by tables, `matrix` has
/// only the conversion.
struct AnyPlan {
  MatrixPlan matrix;
  bool by_matrix;

  AnyPlan() : matrix(), by_matrix(true) {}
  AnyPlan(const MatrixPlan &plan) : matrix(plan), by_matrix(true) {}  // NOLINT: one of its kinds
  AnyPlan(const ResamplePlan &plan) : matrix(), by_matrix(false) {    // NOLINT: likewise
    matrix.conversion = plan;
  }
};

/// Selects the kernel for a plan and a Sink.
template <class Sink, int kSlots>
class MatrixLaunchers {
 public:
  using Work = PixelWork<MatrixArgs, typename Sink::Args, kSlots>;
  using Result = Launcher<Work>;

  /// Returns the kernel for slots by a matrix of pictures that any_family_of() reads.
  static Result pick(const AnyPlan &plan) {
    const ConversionPlan &conversion = plan.matrix.conversion;
    if (!plan.by_matrix) return pick_any(plan);
    switch (any_family_of(conversion)) {
      case AnyFamily::samples: break;
      case AnyFamily::bytes:
        if (conversion.conversion == Conversion::yuv_to_rgb)
          return of<AnyBytes, Conversion::yuv_to_rgb>();
        return of<AnyBytes, Conversion::keep>();
      case AnyFamily::words:
        if (conversion.layout.is_deep()) return of<AnyDeepSemiPlanar, Conversion::yuv_to_rgb>();
        return of<AnySemiPlanar, Conversion::yuv_to_rgb>();
    }
    return pick_any(plan);
  }

  static Result pick_shared(const AnyPlan &) { return nullptr; }

  static Result pick_any(const AnyPlan &plan) {
    if (plan.matrix.conversion.produced == 1)
      return launch_per_pixel<MixedSampler<AnyConversion<1>>, Sink, kSlots>;
    return launch_per_pixel<MixedSampler<AnyConversion<3>>, Sink, kSlots>;
  }

 private:
  template <class F, Conversion conversion>
  static Result of() {
    return launch_per_pixel<MatrixSampler<F, OneConversion<conversion, 3, true>>, Sink, kSlots>;
  }
};

/// A slot's plan on the device.
class UploadedMatrix {
 public:
  using Plan = AnyPlan;
  using Args = MatrixArgs;
  using Out = TensorArgs;
  template <class Sink, int kSlots>
  using Launchers = MatrixLaunchers<Sink, kSlots>;

  using DeviceTables = Tables<float>;
  using PlanTables = UploadedTables<float>;

  UploadedMatrix(PlanTables tables, const AnyPlan &plan, int /*slots*/ = 1)
      : layout_(plan.matrix.conversion.layout),
        sampled_(plan.matrix.conversion.sampled),
        direction_(plan.matrix.conversion.source.direction),
        reading_(plan.by_matrix ? any_reading_of(plan.matrix.conversion) : Reading::bytes),
        args_{resample_args(plan.matrix.conversion, tables.get()),
              plan.matrix.x,
              plan.matrix.y,
              plan.by_matrix,
              plan.matrix.conversion.method == Method::nearest,
              plan.matrix.repeats_edge} {}

  /// Returns a plan whose pixels are all outside of a picture.
  static AnyPlan pad_plan(const TensorPlan &tensor) {
    const PositionPlan outside = {0, 0, -(int64_t{1} << 40)};
    AnyPlan plan(MatrixPlan{UploadedResample::pad_plan(tensor), {}, {}, false});
    plan.matrix.x = plan.matrix.y = {outside, 1, 1, {}};
    return plan;
  }

  bool fits_words(const ConstImage &in) const {
    return reading_ == Reading::bytes || has_words(in, layout_, sampled_);
  }
  bool fits_sharing(const ConstImage &) const { return true; }

  MatrixArgs args(const ConstImage &in, bool words) const {
    MatrixArgs args = args_;
    set_samples(args.pixels, in, layout_, sampled_, words ? reading_ : Reading::bytes, direction_);
    return args;
  }
  MatrixArgs pad_args(const PadColor &) const { return args_; }

 private:
  FormatLayout layout_;
  int sampled_;
  Direction direction_;
  Reading reading_;  // of the kernel for the plan
  MatrixArgs args_;  // all arguments except the samples
};

inline void mark_outside(MatrixArgs &args) { mark_outside(args.pixels); }

}  // namespace cudatensor::cuda
