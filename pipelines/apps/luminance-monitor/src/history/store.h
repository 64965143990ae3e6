// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes the file of a history.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "history/database.h"
#include "history/incidenttable.h"
#include "history/maintenance.h"
#include "history/references.h"
#include "history/row.h"
#include "history/summaries.h"
#include "watch/monitor.h"

namespace luminance {

/// Data to be written together.
struct Batch {
  struct Entry {
    std::string camera;  // id
    Row row;
  };
  struct RemovedCamera {
    std::string name, source;
  };
  std::map<std::string, RemovedCamera> removed;  // by id: cameras removed from the monitor
  std::deque<Entry> rows;
  std::deque<Event> events;
  std::map<std::string, StoredReference> references;  // by id
  std::map<IncidentKey, Incident> incidents;
  std::deque<IncidentPicture> pictures;
  std::map<std::string, std::optional<Maintenance>> maintenance;  // by id
};

class Store {
 public:
  /// Opens or creates a history, for rows of `row` milliseconds. If the id of a camera has changed
  /// and the camera can be identified, its rows move to the new id.
  Store(const std::string &file, int64_t row, const Monitor &monitor);

  /// Writes all data, or throws and writes nothing. A row whose time exists already, as after a
  /// restart or when the clock was set back, is merged with the existing one. Then deletes some of
  /// the data older than `oldest`, not all at once, which would take long.
  void write(const Batch &batch, int64_t oldest);
  bool has_moved() { return database_.has_moved(); }
  /// Returns the stored reference of the camera; nothing if there is none.
  std::optional<StoredReference> reference(const std::string &camera) {
    return references_.read(camera);
  }
  /// Returns the stored maintenance of the camera; nothing if there is none.
  std::optional<Maintenance> maintenance(const std::string &camera) {
    return maintenance_.read(camera);
  }
  std::vector<Incident> open_incidents() { return incidents_.open(); }
  /// Returns the incident as it is now; nothing if there is no such incident.
  std::optional<KeptIncident> amend_incident(int64_t number, const Amendment &amendment,
                                             int64_t now);
  /// Whether incidents have changed since the last call.
  bool take_changed_incidents() { return incidents_.take_changed(); }

 private:
  std::optional<std::string> old_id_of(const CameraSettings &camera);
  void move_to_new_ids();
  void name_cameras();
  void write(const Batch::Entry &entry);
  void delete_expired(int64_t oldest, const Batch &written);
  void delete_expired_rows(int64_t camera, int64_t oldest, int64_t limit);
  SummaryState find(const std::string &camera);
  std::optional<int64_t> first_of(int64_t camera);

  const Monitor &monitor_;
  const int64_t row_;
  Database database_;
  Summaries summaries_;
  ReferenceTable references_;
  IncidentTable incidents_;
  MaintenanceTable maintenance_;
  Statement name_camera_, name_removed_, find_camera_, find_row_, put_row_, put_event_;
  Statement cameras_, first_, delete_rows_, delete_events_, delete_cameras_;
  Statement same_name_, rename_;
};

}  // namespace luminance
