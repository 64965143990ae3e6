// SPDX-License-Identifier: LGPL-2.1-or-later
// The bytes of a source that an operation cannot do without: whole sectors, which is what a GPU
// reads, in which a tap of the plan with a weight lies. Rows begin on a sector.
#pragma once

#include "kernels/resample.h"
#include "kernels/yuv444.h"

namespace bench {

size_t read_bytes(const cudatensor::ResamplePlan &plan);
size_t read_bytes(const cudatensor::Yuv444Plan &plan);

}  // namespace bench
