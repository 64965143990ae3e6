// SPDX-License-Identifier: LGPL-2.1-or-later
// The fixed-point path by rows.
#pragma once

#include <vector>

#include "kernels/cpu/gather.h"
#include "kernels/cpu/rowpair.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/upright.h"

namespace cudatensor::cpu {

/// Produces the Y, U and V rows of a plan. There is one object per plan and one Scratch per thread.
class Yuv444Rows {
 public:
  explicit Yuv444Rows(Yuv444Plan plan);

  /// The memory of one thread: for each component group, horizontally resized source rows in Q8.5,
  /// and one gathered row.
  struct Scratch {
    std::vector<RowPair<int32_t>> resized;
    std::vector<Upright::Scratch> upright;
    std::vector<uint8_t> words;

    void begin_picture();
  };
  Scratch make_scratch() const;

  /// Writes row y of each component, width() samples each.
  void produce(const ConstImage &in, int y, Scratch &scratch, uint8_t *const *out) const;

  int width() const { return plan_.width; }
  /// The fewest rows that one thread should produce.
  int least_rows() const;

 private:
  /// Components of one plane.
  struct Group {
    int first, components;
    Upright upright;
    Gather gather;
    std::vector<int32_t> weights;  // weights of the second tap
    bool picks;                    // no blending: each output sample is a copy of a source sample
  };

  Group make_group(int first, int components) const;
  void gather(const ConstImage &in, size_t group, int line, int ahead, Scratch &scratch) const;
  void blend(const ConstImage &in, size_t group, int y, Scratch &scratch,
             uint8_t *const *out) const;
  void pick(const ConstImage &in, size_t group, int y, Scratch &scratch, uint8_t *const *out) const;

  Yuv444Plan plan_;
  const RowKernels &kernels_;
  std::vector<Group> groups_;
};

}  // namespace cudatensor::cpu
