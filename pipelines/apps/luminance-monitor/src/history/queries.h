// SPDX-License-Identifier: LGPL-2.1-or-later
// Questions to the history, answered by a few threads beside the main loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "history/reader.h"

namespace luminance {

class Queries {
 public:
  /// On one of the threads; it may throw.
  using Query = std::function<std::string(Reader &reader)>;
  struct Outcome {
    std::string text;
    std::string error;  // empty: it is answered
  };
  /// On the main loop, once, unless the query is dropped before.
  using Done = std::function<void(Outcome outcome)>;

  /// A query's place among those that there may be. Who lets go of it drops the query.
  class Place {
   public:
    virtual ~Place() = default;
  };

  /// At most `most` at once. The main loop is that of the calling thread.
  Queries(const std::string &file, size_t most);
  /// Drops what is left.
  ~Queries();
  Queries(const Queries &) = delete;
  Queries &operator=(const Queries &) = delete;

  /// Null: there are too many.
  std::unique_ptr<Place> ask(Query query, Done done);

 private:
  struct Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace luminance
