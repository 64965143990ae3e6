// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables of a history.
#pragma once

#include <string>

#include "history/database.h"

namespace luminance {

/// Throws HistoryError unless the database is a history of this version.
void check_schema(Database &database);

/// Opens a history, or creates one that only its owner can read. Computes the summaries that are
/// missing, or too long for rows of `row` milliseconds, camera by camera. After an interruption,
/// the next call continues.
Database open_to_write(const std::string &file, int64_t row);

}  // namespace luminance
