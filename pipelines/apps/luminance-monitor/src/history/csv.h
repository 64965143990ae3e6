// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows and incidents of the history as lines of CSV.
#pragma once

#include <string>

#include "history/incident.h"
#include "history/row.h"

namespace luminance {

/// The names of the columns, as a line.
extern const char *const kCsvHeader, *const kIncidentCsvHeader;

/// As in the column "time": UTC; empty for a time that has no such text.
std::string csv_time(int64_t time);
/// `id` and `name` are those of the row's camera. `time` is the row's, as csv_time() writes it.
std::string csv_line(const std::string &id, const std::string &name, const std::string &time,
                     const Row &row);
/// One that lasts has no end; its duration is that until `now`, in milliseconds since 1970.
std::string csv_line(const KeptIncident &incident, int64_t now);

}  // namespace luminance
