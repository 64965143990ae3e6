// SPDX-License-Identifier: LGPL-2.1-or-later
// Who reads the history's file, beside who writes it. One thread each.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "history/error.h"
#include "history/row.h"

namespace luminance {

class Reader {
 public:
  /// Opens it when it is asked, and again where another file is there by then. Whoever sets `stop`
  /// ends what is read with HistoryError.
  explicit Reader(const std::string &file, const std::atomic<bool> *stop = nullptr);
  ~Reader();

  /// Forgets the file until it is asked again: after an error, whatever was under way.
  void close();

  // Both throw HistoryError.
  /// Those that begin in `from` to `to`, the oldest first. Where there are more than `points`,
  /// neighbours are merged.
  std::vector<Row> rows(const std::string &camera, int64_t from, int64_t to, size_t points);
  /// The newest first.
  std::vector<Event> events(const std::optional<std::string> &camera, int64_t from, int64_t to,
                            size_t limit);

 private:
  struct Connection;

  Connection &connection();

  const std::string file_;
  const std::atomic<bool> *const stop_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace luminance
