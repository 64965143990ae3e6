// SPDX-License-Identifier: LGPL-2.1-or-later
// Files that end early. Demuxers take that for their end.
#pragma once

#include <optional>
#include <string>

namespace cudatensor {

/// Says where a file of MP4 or Matroska should end if it is shorter than its headers tell.
std::optional<std::string> find_truncation(const std::string &path);

}  // namespace cudatensor
