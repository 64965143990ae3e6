// SPDX-License-Identifier: LGPL-2.1-or-later
// Transposition of rows, for upright.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudatensor::cpu {

/// Transposes elements: columns [0, columns) of 16 / size rows become rows that are `stride` bytes
/// apart. The columns are rounded up to 32 / size.
using Exchange = void (*)(const uint8_t *const *rows, int columns, uint8_t *to, ptrdiff_t stride);

struct ExchangeTable {
  Exchange of_size[5];
};

/// Returns the function for elements of 1, 2 or 4 bytes.
Exchange exchange_of(int size);

}  // namespace cudatensor::cpu
