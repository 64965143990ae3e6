// SPDX-License-Identifier: LGPL-2.1-or-later
// Renames a damaged history to make room for a new one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace luminance {

/// Whether the file contains parts of a history, however damaged: the file of another program must
/// not be moved. `cameras`: the id, name and source of each camera in one text, as in a history.
bool has_traces_of_history(const std::string &file, const std::vector<std::string> &cameras);

/// Renames the file, and its write-ahead log, to a name with this time, in milliseconds since 1970.
/// The file must not be open. Returns the new name; throws HistoryError.
std::string set_aside(const std::string &file, int64_t time);

}  // namespace luminance
