// SPDX-License-Identifier: LGPL-2.1-or-later
// Rules for programs that round the size of a resized picture differently from the element. For
// most pictures both give the same size; the others are refused.
#pragma once

#include <string>

#include "kernels/geometry.h"

namespace cudatensor {

struct SourceRule {
  enum class Kind {
    none,
    half_up,     ///< SAM: floor(length * ratio + 0.5)
    by_ratio,    ///< timm: half_even(length / (src / dst))
    least_pads,  ///< Ultralytics, dynamic exports: as few rows and columns of pad as `stride` allows
  };

  Kind kind = Kind::none;
  int width = 0, height = 0, stride = 1;  ///< least_pads: the size in the file
  std::string origin;                     ///< the file with the key and its value, for the error
};

/// Throws Error if the element makes another tensor of a picture of this size than the file
/// requires.
void check_source(const SourceRule &rule, double src_width, double src_height, int dst_width,
                  int dst_height);

}  // namespace cudatensor
