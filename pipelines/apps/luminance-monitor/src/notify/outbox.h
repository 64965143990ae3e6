// SPDX-License-Identifier: LGPL-2.1-or-later
// The alerts of one channel that have not been sent: grouped into messages, limited in rate, and kept
// while sending fails. Nothing is lost silently: what is discarded is counted in the next message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "notify/alert.h"
#include "watch/time.h"

namespace luminance {

struct OutboxLimits {
  Time group = 0;  // from an alert to the message that it is in
  unsigned max_per_hour = 1;
};

class Outbox {
 public:
  static constexpr size_t kMaxAlerts = 1000;
  static constexpr Time kFirstPause = 5 * kSecond, kLastPause = 600 * kSecond;
  static constexpr Time kGiveUp = 24 * 3600 * kSecond;

  /// What is to be sent as one message.
  struct Batch {
    uint64_t number = 0;  // the same when it is sent again without a change
    std::vector<Alert> alerts;
    size_t omitted = 0;  // alerts that were discarded before
  };

  explicit Outbox(const OutboxLimits &limits) : limits_(limits) {}

  void set(const OutboxLimits &limits) { limits_ = limits; }
  void add(const Alert &alert, Time now);
  /// The next message, if it is time. Call sent() or failed() when its fate is known; until then
  /// there is no other.
  std::optional<Batch> take(Time now);
  void sent(Time now);
  void failed(Time now);
  /// For a channel with other settings, which may work where this one did not: what was being sent is
  /// to be sent again, and at once.
  void restart(Time now);
  /// The receiver works again, as something else has shown: what waits for another try is due.
  void resume() { retry_ = pause_ = 0; }
  /// Discards what has waited for too long; returns how many.
  size_t give_up(Time now);

  /// Alerts that have not been sent.
  size_t size() const { return waiting_.size() + sending_.size(); }

 private:
  struct Entry {
    Alert alert;
    Time added;
  };

  void merge(const Entry &entry);
  void limit();

  OutboxLimits limits_;
  std::deque<Entry> waiting_;  // the oldest first
  std::vector<Entry> sending_;
  bool is_sending_ = false;
  size_t omitted_ = 0, omitted_sending_ = 0;
  uint64_t number_ = 0;
  bool has_changed_ = true;  // since the message was made
  std::deque<Time> sent_;    // when, in the last hour
  Time retry_ = 0, pause_ = 0;
};

}  // namespace luminance
