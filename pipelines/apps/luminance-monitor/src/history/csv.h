// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows and incidents of the history as lines of CSV.
#pragma once

#include <string>

#include "history/incident.h"
#include "history/row.h"

namespace luminance {

/// Header lines with the names of the columns.
extern const char *const kCsvHeader, *const kIncidentCsvHeader;

/// Returns a time as in the column "time", in UTC; empty if it has no date in the calendar.
std::string csv_time(int64_t time);
/// `id` and `name` belong to the row's camera; `time` is the row's time as csv_time() writes it.
std::string csv_line(const std::string &id, const std::string &name, const std::string &time,
                     const Row &row);
/// An open incident has no end; its duration counts until `now`, in milliseconds since 1970.
std::string csv_line(const KeptIncident &incident, int64_t now);

}  // namespace luminance
