// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the file of a history, while another thread or process may write it. One thread per reader.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "history/error.h"
#include "history/incidentquery.h"
#include "history/interrupt.h"
#include "history/row.h"

namespace luminance {

class Reader {
 public:
  /// Opens the file on the first query, and again if it has been replaced. Queries fail with
  /// HistoryError soon after `interrupt` is due.
  explicit Reader(const std::string &file, const Interrupt *interrupt = nullptr);
  ~Reader();

  /// Closes the file until the next query; call it after an error.
  void close();

  // The queries throw HistoryError, also if records of a damaged file are out of order. They log
  // records with damaged values and leave them out.
  /// Returns the rows that begin between `from` and `to`, the oldest first. If there are more than
  /// `points`, adjacent rows are merged.
  std::vector<Row> rows(const std::string &camera, int64_t from, int64_t to, size_t points);
  /// Returns at most `limit` events, the newest first.
  std::vector<Event> events(const std::optional<std::string> &camera, int64_t from, int64_t to,
                            size_t limit);
  /// Returns at most `limit` incidents, the newest first.
  std::vector<KeptIncident> incidents(const IncidentFilter &filter, size_t limit);
  std::optional<KeptIncident> incident(int64_t number);
  /// Returns a JPEG; empty if there is none.
  std::string incident_picture(int64_t number);

 private:
  struct Connection;

  Connection &connection();

  const std::string file_;
  const Interrupt *const interrupt_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace luminance
