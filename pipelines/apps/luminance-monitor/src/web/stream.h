// SPDX-License-Identifier: LGPL-2.1-or-later
// Server-Sent Events with the changes, for clients that each read at their own pace.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "history/history.h"
#include "watch/monitor.h"
#include "web/exchange.h"

namespace luminance {

class Stream {
 public:
  /// At most `limit` clients. `history` may be null.
  Stream(const Monitor &monitor, const History *history, size_t limit);
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  bool has_room() const { return readers_.size() < limit_; }
  /// The response body for a new client. The stream must outlive it.
  std::shared_ptr<Chunks> open(const std::shared_ptr<Exchange> &exchange);
  void note(const Camera &camera);
  /// The camera was added, or is about to be removed: all clients get the complete state again.
  void add(const Camera &camera);
  void remove(const Camera &camera);

 private:
  class Reader;
  using Text = std::shared_ptr<const std::string>;  // shared by all clients

  void schedule();
  void tick();
  void tend();
  void begin_anew();
  /// The next event for a client that has everything up to tick `seen`; null: none.
  Text next(uint64_t seen);
  Text update(const std::set<const Camera *> &cameras) const;

  const Monitor &monitor_;
  const History *const history_;
  const size_t limit_;
  std::set<Reader *> readers_;
  std::set<const Camera *> changed_, all_;
  uint64_t ticks_ = 1;  // 0: a client that has seen nothing
  gint64 last_tick_ = 0;
  std::string history_error_;  // as sent to the clients
  guint tick_ = 0, tend_ = 0;
  Text latest_, whole_, everything_;  // of the last tick; the last two are made on demand
};

}  // namespace luminance
