// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory for comparisons, and noise to fill it with.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/tensor.h"

namespace cudatensor {

using Bytes = std::vector<uint8_t>;

/// Random numbers that depend only on the seed, on every machine.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  uint64_t bits() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  uint8_t byte() { return static_cast<uint8_t>(bits() >> 24); }
  /// Returns a number from low to high, both included.
  int integer(int low, int high) {
    return low + static_cast<int>(bits() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  uint64_t state_;
};

Bytes noise(size_t count, uint64_t seed);

/// Returns the elements of a dense tensor, in the order of memory.
template <class T>
std::vector<T> elements_of(const Bytes &bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
  return elements;
}
template <class T>
Bytes bytes_of(const std::vector<T> &elements) {
  Bytes bytes(elements.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

/// Compares bytes; a failure names the first byte that differs.
testing::AssertionResult same_bytes(const Bytes &actual, const Bytes &expected);

/// Returns a tensor of numbers from -0.25 to 1.25, or of any bytes if the type is uint8.
Bytes random_tensor(const TensorDesc &desc, uint64_t seed);

}  // namespace cudatensor
