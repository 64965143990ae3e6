// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of the history as columns of SQL.
#pragma once

#include <string>
#include <vector>

#include "history/database.h"
#include "history/row.h"

namespace luminance {

/// Names with spaces between them.
std::string text_of(const std::vector<Verdict> &verdicts);

/// Of thirteen columns from `first` on: `time` to `verdicts`, as the table `interval` has them.
Row row_of(const Results &results, int first);

}  // namespace luminance
