// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "watch/time.h"

namespace luminance {

/// How long the machine has been suspended since it started, which the monotonic clock does not
/// count. In a file of its own, so that a test can replace it.
Time time_suspended();

}  // namespace luminance
