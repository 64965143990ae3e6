// SPDX-License-Identifier: LGPL-2.1-or-later
// The maintenance of cameras in the API.
#pragma once

#include "watch/monitor.h"
#include "web/exchange.h"

namespace luminance {

/// Begins, changes or ends the camera's maintenance, as the body asks. Answers with the camera.
/// Throws Refusal.
void answer_maintenance(Exchange &exchange, Monitor &monitor, const Camera &camera);

}  // namespace luminance
