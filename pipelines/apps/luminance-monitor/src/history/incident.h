// SPDX-License-Identifier: LGPL-2.1-or-later
// Incidents: verdicts from when they are raised until they are cleared.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "settings/rules.h"

namespace luminance {

struct Incident {
  std::string camera;  // id
  Verdict verdict = Verdict::kNoFrames;
  int64_t since = 0;  // in milliseconds since 1970
  /// Its end; while it lasts, the time until which it is known to have lasted.
  int64_t until = 0;
  std::string reason;      // why it ended, such as "value"; empty while it lasts
  double value = NAN;      // the worst value so far
  double threshold = NAN;  // the threshold in force when it began
  bool is_in_maintenance = false;

  bool is_open() const { return reason.empty(); }
};

/// An incident as it is stored in the file.
struct KeptIncident : Incident {
  int64_t number = 0;
  std::string name;                     // of the camera
  std::optional<int64_t> acknowledged;  // when
  std::string acknowledged_by;          // a name; empty if none was given
  std::string comment;
  std::optional<int64_t> picture_taken;  // when; nothing if it has no picture
};

/// No two incidents of a camera with the same verdict begin at the same time.
struct IncidentKey {
  int64_t since;
  std::string camera;
  Verdict verdict;
};
bool operator<(const IncidentKey &a, const IncidentKey &b);
inline IncidentKey key_of(const Incident &incident) {
  return {incident.since, incident.camera, incident.verdict};
}

/// A JPEG of what the camera saw when the verdict was raised.
struct IncidentPicture {
  IncidentKey incident;
  int64_t taken;  // milliseconds since 1970 (UTC)
  std::shared_ptr<const std::string> jpeg;
};

/// Whether `value` is worse than `than`. A number is worse than NaN; NaN is never worse.
bool is_worse(Verdict verdict, double value, double than);

}  // namespace luminance
