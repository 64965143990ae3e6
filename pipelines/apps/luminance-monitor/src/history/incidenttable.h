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

/// A user's changes to an incident. Members that are not set leave it as it is.
struct Amendment {
  std::optional<bool> acknowledged;
  std::optional<std::string> comment;
  std::string acknowledged_by = {};  // name of the user; may be empty
};

class IncidentTable {
 public:
  /// Maximum for all incidents together. A picture has about 15 KB.
  static constexpr int64_t kMaxPictures = 2000;

  explicit IncidentTable(Database &database);

  /// Adds an incident, or updates it if the file has one with the same key. Does nothing if its
  /// camera is not in the file, as when a new file has replaced the old one.
  void write(const Incident &incident);
  /// Adds a picture, unless the incident already has one or is not in the file. Deletes the oldest
  /// pictures if there are too many.
  void write(const IncidentPicture &picture);
  /// Returns the incidents that last. Logs damaged ones and leaves them out.
  std::vector<Incident> open();
  /// Changes an incident. Returns whether it exists. `now` is the time of an acknowledgement; an
  /// incident that is already acknowledged keeps its earlier time and name.
  bool amend(int64_t number, const Amendment &amendment, int64_t now);
  /// Deletes up to `limit` incidents that ended before `oldest`.
  void delete_expired(int64_t oldest, int64_t limit);
  /// Returns whether incidents have changed since the last call, other than by lasting longer.
  bool take_changed() { return std::exchange(is_changed_, false); }

 private:
  Database &database_;
  bool is_changed_ = false;
  Statement prolong_, change_, put_, put_picture_, limit_pictures_, open_, find_, acknowledge_,
      comment_, delete_;
};

}  // namespace luminance
