// SPDX-License-Identifier: LGPL-2.1-or-later
// Random files for the property model-config.
#pragma once

#include "run.h"

namespace fuzz {

/// Writes a file of one of the kinds that the property reads, mostly damaged, and returns its path.
/// The next call may replace the file.
std::string model_file(Run &run);

}  // namespace fuzz
