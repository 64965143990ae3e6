// SPDX-License-Identifier: LGPL-2.1-or-later
// Stands in for fault.cpp in builds without tests.
#include "kernels/fault.h"

namespace cudatensor {

void arm_faults() {}
int next_fault() { return 0; }

}  // namespace cudatensor
