// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bytes.h"

#include <algorithm>

namespace cudatensor {

Bytes noise(size_t count, uint64_t seed) {
  Noise source(seed);
  Bytes bytes(count);
  for (uint8_t &byte : bytes) byte = source.byte();
  return bytes;
}

testing::AssertionResult same_bytes(const Bytes &actual, const Bytes &expected) {
  if (actual.size() != expected.size())
    return testing::AssertionFailure() << actual.size() << " bytes instead of " << expected.size();
  const auto at = std::mismatch(actual.begin(), actual.end(), expected.begin());
  if (at.first == actual.end()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "byte " << at.first - actual.begin() << " is "
                                     << int{*at.first} << " instead of " << int{*at.second};
}

Bytes random_tensor(const TensorDesc &desc, uint64_t seed) {
  if (desc.dtype == DType::uint8 || desc.dtype == DType::int8) return noise(desc.bytes(), seed);
  Noise source(seed);
  Bytes bytes(desc.bytes());
  for (size_t i = 0; i < bytes.size(); i += size_of(desc.dtype)) {
    const float value = static_cast<float>(source.integer(-250, 1250)) / 1000.0f;
    const Half half = to_half(value);
    std::memcpy(&bytes[i], desc.dtype == DType::float32 ? static_cast<const void *>(&value) : &half,
                size_of(desc.dtype));
  }
  return bytes;
}

}  // namespace cudatensor
