// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of the fixed-point path.
#pragma once

#include <vector>

#include "kernels/cpu/gather.h"
#include "kernels/cpu/rowpair.h"
#include "kernels/cpu/rows.h"

namespace cudatensor::cpu {

/// Produces the Y, U and V rows of a plan. One object for a plan, one Scratch for each thread.
class Yuv444Rows {
 public:
  explicit Yuv444Rows(Yuv444Plan plan);

  /// Of each group of components, source rows that were resized, in Q8.5, and one that is gathered.
  struct Scratch {
    std::vector<RowPair<int32_t>> resized;
    std::vector<uint8_t> words;

    void begin_picture();
  };
  Scratch make_scratch() const;

  /// Writes row y of each component, width() samples.
  void produce(const ConstImage &in, int y, Scratch &scratch, uint8_t *const *out) const;

  int width() const { return plan_.width; }

 private:
  /// Components that lie in one plane.
  struct Group {
    int first, components;
    Gather gather;
    std::vector<int32_t> weights;  // of the second tap
    bool picks;                    // nothing is blended: every sample is one of the source
  };

  Group make_group(int first, int components) const;
  void blend(const ConstImage &in, const Group &group, int y, RowPair<int32_t> &rows,
             uint8_t *words, uint8_t *const *out) const;
  void pick(const ConstImage &in, const Group &group, int y, uint8_t *words,
            uint8_t *const *out) const;

  Yuv444Plan plan_;
  const RowKernels &kernels_;
  std::vector<Group> groups_;
};

}  // namespace cudatensor::cpu
