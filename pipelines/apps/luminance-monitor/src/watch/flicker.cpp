// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/flicker.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace luminance {
namespace {

constexpr Time kWindow = 4 * kSecond;
constexpr Time kMinWindow = 2 * kSecond;
constexpr size_t kMinSamples = 16, kMaxSamples = 1000;  // frames
constexpr double kLights[] = {100, 120};                // Hz
// Slower swings cannot be told from what happens in the picture.
constexpr double kSlowest = 1;  // Hz
// Mains, cameras' clocks and timestamps are off by this much.
constexpr double kOff = 0.3, kStep = 0.1;  // Hz
constexpr double kMinShare = 0.5;          // share of the variance that the swing has to explain

/// The amplitude of a swing in a series, and its share of the variance.
struct Swing {
  double amplitude = 0, share = 0;
};

struct Difference {
  double frame;  // number of the frame
  double luma;   // change since the frame before
};

/// Fits a cosine and a sine of `cycles` per frame by least squares.
Swing fit(const std::vector<Difference> &series, double cycles) {
  double cc = 0, cs = 0, ss = 0, xc = 0, xs = 0, xx = 0;
  for (const auto &[frame, x] : series) {
    const double phase = 2 * M_PI * cycles * frame;
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

/// Returns the frequency at which a camera with `rate` frames per second sees `light`.
double seen(double light, double rate) { return std::abs(light - rate * std::round(light / rate)); }

/// Numbers frames by their times, which jitter. The numbers of lost frames are left out.
class Numbers {
 public:
  explicit Numbers(double gap) : gap_(gap) {}

  double next(double time) {
    expected_ = began_ ? expected_ + gap_ : time;
    frame_ += began_;
    began_ = true;
    if (const double late = time - expected_; late > 0.6 * gap_) {
      const double lost = std::round(late / gap_);
      frame_ += lost;
      expected_ += lost * gap_;
    }
    expected_ += kAdaptation * (time - expected_);
    return frame_;
  }

 private:
  static constexpr double kAdaptation = 0.1;
  const double gap_;
  bool began_ = false;
  double frame_ = 0, expected_ = 0;
};

}  // namespace

void Flicker::add(Time time, double mean) {
  if (!samples_.empty() && time <= samples_.back().time) samples_.clear();
  samples_.push_back({time, mean});
  while (time - samples_.front().time > kWindow || samples_.size() > kMaxSamples)
    samples_.pop_front();
}

/// Returns the usual gap between frames of which none was lost: the median.
double Flicker::usual_gap() const {
  std::vector<Time> gaps;
  for (size_t i = 1; i < samples_.size(); ++i)
    gaps.push_back(samples_[i].time - samples_[i - 1].time);
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return static_cast<double>(*middle);
}

double Flicker::percent() const {
  if (samples_.size() < kMinSamples) return 0;
  const Time length = samples_.back().time - samples_.front().time;
  if (length < kMinWindow) return 0;

  // Differences are used: movement in the picture changes the mean slowly, or in single steps.
  std::vector<Difference> differences;
  Numbers numbers(usual_gap());
  double mean = samples_.front().mean, last = numbers.next(0);
  for (size_t i = 1; i < samples_.size(); ++i) {
    const double frame =
        numbers.next(static_cast<double>(samples_[i].time - samples_.front().time));
    if (frame == last + 1) differences.push_back({frame, samples_[i].mean - samples_[i - 1].mean});
    last = frame;
    mean += samples_[i].mean;
  }
  const double rate = last * kSecond / static_cast<double>(length);
  mean /= static_cast<double>(samples_.size());

  double max_swing = 0;
  for (const double light : kLights) {
    const double middle = seen(light, rate);
    for (double hertz = middle - kOff; hertz <= middle + kOff; hertz += kStep) {
      if (hertz < kSlowest || hertz > rate / 2 + 1e-9) continue;
      const Swing swing = fit(differences, hertz / rate);
      const double gain = 2 * std::sin(M_PI * hertz / rate);
      if (swing.share >= kMinShare) max_swing = std::max(max_swing, swing.amplitude / gain);
    }
  }
  return mean > 0 ? 100 * max_swing / mean : 0;
}

}  // namespace luminance
