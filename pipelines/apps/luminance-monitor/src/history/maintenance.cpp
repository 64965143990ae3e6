// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history/maintenance.h"

#include <string_view>

#include "history/damage.h"
#include "history/row.h"

namespace luminance {
namespace {

constexpr int64_t kNoTime = -1;  // the statement below turns it into NULL

bool is_plausible(const Maintenance &maintenance) {
  const auto is_time = [](int64_t time) { return time >= kEarliest && time <= kLatest; };
  return is_time(maintenance.since) && (!maintenance.until || is_time(*maintenance.until));
}

}  // namespace

MaintenanceTable::MaintenanceTable(Database &database)
    : database_(database),
      put_(database,
           "INSERT OR REPLACE INTO maintenance VALUES ((SELECT number FROM camera WHERE id = ?1), "
           "?2, nullif(?3, -1), ?4)"),
      remove_(database,
              "DELETE FROM maintenance WHERE camera = (SELECT number FROM camera WHERE id = ?1)"),
      find_(database,
            "SELECT since, until IS NOT NULL, until, comment FROM maintenance "
            "WHERE camera = (SELECT number FROM camera WHERE id = ?1)"),
      delete_(database, "DELETE FROM maintenance WHERE until < ?1") {}

void MaintenanceTable::write(const std::string &camera,
                             const std::optional<Maintenance> &maintenance) {
  if (!maintenance) return remove_.run(camera);
  put_.run(camera, maintenance->since, maintenance->until.value_or(kNoTime),
           std::string_view(maintenance->comment));
}

std::optional<Maintenance> MaintenanceTable::read(const std::string &camera) {
  Results found = find_.with(camera);
  if (!found.next()) return {};
  Maintenance maintenance = {found.integer(0), {}, found.text(3)};
  if (found.integer(1) != 0) maintenance.until = found.integer(2);
  if (is_plausible(maintenance)) return maintenance;
  log_once(database_.text_of("the maintenance of camera " + camera + " is damaged; it is ignored"));
  return {};
}

}  // namespace luminance
