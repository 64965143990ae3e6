// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of the float path: sampled, converted and laid over the pad colour.
#pragma once

#include <vector>

#include "kernels/cpu/gather.h"
#include "kernels/cpu/rowpair.h"
#include "kernels/cpu/rows.h"

namespace cudatensor::cpu {

/// Produces output rows of a plan. One object for a plan, one Scratch for each thread.
class ResampleRows {
 public:
  explicit ResampleRows(ResamplePlan plan);

  struct Scratch {
    std::vector<RowPair<uint8_t>> words;  ///< gathered source rows, for each group of components
    std::vector<float> component[3];      ///< the result, each of dst_width values; pad at first

    void begin_picture();
  };
  Scratch make_scratch() const;

  /// Fills scratch.component[0 .. produced) with row y, unrounded. False where all of it is pad:
  /// then nothing is done.
  bool produce(const ConstImage &in, int y, Scratch &scratch) const;

  int width() const { return plan_.geometry.dst_width; }

 private:
  /// Components that lie in one plane, and are sampled at once.
  struct Group {
    int first, components;
    Gather gather;
    std::vector<float> weights;  // of the second tap; none where there is no second
  };

  Group make_group(int first, int components) const;
  void sample(const ConstImage &in, const Group &group, int y, RowPair<uint8_t> &rows,
              float *const *out) const;
  void lay_over_pad(float inside_y, float *const *out) const;

  ResamplePlan plan_;
  const RowKernels &kernels_;
  int begin_, end_;          // the columns that hold any picture …
  int inside_, inside_end_;  // … and nothing but picture
  std::vector<Group> groups_;
};

}  // namespace cudatensor::cpu
