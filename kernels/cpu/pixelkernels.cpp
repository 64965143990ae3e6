// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/pixelkernels.h"

#include <algorithm>

#include "kernels/letterbox.h"

// Compiled once for each instruction set, like rows.cpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/pixelkernels.cpp"
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cudatensor::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
struct SplitPlaces {
  uint8_t of[3][64];
};
constexpr SplitPlaces make_places() {
  SplitPlaces places = {};
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 64; ++i) places.of[c][i] = static_cast<uint8_t>((3 * i + c) % 64);
  return places;
}

/// Splits 64 pixels of three bytes. The places of a component's bytes differ modulo 64, so that one
/// blend of the three vectors holds them all.
HWY_INLINE void split_64(const uint8_t *pixels, const __mmask64 *loaded, __mmask64 stored,
                         ptrdiff_t x, uint8_t *const *out) {
  constexpr __mmask64 kEveryThird = 0x9249249249249249;  // bits 0, 3, …, 63
  alignas(64) static const auto kPlaces = make_places();
  __m512i in[3];
  for (int i = 0; i < 3; ++i)
    in[i] = _mm512_maskz_loadu_epi8(loaded[i], pixels + 3 * x + 64 * ptrdiff_t{i});
  for (int c = 0; c < 3; ++c) {
    // Component c of pixel i is byte 3 i + c.
    const __mmask64 second = kEveryThird << (c + 2) % 3, third = kEveryThird << (c + 1) % 3;
    const __m512i mixed =
        _mm512_mask_blend_epi8(third, _mm512_mask_blend_epi8(second, in[0], in[1]), in[2]);
    const __m512i places = _mm512_load_si512(kPlaces.of[c]);
    _mm512_mask_storeu_epi8(out[c] + x, stored, _mm512_permutexvar_epi8(places, mixed));
  }
}

void split3(const uint8_t *pixels, int n, uint8_t *const *out) {
  const __mmask64 all[3] = {~__mmask64{0}, ~__mmask64{0}, ~__mmask64{0}};
  int x = 0;
  for (; x + 64 <= n; x += 64) split_64(pixels, all, all[0], x, out);
  if (x == n) return;
  __mmask64 rest[3];
  for (int i = 0; i < 3; ++i) {
    const int bytes = std::clamp(3 * (n - x) - 64 * i, 0, 64);
    rest[i] = bytes == 64 ? ~__mmask64{0} : (__mmask64{1} << bytes) - 1;
  }
  split_64(pixels, rest, (__mmask64{1} << (n - x)) - 1, x, out);
}

#else
void split3(const uint8_t *HWY_RESTRICT pixels, int n, uint8_t *const *out) {
  uint8_t *HWY_RESTRICT c0 = out[0];
  uint8_t *HWY_RESTRICT c1 = out[1];
  uint8_t *HWY_RESTRICT c2 = out[2];
  int x = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint8_t> d;
  hn::Vec<decltype(d)> v0, v1, v2;
  for (const auto lanes = static_cast<int>(hn::Lanes(d)); x + lanes <= n; x += lanes) {
    hn::LoadInterleaved3(d, pixels + 3 * x, v0, v1, v2);
    hn::StoreU(v0, d, c0 + x);
    hn::StoreU(v1, d, c1 + x);
    hn::StoreU(v2, d, c2 + x);
  }
#endif
  for (; x < n; ++x) {
    c0[x] = pixels[3 * x];
    c1[x] = pixels[3 * x + 1];
    c2[x] = pixels[3 * x + 2];
  }
}
#endif

void split4(const uint8_t *HWY_RESTRICT pixels, int n, uint8_t *const *out) {
  int x = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint8_t> d;
  hn::Vec<decltype(d)> v0, v1, v2, v3;
  for (const auto lanes = static_cast<int>(hn::Lanes(d)); x + lanes <= n; x += lanes) {
    hn::LoadInterleaved4(d, pixels + 4 * ptrdiff_t{x}, v0, v1, v2, v3);
    if (out[0] != nullptr) hn::StoreU(v0, d, out[0] + x);
    if (out[1] != nullptr) hn::StoreU(v1, d, out[1] + x);
    if (out[2] != nullptr) hn::StoreU(v2, d, out[2] + x);
    if (out[3] != nullptr) hn::StoreU(v3, d, out[3] + x);
  }
#endif
  for (; x < n; ++x)
    for (int k = 0; k < 4; ++k)
      if (out[k] != nullptr) out[k][x] = pixels[4 * ptrdiff_t{x} + k];
}

void blend_chroma(const uint8_t *HWY_RESTRICT above, const uint8_t *HWY_RESTRICT below, int w,
                  int n, uint16_t *HWY_RESTRICT out) {
  for (int x = 0; x < n; ++x) out[x] = static_cast<uint16_t>((4 - w) * above[x] + w * below[x]);
}

void double_chroma(const uint16_t *HWY_RESTRICT samples, const uint16_t *weights, int n,
                   uint16_t *HWY_RESTRICT out) {
  const uint16_t w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
  int x = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint16_t> d;
  const auto blend = [&](uint16_t wa, auto a, uint16_t wb, auto b) HWY_ATTR {
    return hn::Add(hn::Mul(hn::Set(d, wa), a), hn::Mul(hn::Set(d, wb), b));
  };
  for (const auto lanes = static_cast<int>(hn::Lanes(d)); x + lanes <= n; x += lanes) {
    const auto at = hn::LoadU(d, samples + x);
    const auto even = blend(w0, hn::LoadU(d, samples + x - 1), w1, at);
    const auto odd = blend(w2, at, w3, hn::LoadU(d, samples + x + 1));
    hn::StoreInterleaved2(even, odd, d, out + 2 * x);
  }
#endif
  for (; x < n; ++x) {
    out[2 * x] = static_cast<uint16_t>(w0 * samples[x - 1] + w1 * samples[x]);
    out[2 * x + 1] = static_cast<uint16_t>(w2 * samples[x] + w3 * samples[x + 1]);
  }
}

void yuv_row_to_rgb(const YuvToRgb &k, const uint8_t *HWY_RESTRICT y,
                    const uint16_t *HWY_RESTRICT u, const uint16_t *HWY_RESTRICT v, int n,
                    uint8_t *const *out) {
  const YuvToRgb coefficients = k;
  uint8_t *HWY_RESTRICT r = out[0];
  uint8_t *HWY_RESTRICT g = out[1];
  uint8_t *HWY_RESTRICT b = out[2];
  for (int x = 0; x < n; ++x) {
    const Pixel p =
        yuv_to_rgb(coefficients, {static_cast<float>(y[x]), static_cast<float>(u[x]) * 0.0625f,
                                  static_cast<float>(v[x]) * 0.0625f});
    r[x] = to_sample(p.c0);
    g[x] = to_sample(p.c1);
    b[x] = to_sample(p.c2);
  }
}

}  // namespace

PixelKernels make_pixel_table() {
  return {split3, split4, blend_chroma, double_chroma, yuv_row_to_rgb};
}

}  // namespace cudatensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudatensor::cpu {

HWY_EXPORT(make_pixel_table);

const PixelKernels &pixel_kernels() {
  static const PixelKernels table = HWY_DYNAMIC_DISPATCH(make_pixel_table)();
  return table;
}

}  // namespace cudatensor::cpu
#endif
