// SPDX-License-Identifier: LGPL-2.1-or-later
// Clocks, statistics and the number format of the tables.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

inline double seconds_on(clockid_t clock) {
  timespec t = {};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// The value that the given share of the values does not exceed; 0 if there are none.
inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}
inline double median(const std::vector<double> &values) { return quantile(values, 0.5); }

template <class... Values>
std::string text(const char *format, Values... values) {
  char buffer[128];
  snprintf(buffer, sizeof(buffer), format, values...);
  return buffer;
}

/// "median (5th to 95th percentile)"
inline std::string spread(const std::vector<double> &values, const char *format = "%.2f") {
  if (values.empty()) return "";
  return text(format, median(values)) + " (" + text(format, quantile(values, 0.05)) + " to " +
         text(format, quantile(values, 0.95)) + ")";
}

inline std::string per_frame(uint64_t count, uint64_t frames) {
  return text("%.2f", static_cast<double>(count) / static_cast<double>(frames));
}
