// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversion between rows of the history and SQL columns.
#pragma once

#include <string>
#include <vector>

#include "history/database.h"
#include "history/row.h"

namespace luminance {

/// Returns the names of the verdicts, separated by spaces.
std::string text_of(const std::vector<Verdict> &verdicts);

/// Reads thirteen columns, from `first` on: `time` to `verdicts`, as in the table `measurement`.
Row row_of(const Results &results, int first);

}  // namespace luminance
