// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace cudatensor {

/// Reads a file with any content. Returns what is wrong with the result; empty if nothing is. A
/// file must be refused with a short text of one line that names it, or give properties that the
/// elements accept, every time the same.
std::string fault_of(const std::string &name, const std::string &contents);

}  // namespace cudatensor
