// SPDX-License-Identifier: LGPL-2.1-or-later
// The samples in words, see gather.h. Included once for each instruction set.
#if defined(CUDATENSOR_CPU_WORDS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CUDATENSOR_CPU_WORDS_INL_H
#undef CUDATENSOR_CPU_WORDS_INL_H
#else
#define CUDATENSOR_CPU_WORDS_INL_H
#endif

#include <hwy/highway.h>

#include "kernels/cpu/rows.h"

HWY_BEFORE_NAMESPACE();
namespace cudatensor::cpu::HWY_NAMESPACE {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "words are read as little-endian integers");

template <class T>
HWY_INLINE T load(const uint8_t *bytes, ptrdiff_t i) {
  T value;
  memcpy(&value, bytes + i * static_cast<ptrdiff_t>(sizeof(T)), sizeof(T));
  return value;
}

/// Returns an integer whose low bytes are the components of tap `tap` of word x.
template <int kComponents, int kTaps>
HWY_INLINE uint32_t pixel_at(const uint8_t *words, ptrdiff_t x, int tap) {
  if constexpr (kComponents == 3) return load<uint32_t>(words, x * kTaps + tap);
  if constexpr (kComponents == 2 && kTaps == 2) return load<uint32_t>(words, x) >> (16 * tap);
  if constexpr (kComponents == 2 || kTaps == 2) return load<uint16_t>(words, x) >> (8 * tap);
  return words[x];
}

HWY_INLINE int32_t component_of(uint32_t pixel, int c) {
  return static_cast<int32_t>((pixel >> (8 * c)) & 0xff);
}

template <int kComponents, int kTaps, int kRows>
HWY_INLINE float sample_of(const uint8_t *above, const uint8_t *below, float wy, float wx,
                           ptrdiff_t x, int c) {
  float column[2];
  for (int tap = 0; tap < kTaps; ++tap) {
    const auto value = [=](const uint8_t *words) {
      return static_cast<float>(component_of(pixel_at<kComponents, kTaps>(words, x, tap), c));
    };
    column[tap] = kRows == 2 ? blend(value(above), value(below), wy) : value(above);
  }
  return kTaps == 2 ? blend(column[0], column[1], wx) : column[0];
}

/// Returns an integer whose 16-bit halves are the components of tap `tap` of word x.
template <int kComponents, int kTaps>
HWY_INLINE uint32_t deep_pixel_at(const uint8_t *words, ptrdiff_t x, int tap) {
  if constexpr (kComponents == 2) return load<uint32_t>(words, x * kTaps + tap);
  if constexpr (kTaps == 2) return load<uint32_t>(words, x) >> (16 * tap);
  return load<uint16_t>(words, x);
}

/// Returns the sample; if `kScaled`, in the scale of eight bits.
template <bool kScaled>
HWY_INLINE float deep_value_of(uint32_t pixel, int c, const DeepRead &read) {
  const auto sample = static_cast<int32_t>(pixel >> (16 * c) & read.mask);
  return kScaled ? to_eight_bits(read.scale, static_cast<float>(sample))
                 : static_cast<float>(sample);
}

template <int kComponents, int kTaps, int kRows, bool kScaleLast>
HWY_INLINE float deep_sample_of(const uint8_t *above, const uint8_t *below, float wy, float wx,
                                const DeepRead &read, ptrdiff_t x, int c) {
  // There is no loop over the taps, because with one GCC 12 does not vectorize the loop over x.
  const auto column = [&](int tap) HWY_ATTR {
    const auto value = [&](const uint8_t *words) HWY_ATTR {
      return deep_value_of<!kScaleLast>(deep_pixel_at<kComponents, kTaps>(words, x, tap), c, read);
    };
    return kRows == 2 ? blend(value(above), value(below), wy) : value(above);
  };
  const float left = column(0), blended = kTaps == 2 ? blend(left, column(1), wx) : left;
  return kScaleLast ? blended * read.scale.factor : blended;
}

}  // namespace
}  // namespace cudatensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
