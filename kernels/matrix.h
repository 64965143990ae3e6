// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>

namespace cudatensor {

/// A row-major 2×3 matrix, which maps continuous coordinates: (x, y) becomes
/// (m0 · x + m1 · y + m2, m3 · x + m4 · y + m5).
using Matrix = std::array<double, 6>;

/// A point in pixels. In continuous coordinates, unless samples are said to be at whole numbers.
struct Point {
  double x, y;
};

inline Point mapped(const Matrix &m, const Point &p) {
  return {m[0] * p.x + m[1] * p.y + m[2], m[3] * p.x + m[4] * p.y + m[5]};
}

/// Returns the matrix that applies `b` first, then `a`.
inline Matrix product(const Matrix &a, const Matrix &b) {
  Matrix m = {a[0] * b[0] + a[1] * b[3],        a[0] * b[1] + a[1] * b[4],
              a[0] * b[2] + a[1] * b[5] + a[2], a[3] * b[0] + a[4] * b[3],
              a[3] * b[1] + a[4] * b[4],        a[3] * b[2] + a[4] * b[5] + a[5]};
  for (double &each : m) each += 0.0;  // -0 becomes 0
  return m;
}

/// Returns the inverse of a matrix whose determinant is not 0.
inline Matrix inverse_of(const Matrix &m) {
  // With one factor per axis, each number is rounded once. 0 - x avoids negative zeros.
  if (m[1] == 0.0 && m[3] == 0.0)
    return {1.0 / m[0], 0.0, 0.0 - m[2] / m[0], 0.0, 1.0 / m[4], 0.0 - m[5] / m[4]};
  if (m[0] == 0.0 && m[4] == 0.0)
    return {0.0, 1.0 / m[3], 0.0 - m[5] / m[3], 1.0 / m[1], 0.0, 0.0 - m[2] / m[1]};
  const double det = m[0] * m[4] - m[1] * m[3];
  return {m[4] / det,       0.0 - m[1] / det, (m[1] * m[5] - m[2] * m[4]) / det,
          0.0 - m[3] / det, m[0] / det,       (m[2] * m[3] - m[0] * m[5]) / det};
}

}  // namespace cudatensor
