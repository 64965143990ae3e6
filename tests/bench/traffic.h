// SPDX-License-Identifier: LGPL-2.1-or-later
// The bytes of a source that an operation must read: all memory sectors, the unit of reads of a
// GPU, that contain a tap of the plan with a nonzero weight. Rows are assumed to begin at a sector.
#pragma once

#include "kernels/filterplan.h"
#include "kernels/matrixplan.h"
#include "kernels/resample.h"
#include "kernels/yuv444.h"

namespace bench {

size_t read_bytes(const cudatensor::ResamplePlan &plan);
size_t read_bytes(const cudatensor::Yuv444Plan &plan);
size_t read_bytes(const cudatensor::FilterPlan &plan);
size_t read_bytes(const cudatensor::MatrixPlan &plan);

}  // namespace bench
