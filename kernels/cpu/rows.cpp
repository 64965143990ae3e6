// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rows.h"

// This file is compiled once for each instruction set that has fused multiply-add, and once for
// the baseline, where fmaf() is a call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cudatensor::cpu::HWY_NAMESPACE {
namespace {

void blend_rows(const uint8_t *HWY_RESTRICT a, const uint8_t *HWY_RESTRICT b, float w, int n,
                float *HWY_RESTRICT out) {
  for (int i = 0; i < n; ++i) out[i] = blend(static_cast<float>(a[i]), static_cast<float>(b[i]), w);
}

void widen(const uint8_t *HWY_RESTRICT a, int n, float *HWY_RESTRICT out) {
  for (int i = 0; i < n; ++i) out[i] = static_cast<float>(a[i]);
}

template <int kStep>
void interpolate(const float *HWY_RESTRICT row, const Tap *HWY_RESTRICT taps, int n,
                 float *HWY_RESTRICT out) {
  for (int x = 0; x < n; ++x)
    out[x] = blend(row[taps[x].i0 * kStep], row[taps[x].i1 * kStep], taps[x].w);
}

template <int kStep>
void pick(const uint8_t *HWY_RESTRICT row, const Tap *HWY_RESTRICT taps, int n,
          float *HWY_RESTRICT out) {
  for (int x = 0; x < n; ++x) out[x] = static_cast<float>(row[taps[x].i0 * kStep]);
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

void blend_over_pad(const Tap *HWY_RESTRICT taps, float inside_y, float pad, int n,
                    float *HWY_RESTRICT v) {
  for (int x = 0; x < n; ++x) v[x] = over_pad(v[x], taps[x].inside * inside_y, pad);
}

void round_row(int n, float *HWY_RESTRICT v) {
  for (int x = 0; x < n; ++x) v[x] = round_half_up(v[x]);
}

void store_plane(const float *HWY_RESTRICT v, int n, uint8_t *HWY_RESTRICT out) {
  for (int x = 0; x < n; ++x) out[x] = to_sample(v[x]);
}

template <int kStep>
void store_packed(const float *const *v, int n, uint8_t *HWY_RESTRICT out) {
  const float *HWY_RESTRICT v0 = v[0];
  const float *HWY_RESTRICT v1 = v[1];
  const float *HWY_RESTRICT v2 = v[2];
  const float *HWY_RESTRICT v3 = v[kStep - 1];
  for (int x = 0; x < n; ++x) {
    out[x * kStep] = to_sample(v0[x]);
    out[x * kStep + 1] = to_sample(v1[x]);
    out[x * kStep + 2] = to_sample(v2[x]);
    if (kStep == 4) out[x * kStep + 3] = to_sample(v3[x]);
  }
}

template <class T>
void normalize_plane(ChannelScale k, const float *HWY_RESTRICT v, int n, void *out) {
  T *HWY_RESTRICT elements = static_cast<T *>(out);
  for (int x = 0; x < n; ++x) elements[x] = to_element<T>(normalize(k, v[x]));
}

template <class T>
void normalize_packed(const ChannelScale *k, const float *const *v, int n, void *out) {
  T *HWY_RESTRICT elements = static_cast<T *>(out);
  const ChannelScale k0 = k[0], k1 = k[1], k2 = k[2];
  const float *HWY_RESTRICT v0 = v[0];
  const float *HWY_RESTRICT v1 = v[1];
  const float *HWY_RESTRICT v2 = v[2];
  for (int x = 0; x < n; ++x) {
    elements[3 * x] = to_element<T>(normalize(k0, v0[x]));
    elements[3 * x + 1] = to_element<T>(normalize(k1, v1[x]));
    elements[3 * x + 2] = to_element<T>(normalize(k2, v2[x]));
  }
}

template <int kStep>
void horizontal(const uint8_t *HWY_RESTRICT row, const FixedTap *HWY_RESTRICT taps, int n,
                int32_t *HWY_RESTRICT out) {
  for (int x = 0; x < n; ++x)
    out[x] = fixed_horizontal(row[taps[x].i0 * kStep], row[taps[x].i1 * kStep], taps[x].w);
}

void vertical(const int32_t *HWY_RESTRICT v0, const int32_t *HWY_RESTRICT v1, int32_t w, int n,
              uint8_t *HWY_RESTRICT out) {
  for (int x = 0; x < n; ++x) out[x] = static_cast<uint8_t>(fixed_vertical(v0[x], v1[x], w));
}

template <int kStep>
void luminance_row(const uint8_t *HWY_RESTRICT r, const uint8_t *HWY_RESTRICT g,
                   const uint8_t *HWY_RESTRICT b, int n, uint8_t *HWY_RESTRICT out) {
  for (int x = 0; x < n; ++x) out[x] = luminance(r[x * kStep], g[x * kStep], b[x * kStep]);
}

// Four tables, so that equal neighbours do not wait for each other's count.
template <int kStep>
void count_row(const uint8_t *HWY_RESTRICT row, int n, uint32_t *HWY_RESTRICT bins) {
  for (int x = 0; x < n; ++x) ++bins[(x & 3) * kBins + row[x * kStep]];
}

template <class T, int kFactor>
void interleave_rows(const T *HWY_RESTRICT rows, int64_t stride, int r, int64_t n,
                     T *HWY_RESTRICT out) {
  const int factor = kFactor != 0 ? kFactor : r;
  for (int64_t x = 0; x < n; ++x)
    for (int k = 0; k < factor; ++k) out[x * factor + k] = rows[k * stride + x];
}

template <class T>
void interleave(const void *rows, int64_t stride, int r, int64_t n, void *out) {
  const auto *in = static_cast<const T *>(rows);
  auto *elements = static_cast<T *>(out);
  switch (r) {
    case 2: return interleave_rows<T, 2>(in, stride, r, n, elements);
    case 3: return interleave_rows<T, 3>(in, stride, r, n, elements);
    case 4: return interleave_rows<T, 4>(in, stride, r, n, elements);
    default: return interleave_rows<T, 0>(in, stride, r, n, elements);
  }
}

template <class T>
void interleave_video(const void *rows, int64_t stride, int r, int n, SampleScale k, int step,
                      uint8_t *HWY_RESTRICT out) {
  for (int i = 0; i < r; ++i) {
    const T *HWY_RESTRICT row = static_cast<const T *>(rows) + i * stride;
    uint8_t *HWY_RESTRICT samples = out + static_cast<ptrdiff_t>(i) * step;
    const ptrdiff_t pitch = static_cast<ptrdiff_t>(r) * step;
    for (int x = 0; x < n; ++x) samples[x * pitch] = to_video_sample(to_float(row[x]), k);
  }
}

}  // namespace

RowKernels make_table() {
  RowKernels t = {};
  t.blend = blend_rows;
  t.widen = widen;
  t.interpolate[1] = interpolate<1>;
  t.interpolate[2] = interpolate<2>;
  t.interpolate[3] = interpolate<3>;
  t.interpolate[4] = interpolate<4>;
  t.pick[1] = pick<1>;
  t.pick[2] = pick<2>;
  t.pick[3] = pick<3>;
  t.pick[4] = pick<4>;
  t.convert[static_cast<int>(Conversion::keep)] = convert_keep;
  t.convert[static_cast<int>(Conversion::yuv_to_rgb)] = convert_yuv_to_rgb;
  t.convert[static_cast<int>(Conversion::luma_to_gray)] = convert_luma_to_gray;
  t.convert[static_cast<int>(Conversion::rgb_to_gray)] = convert_rgb_to_gray;
  t.convert[static_cast<int>(Conversion::gray_to_rgb)] = convert_gray_to_rgb;
  t.over_pad = blend_over_pad;
  t.round = round_row;
  t.store_plane = store_plane;
  t.store_packed[3] = store_packed<3>;
  t.store_packed[4] = store_packed<4>;
  t.normalize_plane[static_cast<int>(DType::float32)] = normalize_plane<float>;
  t.normalize_plane[static_cast<int>(DType::float16)] = normalize_plane<Half>;
  t.normalize_plane[static_cast<int>(DType::uint8)] = normalize_plane<uint8_t>;
  t.normalize_plane[static_cast<int>(DType::int8)] = normalize_plane<int8_t>;
  t.normalize_packed[static_cast<int>(DType::float32)] = normalize_packed<float>;
  t.normalize_packed[static_cast<int>(DType::float16)] = normalize_packed<Half>;
  t.normalize_packed[static_cast<int>(DType::uint8)] = normalize_packed<uint8_t>;
  t.normalize_packed[static_cast<int>(DType::int8)] = normalize_packed<int8_t>;
  t.fixed_horizontal[1] = horizontal<1>;
  t.fixed_horizontal[2] = horizontal<2>;
  t.fixed_vertical = vertical;
  t.luminance[1] = luminance_row<1>;
  t.luminance[3] = luminance_row<3>;
  t.luminance[4] = luminance_row<4>;
  t.count[1] = count_row<1>;
  t.count[2] = count_row<2>;
  t.interleave[1] = interleave<uint8_t>;
  t.interleave[2] = interleave<uint16_t>;
  t.interleave[4] = interleave<uint32_t>;
  t.interleave_video[static_cast<int>(DType::float32)] = interleave_video<float>;
  t.interleave_video[static_cast<int>(DType::float16)] = interleave_video<Half>;
  t.interleave_video[static_cast<int>(DType::uint8)] = interleave_video<uint8_t>;
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
