// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cpu/filterrows.h"

#include <algorithm>

// Compiled once for each instruction set, like rows.cpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/filterrows.cpp"
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cudatensor::cpu::HWY_NAMESPACE {
namespace {

void filter_row(const FilterColumns &columns, const uint8_t *HWY_RESTRICT row,
                uint8_t *HWY_RESTRICT out) {
  for (const FilterWindow &window : columns.windows) {
    const uint8_t *const pixels = row + window.first;
    const int32_t *const weights = columns.weights.data() + window.weight;
    int32_t sum = kFilterHalf;
    for (int i = 0; i < window.count; ++i) sum += pixels[i] * weights[i];
    *out++ = filtered_sample(sum);
  }
}

void filter_columns(const FilterColumns &columns, const uint8_t *const *rows, int count,
                    uint8_t *const *out) {
  for (int i = 0; i < count; ++i) filter_row(columns, rows[i], out[i]);
}

void filter_rows(const uint8_t *const *rows, const int32_t *weights, int count, int n,
                 uint8_t *HWY_RESTRICT out) {
  constexpr int kPiece = 1024;
  for (int begin = 0; begin < n; begin += kPiece) {
    const int piece = std::min(kPiece, n - begin);
    int32_t sums[kPiece];
    std::fill_n(sums, piece, kFilterHalf);
    for (int i = 0; i < count; ++i) {
      const uint8_t *HWY_RESTRICT row = rows[i] + begin;
      const int32_t weight = weights[i];
      for (int x = 0; x < piece; ++x) sums[x] += row[x] * weight;
    }
    for (int x = 0; x < piece; ++x) out[begin + x] = filtered_sample(sums[x]);
  }
}

}  // namespace

FilterKernels make_filter_table() { return {filter_columns, filter_rows}; }

}  // namespace cudatensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudatensor::cpu {

HWY_EXPORT(make_filter_table);

const FilterKernels &filter_kernels() {
  static const FilterKernels table = HWY_DYNAMIC_DISPATCH(make_filter_table)();
  return table;
}

}  // namespace cudatensor::cpu
#endif
