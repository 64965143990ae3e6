// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory that a process should not need more of.
#pragma once

#include <gtest/gtest.h>

#include <fstream>

namespace cudatensor {

/// Sanitizers keep what is freed, and shadows of it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsMeasured = false;
#else
constexpr bool kMemoryIsMeasured = true;
#endif

/// Of this process, in bytes.
inline size_t resident_memory() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

/// Expects that work which has been done before takes less than `limit` bytes more of what `used`
/// measures. What grows once, as the pools of allocators do, may have its day.
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
