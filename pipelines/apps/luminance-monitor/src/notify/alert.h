// SPDX-License-Identifier: LGPL-2.1-or-later
// What people are told: a fault of a camera has begun, lasts, or is over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "watch/verdicts.h"

namespace luminance {

struct Alert {
  enum class Event { kRaised, kReminder, kCleared };

  Event event = Event::kRaised;
  std::string camera, name;  // its id, and its name, which is untrusted
  Verdict verdict = Verdict::kNoFrames;
  int64_t since = 0;               // milliseconds since 1970 (UTC)
  std::optional<int64_t> cleared;  // likewise; set if it is over
  Cause cause = Cause::kValue;     // why it is over
  double value = 0;                // when it began
  double threshold = 0;
};

/// Whether both are about the same fault, at different times.
inline bool is_same_fault(const Alert &a, const Alert &b) {
  return a.since == b.since && a.verdict == b.verdict && a.camera == b.camera;
}

}  // namespace luminance
