// SPDX-License-Identifier: LGPL-2.1-or-later
// Matrix products of bytes with weights, for the kernel of antialiased resizes.
#pragma once

#include "kernels/cuda/filtershape.h"
#include "kernels/cuda/filtertables.cuh"
#include "kernels/cuda/launch.cuh"

namespace cudatensor::cuda {

/// Adds the product of 16 rows and 8 columns of 32 bytes to the sums `c`. Bytes of the weights are
/// signed, bytes of the samples are unsigned. A lane holds of `a` words lane % 4 and lane % 4 + 4
/// of rows lane / 4 and lane / 4 + 8; of `b` the same words of column lane / 4; of `c` columns 2 ·
/// (lane % 4) and the next one of the same rows.
template <bool kWeightsFirst>
__device__ __forceinline__ void multiply(const uint32_t (&a)[4], const uint32_t (&b)[2],
                                         int32_t (&c)[4]) {
#if __CUDA_ARCH__ >= 800
  if constexpr (kWeightsFirst)
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int32_t &left = c[i % 2 * 2], &right = c[i % 2 * 2 + 1];
    if constexpr (kWeightsFirst)
      asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+r"(left), "+r"(right)
          : "r"(a[i]), "r"(b[i / 2]));
    else
      asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+r"(left), "+r"(right)
          : "r"(a[i]), "r"(b[i / 2]));
  }
#endif
}

/// The sums of a lane, by digit of the weights.
struct DigitSums {
  int32_t sum[3][4];

  /// `start` is the initial value of the totals.
  __device__ __forceinline__ explicit DigitSums(int32_t start = 0) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      sum[0][i] = start;
      sum[1][i] = sum[2][i] = 0;
    }
  }
  __device__ __forceinline__ int32_t total(int i) const {
    return (((sum[2][i] << 8) + sum[1][i]) << 8) + sum[0][i];
  }
};

/// The weights of the words of one output coordinate, which are `step` apart.
class Window {
 public:
  __device__ __forceinline__ Window(const FilterColumns &table, int column)
      : step_(table.count), first_(table.weights + column) {
    const int2 span = __ldg(reinterpret_cast<const int2 *>(table.spans + column));
    begin_ = span.x;
    count_ = span.y - span.x;
  }
  __device__ __forceinline__ Window(const FilterLines &table, int row) : step_(1) {
    const int4 window = __ldg(reinterpret_cast<const int4 *>(table.windows + row));
    begin_ = window.x;
    count_ = window.y - window.x;
    first_ = table.weights + window.z;
  }

  /// Returns the weights of a word; zeros outside the window.
  __device__ __forceinline__ WordWeights at(int word) const {
    const uint32_t k = word - begin_;
    if (k >= count_) return {0, 0, 0, 0};
    return __ldg(reinterpret_cast<const WordWeights *>(
        advance(reinterpret_cast<const uint8_t *>(first_), k, step_ * sizeof(WordWeights))));
  }

 private:
  int begin_;
  uint32_t count_, step_;
  const WordWeights *first_;
};

__device__ __forceinline__ uint32_t digit_of(const WordWeights &weights, int digit) {
  return digit == 0 ? weights.x : digit == 1 ? weights.y : weights.z;
}

/// The position of a lane in the fragments of multiply().
__device__ __forceinline__ int lane_row() { return static_cast<int>(threadIdx.x) / 4; }
__device__ __forceinline__ int lane_word() { return static_cast<int>(threadIdx.x) % 4; }

/// Returns `words` rounded up to whole products.
__device__ __forceinline__ int whole_steps(int words) {
  return (words + kWordsOfProduct - 1) & ~(kWordsOfProduct - 1);
}

}  // namespace cudatensor::cuda
