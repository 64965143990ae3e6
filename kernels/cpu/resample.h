// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of the float path: sampled, converted and laid over the pad colour.
#pragma once

#include <vector>

#include "rows.h"

namespace cudatensor::cpu {

/// Produces output rows of a plan. One object for a plan, one Scratch for each thread.
class ResampleRows {
 public:
  explicit ResampleRows(ResamplePlan plan);

  struct Scratch {
    std::vector<float> source[3];     ///< blended source rows, one for each plane
    std::vector<float> component[3];  ///< the result, each of dst_width values
  };
  Scratch make_scratch() const;

  /// Fills scratch.component[0 .. produced) with row y, unrounded.
  void produce(const ConstImage &in, int y, Scratch &scratch) const;

  int produced() const { return plan_.produced; }
  int width() const { return plan_.geometry.dst_width; }

 private:
  void sample_bilinear(const ConstImage &in, int y, Scratch &scratch) const;
  void sample_nearest(const ConstImage &in, int y, Scratch &scratch) const;
  void blend_plane(const ConstImage &in, int first_component, int y, float *out) const;
  void fill_pad(Scratch &scratch, int begin, int end) const;
  const Tap *columns(int component) const;
  const Tap &line(int component, int y) const;

  ResamplePlan plan_;
  const RowKernels &rows_;
  int begin_, end_;       // the columns that hold any picture
  bool partial_columns_;  // some of those are partly pad
};

}  // namespace cudatensor::cpu
