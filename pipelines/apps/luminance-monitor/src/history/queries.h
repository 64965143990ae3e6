// SPDX-License-Identifier: LGPL-2.1-or-later
// Queries to the history, answered by a few threads besides the main loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "history/reader.h"

namespace luminance {

class Queries {
 public:
  /// A query throws it if the history does not have what was asked for, which is not a failure.
  struct Missing : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  /// Runs on one of the threads; may throw.
  using Query = std::function<std::string(Reader &reader)>;
  struct Outcome {
    std::string text;
    std::string error;  // empty: success
    bool is_missing = false;
  };
  /// Called once on the main loop, unless the query is dropped before.
  using Done = std::function<void(Outcome outcome)>;

  /// A query that was submitted. Destroying the handle drops the query.
  class Handle {
   public:
    virtual ~Handle() = default;
  };

  /// The time limit of a response, after which nobody waits for the answer.
  static constexpr std::chrono::milliseconds kLimit{10000};

  /// Accepts at most `max_queries` queries at once, each of which fails after `limit`. The calling
  /// thread runs the main loop.
  Queries(const std::string &file, size_t max_queries, std::chrono::milliseconds limit = kLimit);
  /// Drops the remaining queries, and stops those that are being answered.
  ~Queries();
  Queries(const Queries &) = delete;
  Queries &operator=(const Queries &) = delete;

  /// Returns null if there are too many queries.
  std::unique_ptr<Handle> submit(Query query, Done done);

 private:
  struct Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace luminance
