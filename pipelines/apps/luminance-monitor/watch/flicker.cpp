// SPDX-License-Identifier: LGPL-2.1-or-later
#include "flicker.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace luminance {
namespace {

constexpr Time kWindow = 4 * kSecond;
constexpr Time kLeastWindow = 2 * kSecond;
constexpr size_t kFewest = 16, kMost = 1000;  // frames
constexpr double kLights[] = {100, 120};      // Hz
// Slower swings cannot be told from what happens in the picture.
constexpr double kSlowest = 1;  // Hz
// Mains, cameras' clocks and timestamps are off by this much.
constexpr double kOff = 0.3, kStep = 0.1;  // Hz
constexpr double kLeastShare = 0.5;        // of the variance, that the swing has to explain

/// What a swing of a frequency has in a series.
struct Swing {
  double amplitude = 0, share = 0;
};

/// Least squares of a cosine and a sine of `cycles` a sample.
Swing fit(const std::vector<double> &series, double cycles) {
  double cc = 0, cs = 0, ss = 0, xc = 0, xs = 0, xx = 0;
  for (size_t i = 0; i < series.size(); ++i) {
    const double phase = 2 * M_PI * cycles * static_cast<double>(i), x = series[i];
    const double c = std::cos(phase), s = std::sin(phase);
    cc += c * c, cs += c * s, ss += s * s;
    xc += x * c, xs += x * s, xx += x * x;
  }
  const double determinant = cc * ss - cs * cs;
  // At half the frame rate the sine is all zeros.
  if (determinant < 1e-6 * cc * cc) return {std::abs(xc / cc), xx > 0 ? xc * xc / (cc * xx) : 0};
  const double a = (xc * ss - xs * cs) / determinant, b = (xs * cc - xc * cs) / determinant;
  return {std::hypot(a, b), xx > 0 ? (a * xc + b * xs) / xx : 0};
}

/// The frequency that a camera of `rate` frames a second sees of `light`.
double seen(double light, double rate) { return std::abs(light - rate * std::round(light / rate)); }

}  // namespace

void Flicker::add(Time time, double mean) {
  if (!samples_.empty() && time <= samples_.back().time) samples_.clear();
  samples_.push_back({time, mean});
  while (time - samples_.front().time > kWindow || samples_.size() > kMost) samples_.pop_front();
}

double Flicker::percent() const {
  if (samples_.size() < kFewest) return 0;
  const Time length = samples_.back().time - samples_.front().time;
  if (length < kLeastWindow) return 0;
  const double rate = static_cast<double>(samples_.size() - 1) * kSecond / length;

  // Differences: what moves in the picture changes its mean slowly, or in single steps.
  std::vector<double> differences;
  double mean = samples_.front().mean;
  for (size_t i = 1; i < samples_.size(); ++i) {
    differences.push_back(samples_[i].mean - samples_[i - 1].mean);
    mean += samples_[i].mean;
  }
  mean /= static_cast<double>(samples_.size());

  double greatest = 0;
  for (const double light : kLights) {
    const double middle = seen(light, rate);
    for (double hertz = middle - kOff; hertz <= middle + kOff; hertz += kStep) {
      if (hertz < kSlowest || hertz > rate / 2 + 1e-9) continue;
      const Swing swing = fit(differences, hertz / rate);
      const double gain = 2 * std::sin(M_PI * hertz / rate);
      if (swing.share >= kLeastShare) greatest = std::max(greatest, swing.amplitude / gain);
    }
  }
  return mean > 0 ? 100 * greatest / mean : 0;
}

}  // namespace luminance
