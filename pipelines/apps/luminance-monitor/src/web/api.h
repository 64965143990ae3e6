// SPDX-License-Identifier: LGPL-2.1-or-later
// The JSON documents described in API.md.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "history/history.h"
#include "history/incident.h"
#include "history/row.h"
#include "notify/notifier.h"
#include "watch/monitor.h"

namespace luminance {

using Json = nlohmann::ordered_json;

/// Returns the JSON as one line of text. Invalid UTF-8 in names, which are untrusted, is replaced.
std::string text_of(const Json &json);

Json camera_json(const Camera &camera, const Clock &clock);
/// `history` may be null.
Json cameras_json(const Monitor &monitor, const History *history);
/// Returns why the history cannot be written; empty if it can, or if there is none.
std::string error_of(const History *history);
/// Returns the notice that a damaged file was set aside; empty if none was.
std::string notice_of(const History *history);
Json recent_json(const Camera &camera, const Monitor &monitor);
/// `camera` is the id of the camera.
Json history_json(const std::string &camera, const std::vector<Row> &rows);
Json events_json(const std::vector<Event> &events);
/// `now`, in milliseconds since 1970, serves as the end of incidents that last.
Json incident_json(const KeptIncident &incident, int64_t now);
Json incidents_json(const std::vector<KeptIncident> &incidents, int64_t now);
/// `notifier` may be null.
Json notifications_json(const Notifier *notifier);
Json test_json(const std::vector<TestResult> &results);

}  // namespace luminance
