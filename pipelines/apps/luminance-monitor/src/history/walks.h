// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads rows and summaries in their order. Throws HistoryError if the order is damaged.
#pragma once

#include <functional>
#include <optional>

#include "history/database.h"
#include "history/row.h"
#include "history/summary.h"

namespace luminance {

/// Reads the rows of a camera. Logs rows with a fault and leaves them out.
class RowWalk {
 public:
  explicit RowWalk(Database &database);

  /// The rows in `from` <= time < `to`.
  void each(int64_t camera, int64_t from, int64_t to, const std::function<void(Row row)> &take);
  /// Return the time of the first and of the last row in `from` <= time < `to`, even if the row has
  /// a fault.
  std::optional<int64_t> first(int64_t camera, int64_t from, int64_t to);
  std::optional<int64_t> last(int64_t camera, int64_t from, int64_t to);

 private:
  std::optional<int64_t> time_of(Statement &statement, int64_t camera, int64_t from, int64_t to);

  Database &database_;
  Statement rows_, first_, last_;
};

/// Reads the summaries of a camera.
class SummaryWalk {
 public:
  explicit SummaryWalk(Database &database);

  /// Reads the summaries of `length` in `from` <= bucket < `to`. Throws DamagedSummary if one has a
  /// fault.
  void each(int64_t camera, int64_t length, int64_t from, int64_t to,
            const std::function<void(Summary summary)> &take);

 private:
  Database &database_;
  Statement parts_, last_;
};

}  // namespace luminance
