// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes the incidents in the file of a history.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "history/database.h"
#include "history/incident.h"

namespace luminance {

/// What people say of an incident. What is not set stays as it is.
struct Amendment {
  std::optional<bool> acknowledged;
  std::optional<std::string> comment;
  std::string acknowledged_by = {};  // who does; may be empty
};

class IncidentTable {
 public:
  /// Of all incidents together. A picture has about 15 KB.
  static constexpr int64_t kMaxPictures = 2000;

  explicit IncidentTable(Database &database);

  /// Adds it, or changes the one that began at the same time. Does nothing if its
  /// camera is not in the file, as in one that has replaced another.
  void write(const Incident &incident);
  /// Does nothing if the incident has one, or is not in the file. If there are too many, the oldest
  /// are deleted.
  void write(const IncidentPicture &picture);
  /// Those that last. What is damaged is left out, with a line in the log.
  std::vector<Incident> open();
  /// Returns whether there is such an incident. `now` is when it is acknowledged; one that is
  /// acknowledged already stays so since then, by whoever did so.
  bool amend(int64_t number, const Amendment &amendment, int64_t now);
  /// Deletes up to `limit` that were over before `oldest`.
  void delete_expired(int64_t oldest, int64_t limit);
  /// Whether anything has changed since the last call, but that some last longer.
  bool take_changed() { return std::exchange(is_changed_, false); }

 private:
  Database &database_;
  bool is_changed_ = false;
  Statement prolong_, change_, put_, put_picture_, limit_pictures_, open_, find_, acknowledge_,
      comment_, delete_;
};

}  // namespace luminance
