// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/matrixkernels.h"

// Compiled once for each instruction set, like rows.cpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matrixkernels.cpp"
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cudatensor::cpu::HWY_NAMESPACE {
namespace {

void find(int64_t position, int64_t step, int n, int32_t length, int32_t *HWY_RESTRICT first,
          float *HWY_RESTRICT w, float *HWY_RESTRICT inside) {
  for (int k = 0; k < n; ++k) {
    const int64_t at = position + step * k;
    first[k] = first_of(at);
    w[k] = weight_of(at);
    inside[k] = tap_at(at, length).inside;
  }
}

void find_nearest(int64_t position, int64_t step, int n, int32_t length,
                  int32_t *HWY_RESTRICT first, float *HWY_RESTRICT w, float *HWY_RESTRICT inside) {
  for (int k = 0; k < n; ++k) {
    const int64_t at = position + step * k;
    first[k] = nearest_of(at);
    w[k] = 0.0f;
    inside[k] = nearest_tap_at(at, length).inside;
  }
}

void find_chroma(int64_t position, int64_t step, int n, const Chroma &chroma,
                 int32_t *HWY_RESTRICT first, float *HWY_RESTRICT w) {
  const int shift = chroma.shift;
  const bool cosited = chroma.cosited;
  for (int k = 0; k < n; ++k) {
    const int64_t at = chroma_position(position + step * k, shift, cosited);
    first[k] = first_of(at);
    w[k] = weight_of(at);
  }
}

/// Blends the samples that `sample` takes from the words of pixel k.
template <class Sample>
HWY_INLINE float blended(const CornerWords &words, int k, float wx, float wy,
                         const Sample &sample) {
  const float left = blend(sample(words.of[0][k]), sample(words.of[2][k]), wy);
  const float right = blend(sample(words.of[1][k]), sample(words.of[3][k]), wy);
  return blend(left, right, wx);
}

template <int kComponents>
void blend_words(const CornerWords &words, const float *HWY_RESTRICT wx,
                 const float *HWY_RESTRICT wy, int n, float *const *out) {
  const CornerWords from = words;
  for (int c = 0; c < kComponents; ++c) {
    float *HWY_RESTRICT to = out[c];
    const auto sample = [c](uint32_t word) HWY_ATTR {
      return static_cast<float>(static_cast<int32_t>(word >> (8 * c) & 0xff));
    };
    for (int k = 0; k < n; ++k) to[k] = blended(from, k, wx[k], wy[k], sample);
  }
}

template <int kComponents>
void blend_deep_words(const CornerWords &words, const float *HWY_RESTRICT wx,
                      const float *HWY_RESTRICT wy, int n, const DeepRead &read,
                      float *const *out) {
  const CornerWords from = words;
  const DeepRead how = read;
  for (int c = 0; c < kComponents; ++c) {
    float *HWY_RESTRICT to = out[c];
    const auto sample = [c, how](uint32_t word) HWY_ATTR {
      const auto bits = static_cast<int32_t>(word >> (16 * c) & how.mask);
      return to_eight_bits(how.scale, static_cast<float>(bits));
    };
    for (int k = 0; k < n; ++k) to[k] = blended(from, k, wx[k], wy[k], sample);
  }
}

void blend_border(const float *HWY_RESTRICT inside_x, const float *HWY_RESTRICT inside_y, float pad,
                  int n, float *HWY_RESTRICT v) {
  for (int k = 0; k < n; ++k) v[k] = blend_with_pad(v[k], inside_x[k] * inside_y[k], pad);
}

}  // namespace

MatrixKernels make_matrix_table() {
  return {find,
          find_nearest,
          find_chroma,
          {blend_words<1>, blend_words<2>, blend_words<3>},
          {blend_deep_words<1>, blend_deep_words<2>},
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
