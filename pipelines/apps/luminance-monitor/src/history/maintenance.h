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

  /// Writes the maintenance of the camera with this id, which must be in the file. Deletes it if
  /// `maintenance` is empty.
  void write(const std::string &camera, const std::optional<Maintenance> &maintenance);
  /// Returns the maintenance of the camera; nothing if there is none. If it is damaged, logs that
  /// and returns nothing.
  std::optional<Maintenance> read(const std::string &camera);
  /// Deletes maintenance that ended before `oldest`, such as that of removed cameras.
  void delete_expired(int64_t oldest) { delete_.run(oldest); }

 private:
  Database &database_;
  Statement put_, remove_, find_, delete_;
};

}  // namespace luminance
