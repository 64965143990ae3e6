// SPDX-License-Identifier: LGPL-2.1-or-later
// A stream of Server-Sent Events with all changes. Each client reads at its own pace.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "history/history.h"
#include "watch/monitor.h"
#include "web/exchange.h"

namespace luminance {

class EventStream {
 public:
  /// At most `limit` clients. `history` may be null.
  EventStream(const Monitor &monitor, const History *history, size_t limit);
  ~EventStream();
  EventStream(const EventStream &) = delete;
  EventStream &operator=(const EventStream &) = delete;

  bool has_room() const { return clients_.size() < limit_; }
  /// Returns the response body for a new client. The stream must outlive it.
  std::shared_ptr<Chunks> open(const std::shared_ptr<Exchange> &exchange);
  void note(const Camera &camera);
  /// Notes that a camera was added, or is about to be removed: all clients get the whole state
  /// again.
  void add(const Camera &camera);
  void remove(const Camera &camera);

 private:
  class Client;
  using Text = std::shared_ptr<const std::string>;  // shared by all clients

  void schedule();
  void tick();
  void maintain();
  void restart_clients();
  /// Returns the next event for a client that has everything up to tick `seen`; null: none.
  Text next(uint64_t seen);
  Text update(const std::set<const Camera *> &cameras) const;
  std::string incidents() const;
  /// Returns an event that shows a client that the main loop runs.
  Text heartbeat();

  const Monitor &monitor_;
  const History *const history_;
  const size_t limit_;
  std::set<Client *> clients_;
  std::set<const Camera *> changed_, all_;
  uint64_t ticks_ = 1;  // a client that has seen nothing is at 0
  gint64 last_tick_ = 0;
  std::string history_error_, history_notice_;  // as sent to the clients
  uint64_t incidents_version_ = 0;              // as sent to the clients; 0: there is no history
  bool are_incidents_changed_ = false;          // for the next tick
  guint tick_ = 0, maintain_timer_ = 0;
  Text latest_, whole_, everything_;  // of the last tick; the last two are made on demand
  Text heartbeat_;                    // of this second, made on demand
};

}  // namespace luminance
