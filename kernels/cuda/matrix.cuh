// SPDX-License-Identifier: LGPL-2.1-or-later
// Slots by a matrix. Each pixel reads samples at a position of its own.
#pragma once

#include "kernels/cuda/resample.cuh"
#include "kernels/matrixplan.h"

namespace cudatensor::cuda {

/// The positions along one axis between whose two samples, also those of chroma, nothing is outside
/// of the picture: those whose first sample is one of `count` from `begin`.
struct InnerRange {
  int32_t begin;
  uint32_t count;

  __device__ __forceinline__ bool contains(int64_t position) const {
    return static_cast<uint32_t>(first_of(position) - begin) < count;
  }
};

/// One axis of a stored picture.
struct PictureAxis {
  int32_t length, chroma_length;  ///< samples
  Chroma chroma;
  InnerRange inner;  ///< empty for nearest samples
};

inline PictureAxis axis_of(const MatrixPlan &plan, const MatrixAxis &axis) {
  const int shift = axis.chroma.shift;
  const int32_t begin = (1 << shift) - 1;
  const int32_t end = std::min(axis.length - 1, (axis.chroma_length - 1) << shift);
  const int32_t count = plan.conversion.method == Method::nearest ? 0 : std::max(end - begin, 0);
  return {axis.length, axis.chroma_length, axis.chroma, {begin, static_cast<uint32_t>(count)}};
}

/// A picture from which slots are cut by a matrix.
struct MatrixPicture {
  ResampleArgs pixels;  ///< without tables, unless the slot has tables
  PictureAxis x, y;
  bool nearest, repeats_edge;
};

/// The positions of a slot's pixels along both axes of the stored picture.
struct SlotPosition {
  PositionPlan x, y;
};

/// The position of slots whose pixels are all outside of a picture.
constexpr PositionPlan kOutside = {0, 0, -(int64_t{1} << 40)};

/// A slot of a launch that has slots by a matrix.
struct MatrixArgs {
  MatrixPicture picture;
  SlotPosition position;
  bool by_matrix;  ///< otherwise the slot has tables

  __device__ __forceinline__ const SlotPosition &slot_position() const { return position; }
  __device__ __forceinline__ bool is_pad() const { return false; }
};

/// The slots of a launch that are all cut from one picture or pad. These arguments have a sixth of
/// the bytes of as many MatrixArgs, which take longer to launch and to read.
struct OnePictureArgs {
  MatrixPicture picture;
  SlotPosition position[kBatchSlots];
  uint64_t pad;  ///< a bit for each slot

  __device__ __forceinline__ const OnePictureArgs &operator[](unsigned) const { return *this; }
  __device__ __forceinline__ const SlotPosition &slot_position() const {
    return position[blockIdx.z];
  }
  __device__ __forceinline__ bool is_pad() const { return pad >> blockIdx.z & 1; }
};
static_assert(kBatchSlots <= 64);

template <>
struct ArgsOfSlots<OnePictureArgs, kBatchSlots> {
  using Type = OnePictureArgs;
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

__device__ __forceinline__ AxisTaps taps_at(const PictureAxis &axis, bool nearest,
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

/// The same between two samples of the picture and two of its chroma.
__device__ __forceinline__ AxisTaps inner_taps_at(const PictureAxis &axis, int64_t position) {
  const Chroma &chroma = axis.chroma;
  const Tap luma = inner_tap_at(position);
  return {luma, chroma.shift > 0
                    ? inner_tap_at(chroma_position(position, chroma.shift, chroma.cosited))
                    : luma};
}

/// Computes slots by a matrix. `SlotArgs` is MatrixArgs or OnePictureArgs.
template <class F, class Converts, class SlotArgs>
struct MatrixSampler {
  using Args = SlotArgs;
  using Column = PartialPosition;
  using Line = PartialPosition;
  using Value = Pixel;
  static constexpr int kProduced = Converts::kProduced;
  static constexpr bool kTransposed = false;
  static constexpr BlockShape kBlock = kMatrixBlock;
  template <class Sink>
  static constexpr int kRows = kMatrixRows;
  template <class Sink>
  static constexpr int kBlocksPerSm = kMatrixBlocksPerSm;
  template <int kColumns, int kRows>
  using Patch = ColumnByColumn<MatrixSampler, kColumns, kRows>;

  template <int kColumns>
  static __device__ __forceinline__ void columns(const Args &in, int x,
                                                 Column (&columns)[kColumns]) {
    const SlotPosition &position = in.slot_position();
#pragma unroll
    for (int k = 0; k < kColumns; ++k)
      columns[k] = {position_at(position.x, x + k, 0), position_at(position.y, x + k, 0)};
  }

  template <int kLines>
  static __device__ __forceinline__ void lines(const Args &in, int y, Line (&lines)[kLines]) {
    const SlotPosition &position = in.slot_position();
#pragma unroll
    for (int i = 0; i < kLines; ++i) lines[i] = {position.x.b * (y + i), position.y.b * (y + i)};
  }

  /// Computes the pixels of a column. The loads of all rows are in flight at the same time.
  template <int kRows>
  static __device__ __forceinline__ void sample(const Args &in, int, int, const Column &column,
                                                const Line (&lines)[kRows], Pixel (&p)[kRows]) {
    const MatrixPicture &picture = in.picture;
    if (are_inner(picture, column, lines)) {
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        p[i] = converted<true>(picture.pixels, inner_taps_at(picture.x, column.x + lines[i].x),
                               inner_taps_at(picture.y, column.y + lines[i].y));
      return;
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      p[i] = in.is_pad() ? outside(picture.pixels)
                         : bordered(picture, column.x + lines[i].x, column.y + lines[i].y);
  }

 private:
  /// Positions of a column lie on a straight line, so that its ends decide.
  template <int kRows>
  static __device__ __forceinline__ bool are_inner(const MatrixPicture &picture,
                                                   const Column &column,
                                                   const Line (&lines)[kRows]) {
    const Line &first = lines[0], &last = lines[kRows - 1];
    const InnerRange &x = picture.x.inner, &y = picture.y.inner;
    return x.contains(column.x + first.x) && x.contains(column.x + last.x) &&
           y.contains(column.y + first.y) && y.contains(column.y + last.y);
  }

  static __device__ __forceinline__ Pixel outside(const ResampleArgs &in) {
    return {in.outside[0], in.outside[1], in.outside[2]};
  }

  static __device__ __forceinline__ Pixel bordered(const MatrixPicture &in, int64_t at_x,
                                                   int64_t at_y) {
    const AxisTaps x = taps_at(in.x, in.nearest, at_x), y = taps_at(in.y, in.nearest, at_y);
    const float inside = in.repeats_edge ? 1.0f : x.luma.inside * y.luma.inside;
    if (inside == 0.0f) return outside(in.pixels);
    return with_border(in.pixels, converted<false>(in.pixels, x, y), inside);
  }

  template <bool is_inner>
  static __device__ __forceinline__ Pixel converted(const ResampleArgs &in, const AxisTaps &x,
                                                    const AxisTaps &y) {
    float c[3] = {};
    F::for_each([&](auto group) {
      using G = decltype(group);
      blend_group<G, is_inner>(in.samples, G::kChroma ? x.chroma : x.luma,
                               G::kChroma ? y.chroma : y.luma, c);
    });
    return Converts::convert(in, {c[0], c[1], c[2]});
  }

  template <class G, bool is_inner>
  static __device__ __forceinline__ void blend_group(const Samples &s, const Tap &x, const Tap &y,
                                                     float (&out)[3]) {
    const Corners at = is_inner ? inner_corners<G>(s, x.i0, y.i0) : corners<G>(s, x, y);
#pragma unroll
    for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c)
      out[c] = blend(blend(sample_of<G>(s, c, at.p00), sample_of<G>(s, c, at.p10), y.w),
                     blend(sample_of<G>(s, c, at.p01), sample_of<G>(s, c, at.p11), y.w), x.w);
  }

  template <class G>
  static __device__ __forceinline__ Corners corners(const Samples &s, const Tap &x, const Tap &y) {
    const uint32_t stride = s.stride[G::kFirst], step = G::step_of(s);
    const uint8_t *const above = moved<G>(s.data[G::kFirst], y.i0, stride);
    const uint8_t *const below = moved<G>(s.data[G::kFirst], y.i1, stride);
    return {load_of<G>(s, moved<G>(above, x.i0, step)), load_of<G>(s, moved<G>(above, x.i1, step)),
            load_of<G>(s, moved<G>(below, x.i0, step)), load_of<G>(s, moved<G>(below, x.i1, step))};
  }

  /// The corners of neighboring samples.
  template <class G>
  static __device__ __forceinline__ Corners inner_corners(const Samples &s, int32_t x, int32_t y) {
    const uint32_t stride = s.stride[G::kFirst], step = G::step_of(s);
    const uint8_t *const above = moved<G>(moved<G>(s.data[G::kFirst], y, stride), x, step);
    const uint8_t *const below = above + distance<G>(stride);
    return {load_of<G>(s, above), load_of<G>(s, above + distance<G>(step)), load_of<G>(s, below),
            load_of<G>(s, below + distance<G>(step))};
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
  using ByMatrix = MatrixSampler<AnySamples, Converts, MatrixArgs>;
  using ByTables = Resampler<AnySamples, Converts>;
  static constexpr int kProduced = Converts::kProduced;
  static constexpr BlockShape kBlock = kPixelBlock;
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
        typename ByTables::template Patch<1, kRows>(in_.picture.pixels, x_, y_).column(0, p);
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
template <class SlotArgs, class Sink, int kSlots>
class MatrixLaunchers {
 public:
  using Work = PixelWork<SlotArgs, typename Sink::Args, kSlots>;
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
        if (conversion.source.direction == Direction::identity)
          return of<SemiPlanar, Conversion::yuv_to_rgb>();
        return of<AnySemiPlanar, Conversion::yuv_to_rgb>();
    }
    return pick_any(plan);
  }

  static Result pick_shared(const AnyPlan &) { return nullptr; }

  /// Returns the kernel for all slots, or null if each slot must have its own picture for that.
  static Result pick_any(const AnyPlan &plan) {
    if constexpr (std::is_same_v<SlotArgs, MatrixArgs>) {
      if (plan.matrix.conversion.produced == 1)
        return launch_per_pixel<MixedSampler<AnyConversion<1>>, Sink, kSlots>;
      return launch_per_pixel<MixedSampler<AnyConversion<3>>, Sink, kSlots>;
    }
    return nullptr;
  }

 private:
  template <class F, Conversion conversion>
  static Result of() {
    using Converts = OneConversion<conversion, 3, true>;
    return launch_per_pixel<MatrixSampler<F, Converts, SlotArgs>, Sink, kSlots>;
  }
};

/// A slot's plan on the device.
class UploadedMatrix {
 public:
  using Plan = AnyPlan;
  using Args = MatrixArgs;
  using Out = TensorArgs;
  template <class Sink, int kSlots>
  using Launchers = MatrixLaunchers<MatrixArgs, Sink, kSlots>;

  using DeviceTables = Tables<float>;
  using PlanTables = UploadedTables<float>;

  UploadedMatrix(PlanTables tables, const AnyPlan &plan, int /*slots*/ = 1)
      : layout_(plan.matrix.conversion.layout),
        sampled_(plan.matrix.conversion.sampled),
        direction_(plan.matrix.conversion.source.direction),
        reading_(plan.by_matrix ? any_reading_of(plan.matrix.conversion) : Reading::bytes),
        args_{{resample_args(plan.matrix.conversion, tables.get()),
               axis_of(plan.matrix, plan.matrix.x), axis_of(plan.matrix, plan.matrix.y),
               plan.matrix.conversion.method == Method::nearest, plan.matrix.repeats_edge},
              {plan.matrix.x.position, plan.matrix.y.position},
              plan.by_matrix} {}

  /// Returns a plan whose pixels are all outside of a picture.
  static AnyPlan pad_plan(const TensorPlan &tensor) {
    AnyPlan plan(MatrixPlan{UploadedResample::pad_plan(tensor), {}, {}, false});
    plan.matrix.x = plan.matrix.y = {kOutside, 1, 1, {}};
    return plan;
  }

  bool fits_words(const ConstImage &in) const {
    return reading_ == Reading::bytes || has_words(in, layout_, sampled_);
  }
  bool fits_sharing(const ConstImage &) const { return true; }

  MatrixArgs args(const ConstImage &in, bool words) const {
    MatrixArgs args = args_;
    set_samples(args.picture.pixels, in, layout_, sampled_, words ? reading_ : Reading::bytes,
                direction_);
    return args;
  }
  MatrixArgs pad_args(const PadColor &) const { return args_; }
  const SlotPosition &position() const { return args_.position; }

 private:
  FormatLayout layout_;
  int sampled_;
  Direction direction_;
  Reading reading_;  // of the kernel for the plan
  MatrixArgs args_;  // all arguments except the samples
};

/// The same for launches whose slots are all cut from one picture.
class UploadedOnePicture : public UploadedMatrix {
 public:
  using Args = OnePictureArgs;
  template <class Sink, int kSlots>
  using Launchers = MatrixLaunchers<OnePictureArgs, Sink, kSlots>;

  using UploadedMatrix::UploadedMatrix;
};

inline void mark_outside(MatrixArgs &args) { mark_outside(args.picture.pixels); }

}  // namespace cudatensor::cuda
