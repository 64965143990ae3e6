// SPDX-License-Identifier: LGPL-2.1-or-later
// The maintenance of cameras in the file of a history.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "history/database.h"
#include "watch/maintenance.h"

namespace luminance {

class MaintenanceTable {
 public:
  explicit MaintenanceTable(Database &database);

  /// Of the camera with this id, which is in the file. Nothing: nobody works on it.
  void write(const std::string &camera, const std::optional<Maintenance> &maintenance);
  /// Nothing, and a line in the log, if it is damaged.
  std::optional<Maintenance> read(const std::string &camera);
  /// Deletes what was over before `oldest`, as that of cameras that are gone.
  void delete_expired(int64_t oldest) { delete_.run(oldest); }

 private:
  Database &database_;
  Statement put_, remove_, find_, delete_;
};

}  // namespace luminance
