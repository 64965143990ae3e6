// SPDX-License-Identifier: LGPL-2.1-or-later
// Sampling plans list the source samples of each output column and row. They are computed once per
// geometry on the host, in double precision. All backends use the same plans, so that positions
// never differ between them.
#pragma once

#include <vector>

#include "kernels/fixedpoint.h"
#include "kernels/geometry.h"

namespace cudatensor {

/// Resampling filters. Those after nearest need an antialiased resize, see filterplan.h.
enum class Method : uint8_t { bilinear, nearest, box, bicubic, lanczos };

/// One entry of a plan. Aligned so that a GPU loads it with one instruction.
struct alignas(16) Tap {
  int32_t i0, i1;  ///< source samples, clamped to the picture
  float w;         ///< weight of i1, 0..1
  float inside;    ///< fraction of the weight inside the picture, 0..1; 0 = pad
};

/// The entries of one axis; `chroma` is empty if the picture has no subsampled chroma.
struct AxisPlan {
  std::vector<Tap> luma;
  std::vector<Tap> chroma;
};

struct FixedAxisPlan {
  std::vector<FixedTap> luma;
  std::vector<FixedTap> chroma;
};

/// The position of chroma samples along one axis. There is one sample for each 2^shift luma
/// samples, counted from the start of the stored axis.
struct Chroma {
  int shift = 0;          ///< 0: not subsampled
  bool cosited = false;   ///< sample i is at its first luma sample, otherwise at their center
  bool mirrored = false;  ///< the axis runs against the stored one

  bool is_subsampled() const { return shift > 0; }
};

struct SamplingPlan {
  AxisPlan x, y;
};

/// Makes the plan of a geometry. A region is sampled as if it were a picture that contains only the
/// pixels it touches; pixels outside the source are pad. If the region starts and ends at whole
/// pixels (for chroma: at whole samples), its plan equals that of the cropped picture, entry by
/// entry.
SamplingPlan make_sampling_plan(const Geometry &geometry, Method method, Chroma chroma_x,
                                Chroma chroma_y);

/// Computes `count` entries, starting at output coordinate `first`, of a Q13.18 resize of an
/// interval to `resized` samples. Samples outside the interval are not read. If chroma is
/// subsampled, its entries treat each sample as the 2^shift luma positions that it covers; the axis
/// has `length` luma samples.
FixedAxisPlan make_fixed_axis_plan(Extent part, int resized, int first, int count, Chroma chroma,
                                   int length);

}  // namespace cudatensor
