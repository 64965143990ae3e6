// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/rows.h"

#include <algorithm>

#include "kernels/cpu/gather.h"

// This file is compiled once for each instruction set with fused multiply-add and once for the
// baseline, where fmaf() is a function call. SVE is excluded, because GCC 12 computes only the
// first four elements of some rows for it. Arithmetic uses plain loops over contiguous rows, which
// compilers vectorize, and the same headers as the GPU. Only data movement, and operations whose
// instructions compilers do not generate, are written explicitly, with Highway or intrinsics.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows.cpp"
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

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
constexpr int kWindow = 16;
void shuffle(const uint8_t *from, const uint8_t *indices, uint8_t *to) {
  for (int k = 0; k < kWindow; ++k) to[k] = from[indices[k]];
}
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
constexpr int kWindow = 64;
HWY_INLINE void shuffle(const uint8_t *from, const uint8_t *indices, uint8_t *to) {
  _mm512_storeu_si512(
      to, _mm512_permutexvar_epi8(_mm512_loadu_si512(indices), _mm512_loadu_si512(from)));
}
#else
constexpr int kWindow = 16;
HWY_INLINE void shuffle(const uint8_t *from, const uint8_t *indices, uint8_t *to) {
  const hn::FixedTag<uint8_t, kWindow> d;
  hn::StoreU(hn::TableLookupBytes(hn::LoadU(d, from), hn::LoadU(d, indices)), d, to);
}
#endif
static_assert(kWindow <= Window::kMaxBytes, "rows must have room for the whole last window");

// Each window writes its full size; the next window overwrites the excess bytes.
void gather(const uint8_t *HWY_RESTRICT row, const uint8_t *ahead,
            const Window *HWY_RESTRICT windows, const uint8_t *HWY_RESTRICT shuffles, int count,
            uint8_t *HWY_RESTRICT words) {
  for (int i = 0; i < count; ++i) {
    hwy::Prefetch(ahead + windows[i].from);
    shuffle(row + windows[i].from, shuffles + ptrdiff_t{i} * kWindow, words + windows[i].to);
  }
}

template <int kComponents, int kTaps, int kRows>
void sample(const uint8_t *HWY_RESTRICT above, const uint8_t *HWY_RESTRICT below, float wy,
            const float *HWY_RESTRICT wx, int n, float *const *out) {
  float *HWY_RESTRICT c0 = out[0];
  float *HWY_RESTRICT c1 = out[kComponents > 1 ? 1 : 0];
  float *HWY_RESTRICT c2 = out[kComponents > 2 ? 2 : 0];
  for (int x = 0; x < n; ++x) {
    const float w = kTaps == 2 ? wx[x] : 0.0f;
    c0[x] = sample_of<kComponents, kTaps, kRows>(above, below, wy, w, x, 0);
    if (kComponents > 1) c1[x] = sample_of<kComponents, kTaps, kRows>(above, below, wy, w, x, 1);
    if (kComponents > 2) c2[x] = sample_of<kComponents, kTaps, kRows>(above, below, wy, w, x, 2);
  }
}

template <int kComponents, int kTaps, int kRows, bool kScaleLast>
HWY_INLINE void deep_samples(const uint8_t *HWY_RESTRICT above, const uint8_t *HWY_RESTRICT below,
                             float wy, const float *HWY_RESTRICT wx, int n, const DeepRead &how,
                             float *const *out) {
  const DeepRead read = how;
  float *HWY_RESTRICT c0 = out[0];
  float *HWY_RESTRICT c1 = out[kComponents - 1];
  for (int x = 0; x < n; ++x) {
    const float w = kTaps == 2 ? wx[x] : 0.0f;
    const auto value = [&](int c) HWY_ATTR {
      return deep_sample_of<kComponents, kTaps, kRows, kScaleLast>(above, below, wy, w, read, x, c);
    };
    // Both values are computed before a store, so that they share their loads.
    const float v0 = value(0), v1 = kComponents > 1 ? value(1) : v0;
    c0[x] = v0;
    if (kComponents > 1) c1[x] = v1;
  }
}

/// Blending commutes with a scale that is a power of two.
template <int kComponents, int kTaps, int kRows>
void deep_sample(const uint8_t *above, const uint8_t *below, float wy, const float *wx, int n,
                 const DeepRead &read, float *const *out) {
  if (is_power_of_two(read.scale))
    deep_samples<kComponents, kTaps, kRows, true>(above, below, wy, wx, n, read, out);
  else
    deep_samples<kComponents, kTaps, kRows, false>(above, below, wy, wx, n, read, out);
}

void convert_keep(const YuvToRgb &, int, float *, float *, float *) {}

void convert_yuv_to_rgb(const YuvToRgb &k, int n, float *HWY_RESTRICT c0, float *HWY_RESTRICT c1,
                        float *HWY_RESTRICT c2) {
  const YuvToRgb coefficients = k;
  for (int x = 0; x < n; ++x) {
    const Pixel p = yuv_to_rgb(coefficients, {c0[x], c1[x], c2[x]});
    c0[x] = p.c0;
    c1[x] = p.c1;
    c2[x] = p.c2;
  }
}

void convert_luma_to_gray(const YuvToRgb &k, int n, float *HWY_RESTRICT c0, float *, float *) {
  const YuvToRgb coefficients = k;
  for (int x = 0; x < n; ++x) c0[x] = luma_to_gray(coefficients, c0[x]);
}

void convert_rgb_to_gray(const YuvToRgb &, int n, float *HWY_RESTRICT c0, float *HWY_RESTRICT c1,
                         float *HWY_RESTRICT c2) {
  for (int x = 0; x < n; ++x) c0[x] = rgb_to_gray({c0[x], c1[x], c2[x]});
}

void convert_gray_to_rgb(const YuvToRgb &, int n, float *HWY_RESTRICT c0, float *HWY_RESTRICT c1,
                         float *HWY_RESTRICT c2) {
  for (int x = 0; x < n; ++x) c1[x] = c2[x] = c0[x];
}

void blend_row_with_pad(const Tap *HWY_RESTRICT taps, float inside_y, float pad, int n,
                        float *HWY_RESTRICT v) {
  for (int x = 0; x < n; ++x) v[x] = blend_with_pad(v[x], taps[x].inside * inside_y, pad);
}

void round_row(int n, float *HWY_RESTRICT v) {
  for (int x = 0; x < n; ++x) v[x] = round_component(v[x]);
}

void narrow(const float *HWY_RESTRICT v, int n, uint8_t *HWY_RESTRICT out) {
  for (int x = 0; x < n; ++x) out[x] = to_sample(v[x]);
}

void widen(const uint8_t *HWY_RESTRICT v, int n, float *HWY_RESTRICT out) {
  for (int x = 0; x < n; ++x) out[x] = static_cast<float>(v[x]);
}

template <class T>
void normalize_row(ChannelScale k, const float *HWY_RESTRICT v, int n, void *out) {
  T *HWY_RESTRICT elements = static_cast<T *>(out);
  for (int x = 0; x < n; ++x) elements[x] = to_element<T>(normalize(k, v[x]));
}

/// Calls piece(begin, count) for consecutive pieces of 0 .. n, each small enough for a buffer in
/// the cache.
constexpr int kPiece = 512;
template <class Piece>
HWY_INLINE void for_each_piece(int n, const Piece &piece) {
  for (int x = 0; x < n; x += kPiece) piece(x, std::min(kPiece, n - x));
}

// The conversion instructions of these processors round to nearest even; Highway's emulation for
// other processors does not.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || defined(HWY_DISABLE_F16C)
#define CUDATENSOR_HALF 0
#elif (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM_A64
#define CUDATENSOR_HALF 1
#else
#define CUDATENSOR_HALF 0
#endif

void narrow_to_half(const float *HWY_RESTRICT v, int n, Half *HWY_RESTRICT out) {
  int x = 0;
#if CUDATENSOR_HALF
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  auto *const to = reinterpret_cast<hwy::float16_t *>(out);
  for (const auto lanes = static_cast<int>(hn::Lanes(d)); x + lanes <= n; x += lanes)
    hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, v + x)), half, to + x);
#endif
  for (; x < n; ++x) out[x] = to_half(v[x]);
}

void widen_half(const Half *HWY_RESTRICT v, int n, float *HWY_RESTRICT out) {
  int x = 0;
#if CUDATENSOR_HALF
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const auto *const from = reinterpret_cast<const hwy::float16_t *>(v);
  for (const auto lanes = static_cast<int>(hn::Lanes(d)); x + lanes <= n; x += lanes)
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, from + x)), d, out + x);
#endif
  for (; x < n; ++x) out[x] = to_float(v[x]);
}
#undef CUDATENSOR_HALF

template <>
void normalize_row<Half>(ChannelScale k, const float *HWY_RESTRICT v, int n, void *out) {
  for_each_piece(n, [&](int begin, int count) {
    float piece[kPiece];
    normalize_row<float>(k, v + begin, count, piece);
    narrow_to_half(piece, count, static_cast<Half *>(out) + begin);
  });
}

template <int kComponents>
void split(const uint8_t *HWY_RESTRICT words, int n, uint8_t *const *out) {
  uint8_t *HWY_RESTRICT first = out[0];
  uint8_t *HWY_RESTRICT second = out[kComponents - 1];
  if (kComponents == 1) {
    std::copy_n(words, n, first);
    return;
  }
  for (int x = 0; x < n; ++x) {
    first[x] = words[2 * x];
    second[x] = words[2 * x + 1];
  }
}

template <int kComponents>
void horizontal(const uint8_t *HWY_RESTRICT words, const int32_t *HWY_RESTRICT w, int n,
                int32_t *HWY_RESTRICT out) {
  int32_t *HWY_RESTRICT second = out + n;
  for (int x = 0; x < n; ++x) {
    const uint32_t p0 = pixel_at<kComponents, 2>(words, x, 0);
    const uint32_t p1 = pixel_at<kComponents, 2>(words, x, 1);
    out[x] = fixed_horizontal(component_of(p0, 0), component_of(p1, 0), w[x]);
    if (kComponents == 2)
      second[x] = fixed_horizontal(component_of(p0, 1), component_of(p1, 1), w[x]);
  }
}

void vertical(const int32_t *HWY_RESTRICT v0, const int32_t *HWY_RESTRICT v1, int32_t w, int n,
              uint8_t *HWY_RESTRICT out) {
  for (int x = 0; x < n; ++x) out[x] = static_cast<uint8_t>(fixed_vertical(v0[x], v1[x], w));
}

void luminance_row(const uint8_t *HWY_RESTRICT words, const uint8_t *offset, int n,
                   uint8_t *HWY_RESTRICT out) {
  const int r = offset[0], g = offset[1], b = offset[2];
  for (int x = 0; x < n; ++x) {
    const uint32_t pixel = pixel_at<3, 1>(words, x, 0);
    out[x] = luminance(static_cast<float>(component_of(pixel, r)),
                       static_cast<float>(component_of(pixel, g)),
                       static_cast<float>(component_of(pixel, b)));
  }
}

void upper_bits(const uint8_t *HWY_RESTRICT words, int n, int shift, uint8_t *HWY_RESTRICT out) {
  for (int x = 0; x < n; ++x) out[x] = static_cast<uint8_t>(load<uint16_t>(words, x) >> shift);
}

// Neighboring pixels use separate counters, so that equal pixels do not wait for each other's
// increment. The counters of a bin are adjacent, because neighbors are usually equal and a CPU
// writes faster to one cache line than to several.
template <int kStep>
void count_row(const uint8_t *HWY_RESTRICT row, int n, Counters &counters) {
  constexpr int kCopies = Counters::kCopies;
  auto *HWY_RESTRICT of = counters.of;
  int x = 0;
  for (; x + kCopies <= n; x += kCopies, row += kCopies * kStep)
    for (int k = 0; k < kCopies; ++k) ++of[row[k * kStep]][k];
  for (; x < n; ++x, row += kStep) ++of[*row][0];
}

template <class T>
HWY_INLINE const T *row_of(const void *const *rows, int k) {
  return static_cast<const T *>(rows[k]);
}

// Copies bytes because the elements may be floats.
template <class T>
void interleave_any(const void *const *rows, int r, int64_t n, void *HWY_RESTRICT out) {
  auto *to = static_cast<uint8_t *>(out);
  for (int64_t x = 0; x < n; ++x)
    for (int k = 0; k < r; ++k, to += sizeof(T)) {
      const T element = load<T>(row_of<uint8_t>(rows, k), x);
      memcpy(to, &element, sizeof(T));
    }
}

#if HWY_TARGET == HWY_SCALAR
template <int kRows, class T>
void interleave_rows(const void *const *rows, int64_t n, void *HWY_RESTRICT out) {
  interleave_any<T>(rows, kRows, n, out);
}
#else
template <int kRows, class T>
void interleave_rows(const void *const *rows, int64_t n, void *HWY_RESTRICT out) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (n < lanes) return interleave_any<T>(rows, kRows, n, out);
  const T *const r0 = row_of<T>(rows, 0);
  const T *const r1 = row_of<T>(rows, 1);
  const T *const r2 = row_of<T>(rows, kRows > 2 ? 2 : 0);
  const T *const r3 = row_of<T>(rows, kRows > 3 ? 3 : 0);
  const auto step = [&](int64_t x) {
    const auto v0 = hn::LoadU(d, r0 + x), v1 = hn::LoadU(d, r1 + x);
    T *const to = static_cast<T *>(out) + x * kRows;
    if constexpr (kRows == 2) hn::StoreInterleaved2(v0, v1, d, to);
    if constexpr (kRows == 3) hn::StoreInterleaved3(v0, v1, hn::LoadU(d, r2 + x), d, to);
    if constexpr (kRows == 4)
      hn::StoreInterleaved4(v0, v1, hn::LoadU(d, r2 + x), hn::LoadU(d, r3 + x), d, to);
  };
  for (int64_t x = 0; x + lanes <= n; x += lanes) step(x);
  // The last vector overlaps elements that have been written already.
  if (n % lanes != 0) step(n - lanes);
}
#endif

template <class T>
void interleave(const void *const *rows, int r, int64_t n, void *out) {
  switch (r) {
    case 2: return interleave_rows<2, T>(rows, n, out);
    case 3: return interleave_rows<3, T>(rows, n, out);
    case 4: return interleave_rows<4, T>(rows, n, out);
    default: return interleave_any<T>(rows, r, n, out);
  }
}

template <class T>
void to_video(const void *row, int n, SampleScale k, uint8_t *HWY_RESTRICT out) {
  const T *HWY_RESTRICT elements = static_cast<const T *>(row);
  for (int x = 0; x < n; ++x) out[x] = to_video_sample(to_float(elements[x]), k);
}

template <>
void to_video<Half>(const void *row, int n, SampleScale k, uint8_t *HWY_RESTRICT out) {
  for_each_piece(n, [&](int begin, int count) {
    float piece[kPiece];
    widen_half(static_cast<const Half *>(row) + begin, count, piece);
    to_video<float>(piece, count, k, out + begin);
  });
}

template <int kComponents>
void fill_samples(RowKernels::Sample (&table)[2][2]) {
  table[0][0] = sample<kComponents, 1, 1>;
  table[0][1] = sample<kComponents, 1, 2>;
  table[1][0] = sample<kComponents, 2, 1>;
  table[1][1] = sample<kComponents, 2, 2>;
}

template <int kComponents>
void fill_deep_samples(RowKernels::DeepSample (&table)[2][2]) {
  table[0][0] = deep_sample<kComponents, 1, 1>;
  table[0][1] = deep_sample<kComponents, 1, 2>;
  table[1][0] = deep_sample<kComponents, 2, 1>;
  table[1][1] = deep_sample<kComponents, 2, 2>;
}

}  // namespace

RowKernels make_table() {
  RowKernels t = {};
  t.window = kWindow;
  t.gather = gather;
  fill_samples<1>(t.sample[0]);
  fill_samples<2>(t.sample[1]);
  fill_samples<3>(t.sample[2]);
  fill_deep_samples<1>(t.deep_sample[0]);
  fill_deep_samples<2>(t.deep_sample[1]);
  t.convert[static_cast<int>(Conversion::keep)] = convert_keep;
  t.convert[static_cast<int>(Conversion::yuv_to_rgb)] = convert_yuv_to_rgb;
  t.convert[static_cast<int>(Conversion::luma_to_gray)] = convert_luma_to_gray;
  t.convert[static_cast<int>(Conversion::rgb_to_gray)] = convert_rgb_to_gray;
  t.convert[static_cast<int>(Conversion::gray_to_rgb)] = convert_gray_to_rgb;
  t.blend_with_pad = blend_row_with_pad;
  t.round = round_row;
  t.narrow = narrow;
  t.widen = widen;
  t.normalize[static_cast<int>(DType::float32)] = normalize_row<float>;
  t.normalize[static_cast<int>(DType::float16)] = normalize_row<Half>;
  t.normalize[static_cast<int>(DType::uint8)] = normalize_row<uint8_t>;
  t.normalize[static_cast<int>(DType::int8)] = normalize_row<int8_t>;
  t.normalize[static_cast<int>(DType::bfloat16)] = normalize_row<BFloat16>;
  t.split[0] = split<1>;
  t.split[1] = split<2>;
  t.fixed_horizontal[0] = horizontal<1>;
  t.fixed_horizontal[1] = horizontal<2>;
  t.fixed_vertical = vertical;
  t.luminance = luminance_row;
  t.upper_bits = upper_bits;
  t.count[1] = count_row<1>;
  t.count[2] = count_row<2>;
  t.interleave[1] = interleave<uint8_t>;
  t.interleave[2] = interleave<uint16_t>;
  t.interleave[4] = interleave<uint32_t>;
  t.to_video[static_cast<int>(DType::float32)] = to_video<float>;
  t.to_video[static_cast<int>(DType::float16)] = to_video<Half>;
  t.to_video[static_cast<int>(DType::uint8)] = to_video<uint8_t>;
  return t;
}

}  // namespace cudatensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudatensor::cpu {

HWY_EXPORT(make_table);

const RowKernels &row_kernels() {
  static const RowKernels table = HWY_DYNAMIC_DISPATCH(make_table)();
  return table;
}

}  // namespace cudatensor::cpu
#endif
