// SPDX-License-Identifier: LGPL-2.1-or-later
// Fault injection: lets tests make each call to CUDA and libgstcuda fail in turn. A build without
// tests has no faults: it counts no calls and reads no variable.
#pragma once

#include <cstdint>

namespace cudatensor {

/// Reads CUDATENSOR_FAULT, "N:CODE" or "N+:CODE". The N-th guarded call from now on (1 is the next)
/// fails with the cudaError_t CODE. With +, all later calls fail too, as after a sticky error. If
/// the variable is not set, no call fails. Resets the process-wide call counter.
void arm_faults();

/// Counts the next guarded call. Returns 0, or the error code that the caller must report instead
/// of making the call.
int next_fault();

/// Returns the number of calls counted since arm_faults().
int64_t call_count();

}  // namespace cudatensor
