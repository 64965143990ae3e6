// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <type_traits>

#include "kernels/hostdevice.h"

namespace cudatensor {

enum class DType : uint8_t { float32, float16, uint8, int8, bfloat16 };
enum class Layout : uint8_t { nchw, nhwc, ncthw };

constexpr bool is_float(DType type) {
  return type == DType::float32 || type == DType::float16 || type == DType::bfloat16;
}

constexpr size_t size_of(DType type) {
  if (type == DType::float32) return 4;
  return is_float(type) ? 2 : 1;
}

/// Describes a tensor without its memory: `n` slots, one after the other. The layout ncthw is that
/// of one clip of n frames: the slots lie one after the other within each channel. Such a tensor is
/// dense unless it is a part of its clip.
struct TensorDesc {
  DType dtype;
  Layout layout;
  int64_t n, c, h, w;
  int64_t clip = 0;  ///< ncthw: slots of the clip that this tensor is a part of; 0: n

  constexpr int64_t elements() const { return n * c * h * w; }
  constexpr size_t bytes() const { return static_cast<size_t>(elements()) * size_of(dtype); }

  /// The distances between slots, and between a pixel's channels, in elements.
  constexpr int64_t slot_step() const { return layout == Layout::ncthw ? h * w : c * h * w; }
  constexpr int64_t channel_step() const {
    if (layout == Layout::nhwc) return 1;
    return layout == Layout::nchw ? h * w : (clip != 0 ? clip : n) * h * w;
  }

  constexpr bool is_dense() const {
    return layout != Layout::ncthw || clip == 0 || clip == n || c == 1;
  }

  /// Returns the description of `count` slots of this tensor.
  constexpr TensorDesc part(int64_t count) const {
    TensorDesc part = *this;
    part.n = count;
    if (layout == Layout::ncthw && clip == 0) part.clip = n;
    return part;
  }
};

inline bool operator==(const TensorDesc &a, const TensorDesc &b) {
  return a.dtype == b.dtype && a.layout == b.layout && a.n == b.n && a.c == b.c && a.h == b.h &&
         a.w == b.w && a.channel_step() == b.channel_step();
}

/// Throws if a dimension is less than 1 or the size in bytes overflows.
void check_tensor_size(const TensorDesc &desc);

/// A non-owning view of a tensor, passed by value.
template <class Void>
struct BasicTensor {
  TensorDesc desc;
  Void *data;  ///< aligned to an element
};

using Tensor = BasicTensor<void>;
using ConstTensor = BasicTensor<const void>;

/// Returns a view of `count` slots of a tensor, starting at slot `first`.
template <class Void>
BasicTensor<Void> slots_of(const BasicTensor<Void> &tensor, int64_t first, int64_t count) {
  using Byte = std::conditional_t<std::is_const_v<Void>, const uint8_t, uint8_t>;
  const TensorDesc &desc = tensor.desc;
  const int64_t bytes = first * desc.slot_step() * static_cast<int64_t>(size_of(desc.dtype));
  return {desc.part(count), static_cast<Byte *>(tensor.data) + bytes};
}

inline ConstTensor constant(const Tensor &tensor) { return {tensor.desc, tensor.data}; }

/// IEEE binary16, stored as its bits, which is the only representation common to host and device
/// compilers.
struct Half {
  uint16_t bits;
};

/// The upper half of an IEEE binary32.
struct BFloat16 {
  uint16_t bits;
};

template <class To, class From>
CUDATENSOR_HD To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast requires types of equal size");
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}

/// Rounds to nearest, ties to even. Infinities are preserved; NaN becomes a quiet NaN, 0x7e00 with
/// its sign on the CPU and 0x7fff on a GPU.
CUDATENSOR_HD Half to_half(float value) {
#ifdef CUDATENSOR_DEVICE_CODE
  Half converted;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(converted.bits) : "f"(value));
  return converted;
#else
  const uint32_t x = bit_cast<uint32_t>(value);
  const uint32_t sign = (x >> 16) & 0x8000u;
  const uint32_t magnitude = x & 0x7fffffffu;
  // Normal: rebias the exponent and round off the 13 low bits. A carry increments the exponent, up
  // to infinity, which is correct.
  const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Subnormal: adding 0.5 makes the float addition round at the right bit.
  const uint32_t subnormal = bit_cast<uint32_t>(bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
  half = magnitude >= 0x477ff000u ? 0x7c00u : half;
  half = magnitude > 0x7f800000u ? 0x7e00u : half;
  return {static_cast<uint16_t>(sign | half)};
#endif
}

/// Rounds to nearest, ties to even. Infinities are preserved, and numbers that are too large become
/// infinite; NaN becomes a quiet NaN with its sign.
CUDATENSOR_HD BFloat16 to_bfloat16(float value) {
  const uint32_t x = bit_cast<uint32_t>(value);
  // A carry increments the exponent, up to infinity, which is correct.
  const uint32_t rounded = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
  const uint32_t nan = (x >> 16) | 0x40u;
  return {static_cast<uint16_t>((x & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}

/// Converts exactly.
CUDATENSOR_HD float to_float(Half value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000u) << 16;
  const uint32_t magnitude = value.bits & 0x7fffu;
  const uint32_t rebias = magnitude >= 0x7c00u ? 0x70000000u : 0x38000000u;
  const uint32_t normal = (magnitude << 13) + rebias;
  // Subnormal: magnitude · 2^-24, exact in float32.
  const uint32_t subnormal =
      bit_cast<uint32_t>(static_cast<float>(magnitude) * 5.9604644775390625e-8f);
  return bit_cast<float>(sign | (magnitude < 0x400u ? subnormal : normal));
}

CUDATENSOR_HD float to_float(float value) { return value; }
CUDATENSOR_HD float to_float(uint8_t value) { return static_cast<float>(value); }

/// floor(x + 0.5), the rounding of every 8-bit result.
CUDATENSOR_HD float round_half_up(float x) { return floorf(x + 0.5f); }

/// Rounds a component of a pixel like round_half_up() and limits it to 255: 16-235 of ten bits
/// reaches 255.75. NaN stays NaN.
CUDATENSOR_HD float round_component(float x) {
  const float rounded = round_half_up(x);
  return rounded > 255.0f ? 255.0f : rounded;
}

/// Clamps to [low, high]. NaN becomes `low`, which must not be -0.
CUDATENSOR_HD float clamp(float x, float low, float high) {
#ifdef CUDATENSOR_DEVICE_CODE
  return fminf(fmaxf(x, low), high);
#else
  x = x > low ? x : low;
  return x < high ? x : high;
#endif
}

/// Clamps a number, which must not be NaN, to 0..255. Non-negative floats are ordered like their
/// bit patterns, and negative floats are negative integers; compilers generate better code for
/// integer limits.
CUDATENSOR_HD float clamp_to_sample(float x) {
  constexpr int32_t k255 = 0x437f0000;
  const auto bits = bit_cast<int32_t>(x);
#ifdef CUDATENSOR_DEVICE_CODE
  return bit_cast<float>(__vimin_s32_relu(bits, k255));
#else
  return bit_cast<float>(std::max(std::min(bits, k255), 0));
#endif
}

/// Returns a number whose lowest byte is floor(x), for x in 0..256.
CUDATENSOR_HD uint32_t floor_in_low_byte(float x) {
#ifdef CUDATENSOR_DEVICE_CODE
  // The sum is rounded down to an integer, because floats from 2^23 on have no fraction.
  return bit_cast<uint32_t>(__fadd_rd(x, 8388608.0f));
#else
  return static_cast<uint32_t>(static_cast<int>(x));
#endif
}

/// Returns a number whose lowest byte is round_half_up(x), for x in 0..255.
CUDATENSOR_HD uint32_t rounded_in_low_byte(float x) { return floor_in_low_byte(x + 0.5f); }

CUDATENSOR_HD uint8_t truncate_to_byte(float x) {
  return static_cast<uint8_t>(floor_in_low_byte(x));
}
CUDATENSOR_HD uint8_t round_to_byte(float x) {
  return static_cast<uint8_t>(rounded_in_low_byte(x));
}

/// Converts a float to a tensor element.
template <class T>
CUDATENSOR_HD T to_element(float x);
template <>
CUDATENSOR_HD float to_element<float>(float x) {
  return x;
}
template <>
CUDATENSOR_HD Half to_element<Half>(float x) {
  return to_half(x);
}
template <>
CUDATENSOR_HD BFloat16 to_element<BFloat16>(float x) {
  return to_bfloat16(x);
}
template <>
CUDATENSOR_HD uint8_t to_element<uint8_t>(float x) {
  return round_to_byte(clamp_to_sample(x > 0.0f ? x : 0.0f));
}
template <>
CUDATENSOR_HD int8_t to_element<int8_t>(float x) {
  return static_cast<int8_t>(static_cast<int>(clamp(round_half_up(x), -128.0f, 127.0f)));
}

}  // namespace cudatensor
