// SPDX-License-Identifier: LGPL-2.1-or-later
// The row functions of antialiased resizes, see rows.h.
#pragma once

#include <vector>

#include "kernels/filterplan.h"

namespace cudatensor::cpu {

/// The bytes behind a row that these functions may read, or overwrite with any values.
constexpr int kFilterSlack = 64;
/// Columns that are filtered together.
constexpr int kFilterGroup = 16;

/// Products of 8-bit pixels and 23-bit weights are sums of products of pixels and the three signed
/// digits of a weight to the base 256, for which there are instructions. The first word has the
/// lowest digits of four weights.
struct FilterDigits {
  int32_t word[3];
};

/// Replaces weights by digits, four at a time; the last ones are followed by zeros. The result is
/// empty if a weight has more than three digits.
std::vector<FilterDigits> digits_of(const int32_t *weights, int count);

/// A word of each column of a group.
struct alignas(64) FilterVector {
  int32_t word[kFilterGroup];
};

/// kFilterGroup neighboring columns. A column reads words of four neighboring pixels, the first of
/// them at `base` plus four times its index. Columns share four bases, in order.
struct ColumnGroup {
  int32_t base[4];
  int32_t words;   ///< read by each column
  int32_t digits;  ///< index of the first of three vectors for each word
  int32_t index[kFilterGroup];
};

/// Source bytes that are read next, to be loaded into the cache meanwhile.
struct Ahead {
  const uint8_t *rows[2];
  int bytes;  ///< of each row; 0 = none
};

/// The windows of a row's columns, and the same as an instruction set uses them.
struct FilterColumns {
  int width = 0;             ///< of the source rows
  int slack = kFilterSlack;  ///< the bytes behind them that may be read
  std::vector<FilterWindow> windows;
  std::vector<int32_t> weights;

  int bases = 0;  ///< different ones in each group: 1, 2, or 4; 0 = there are no groups
  std::vector<ColumnGroup> groups;
  std::vector<FilterVector> digits;
};

/// The weights of one output row.
struct RowWeights {
  const int32_t *weights;
  const FilterDigits *digits;  ///< may be null
  int count;
};

struct FilterKernels {
  /// Completes columns whose windows and weights are set.
  void (*prepare)(FilterColumns &columns);
  /// Filters `count` rows along x. Source rows have the slack of `columns`, and up to kFilterGroup
  /// values more than there are columns are written.
  void (*columns)(const FilterColumns &columns, const uint8_t *const *rows, int count,
                  const Ahead &ahead, uint8_t *const *out);
  /// Filters the columns 0 .. n of rows along y. All rows have kFilterSlack.
  void (*rows)(const uint8_t *const *rows, const RowWeights &weights, int n, uint8_t *out);
};

const FilterKernels &filter_kernels();

}  // namespace cudatensor::cpu
