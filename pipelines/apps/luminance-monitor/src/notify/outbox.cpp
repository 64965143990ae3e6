// SPDX-License-Identifier: LGPL-2.1-or-later
#include "notify/outbox.h"

#include <algorithm>
#include <utility>

namespace luminance {
namespace {

constexpr Time kHour = 3600 * kSecond;

}  // namespace

void Outbox::add(const Alert &alert, Time now) {
  has_changed_ = true;
  merge({alert, now});
  limit();
}

/// Adds the alert, or merges it with a waiting one of the same fault: only the end of the fault
/// replaces that one.
void Outbox::merge(const Entry &entry) {
  const auto before = std::find_if(waiting_.begin(), waiting_.end(), [&](const Entry &other) {
    return is_same_fault(other.alert, entry.alert);
  });
  if (before == waiting_.end())
    waiting_.push_back(entry);
  else if (entry.alert.event == Alert::Event::kCleared)
    before->alert = entry.alert;
}

void Outbox::limit() {
  while (waiting_.size() > kMaxAlerts) {
    waiting_.pop_front();
    ++omitted_;
  }
}

std::optional<Outbox::Batch> Outbox::take(Time now) {
  while (!sent_.empty() && now - sent_.front() >= kHour) sent_.pop_front();
  if (is_sending_ || waiting_.empty() || now < retry_ || sent_.size() >= limits_.max_per_hour ||
      now - waiting_.front().added < limits_.group)
    return {};
  is_sending_ = true;
  sending_.assign(waiting_.begin(), waiting_.end());
  waiting_.clear();
  omitted_sending_ = std::exchange(omitted_, 0);
  if (std::exchange(has_changed_, false)) ++number_;
  Batch batch;
  batch.number = number_;
  for (const Entry &entry : sending_) batch.alerts.push_back(entry.alert);
  batch.omitted = omitted_sending_;
  return batch;
}

void Outbox::sent(Time now) {
  is_sending_ = false;
  sending_.clear();
  omitted_sending_ = 0;
  has_changed_ = true;
  retry_ = pause_ = 0;
  sent_.push_back(now);
}

void Outbox::failed(Time now) {
  is_sending_ = false;
  const std::deque<Entry> newer = std::exchange(waiting_, {});
  waiting_.assign(sending_.begin(), sending_.end());
  sending_.clear();
  for (const Entry &entry : newer) merge(entry);
  omitted_ += std::exchange(omitted_sending_, 0);
  limit();
  pause_ = std::clamp(2 * pause_, kFirstPause, kLastPause);
  retry_ = now + pause_;
}

void Outbox::restart(Time now) {
  if (is_sending_) failed(now);
  retry_ = pause_ = 0;
}

size_t Outbox::give_up(Time now) {
  size_t count = 0;
  for (; !waiting_.empty() && now - waiting_.front().added >= kGiveUp; ++count)
    waiting_.pop_front();
  omitted_ += count;
  has_changed_ = has_changed_ || count > 0;
  return count;
}

}  // namespace luminance
