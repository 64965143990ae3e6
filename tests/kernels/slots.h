// SPDX-License-Identifier: LGPL-2.1-or-later
// The slots of a batch as it must be.
#pragma once

#include "kernels/ops.h"
#include "tests/kernels/normalizecase.h"

namespace cudatensor {

Tensor slot_of(const Tensor &out, size_t slot);

/// Nothing but the pad colour, as a picture of the output's size in that colour comes out.
void fill_with_pad(NormalizeCase p, const Tensor &slot);

}  // namespace cudatensor
