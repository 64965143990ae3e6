// SPDX-License-Identifier: LGPL-2.1-or-later
// Sampling plans: what every output column and row reads, made once per geometry on the host in
// double precision. Backends only read them, so that no position is ever computed twice, nor
// differently.
#pragma once

#include <vector>

#include "kernels/fixedpoint.h"
#include "kernels/geometry.h"

namespace cudatensor {

enum class Method : uint8_t { bilinear, nearest };

/// One entry of a plan. Aligned so that a device loads it at once.
struct alignas(16) Tap {
  int32_t i0, i1;  ///< source samples, clamped into the picture
  float w;         ///< weight of i1, 0..1
  float inside;    ///< share of the weight that lies in the picture, 0..1; 0 = pad
};

/// The tables of one axis; `chroma` is empty where the picture has no subsampled chroma.
struct AxisPlan {
  std::vector<Tap> luma;
  std::vector<Tap> chroma;
};

struct FixedAxisPlan {
  std::vector<FixedTap> luma;
  std::vector<FixedTap> chroma;
};

/// How chroma samples lie along one axis.
enum class Chroma : uint8_t {
  none,      ///< not subsampled
  cosited,   ///< sample i lies on luma sample 2i
  centered,  ///< sample i lies between luma samples 2i and 2i + 1
};

struct SamplingPlan {
  AxisPlan x, y;
};

/// A region is sampled as a picture would be that holds the pixels it touches and no others; those of
/// them that lie outside of the source are pad. Where it begins and ends on whole pixels (chroma: on
/// whole samples), that is the plan of the picture cropped to it, entry for entry.
SamplingPlan make_sampling_plan(const Geometry &geometry, Method method, Chroma chroma_x,
                                Chroma chroma_y);

/// `count` entries of a Q13.18 resize of a part of a picture to `resized` samples, from output
/// coordinate `first` on. Samples that the part does not touch are not read. With `subsampled`, the
/// chroma table reads each chroma sample as the two luma positions that it covers.
FixedAxisPlan make_fixed_axis_plan(Extent part, int resized, int first, int count, bool subsampled);

}  // namespace cudatensor
