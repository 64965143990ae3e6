// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <vector>

namespace cudatensor::cpu {

/// Caches the two source rows prepared last, because neighboring output rows usually need the same
/// ones.
template <class T>
class RowPair {
 public:
  explicit RowPair(size_t size) : row_{{-1, std::vector<T>(size)}, {-1, std::vector<T>(size)}} {}

  /// Must be called before the rows of another picture.
  void forget() { row_[0].index = row_[1].index = -1; }

  /// Returns row `index`. Calls `prepare(T *)` first if the row is not cached. Does not evict row
  /// `other`.
  template <class Prepare>
  const T *get(int index, int other, const Prepare &prepare) {
    for (const Row &row : row_)
      if (row.index == index) return row.values.data();
    Row &row = row_[row_[0].index == other ? 1 : 0];
    prepare(row.values.data());
    row.index = index;
    return row.values.data();
  }

 private:
  struct Row {
    int index;
    std::vector<T> values;
  };
  Row row_[2];
};

}  // namespace cudatensor::cpu
