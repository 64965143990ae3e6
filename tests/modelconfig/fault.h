// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace cudatensor {

/// What is wrong with what is made of a file of any contents; empty: nothing. A file is refused with
/// a short text of one line that names it, or gives properties that the elements take; every time
/// the same.
std::string fault_of(const std::string &name, const std::string &contents);

}  // namespace cudatensor
