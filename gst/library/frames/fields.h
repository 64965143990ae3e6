// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers in the headers of files.
#pragma once

#include <cstdint>

namespace cudatensor {

inline uint64_t big_endian(const uint8_t *at, int bytes) {
  uint64_t number = 0;
  for (int i = 0; i < bytes; ++i) number = number << 8 | at[i];
  return number;
}

inline uint64_t little_endian(const uint8_t *at, int bytes) {
  uint64_t number = 0;
  for (int i = bytes - 1; i >= 0; --i) number = number << 8 | at[i];
  return number;
}

/// An integer of EBML, whose first byte contains its length.
struct VarInt {
  uint64_t value;
  int bytes;
  bool is_unknown;
};

inline VarInt read_varint(const uint8_t *at) {
  int bytes = 1;
  while (bytes < 8 && (at[0] & (0x80 >> (bytes - 1))) == 0) ++bytes;
  const uint64_t all = (uint64_t{1} << (7 * bytes)) - 1;
  const uint64_t value = big_endian(at, bytes) & all;
  return {value, bytes, value == all};
}

}  // namespace cudatensor
