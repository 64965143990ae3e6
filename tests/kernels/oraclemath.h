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

inline bool is_chroma(char letter) { return letter == 'U' || letter == 'V'; }

}  // namespace cudatensor::oracle
