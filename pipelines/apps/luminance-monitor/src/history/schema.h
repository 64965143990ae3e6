// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables of the history's file, and how those of an earlier version become them.
#pragma once

#include "history/database.h"

namespace luminance {

/// Throws unless it is a history that this program knows, of this version or an earlier one.
void check_schema(Database &database);
/// Throws unless it is one of this version.
void check_current_schema(Database &database);

/// Opens a history, or begins one: nobody else may read it. Rows of an earlier version get their
/// summaries, a camera after the other: a start that is cut short goes on with the next one. `row`
/// is the length of rows to come, in milliseconds.
Database open_to_write(const std::string &file, int64_t row);

}  // namespace luminance
