// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversion of 4:2:0 to pictures without a resize. The pixels of a thread share the chroma samples
// that they read.
#pragma once

#include "kernels/cuda/resampler.cuh"

namespace cudatensor::cuda {

/// The number of neighboring pixels per thread along each axis: a thread computes a quad. A quad's
/// first pixel is at a multiple of this number, also in the source picture. A quad reads the two
/// chroma samples inside it and one on each side.
constexpr int kQuad = 4;

/// The words that contain the chroma samples of one row around a quad.
struct ChromaWords {
  uint32_t left, middle, right;
};

template <class F, class Converts>
struct Unscaled {
  using Args = ResampleArgs;
  using Value = Pixel;
  static constexpr int kProduced = Converts::kProduced;
  static constexpr bool kTransposed = false;
  static constexpr BlockShape kBlock = kPixelBlock;
  template <class Sink>
  static constexpr int kRows = kQuad;
  template <class Sink>
  static constexpr int kBlocksPerSm = kUnscaledBlocksPerSm;

  template <int kColumns, int kRows>
  class Patch {
   public:
    static_assert(kColumns == kQuad && kRows == kQuad);

    __device__ __forceinline__ Patch(const Args &in, int x, int y) : in_(in) {
      load_columns(in.tables, x, column_);
      load_lines(in.tables, y, line_);
    }

    __device__ __forceinline__ bool read() {
      const bool is_pad = (column_[0].luma.first | line_[0].luma.first) < 0;
      if (is_pad) return false;
      const Samples &s = in_.samples;
#pragma unroll
      for (int i = 0; i < kQuad; ++i)
        luma_[i] = load_word<uint32_t>(advance(s.data[0], line_[i].luma.first, s.stride[0]) +
                                       column_[0].luma.first);
      F::for_each([&](auto group) {
        using G = decltype(group);
        if constexpr (G::kChroma) read_chroma<G>();
      });
      return true;
    }

    __device__ __forceinline__ void pad(Pixel (&p)[kQuad]) const {
#pragma unroll
      for (int i = 0; i < kQuad; ++i) p[i] = {in_.outside[0], in_.outside[1], in_.outside[2]};
    }

    __device__ __forceinline__ void column(int k, Pixel (&p)[kQuad]) const {
#pragma unroll
      for (int i = 0; i < kQuad; ++i) {
        const float y = bit_cast<float>(__byte_perm(luma_[i], kBiasBits, 0x7440 + k)) - kBias;
        p[i] = Converts::convert(in_, {y, chroma(0, i, k), chroma(1, i, k)});
      }
    }

   private:
    /// Loads row j of the chroma around the quad. Outside the picture this repeats the outermost
    /// row, so that blending has no effect there, whatever the weight.
    template <class G>
    __device__ __forceinline__ ChromaWords words_of(int j) const {
      using Word = typename G::Word;
      using Two = std::conditional_t<sizeof(Word) == 1, uint16_t, uint32_t>;
      const Samples &s = in_.samples;
      const int32_t row = j == 0   ? line_[0].chroma.first
                          : j == 3 ? line_[3].chroma.first + (line_[3].chroma.w != 0.0f)
                                   : line_[1].chroma.first + (j - 1);
      const uint8_t *const at = advance(s.data[G::kFirst], row, s.stride[G::kFirst]);
      const int32_t middle = column_[1].chroma.first;
      return {load_word<Word>(at + column_[0].chroma.first * sizeof(Word)),
              load_word<Two>(at + middle * sizeof(Word)),
              column_[3].chroma.w != 0.0f ? load_word<Word>(at + (middle + 2) * sizeof(Word)) : 0};
    }

    template <class G>
    __device__ __forceinline__ void read_chroma() {
      ChromaWords words[kQuad];
#pragma unroll
      for (int j = 0; j < kQuad; ++j) words[j] = words_of<G>(j);
#pragma unroll
      for (int c = G::kFirst; c < G::kFirst + G::kCount; ++c) {
        float b[kQuad][kQuad];  // samples + kBias
#pragma unroll
        for (int j = 0; j < kQuad; ++j) {
          const auto biased = [&](uint32_t word, uint32_t at) {
            return bit_cast<float>(__byte_perm(word, kBiasBits, in_.samples.select[c] + at));
          };
          b[j][0] = biased(words[j].left, 0);
          b[j][1] = biased(words[j].middle, 0);
          b[j][2] = biased(words[j].middle, sizeof(typename G::Word));
          b[j][3] = biased(words[j].right, 0);
        }
#pragma unroll
        for (int i = 0; i < kQuad; ++i) {
          const int above = (i + 1) / 2;
#pragma unroll
          for (int k = 0; k < kQuad; ++k)
            blended_[c - 1][i][k] =
                fmaf(line_[i].chroma.w, b[above + 1][k] - b[above][k], b[above][k] - kBias);
        }
      }
    }

    __device__ __forceinline__ float chroma(int c, int i, int k) const {
      const float(&v)[kQuad] = blended_[c][i];
      if (k == 2) {
        const bool is_right = column_[2].chroma.first != column_[1].chroma.first;
        return blend(is_right ? v[2] : v[1], v[2], column_[2].chroma.w);
      }
      const int left = (k + 1) / 2;
      return blend(v[left], v[left + 1], column_[k].chroma.w);
    }

    const Args &in_;
    Taps<float> column_[kQuad], line_[kQuad];
    uint32_t luma_[kQuad];
    float blended_[2][kQuad][kQuad];  // U and V, blended between two rows
  };
};

/// Whether the entries of a quad along one axis have the positions that Unscaled assumes.
/// `allow_cosited_third`: the third pixel may coincide with a chroma sample.
inline bool is_unscaled(const Tap *luma, const Tap *chroma, bool allow_cosited_third) {
  Entry<float> c[kQuad];
  for (int k = 0; k < kQuad; ++k) {
    if (luma[k].inside != 1.0f || luma[k].i0 != luma[0].i0 + k || blends(luma[k])) return false;
    c[k] = entry_of<float>(chroma[k]);
  }
  const int32_t middle = luma[0].i0 / 2;
  return luma[0].i0 % kQuad == 0 && (c[0].w == 0.0f || c[0].first == middle - 1) &&
         c[1].first == middle &&
         (c[2].first == middle ||
          (allow_cosited_third && c[2].first == middle + 1 && c[2].w == 0.0f)) &&
         c[3].first == middle + 1;
}

inline bool is_unscaled(const AxisPlan &axis, bool allow_cosited_third) {
  const auto is_pad = [](const Tap &tap) { return tap.inside == 0.0f; };
  if (axis.luma.size() % kQuad != 0) return false;
  for (size_t k = 0; k < axis.luma.size(); k += kQuad)
    if (!is_unscaled(&axis.luma[k], &axis.chroma[k], allow_cosited_third) &&
        !std::all_of(&axis.luma[k], &axis.luma[k] + kQuad, is_pad))
      return false;
  return true;
}

/// Whether Unscaled supports this plan.
inline bool is_unscaled(const ResamplePlan &plan) {
  return plan.layout.is_420() && !plan.layout.is_deep() &&
         plan.conversion == Conversion::yuv_to_rgb && is_unscaled(plan.sampling.x, true) &&
         is_unscaled(plan.sampling.y, false);
}

/// Whether the picture can be read in quads.
inline bool fits_quads(const ConstImage &image, const FormatLayout &layout) {
  for (int c = 0; c < layout.components; ++c) {
    const auto &plane = image.planes[layout.component[c].plane];
    const size_t word = c == 0 || layout.component[c].step == 2 ? 4 : 2;
    if (reinterpret_cast<uintptr_t>(plane.data) % word != 0 || plane.stride % word != 0)
      return false;
  }
  return true;
}

}  // namespace cudatensor::cuda
