// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/incident.h"

#include <tuple>

namespace luminance {

bool operator<(const IncidentKey &a, const IncidentKey &b) {
  return std::tie(a.since, a.camera, a.verdict) < std::tie(b.since, b.camera, b.verdict);
}

bool is_worse(Verdict verdict, double value, double than) {
  if (std::isnan(value)) return false;
  if (std::isnan(than)) return true;
  return is_bad_above(verdict) ? value > than : value < than;
}

}  // namespace luminance
