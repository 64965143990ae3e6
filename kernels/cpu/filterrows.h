// SPDX-License-Identifier: LGPL-2.1-or-later
// The row functions of antialiased resizes, see rows.h.
#pragma once

#include <vector>

#include "kernels/filterplan.h"

namespace cudatensor::cpu {

/// Number of bytes after a row that these functions may read, or overwrite with any values.
constexpr int kFilterSlack = 64;
/// Number of columns that are filtered together.
constexpr int kFilterGroup = 16;

/// The digits of four weights. A weight has 23 bits; it is split into three signed digits of base
/// 256, because there are instructions for products of bytes. The first word has the lowest digits.
struct FilterDigits {
  int32_t word[3];
};

/// Splits weights into digits, four weights at a time; the last group is filled up with zeros.
/// Returns an empty list if a weight has more than three digits.
std::vector<FilterDigits> digits_of(const int32_t *weights, int count);

/// One word for each column of a group.
struct alignas(64) FilterVector {
  int32_t word[kFilterGroup];
};

/// A group of kFilterGroup neighboring columns. A column reads words of four neighboring pixels;
/// its first word is at its base plus four times its index. Each quarter of the columns has one
/// base.
struct ColumnGroup {
  int32_t base[4];
  int32_t words;   ///< number of words that each column reads
  int32_t digits;  ///< index of the first of three vectors for each word
  int32_t index[kFilterGroup];
};

/// Source bytes that will be read next and are prefetched into the cache.
struct Ahead {
  const uint8_t *rows[2];
  int bytes;  ///< bytes of each row; 0 = none
};

/// The windows of a row's columns, also in the form that an instruction set uses.
struct FilterColumns {
  int width = 0;             ///< pixels of a source row
  int slack = kFilterSlack;  ///< bytes after a source row that may be read
  std::vector<FilterWindow> windows;
  std::vector<int32_t> weights;

  int bases = 0;  ///< number of different bases per group: 1, 2 or 4; 0 = no groups
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
  /// Sets the other members of `columns`, whose windows and weights are set.
  void (*prepare)(FilterColumns &columns);
  /// Filters `count` rows along x. Source rows have the slack of `columns`. Up to kFilterGroup
  /// values are written after the last column.
  void (*columns)(const FilterColumns &columns, const uint8_t *const *rows, int count,
                  const Ahead &ahead, uint8_t *const *out);
  /// Filters columns [0, n) of rows along y. All rows have a slack of kFilterSlack bytes.
  void (*rows)(const uint8_t *const *rows, const RowWeights &weights, int n, uint8_t *out);
};

const FilterKernels &filter_kernels();

}  // namespace cudatensor::cpu
