// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <iosfwd>
#include <string>

namespace luminance {

/// Writes all rows of a history's file as CSV (RFC 4180) with a header, by camera and time; no text
/// in it is a formula to a spreadsheet. Does not hold up a monitor that writes the file, and leaves
/// it as it is. Throws HistoryError.
void export_csv(const std::string &file, std::ostream &out);

}  // namespace luminance
