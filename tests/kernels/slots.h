// SPDX-License-Identifier: LGPL-2.1-or-later
// Expected slots of a batch.
#pragma once

#include "kernels/ops.h"
#include "tests/kernels/normalizecase.h"

namespace cudatensor {

/// Returns the description of one slot of a tensor.
TensorDesc slot_desc(TensorDesc tensor);
Tensor slot_of(const Tensor &out, size_t slot);

/// Fills a slot with the pad colour: the output for a picture of the output's size in that colour.
void fill_with_pad(NormalizeCase p, const Tensor &slot);

}  // namespace cudatensor
