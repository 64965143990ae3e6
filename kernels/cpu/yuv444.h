// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of the fixed-point path.
#pragma once

#include <vector>

#include "rows.h"

namespace cudatensor::cpu {

/// Produces the Y, U and V rows of a plan. One object for a plan, one Scratch for each thread.
class Yuv444Rows {
 public:
  explicit Yuv444Rows(Yuv444Plan plan);

  /// The two source rows of each component that were resized last, in Q8.5: neighbouring output
  /// rows mostly need the same ones.
  struct Scratch {
    struct Row {
      int index;
      std::vector<int32_t> values;
    };
    Row row[3][2];

    /// Before the rows of another picture.
    void forget();
  };
  Scratch make_scratch() const;

  /// Writes row y of component c, width() samples.
  void produce(const ConstImage &in, int c, int y, Scratch &scratch, uint8_t *out) const;

  int width() const { return plan_.width; }

 private:
  const int32_t *resized_row(const ConstImage &in, int c, int index, int other,
                             Scratch &scratch) const;

  Yuv444Plan plan_;
  const RowKernels &rows_;
};

}  // namespace cudatensor::cpu
