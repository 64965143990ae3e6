// SPDX-License-Identifier: LGPL-2.1-or-later
// Failures on demand: lets the tests walk through every call to CUDA and to libgstcuda.
#pragma once

#include <cstdint>

namespace cudatensor {

/// Reads CUDATENSOR_FAULT, "N:CODE" or "N+:CODE": the N-th guarded call of the process from now on
/// (1 is the next) fails with the cudaError_t CODE; with +, so do all that follow it, as after an
/// error that sticks to the context. Without the variable nothing fails. Counting starts anew, for
/// the whole process.
void arm_faults();

/// Counts a call that is about to be made. 0, or the code that it must fail with instead.
int next_fault();

/// Calls counted since arm_faults().
int64_t counted_calls();

}  // namespace cudatensor
