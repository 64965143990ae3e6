// SPDX-License-Identifier: LGPL-2.1-or-later
// The rows of slots by a matrix. Each pixel reads samples at a position of its own.
#pragma once

#include <vector>

#include "kernels/cpu/rows.h"
#include "kernels/matrixplan.h"

namespace cudatensor::cpu {

/// Produces the output rows of a plan. There is one object per plan and one Scratch per thread.
class MatrixRows {
 public:
  explicit MatrixRows(MatrixPlan plan) : plan_(std::move(plan)), kernels_(row_kernels()) {}

  struct Scratch {
    std::vector<Tap> x, y;                // of luma, by column
    std::vector<Tap> chroma_x, chroma_y;  // empty if chroma is not subsampled
    std::vector<float> component[3];

    void begin_picture() {}
  };
  Scratch make_scratch() const;

  /// Writes the unrounded row y to scratch.component. Returns false if the whole row is pad.
  bool produce(const ConstImage &in, int y, Scratch &scratch) const;

  int begin() const { return 0; }
  int end() const { return plan_.conversion.geometry.dst_width; }
  int least_rows() const { return 1; }

 private:
  bool find_taps(int y, Scratch &scratch) const;
  void sample(const ConstImage &in, int component, Scratch &scratch) const;
  void blend_border(Scratch &scratch) const;

  MatrixPlan plan_;
  const RowKernels &kernels_;
};

}  // namespace cudatensor::cpu
