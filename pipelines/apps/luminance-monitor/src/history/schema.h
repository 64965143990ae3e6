// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables of a history, and the upgrade from earlier versions.
#pragma once

#include <string>

#include "history/database.h"

namespace luminance {

/// Throws unless the database is a history of this version or an earlier one.
void check_schema(Database &database);
/// Throws unless the database is a history of this version.
void check_current_schema(Database &database);
/// The name of the table of rows, in a history of this version or an earlier one.
std::string measurement_table(Database &database);
/// Whether it has incidents.
bool has_incidents(Database &database);

/// What is read instead of columns that earlier versions do not have.
struct IncidentColumns {
  const char *picture_taken, *acknowledged_by;
};
IncidentColumns incident_columns(Database &database);

/// Opens a history, or creates one that only its owner can read. Computes summaries of rows from an
/// earlier version, camera by camera, and continues after an interruption. `row` is the length of
/// new rows, in milliseconds.
Database open_to_write(const std::string &file, int64_t row);

}  // namespace luminance
