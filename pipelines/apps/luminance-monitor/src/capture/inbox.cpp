// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capture/inbox.h"

#include <utility>

namespace luminance {
namespace {

constexpr size_t kCapacity = 256;

}  // namespace

Inbox::Inbox(std::function<void(const Arrival &)> deliver) : deliver_(std::move(deliver)) {}

Inbox::~Inbox() {
  if (source_ != 0) g_source_remove(source_);
}

void Inbox::put(const Arrival &arrival, const std::atomic<bool> &cancelled) {
  std::unique_lock<std::mutex> lock(mutex_);
  room_.wait(lock, [&] { return cancelled || closed_ || arrivals_.size() < kCapacity; });
  if (cancelled || closed_) return;
  arrivals_.push_back(arrival);
  if (source_ != 0) return;
  const auto drain = [](gpointer data) -> gboolean {
    auto *self = static_cast<Inbox *>(data);
    {
      const std::lock_guard<std::mutex> guard(self->mutex_);
      self->source_ = 0;
    }
    self->drain();
    return G_SOURCE_REMOVE;
  };
  source_ = g_idle_add_full(G_PRIORITY_DEFAULT, drain, this, nullptr);
}

void Inbox::wake() {
  const std::lock_guard<std::mutex> lock(mutex_);
  room_.notify_all();
}

void Inbox::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  arrivals_.clear();
  room_.notify_all();
}

void Inbox::drain() {
  std::vector<Arrival> arrivals;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    arrivals.swap(arrivals_);
    room_.notify_all();
  }
  for (const Arrival &arrival : arrivals) deliver_(arrival);
}

}  // namespace luminance
