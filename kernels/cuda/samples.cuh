// SPDX-License-Identifier: LGPL-2.1-or-later
// The memory layout of a picture's samples and how kernels read them.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/cuda/perpixel.cuh"
#include "kernels/cuda/tables.cuh"
#include "kernels/error.h"
#include "kernels/orientation.h"
#include "kernels/sample.h"
#include "kernels/tensor.h"

namespace cudatensor::cuda {

/// A picture in the form that kernels use, by component. Groups whose step is 0 read it in any
/// direction: strides and steps are then int32_t, along the axes of the seen picture.
struct Samples {
  const uint8_t *data[3];  ///< address of the word that contains the first sample
  uint32_t stride[3];      ///< bytes
  uint32_t step[3];        ///< bytes; used only by groups whose step is 0
  uint32_t select[3];      ///< selector for __byte_perm: the sample's bytes in the word
  // Used only by groups of deep samples, those of more than eight bits.
  uint32_t mask;        ///< mask of the sample's bits in two bytes, or of all eight bits
  DepthScale depth[2];  ///< for luma and for chroma, of samples plus kBias
};

/// A word of one or two bytes, as Samples::mask says.
struct AnyWord {};

/// Components [first, first + count) of a picture, which are loaded together as one Word. Pixels
/// are `step` bytes apart; 0 means Samples::step.
template <class Word_, int first, int count, int step, bool chroma, bool deep = false>
struct Group {
  using Word = Word_;
  static constexpr int kFirst = first;
  static constexpr int kCount = count;
  static constexpr bool kChroma = chroma;
  static constexpr bool kDeep = deep;
  static constexpr int kStep = step;
  static constexpr bool kSigned = step == 0;

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
  /// Three planes without subsampling. Components of packed pixels, which are in the same memory
  /// sectors, gain nothing from loads of all components in flight together.
  static constexpr bool kSamePositions =
      sizeof...(Groups) == 3 && ((Groups::kStep == 1 && !Groups::kChroma) && ...);

  template <class Visit>
  static __device__ __forceinline__ void for_each(const Visit &visit) {
    (visit(Groups()), ...);
  }
};

using Single = Family<Group<uint8_t, 0, 1, 1, false>>;
using SingleOf422 = Family<Group<uint16_t, 0, 1, 2, false>>;
using DeepSingle = Family<Group<uint16_t, 0, 1, 2, false, true>>;
template <int step, bool chroma>
using Bytes = Family<Group<uint8_t, 0, 1, step, false>, Group<uint8_t, 1, 1, step, chroma>,
                     Group<uint8_t, 2, 1, step, chroma>>;
using Planar = Bytes<1, false>;
using PlanarSubsampled = Bytes<1, true>;
using Packed3 = Bytes<3, false>;
using Packed4 = Family<Group<uint32_t, 0, 3, 4, false>>;
using Packed422 = Family<Group<uint16_t, 0, 1, 2, false>, Group<uint32_t, 1, 2, 4, true>>;
using SemiPlanar = Family<Group<uint8_t, 0, 1, 1, false>, Group<uint16_t, 1, 2, 2, true>>;
using DeepSemiPlanar =
    Family<Group<uint16_t, 0, 1, 2, false, true>, Group<uint32_t, 1, 2, 4, true, true>>;
using DeepPlanar =
    Family<Group<uint16_t, 0, 1, 2, false, true>, Group<uint16_t, 1, 1, 2, true, true>,
           Group<uint16_t, 2, 1, 2, true, true>>;
// Families of any direction, whose steps are known at run time:
/// Every format of eight bits.
using AnyBytes = Family<Group<uint8_t, 0, 1, 0, false>, Group<uint8_t, 1, 1, 0, true>,
                        Group<uint8_t, 2, 1, 0, true>>;
using AnySemiPlanar = Family<Group<uint8_t, 0, 1, 0, false>, Group<uint16_t, 1, 2, 0, true>>;
using AnyDeepSemiPlanar =
    Family<Group<uint16_t, 0, 1, 0, false, true>, Group<uint32_t, 1, 2, 0, true, true>>;
/// Every format, byte by byte.
using AnySamples = Family<Group<AnyWord, 0, 1, 0, false, true>, Group<AnyWord, 1, 1, 0, true, true>,
                          Group<AnyWord, 2, 1, 0, true, true>>;

/// Called after a switch over all families, for a value that is none of them.
[[noreturn]] inline void throw_unknown_family() {
  throw Error(Error::Code::settings, "a pixel format of an unknown family");
}

/// Returns the size, in bytes, of the words in which a component is read.
inline size_t word_size(const Component &component) {
  return component.step == 2 || component.step == 4 ? component.step : 1;
}

/// Whether the samples of `components` are in aligned words.
inline bool has_words(const ConstImage &image, const FormatLayout &layout, int components) {
  return std::all_of(layout.component, layout.component + components, [&](const Component &c) {
    const auto &plane = image.planes[c.plane];
    const size_t word = word_size(c);
    return reinterpret_cast<uintptr_t>(plane.data) % word == 0 && plane.stride % word == 0;
  });
}

/// Whether kernels for upright pictures can read `components` of the picture in words.
inline bool fits_words(const ConstImage &image, const FormatLayout &layout, int components,
                       Direction direction) {
  return direction == Direction::identity && has_words(image, layout, components);
}

/// Converts a step of a picture in any direction.
inline uint32_t signed_step(int64_t bytes) {
  if (std::abs(bytes) <= INT32_MAX) return static_cast<uint32_t>(static_cast<int32_t>(bytes));
  throw Error(Error::Code::input,
              "expected a stride below 2^31 bytes, got " + std::to_string(std::abs(bytes)));
}

/// Moves component c of the samples to the first sample of the seen picture, and makes its steps
/// those of the seen picture.
inline void turn(Samples &s, int c, const ConstImage &image, const FormatLayout &layout,
                 int component, Direction direction) {
  const Orientation o = orientation_of(direction);
  int64_t step = layout.component[component].step;
  int64_t stride = image.planes[layout.component[component].plane].stride;
  int columns = component_length(layout.chroma_shift_x, component, image.desc.width);
  int rows = component_length(layout.chroma_shift_y, component, image.desc.height);
  if (o.transposed) {
    std::swap(step, stride);
    std::swap(columns, rows);
  }
  if (o.mirrored_x) {
    s.data[c] += step * (columns - 1);
    step = -step;
  }
  if (o.mirrored_y) {
    s.data[c] += stride * (rows - 1);
    stride = -stride;
  }
  s.step[c] = signed_step(step);
  s.stride[c] = signed_step(stride);
}

/// How a kernel reads the samples of a picture.
enum class Reading : uint8_t {
  upright,  ///< in words of word_size(), with constant steps
  words,    ///< in the same words, in any direction
  bytes,    ///< byte by byte, in any direction
};

/// Describes `components` components of the picture; a single component is used for all three.
inline Samples samples_of(const ConstImage &image, const FormatLayout &layout, int components,
                          Reading reading, Direction direction) {
  const bool words = reading != Reading::bytes;
  Samples samples = {};
  samples.mask = layout.mask();
  for (int c = 0; c < 3; ++c) {
    const int from = c < components ? c : 0;
    const Component &component = layout.component[from];
    const auto &plane = image.planes[component.plane];
    const uint32_t offset = words && word_size(component) > 1 ? component.offset : 0;
    samples.data[c] = plane.data + component.offset - offset;
    samples.stride[c] = stride_of(plane.stride);
    samples.step[c] = component.step;
    samples.select[c] = 0x7440u + offset;
    if (layout.is_deep()) samples.select[c] = 0x7400u | (offset + 1) << 4 | offset;
    if (reading != Reading::upright) turn(samples, c, image, layout, from, direction);
  }
  return samples;
}

/// Returns kBias plus the sample of component c in a word of one or two bytes per sample.
/// Differences of such values equal the differences of the samples.
template <class G>
__device__ __forceinline__ float biased_sample(const Samples &s, int c, uint32_t word) {
  constexpr bool is_sample =
      std::is_same_v<typename G::Word, AnyWord> || sizeof(typename G::Word) == (G::kDeep ? 2 : 1);
  const uint32_t biased = is_sample ? word | kBiasBits : __byte_perm(word, kBiasBits, s.select[c]);
  return bit_cast<float>(G::kDeep ? biased & (s.mask | 0xffff0000u) : biased);
}

/// Returns the sample of component c in a word, in the scale of eight bits.
template <class G>
__device__ __forceinline__ float sample_of(const Samples &s, int c, uint32_t word) {
  const float biased = biased_sample<G>(s, c, word);
  if constexpr (G::kDeep) return to_eight_bits(s.depth[G::kChroma], biased);
  return biased - kBias;
}

/// Returns the sample of component c in a word of eight-bit samples.
template <class Word>
__device__ __forceinline__ int32_t integer_sample(const Samples &s, int c, uint32_t word) {
  if constexpr (std::is_same_v<Word, AnyWord> || sizeof(Word) == 1)
    return static_cast<int32_t>(word);
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
/// The four words around a position. Words that are not read are 0.
struct Corners {
  uint32_t p00, p01, p10, p11;
};

/// Moves an address by `count` steps, which are signed for groups of any direction.
template <class G>
__device__ __forceinline__ const uint8_t *moved(const uint8_t *at, int32_t count, uint32_t bytes) {
  if constexpr (G::kSigned) return advance_signed(at, count, static_cast<int32_t>(bytes));
  return advance(at, count, bytes);
}

template <class G>
__device__ __forceinline__ ptrdiff_t distance(uint32_t bytes) {
  if constexpr (G::kSigned) return static_cast<int32_t>(bytes);
  return bytes;
}

/// Loads a word of the group.
template <class G>
__device__ __forceinline__ uint32_t load_of(const Samples &s, const uint8_t *at) {
  using Word = typename G::Word;
  if constexpr (!std::is_same_v<Word, AnyWord>) return load_word<Word>(at);
  const uint32_t low = __ldg(at);
  return s.mask > 0xff ? low | static_cast<uint32_t>(__ldg(at + 1)) << 8 : low;
}

/// Addresses of a group's samples in one column, so that each row needs only one multiplication.
/// `transposed`: columns and rows are those of the transposed seen picture.
template <class G, bool transposed = false>
class ColumnOf {
 public:
  __device__ __forceinline__ ColumnOf(const Samples &s, int32_t first)
      : s_(s),
        stride_(transposed ? G::step_of(s) : s.stride[G::kFirst]),
        step_(transposed ? s.stride[G::kFirst] : G::step_of(s)) {
    above_ = moved<G>(s.data[G::kFirst], first, step_);
    below_ = above_ + distance<G>(stride_);
  }

  __device__ __forceinline__ uint32_t sample(int32_t line) const {
    return load(moved<G>(above_, line, stride_));
  }

  __device__ __forceinline__ Sides sides(int32_t line, bool right) const {
    const uint8_t *const left = moved<G>(above_, line, stride_);
    return {load(left), right ? load(left + distance<G>(step_)) : 0};
  }

  __device__ __forceinline__ Corners corners(int32_t line, bool right, bool below = true) const {
    const uint8_t *const at_above = moved<G>(above_, line, stride_);
    const uint8_t *const at_below = moved<G>(below_, line, stride_);
    Corners corners = {load(at_above), 0, below ? load(at_below) : 0, 0};
    if (right) {
      corners.p01 = load(at_above + distance<G>(step_));
      if (below) corners.p11 = load(at_below + distance<G>(step_));
    }
    return corners;
  }

 private:
  __device__ __forceinline__ uint32_t load(const uint8_t *at) const { return load_of<G>(s_, at); }

  const Samples &s_;
  const uint8_t *above_, *below_;
  uint32_t stride_, step_;
};

}  // namespace cudatensor::cuda
