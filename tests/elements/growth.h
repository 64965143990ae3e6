// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks that a process does not need more and more memory.
#pragma once

#include <gtest/gtest.h>

#include <fstream>

namespace cudatensor {

/// Sanitizers keep freed memory and shadow memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsMeasured = false;
#else
constexpr bool kMemoryIsMeasured = true;
#endif

/// Returns the resident memory of this process in bytes.
inline size_t resident_memory() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

/// Expects repeated work to take less than `limit` more bytes, as `used` measures them. A single
/// growth, as of allocators' pools, is allowed.
template <class Used, class Work>
void expect_no_growth(const Used &used, size_t limit, const Work &work) {
  size_t grown = 0;
  for (int round = 0; round < 3; ++round) {
    const size_t before = used();
    work();
    const size_t after = used();
    grown = after > before ? after - before : 0;
    if (grown < limit) return;
  }
  ADD_FAILURE() << "grows by " << grown << " bytes each time";
}

}  // namespace cudatensor
