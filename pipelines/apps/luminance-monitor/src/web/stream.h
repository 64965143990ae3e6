// SPDX-License-Identifier: LGPL-2.1-or-later
// Server-Sent Events: what changed, to readers who each take it at their own pace.
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
  /// At most `limit` readers.
  /// `history`: or null.
  Stream(const Monitor &monitor, const History *history, size_t limit);
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  bool has_room() const { return readers_.size() < limit_; }
  /// A new reader: what answers the exchange. The stream outlives it.
  std::shared_ptr<Chunks> open(const std::shared_ptr<Exchange> &exchange);
  void note(const Camera &camera);
  /// It was added, or is removed: all readers begin anew.
  void add(const Camera &camera);
  void remove(const Camera &camera);

 private:
  class Reader;
  using Text = std::shared_ptr<const std::string>;  // the same for all readers

  void schedule();
  void tick();
  void tend();
  void begin_anew();
  /// What a reader that has seen all until `seen` gets next. Null: nothing.
  Text next(uint64_t seen);
  Text update(const std::set<const Camera *> &cameras) const;

  const Monitor &monitor_;
  const History *const history_;
  const size_t limit_;
  std::set<Reader *> readers_;
  std::set<const Camera *> changed_, all_;
  uint64_t ticks_ = 1;  // a reader that has seen 0 has seen nothing
  gint64 last_tick_ = 0;
  std::string history_error_;  // as the readers know it
  guint tick_ = 0, tend_ = 0;
  Text latest_, whole_, everything_;  // of the last tick; the last two where somebody needs them
};

}  // namespace luminance
