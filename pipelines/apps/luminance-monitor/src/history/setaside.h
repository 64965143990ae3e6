// SPDX-License-Identifier: LGPL-2.1-or-later
// A damaged history makes room for a new one, and is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace luminance {

/// Whether there is something of a history in the file, however damaged: somebody else's file is
/// not to be moved. `cameras`: what a history says of cameras, id, name and source in one.
bool has_traces_of_history(const std::string &file, const std::vector<std::string> &cameras);

/// Renames the file, and its write-ahead log, to a name with this time, in milliseconds since 1970.
/// Nobody may have it open. Returns the name; throws HistoryError.
std::string set_aside(const std::string &file, int64_t time);

}  // namespace luminance
