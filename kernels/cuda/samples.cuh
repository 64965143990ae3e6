// SPDX-License-Identifier: LGPL-2.1-or-later
// How the samples of a picture lie and how a kernel reads them.
#pragma once

#include "kernels/cuda/perpixel.cuh"
#include "kernels/cuda/tables.cuh"
#include "kernels/image.h"
#include "kernels/tensor.h"

namespace cudatensor::cuda {

/// A picture as kernels read it, by component.
struct Samples {
  const uint8_t *data[3];  ///< of the word that holds the first sample
  uint32_t stride[3];      ///< bytes
  uint32_t step[3];        ///< bytes; only where a Group says so
  uint32_t select[3];      ///< for __byte_perm: the sample's byte of the word
};

/// Components `first` to `first + count` of a picture, which one load of a Word brings, `step` bytes
/// from pixel to pixel; 0: as the Samples say.
template <class Word_, int first, int count, int step, bool chroma>
struct Group {
  using Word = Word_;
  static constexpr int kFirst = first;
  static constexpr int kCount = count;
  static constexpr bool kChroma = chroma;

  static __device__ __forceinline__ uint32_t step_of(const Samples &s) {
    return step != 0 ? step : s.step[first];
  }
  template <class Weight>
  static __device__ __forceinline__ const Entry<Weight> &entry(const Taps<Weight> &taps) {
    return chroma ? taps.chroma : taps.luma;
  }
};

/// What the inner loop must know of a picture at compile time.
template <class... Groups>
struct Family {
  static constexpr int kComponents = (Groups::kCount + ...);

  template <class Visit>
  static __device__ __forceinline__ void for_each(const Visit &visit) {
    (visit(Groups()), ...);
  }
};

using Single = Family<Group<uint8_t, 0, 1, 1, false>>;
template <int step, bool chroma>
using Bytes = Family<Group<uint8_t, 0, 1, step, false>, Group<uint8_t, 1, 1, step, chroma>,
                     Group<uint8_t, 2, 1, step, chroma>>;
using Planar = Bytes<1, false>;
using Planar420 = Bytes<1, true>;
using Packed3 = Bytes<3, false>;
using AnyBytes = Bytes<0, true>;  ///< every format, byte by byte
using Packed4 = Family<Group<uint32_t, 0, 3, 4, false>>;
using SemiPlanar420 = Family<Group<uint8_t, 0, 1, 1, false>, Group<uint16_t, 1, 2, 2, true>>;

/// Bytes of the words in which a picture of this layout is best read.
inline size_t word_of(const FormatLayout &layout) {
  const int step = layout.component[layout.components - 1].step;
  return step == 2 || step == 4 ? step : 1;
}

/// Whether `components` of the picture can be read in those words.
inline bool fits_words(const ConstImage &image, const FormatLayout &layout, int components) {
  const auto &plane = image.planes[layout.component[components - 1].plane];
  const size_t word = components == 1 ? 1 : word_of(layout);
  return reinterpret_cast<uintptr_t>(plane.data) % word == 0 && plane.stride % word == 0;
}

/// Of `components` of the picture; a single one stands for all three. `words`: in the words of its
/// layout, otherwise byte by byte.
inline Samples samples_of(const ConstImage &image, const FormatLayout &layout, int components,
                          bool words) {
  const bool as_words = words && word_of(layout) > 1;
  Samples samples = {};
  for (int c = 0; c < 3; ++c) {
    const int from = c < components ? c : 0;
    const Component &component = layout.component[from];
    const auto &plane = image.planes[component.plane];
    samples.data[c] = plane.data + (as_words ? 0 : component.offset);
    samples.stride[c] = stride_of(plane.stride);
    samples.step[c] = component.step;
    samples.select[c] = 0x7440u + (as_words ? component.offset : 0);
  }
  return samples;
}

/// 2^23 + the sample of component c of a word. Differences of such numbers are those of the samples.
template <class Word>
__device__ __forceinline__ float biased_sample(const Samples &s, int c, uint32_t word) {
  if constexpr (sizeof(Word) == 1) return bit_cast<float>(word | kBiasBits);
  return bit_cast<float>(__byte_perm(word, kBiasBits, s.select[c]));
}

template <class Word>
__device__ __forceinline__ int32_t integer_sample(const Samples &s, int c, uint32_t word) {
  if constexpr (sizeof(Word) == 1) return static_cast<int32_t>(word);
  return static_cast<int32_t>(__byte_perm(word, 0, s.select[c]));
}

template <class Word>
__device__ __forceinline__ uint32_t load_word(const uint8_t *at) {
  return __ldg(reinterpret_cast<const Word *>(at));
}

/// The words left and right of a position; where the weight of the right one is 0 it is 0.
struct Sides {
  uint32_t left, right;
};
/// The words around a position; where the weight of the right ones is 0 they are 0.
struct Corners {
  uint32_t p00, p01, p10, p11;
};

/// A group's samples in one column: from here on every row is one multiplication away.
template <class G>
class ColumnOf {
 public:
  __device__ __forceinline__ ColumnOf(const Samples &s, int32_t first)
      : stride_(s.stride[G::kFirst]), step_(G::step_of(s)) {
    above_ = advance(s.data[G::kFirst], first, step_);
    below_ = above_ + stride_;
  }

  __device__ __forceinline__ uint32_t sample(int32_t line) const {
    return load_word<Word>(advance(above_, line, stride_));
  }

  __device__ __forceinline__ Sides sides(int32_t line, bool right) const {
    const uint8_t *const left = advance(above_, line, stride_);
    return {load_word<Word>(left), right ? load_word<Word>(left + step_) : 0};
  }

  __device__ __forceinline__ Corners corners(int32_t line, bool right) const {
    const uint8_t *const above = advance(above_, line, stride_), *const below =
                                                                     advance(below_, line, stride_);
    Corners corners = {load_word<Word>(above), 0, load_word<Word>(below), 0};
    if (right) {
      corners.p01 = load_word<Word>(above + step_);
      corners.p11 = load_word<Word>(below + step_);
    }
    return corners;
  }

 private:
  using Word = typename G::Word;

  const uint8_t *above_, *below_;
  uint32_t stride_, step_;
};

}  // namespace cudatensor::cuda
