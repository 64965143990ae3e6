// SPDX-License-Identifier: LGPL-2.1-or-later
// The alerts that one channel has not sent yet. They are grouped into messages, limited in rate,
// and kept while sending fails. Alerts that had to be discarded are counted in the next message.
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
  Time group = 0;  // from the first alert to the message with it
  unsigned max_per_hour = 1;
};

class Outbox {
 public:
  static constexpr size_t kMaxAlerts = 1000;
  static constexpr Time kFirstPause = 5 * kSecond, kLastPause = 600 * kSecond;
  static constexpr Time kGiveUp = 24 * 3600 * kSecond;

  /// Alerts that make one message.
  struct Batch {
    uint64_t number = 0;  // the same if the batch is sent again unchanged
    std::vector<Alert> alerts;
    size_t omitted = 0;  // alerts that were discarded before
  };

  explicit Outbox(const OutboxLimits &limits) : limits_(limits) {}

  void set(const OutboxLimits &limits) { limits_ = limits; }
  void add(const Alert &alert, Time now);
  /// Returns the next message, if it is due. Call sent() or failed() when the result is known;
  /// until then, there is no other message.
  std::optional<Batch> take(Time now);
  void sent(Time now);
  void failed(Time now);
  /// Ends the pause before the next try; alerts that were being sent are to be sent again. For a
  /// new channel that takes over the outbox: its settings may work where the former ones did not.
  void restart(Time now);
  /// Ends the pause before the next try. For a receiver that is known to work again.
  void resume() { retry_ = pause_ = 0; }
  /// Discards alerts that have waited for too long. Returns how many.
  size_t give_up(Time now);

  /// Returns the number of alerts that have not been sent.
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
  bool has_changed_ = true;  // since the last batch was made
  std::deque<Time> sent_;    // times of messages in the last hour
  Time retry_ = 0, pause_ = 0;
};

}  // namespace luminance
