// SPDX-License-Identifier: LGPL-2.1-or-later
// An alert tells people that a fault of a camera has begun, still lasts, or is over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "watch/verdicts.h"

namespace luminance {

struct Alert {
  enum class Event { kRaised, kReminder, kCleared };

  Event event = Event::kRaised;
  std::string camera, name;  // the camera's id and name; the name is untrusted
  Verdict verdict = Verdict::kNoFrames;
  int64_t since = 0;               // milliseconds since 1970 (UTC)
  std::optional<int64_t> cleared;  // same unit; set if the fault is over
  Cause cause = Cause::kValue;     // why the fault is over
  double value = 0;                // measured when the fault began
  double threshold = 0;
};

/// Returns whether both alerts are about the same fault.
inline bool is_same_fault(const Alert &a, const Alert &b) {
  return a.since == b.since && a.verdict == b.verdict && a.camera == b.camera;
}

}  // namespace luminance
