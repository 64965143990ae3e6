// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads incidents in the file of a history. Throws HistoryError where their order is damaged; those
// with a fault are logged and left out.
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

/// Where a list goes on: behind this incident.
struct IncidentCursor {
  int64_t since, number;
};

struct IncidentFilter {
  std::optional<std::string> camera;  // id
  std::optional<Verdict> verdict;
  std::optional<bool> is_open, is_acknowledged;
  int64_t from = kEarliest, to = kLatest;  // those that lasted at any time between
  std::optional<IncidentCursor> before;
};

/// The newest first.
void each_incident(Database &database, const IncidentFilter &filter, size_t limit,
                   const std::function<void(KeptIncident incident)> &take);
std::optional<KeptIncident> incident_in(Database &database, int64_t number);
/// Empty: there is none.
std::string incident_picture_in(Database &database, int64_t number);

}  // namespace luminance
