// SPDX-License-Identifier: LGPL-2.1-or-later
// What API.md says, as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "history/history.h"
#include "history/row.h"
#include "watch/monitor.h"

namespace luminance {

using Json = nlohmann::ordered_json;

/// In one line. Names come from outside: what is no UTF-8 in them is replaced.
std::string text_of(const Json &json);

Json camera_json(const Camera &camera, const Clock &clock);
/// `history`: or null.
Json cameras_json(const Monitor &monitor, const History *history);
/// Why it is not written; empty: it is, or there is none.
std::string error_of(const History *history);
Json recent_json(const Camera &camera, const Monitor &monitor);
/// Of a camera by its id.
Json history_json(const std::string &camera, const std::vector<Row> &rows);
Json events_json(const std::vector<Event> &events);

}  // namespace luminance
