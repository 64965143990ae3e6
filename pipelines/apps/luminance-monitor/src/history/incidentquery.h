// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads incidents in the file of a history. Throws HistoryError if their order is damaged; logs
// incidents with a fault and leaves them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "history/database.h"
#include "history/incident.h"
#include "history/row.h"

namespace luminance {

/// A position in a list: the list continues after this incident.
struct IncidentCursor {
  int64_t since, number;
};

struct IncidentFilter {
  std::optional<std::string> camera;  // id
  std::optional<Verdict> verdict;
  std::optional<bool> is_open, is_acknowledged;
  int64_t from = kEarliest, to = kLatest;  // incidents that lasted at any time in between
  std::optional<IncidentCursor> before;
};

/// Calls `take` with at most `limit` incidents, the newest first.
void each_incident(Database &database, const IncidentFilter &filter, size_t limit,
                   const std::function<void(KeptIncident incident)> &take);
std::optional<KeptIncident> incident_in(Database &database, int64_t number);
/// Returns a JPEG; empty if there is none.
std::string incident_picture_in(Database &database, int64_t number);

}  // namespace luminance
