// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints the contents of a batch's slots.
#pragma once

#include <gstcudatensor.h>

#include <vector>

/// Prints a line for each slot, with the network's result. Returns the number of pictures.
guint print_slots(const GstCudaTensor *batch, const std::vector<float> &results);
