// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle.h"
#include "oraclemath.h"

namespace cudatensor::oracle {
namespace {

/// A binary format of 16 bits: a sign, an exponent and a fraction.
struct FloatFormat {
  int fraction_bits, bias;

  int steps() const { return 1 << fraction_bits; }  ///< from a power of two to the next
  int least() const { return 1 - bias; }            ///< exponent of the least normal number
  int special() const { return 2 * bias + 1; }      ///< exponent bits of infinity and NaN
};

constexpr FloatFormat kHalf = {10, 15}, kBfloat16 = {7, 127};

uint16_t bits_from(FloatFormat f, double value) {
  const int sign = std::signbit(value) ? 0x8000 : 0, infinity = f.special() << f.fraction_bits;
  const auto bits = [sign](int magnitude) { return static_cast<uint16_t>(sign + magnitude); };
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return bits(infinity + f.steps() / 2);
  if (magnitude == 0.0) return bits(0);
  // The midpoint between the largest number and the next power of two, which the format lacks.
  if (magnitude >= std::ldexp(2.0 - 0.5 / f.steps(), f.bias)) return bits(infinity);
  const int exponent = std::max(std::ilogb(magnitude), f.least());
  // Up to 2 · steps(), which carry into the exponent; fewer than steps() have none.
  const double steps = half_even(std::ldexp(magnitude, f.fraction_bits - exponent));
  return bits(((exponent - f.least()) << f.fraction_bits) + static_cast<int>(steps));
}

double value_of(FloatFormat f, uint16_t bits) {
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  const int exponent = (bits >> f.fraction_bits) & f.special(), fraction = bits & (f.steps() - 1);
  if (exponent == f.special())
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, f.least() - f.fraction_bits);
  return sign * std::ldexp(f.steps() + fraction, exponent - f.bias - f.fraction_bits);
}

}  // namespace

uint16_t half_from(double value) { return bits_from(kHalf, value); }
double from_half(uint16_t bits) { return value_of(kHalf, bits); }

uint16_t bfloat16_from(double value) { return bits_from(kBfloat16, value); }
double from_bfloat16(uint16_t bits) { return value_of(kBfloat16, bits); }

}  // namespace cudatensor::oracle
