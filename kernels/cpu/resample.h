// SPDX-License-Identifier: LGPL-2.1-or-later
// The floating-point path by rows: samples, converts and blends with the pad color.
#pragma once

#include <vector>

#include "kernels/cpu/gather.h"
#include "kernels/cpu/rowpair.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/upright.h"

namespace cudatensor::cpu {

/// Produces the output rows of a plan. There is one object per plan and one Scratch per thread.
class ResampleRows {
 public:
  explicit ResampleRows(ResamplePlan plan);

  struct Scratch {
    std::vector<RowPair<uint8_t>> words;    ///< gathered source rows of each component group
    std::vector<Upright::Scratch> upright;  ///< source rows of each component group
    std::vector<float>
        component[3];  ///< the result, dst_width values each; initialized with the pad color

    void begin_picture();
  };
  Scratch make_scratch() const;

  /// Writes the unrounded row y to scratch.component[0 .. produced). Returns false and writes
  /// nothing if the whole row is pad.
  bool produce(const ConstImage &in, int y, Scratch &scratch) const;

  int width() const { return plan_.geometry.dst_width; }
  /// The fewest rows that one thread should produce.
  int least_rows() const;
  /// The columns that are not pad.
  int begin() const { return begin_; }
  int end() const { return end_; }

 private:
  /// Components of one plane, sampled together.
  struct Group {
    int first, components;
    Upright upright;
    Gather gather;
    std::vector<float> weights;  // weights of the second tap; empty if there is no second tap
    DeepRead deep;               // samples of more than eight bits
  };

  Group make_group(int first, int components) const;
  void sample(const ConstImage &in, size_t group, int y, Scratch &scratch, float *const *out) const;
  void blend_border(float inside_y, float *const *out) const;

  ResamplePlan plan_;
  const RowKernels &kernels_;
  int begin_, end_;          // columns that show any part of the picture
  int inside_, inside_end_;  // columns that show only the picture
  std::vector<Group> groups_;
};

}  // namespace cudatensor::cpu
