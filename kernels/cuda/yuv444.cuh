// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels of the fixed-point path.
#pragma once

#include "kernels/cuda/perpixel.cuh"
#include "kernels/cuda/samples.cuh"
#include "kernels/normalize.h"
#include "kernels/yuv444.h"

namespace cudatensor::cuda {

struct Yuv444Args {
  Samples samples;
  Tables<int32_t> tables;
  int32_t pad[3];  // value of slots without a picture
};

template <class F>
struct Yuv444Sampler : TableSampler<Yuv444Args, int32_t> {
  using Args = Yuv444Args;
  using Column = Taps<int32_t>;
  using Line = Taps<int32_t>;
  using Value = SamplePixel;
  static constexpr int kProduced = 3;
  template <int kColumns, int kRows>
  using Patch = ColumnByColumn<Yuv444Sampler, kColumns, kRows>;

  template <int kRows>
  static __device__ __forceinline__ void sample(const Args &in, int, int, const Column &column,
                                                const Line (&line)[kRows], Value (&p)[kRows]) {
    int32_t c[kRows][3] = {};
    if (line[0].luma.first < 0) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) p[i] = {in.pad[0], in.pad[1], in.pad[2]};
      return;
    }
    F::for_each([&](auto group) {
      using G = decltype(group);
      if (in.tables.blends_rows[G::kChroma])
        read_blended<G>(in.samples, column, line, c);
      else if (in.tables.blends[G::kChroma])
        read_columns<G>(in.samples, column, line, c);
      else
        read_single<G>(in.samples, column, line, c);
    });
#pragma unroll
    for (int i = 0; i < kRows; ++i) p[i] = {c[i][0], c[i][1], c[i][2]};
  }

 private:
  template <class G, int kRows>
  static __device__ __forceinline__ void read_single(const Samples &s, const Column &column,
                                                     const Line (&line)[kRows],
                                                     int32_t (&out)[kRows][3]) {
    const ColumnOf<G> at(s, G::entry(column).first);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const uint32_t word = at.sample(G::entry(line[i]).first);
      for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c)
        out[i][c] = integer_sample<typename G::Word>(s, c, word);
    }
  }

  template <class G, int kRows>
  static __device__ __forceinline__ void read_columns(const Samples &s, const Column &column,
                                                      const Line (&line)[kRows],
                                                      int32_t (&out)[kRows][3]) {
    using Word = typename G::Word;
    const auto &x = G::entry(column);
    const ColumnOf<G> at(s, x.first);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const Sides sides = at.sides(G::entry(line[i]).first, x.w != 0);
      for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c) {
        const int32_t row = fixed_horizontal(integer_sample<Word>(s, c, sides.left),
                                             integer_sample<Word>(s, c, sides.right), x.w);
        out[i][c] = fixed_vertical(row, row, 0);
      }
    }
  }

  template <class G, int kRows>
  static __device__ __forceinline__ void read_blended(const Samples &s, const Column &column,
                                                      const Line (&line)[kRows],
                                                      int32_t (&out)[kRows][3]) {
    using Word = typename G::Word;
    const auto &x = G::entry(column);
    const ColumnOf<G> at(s, x.first);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const auto &y = G::entry(line[i]);
      const Corners corners = at.corners(y.first, x.w != 0);
      for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c) {
        const int32_t above = fixed_horizontal(integer_sample<Word>(s, c, corners.p00),
                                               integer_sample<Word>(s, c, corners.p01), x.w);
        const int32_t below = fixed_horizontal(integer_sample<Word>(s, c, corners.p10),
                                               integer_sample<Word>(s, c, corners.p11), x.w);
        out[i][c] = fixed_vertical(above, below, y.w);
      }
    }
  }
};

template <class Sink, int kSlots>
class Yuv444Launchers {
 public:
  using Work = PixelWork<Yuv444Args, typename Sink::Args, kSlots>;
  using Result = Launcher<Work>;

  /// Returns the kernel for pictures with aligned words.
  static Result pick(const Yuv444Plan &plan) {
    using F = SampleFamily;
    if (plan.source.direction != Direction::identity) return pick_any(plan);
    switch (plan.layout.family) {
      case F::planar_444: return of<Planar>();
      case F::planar_subsampled: return of<PlanarSubsampled>();
      case F::semiplanar: return of<SemiPlanar>();
      case F::packed_422: return of<Packed422>();
      case F::gray:
      case F::packed_rgb3:
      case F::packed_rgb4:
      case F::planar_rgb:
      case F::deep_gray:
      case F::deep_planar:
      case F::deep_semiplanar: break;  // never have a fixed-point plan
    }
    throw_unknown_family();
  }

  static Result pick_shared(const Yuv444Plan &) { return nullptr; }

  /// Returns the kernel that reads byte by byte, for pictures of any format in any direction, and
  /// for batches of different formats.
  static Result pick_any(const Yuv444Plan &) { return of<AnySamples>(); }

 private:
  template <class F>
  static constexpr Result of() {
    return launch_per_pixel<Yuv444Sampler<F>, Sink, kSlots>;
  }
};

/// Does nothing: only slots that are all pad have pixels outside the picture.
inline void mark_outside(Yuv444Args &) {}

/// A plan in device memory and the kernel parameters derived from it.
class UploadedYuv444 {
 public:
  using Plan = Yuv444Plan;
  using Args = Yuv444Args;
  using Out = TensorArgs;
  template <class Sink, int kSlots>
  using Launchers = Yuv444Launchers<Sink, kSlots>;

  using DeviceTables = Tables<int32_t>;
  using PlanTables = UploadedTables<int32_t>;

  UploadedYuv444(CudaDevice &device, const Yuv444Plan &plan)
      : UploadedYuv444(PlanTables(device, plan.x, plan.y), plan) {}

  UploadedYuv444(PlanTables tables, const Yuv444Plan &plan, int /*slots*/ = 1)
      : tables_(std::move(tables)), layout_(plan.layout), direction_(plan.source.direction) {
    args_.tables = tables_.get();
  }

  /// Returns a plan that is all pad.
  static Yuv444Plan pad_plan(const TensorPlan &tensor) {
    const FixedTap pad = {-1, -1, 0};
    Yuv444Plan plan = {};
    plan.layout = layout_of(PixelFormat::Y444);
    plan.x.luma.assign(tensor.slot.w, pad);
    plan.y.luma.assign(tensor.slot.h, pad);
    return plan;
  }

  static PlanTables::Places append(TableBytes &bytes, const Yuv444Plan &plan) {
    return {bytes, plan.x, plan.y};
  }

  bool fits_words(const ConstImage &in) const {
    return cuda::fits_words(in, layout_, 3, direction_);
  }
  bool fits_sharing(const ConstImage &) const { return true; }

  Yuv444Args args(const ConstImage &in, bool words) const {
    Yuv444Args args = args_;
    args.samples =
        samples_of(in, layout_, 3, words ? Reading::upright : Reading::bytes, direction_);
    return args;
  }
  Yuv444Args pad_args(const PadColor &pad) const {
    Yuv444Args args = args_;
    std::copy(pad.begin(), pad.end(), args.pad);
    return args;
  }

 private:
  PlanTables tables_;
  FormatLayout layout_;
  Direction direction_;
  Yuv444Args args_ = {};  // all arguments except the samples
};

}  // namespace cudatensor::cuda
