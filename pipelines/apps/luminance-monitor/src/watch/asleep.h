// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "watch/time.h"

namespace luminance {

/// How long the machine has been suspended since it was started: the clock that nobody sets stands
/// still meanwhile. Alone in its file, so that a test can have its own.
Time time_asleep();

}  // namespace luminance
