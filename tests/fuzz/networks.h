// SPDX-License-Identifier: LGPL-2.1-or-later
// Networks for cudainference, and its outputs.
#pragma once

#include "run.h"

namespace fuzz {

/// Writes a network and returns its path. It takes pictures of three channels, unless it is damaged,
/// which it is not if the run is sane.
std::string network_file(Run &run);

/// Whether caps are those of a network's outputs.
bool are_outputs(const GstCaps *caps);
/// Checks that the memories of a buffer are what the caps tell.
void check_outputs(Run &run, GstBuffer *buffer, GstCaps *caps);

}  // namespace fuzz
