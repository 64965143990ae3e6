// SPDX-License-Identifier: LGPL-2.1-or-later
// The row functions of antialiased resizes, see rows.h.
#pragma once

#include <vector>

#include "kernels/filterplan.h"

namespace cudatensor::cpu {

/// The bytes behind a row that these functions may read, or overwrite with any values.
constexpr int kFilterSlack = 64;

/// The windows of a row's columns.
struct FilterColumns {
  int width = 0;  ///< of the source rows
  std::vector<FilterWindow> windows;
  std::vector<int32_t> weights;
};

struct FilterKernels {
  /// Filters `count` rows along x. Rows do not overlap, and both have kFilterSlack.
  void (*columns)(const FilterColumns &columns, const uint8_t *const *rows, int count,
                  uint8_t *const *out);
  /// Filters the columns 0 .. n of `count` rows along y. All rows have kFilterSlack.
  void (*rows)(const uint8_t *const *rows, const int32_t *weights, int count, int n, uint8_t *out);
};

const FilterKernels &filter_kernels();

}  // namespace cudatensor::cpu
