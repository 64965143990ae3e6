// SPDX-License-Identifier: LGPL-2.1-or-later
// The memory layout of a picture's samples and how kernels read them.
#pragma once

#include "kernels/cuda/perpixel.cuh"
#include "kernels/cuda/tables.cuh"
#include "kernels/image.h"
#include "kernels/tensor.h"

namespace cudatensor::cuda {

/// A picture in the form that kernels use, by component.
struct Samples {
  const uint8_t *data[3];  ///< address of the word that contains the first sample
  uint32_t stride[3];      ///< bytes
  uint32_t step[3];        ///< bytes; used only by groups whose step is 0
  uint32_t select[3];      ///< selector for __byte_perm: the sample's byte in the word
};

/// Components [first, first + count) of a picture, which are loaded together as one Word. Pixels
/// are `step` bytes apart; 0 means Samples::step.
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

/// The properties of a picture that the inner loop needs at compile time.
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

/// The word size, in bytes, that is best for reading pictures of this layout.
inline size_t word_size(const FormatLayout &layout) {
  const int step = layout.component[layout.components - 1].step;
  return step == 2 || step == 4 ? step : 1;
}

/// Whether `components` of the picture can be read in those words.
inline bool fits_words(const ConstImage &image, const FormatLayout &layout, int components) {
  const auto &plane = image.planes[layout.component[components - 1].plane];
  const size_t word = components == 1 ? 1 : word_size(layout);
  return reinterpret_cast<uintptr_t>(plane.data) % word == 0 && plane.stride % word == 0;
}

/// Describes `components` components of the picture; a single component is used for all three. If
/// `words`, they are read in words of word_size(), otherwise byte by byte.
inline Samples samples_of(const ConstImage &image, const FormatLayout &layout, int components,
                          bool words) {
  const bool as_words = words && word_size(layout) > 1;
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

/// Returns 2^23 plus the sample of component c in a word. Differences of such values equal the
/// differences of the samples.
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

/// The words to the left and right of a position. The right word is 0 if its weight is 0.
struct Sides {
  uint32_t left, right;
};
/// The four words around a position. The right words are 0 if their weight is 0.
struct Corners {
  uint32_t p00, p01, p10, p11;
};

/// Addresses of a group's samples in one column, so that each row needs only one multiplication.
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
