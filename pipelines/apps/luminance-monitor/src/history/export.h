// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <iosfwd>
#include <string>

namespace luminance {

/// Writes all rows of a history as CSV (RFC 4180) with a header, by camera and time. Texts that a
/// spreadsheet would take for formulas are escaped. Does not block a monitor that writes the file,
/// and does not change it. Throws HistoryError.
void export_csv(const std::string &file, std::ostream &out);

/// The same for incidents, the newest first.
void export_incidents(const std::string &file, std::ostream &out);

}  // namespace luminance
