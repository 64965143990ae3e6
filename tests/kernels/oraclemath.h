// SPDX-License-Identifier: LGPL-2.1-or-later
// What several files of the oracle compute with.
#pragma once

#include <algorithm>
#include <cmath>

namespace cudatensor::oracle {

/// Rounds halves to even, which is the default rounding mode of every program.
inline double half_even(double x) { return std::nearbyint(x); }

inline float single(double x) { return static_cast<float>(x); }

template <class Real>
Real limit(Real x, Real low, Real high) {
  return std::min(std::max(x, low), high);
}

inline int rounded_up(int length, int each) { return (length + each - 1) / each; }

/// Blends the four samples that a column and a row read, along y first. `level(x, y)` returns a
/// sample.
template <class Reading, class Level>
float blended(const Reading &column, const Reading &row, const Level &level) {
  const float wx = single(column.w), wy = single(row.w);
  const float p00 = level(column.i0, row.i0), p01 = level(column.i0, row.i1);
  const float p10 = level(column.i1, row.i0), p11 = level(column.i1, row.i1);
  const float a = std::fma(wy, p01 - p00, p00);
  const float b = std::fma(wy, p11 - p10, p10);
  return std::fma(wx, b - a, a);
}

inline bool is_chroma(char letter) { return letter == 'U' || letter == 'V'; }

}  // namespace cudatensor::oracle
