// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/maintenance.h"

#include <cstdint>
#include <optional>
#include <string>

#include "web/api.h"
#include "web/requests.h"

namespace luminance {
namespace {

// So that a maintenance that somebody forgot to end is over in a year.
constexpr int64_t kMaxLength = int64_t{366} * 24 * 3600 * 1000;  // milliseconds

std::optional<int64_t> until_of(const Json &value, int64_t now) {
  if (value.is_null()) return {};
  if (!value.is_number_integer())
    throw Refusal(400, "until must be milliseconds since 1970, or null");
  // Compared as doubles, because numbers that do not fit into int64_t would become smaller ones.
  const auto until = value.get<double>();
  if (until <= static_cast<double>(now)) throw Refusal(400, "until must be later than now");
  if (until > static_cast<double>(now + kMaxLength))
    throw Refusal(400, "until must be within 366 days");
  return value.get<int64_t>();
}

/// Returns the maintenance with the fields that `json` has; others stay as they are.
Maintenance changed(Maintenance maintenance, const Json &json, int64_t now) {
  for (const auto &[name, value] : json.items()) {
    if (name == "until")
      maintenance.until = until_of(value, now);
    else if (name == "comment" && value.is_string())
      maintenance.comment = checked_comment(value.get<std::string>());
    else if (name == "comment")
      throw Refusal(400, "comment must be a text");
    else if (name == "end")
      throw Refusal(400, "end must be true and the only field");
    else
      throw Refusal(400, "only until and comment can be set");
  }
  return maintenance;
}

}  // namespace

void answer_maintenance(Exchange &exchange, Monitor &monitor, const Camera &camera) {
  if (!is_own_post(exchange)) return;
  const Json json = object_of(exchange);
  const int64_t now = monitor.clock().wall(monitor.clock().now());
  const Maintenance present = camera.maintenance().value_or(Maintenance{now, {}, {}});
  std::optional<Maintenance> wanted;
  if (json != Json::object({{"end", true}})) wanted = changed(present, json, now);
  if (wanted || camera.maintenance()) monitor.set_maintenance(monitor.number_of(camera), wanted);
  exchange.answer({200, "application/json", text_of(camera_json(camera, monitor.clock()))});
}

}  // namespace luminance
