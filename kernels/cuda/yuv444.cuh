// SPDX-License-Identifier: LGPL-2.1-or-later
// The fixed-point path.
#pragma once

#include "kernels/yuv444.h"
#include "perpixel.cuh"
#include "samples.cuh"

namespace cudatensor::cuda {

struct Yuv444Args {
  Samples samples;
  Tables<int32_t> tables;
  int32_t pad[3];  // of a slot without a picture
  bool in_words;   // four neighbours are read at once, see read_words …
  uint32_t first;  // … from this column on
};

template <class F>
struct Yuv444Sampler {
  using Args = Yuv444Args;
  using Column = Taps<int32_t>;
  using Line = Taps<int32_t>;
  using Value = SamplePixel;
  static constexpr int kProduced = 3;
  static constexpr bool kGivesWords = F::kComponents == 3 && !std::is_same_v<F, AnyBytes>;

  template <int kColumns>
  static __device__ __forceinline__ void columns(const Args &in, int x,
                                                 Column (&columns)[kColumns]) {
    load_columns(in.tables, x, columns);
  }
  template <int kLines>
  static __device__ __forceinline__ void lines(const Args &in, int y, Line (&lines)[kLines]) {
    load_lines(in.tables, y, lines);
  }

  template <bool, int kRows>
  static __device__ __forceinline__ void sample(const Args &in, int, int, const Column &column,
                                                const Line (&line)[kRows], Value (&p)[kRows]) {
    int32_t c[kRows][3] = {};
    if (line[0].luma.first < 0) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) p[i] = {in.pad[0], in.pad[1], in.pad[2]};
      return;
    }
    F::for_each([&](auto group) {
      if (in.tables.blends[decltype(group)::kChroma])
        read_blended<decltype(group)>(in.samples, column, line, c);
      else
        read_single<decltype(group)>(in.samples, column, line, c);
    });
#pragma unroll
    for (int i = 0; i < kRows; ++i) p[i] = {c[i][0], c[i][1], c[i][2]};
  }

  /// Without a resize: four pixels of a row are a word of luma and two samples of subsampled chroma.
  template <int kRows>
  static __device__ __forceinline__ void read_words(const Args &in, int x,
                                                    const Line (&line)[kRows],
                                                    uint32_t (&samples)[kRows][3]) {
    const uint32_t luma = in.first + x;
    F::for_each([&](auto group) {
      using G = decltype(group);
      const ColumnOf<G> at(in.samples, G::kChroma ? luma / 2 : luma);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const int32_t row = G::entry(line[i]).first;
        if constexpr (!G::kChroma) {
          samples[i][G::kFirst] = at.template word<uint32_t>(row);
        } else if constexpr (G::kCount == 1) {
          samples[i][G::kFirst] = __byte_perm(at.template word<uint16_t>(row), 0, 0x1100);
        } else {
          const uint32_t pairs = at.template word<uint32_t>(row);
          for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c)
            samples[i][c] = __byte_perm(pairs, 0, 0x2200 + 0x1111 * (in.samples.select[c] & 1));
        }
      }
    });
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

template <class Sink, int kFrames>
class Yuv444Launchers {
 public:
  using Work = PixelWork<Yuv444Args, typename Sink::Args, kFrames>;
  using Result = Launcher<Work>;

  /// For pictures whose words are aligned.
  static Result pick(const Yuv444Plan &plan) {
    if (!plan.layout.subsampled) return of<Planar>();
    if (plan.layout.component[1].step == 2) return of<SemiPlanar420>();
    return of<Planar420>();
  }

  /// For pictures of any kind, read byte by byte, and mixed.
  static Result pick_any(const Yuv444Plan &) { return of<AnyBytes>(); }

 private:
  template <class F>
  static constexpr Result of() {
    return launch_per_pixel<Yuv444Sampler<F>, Sink, kFrames>;
  }
};

/// A plan on the device, and what of it goes into a launch.
class UploadedYuv444 {
 public:
  using Plan = Yuv444Plan;
  using Args = Yuv444Args;
  template <class Sink, int kFrames>
  using Launchers = Yuv444Launchers<Sink, kFrames>;

  UploadedYuv444(CudaDevice &device, const Yuv444Plan &plan)
      : tables_(device, plan.x, plan.y),
        layout_(plan.layout),
        copies_from_(copied_from(plan, tables_.tables())) {
    args_.tables = tables_.tables();
  }

  bool fits_words(const ConstImage &in) const { return cuda::fits_words(in, layout_, 3); }

  Yuv444Args args(const ConstImage &in, bool words) const {
    Yuv444Args args = args_;
    args.samples = samples_of(in, layout_, 3, words);
    args.in_words = words && copies_from_ >= 0 && begins_on_words(args.samples);
    args.first = copies_from_;
    return args;
  }
  Yuv444Args args_of_pad(const float (&pad)[3]) const {
    Yuv444Args args = args_;
    std::copy(pad, pad + 3, args.pad);
    return args;
  }

 private:
  /// The first column, where all that follow are its neighbours in whole words; otherwise -1.
  static int copied_from(const Yuv444Plan &plan, const Tables<int32_t> &tables) {
    const int first = plan.x.luma[0].i0;
    if (tables.blends[0] || tables.blends[1] || plan.width % 4 != 0 || first % 4 != 0) return -1;
    for (int x = 0; x < plan.width; ++x)
      if (plan.x.luma[x].i0 != first + x) return -1;
    return first;
  }

  bool begins_on_words(const Samples &samples) const {
    for (int c = 0; c < 3; ++c) {
      const bool pairs = layout_.subsampled && c > 0 && layout_.component[c].step == 1;
      const size_t word = pairs ? 2 : 4;
      if (reinterpret_cast<uintptr_t>(samples.data[c]) % word != 0 || samples.stride[c] % word != 0)
        return false;
    }
    return true;
  }

  UploadedTables<int32_t> tables_;
  FormatLayout layout_;
  int copies_from_;
  Yuv444Args args_ = {};  // all but the samples
};

/// The plan without any picture.
inline Yuv444Plan pad_of(const Yuv444Plan &plan) {
  const FixedTap pad = {-1, -1, 0};
  Yuv444Plan pads = plan;
  pads.x = {std::vector<FixedTap>(plan.x.luma.size(), pad), {}};
  pads.y = {std::vector<FixedTap>(plan.y.luma.size(), pad), {}};
  return pads;
}

}  // namespace cudatensor::cuda
