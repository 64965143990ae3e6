// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/matrixkernels.h"

#include <type_traits>

// Compiled once for each instruction set, like rows.cpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matrixkernels.cpp"
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/cpu/words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cudatensor::cpu::HWY_NAMESPACE {
namespace {

template <bool kNearest>
HWY_INLINE Tap tap_on(int64_t at, int shift, int32_t length) {
  return kNearest ? tap_of(nearest_of(at) >> shift, length) : tap_at(at >> shift, length);
}

template <bool kNearest>
void find(const SampleLine &line, int n, const TapRow &taps) {
  int32_t *HWY_RESTRICT i0 = taps.i0;
  int32_t *HWY_RESTRICT i1 = taps.i1;
  float *HWY_RESTRICT w = taps.w;
  float *HWY_RESTRICT inside = taps.inside;
  const int shift = line.shift;
  const int32_t length = line.length;
  auto at = static_cast<uint64_t>(line.start);
  const auto step = static_cast<uint64_t>(line.step);
  for (int k = 0; k < n; ++k, at += step) {
    const Tap tap = tap_on<kNearest>(static_cast<int64_t>(at), shift, length);
    i0[k] = tap.i0;
    i1[k] = tap.i1;
    w[k] = tap.w;
    inside[k] = tap.inside;
  }
}

/// Positions in the picture are not negative, so that they are shifted as unsigned numbers, which
/// all instruction sets do.
template <bool kNearest>
void place(const SampleLine &x, const SampleLine &y, const WordPlane &plane, int n,
           int32_t *HWY_RESTRICT offset, float *HWY_RESTRICT wx, float *HWY_RESTRICT wy) {
  const auto stride = static_cast<int32_t>(plane.stride);
  const int32_t step = plane.step;
  const int shift_x = x.shift, shift_y = y.shift;
  constexpr int64_t half = kNearest ? kHalfSample : 0;
  auto at_x = static_cast<uint64_t>(x.start + half), at_y = static_cast<uint64_t>(y.start + half);
  const auto step_x = static_cast<uint64_t>(x.step), step_y = static_cast<uint64_t>(y.step);
  for (int k = 0; k < n; ++k, at_x += step_x, at_y += step_y) {
    const auto px = static_cast<int64_t>(at_x >> shift_x);
    const auto py = static_cast<int64_t>(at_y >> shift_y);
    offset[k] = first_of(py) * stride + first_of(px) * step;
    wx[k] = kNearest ? 0.0f : weight_of(px);
    wy[k] = kNearest ? 0.0f : weight_of(py);
  }
}

/// Integers for words of n bytes, of which those of three are kept in four, and for pairs of them.
template <int kBytes>
using Word =
    std::conditional_t<kBytes == 1, uint8_t, std::conditional_t<kBytes == 2, uint16_t, uint32_t>>;
template <int kBytes>
using Pair =
    std::conditional_t<kBytes == 1, uint16_t, std::conditional_t<kBytes == 2, uint32_t, uint64_t>>;

template <int kBytes>
HWY_INLINE Word<kBytes> load_word(const uint8_t *at) {
  if constexpr (kBytes == 3) return load<uint16_t>(at, 0) | uint32_t{at[2]} << 16;
  return load<Word<kBytes>>(at, 0);
}

template <int kBytes>
HWY_INLINE Pair<kBytes> pair_of(Word<kBytes> left, Word<kBytes> right) {
  return static_cast<Pair<kBytes>>(left | Pair<kBytes>{right} << (8 * sizeof left));
}

template <class T>
HWY_INLINE void store(T value, uint8_t *bytes, ptrdiff_t i) {
  memcpy(bytes + i * static_cast<ptrdiff_t>(sizeof(T)), &value, sizeof(T));
}

/// Loads a word and its right neighbor.
template <int kBytes, bool kAdjacent>
HWY_INLINE Pair<kBytes> load_neighbors(const uint8_t *at, int step) {
  if constexpr (kBytes == 3)  // Four bytes each, none of them outside of the two words.
    return pair_of<3>(load<uint32_t>(at, 0), load<uint32_t>(at + step - 1, 0) >> 8);
  if constexpr (kAdjacent) return load<Pair<kBytes>>(at, 0);
  return pair_of<kBytes>(load_word<kBytes>(at), load_word<kBytes>(at + step));
}

/// Loads pairs around eight pixels, and stores them as vectors of 16 bytes, because single stores
/// would take as long as the loads.
template <int kBytes, bool kAdjacent>
HWY_INLINE void load_eight(const uint8_t *at, const int32_t *HWY_RESTRICT offset, int step,
                           uint8_t *HWY_RESTRICT to) {
  typedef Pair<kBytes> Vector __attribute__((vector_size(16)));
  constexpr int kLanes = sizeof(Vector) / sizeof(Pair<kBytes>);
  for (int k = 0; k < 8; k += kLanes) {
    Vector pairs;
    for (int i = 0; i < kLanes; ++i)
      pairs[i] = load_neighbors<kBytes, kAdjacent>(at + offset[k + i], step);
    memcpy(to + k * sizeof(Pair<kBytes>), &pairs, sizeof pairs);
  }
}

template <int kBytes, bool kAdjacent>
HWY_INLINE void load_pairs(const WordPlane &plane, const int32_t *HWY_RESTRICT offset, int n,
                           const WordPairs &to) {
  const uint8_t *const data = plane.data, *const below = plane.data + plane.stride;
  const int step = plane.step;
  int k = 0;
  for (; k + 8 <= n; k += 8) {
    hwy::Prefetch(data + (offset[k] + plane.ahead));
    load_eight<kBytes, kAdjacent>(data, offset + k, step, to.above + k * sizeof(Pair<kBytes>));
    load_eight<kBytes, kAdjacent>(below, offset + k, step, to.below + k * sizeof(Pair<kBytes>));
  }
  for (; k < n; ++k) {
    store(load_neighbors<kBytes, kAdjacent>(data + offset[k], step), to.above, k);
    store(load_neighbors<kBytes, kAdjacent>(below + offset[k], step), to.below, k);
  }
}

template <int kBytes>
void load_at_offsets(const WordPlane &plane, const int32_t *offset, int n, const WordPairs &to) {
  if (plane.step == kBytes)
    load_pairs<kBytes, true>(plane, offset, n, to);
  else
    load_pairs<kBytes, false>(plane, offset, n, to);
}

template <int kBytes>
void load_taps(const WordPlane &plane, const TapRow &x, const TapRow &y, int n,
               const WordPairs &to) {
  for (int k = 0; k < n; ++k) {
    const uint8_t *const left = plane.data + ptrdiff_t{plane.step} * x.i0[k];
    const uint8_t *const right = plane.data + ptrdiff_t{plane.step} * x.i1[k];
    const auto pair = [&](int32_t row) HWY_ATTR {
      return pair_of<kBytes>(load_word<kBytes>(left + plane.stride * row),
                             load_word<kBytes>(right + plane.stride * row));
    };
    store(pair(y.i0[k]), to.above, k);
    store(pair(y.i1[k]), to.below, k);
  }
}

/// Writes value(c, k) for component c of pixel k.
template <int kComponents, class Value>
HWY_INLINE void write_components(int n, float *const *out, const Value &value) {
  float *HWY_RESTRICT c0 = out[0];
  float *HWY_RESTRICT c1 = out[kComponents > 1 ? 1 : 0];
  float *HWY_RESTRICT c2 = out[kComponents > 2 ? 2 : 0];
  for (int k = 0; k < n; ++k) {
    // All values are computed before a store, so that they share their loads.
    const float v0 = value(0, k), v1 = kComponents > 1 ? value(1, k) : v0,
                v2 = kComponents > 2 ? value(2, k) : v0;
    c0[k] = v0;
    if (kComponents > 1) c1[k] = v1;
    if (kComponents > 2) c2[k] = v2;
  }
}

template <int kComponents>
void blend_pairs(const WordPairs &words, const float *HWY_RESTRICT wx, const float *HWY_RESTRICT wy,
                 int n, float *const *out) {
  const WordPairs from = words;
  write_components<kComponents>(n, out, [=](int c, int k) HWY_ATTR {
    return sample_of<kComponents, 2, 2>(from.above, from.below, wy[k], wx[k], k, c);
  });
}

template <int kComponents, bool kScaleLast>
HWY_INLINE void blend_scaled(const WordPairs &words, const float *HWY_RESTRICT wx,
                             const float *HWY_RESTRICT wy, int n, const DeepRead &read,
                             float *const *out) {
  const WordPairs from = words;
  const DeepRead how = read;
  write_components<kComponents>(n, out, [=](int c, int k) HWY_ATTR {
    return deep_sample_of<kComponents, 2, 2, kScaleLast>(from.above, from.below, wy[k], wx[k], how,
                                                         k, c);
  });
}

template <int kComponents>
void blend_deep_pairs(const WordPairs &words, const float *wx, const float *wy, int n,
                      const DeepRead &read, float *const *out) {
  if (is_power_of_two(read.scale))
    blend_scaled<kComponents, true>(words, wx, wy, n, read, out);
  else
    blend_scaled<kComponents, false>(words, wx, wy, n, read, out);
}

void blend_border(const float *HWY_RESTRICT inside_x, const float *HWY_RESTRICT inside_y, float pad,
                  int n, float *HWY_RESTRICT v) {
  for (int k = 0; k < n; ++k) v[k] = blend_with_pad(v[k], inside_x[k] * inside_y[k], pad);
}

}  // namespace

MatrixKernels make_matrix_table() {
  return {{find<false>, find<true>},
          {place<false>, place<true>},
          {load_at_offsets<1>, load_at_offsets<2>, load_at_offsets<3>, load_at_offsets<4>},
          {load_taps<1>, load_taps<2>, load_taps<3>, load_taps<4>},
          {blend_pairs<1>, blend_pairs<2>, blend_pairs<3>},
          {blend_deep_pairs<1>, blend_deep_pairs<2>},
          blend_border};
}

}  // namespace cudatensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudatensor::cpu {

HWY_EXPORT(make_matrix_table);

const MatrixKernels &matrix_kernels() {
  static const MatrixKernels table = HWY_DYNAMIC_DISPATCH(make_matrix_table)();
  return table;
}

}  // namespace cudatensor::cpu
#endif
