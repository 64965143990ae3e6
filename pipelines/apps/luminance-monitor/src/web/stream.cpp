// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "web/api.h"

namespace luminance {
namespace {

constexpr gint64 kPeriod = G_USEC_PER_SEC / 2;
constexpr gint64 kGather = G_USEC_PER_SEC / 20;  // changes of many cameras come close together
constexpr gint64 kTimeout = 10 * G_USEC_PER_SEC;

std::string event(const std::string &name, const Json &data) {
  return "event: " + name + "\ndata: " + text_of(data) + "\n\n";
}

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

uint64_t incidents_version_of(const History *history) {
  return history != nullptr ? history->incidents_version() : 0;
}

}  // namespace

class EventStream::Client : public Chunks {
 public:
  Client(EventStream &stream, const std::shared_ptr<Exchange> &exchange)
      : stream_(stream), exchange_(exchange) {
    stream_.clients_.insert(this);
  }
  ~Client() override { stream_.clients_.erase(this); }

  size_t take(char *to, size_t room) override {
    if (text_ == nullptr) {
      text_ = stream_.next(seen_);
      seen_ = stream_.ticks_;
      taken_ = 0;
    }
    if (text_ == nullptr && std::exchange(beats_, false)) text_ = stream_.heartbeat();
    waits_ = text_ == nullptr;
    if (waits_) return 0;
    progress_ = g_get_monotonic_time();
    const size_t size = std::min(room, text_->size() - taken_);
    std::memcpy(to, text_->data() + taken_, size);
    taken_ += size;
    if (taken_ == text_->size()) text_.reset();
    return size;
  }

  void wake() {
    const std::shared_ptr<Exchange> exchange = exchange_.lock();
    if (waits_ && exchange != nullptr) exchange->wake();
  }

  void restart() {
    seen_ = 0;
    wake();
  }

  void maintain() {
    beats_ = true;
    wake();
    const bool is_stalled = !waits_ && g_get_monotonic_time() - progress_ > kTimeout;
    const std::shared_ptr<Exchange> exchange = exchange_.lock();
    if (is_stalled && exchange != nullptr) exchange->drop();
  }

 private:
  EventStream &stream_;
  const std::weak_ptr<Exchange> exchange_;
  Text text_;
  size_t taken_ = 0;
  uint64_t seen_ = 0;
  bool waits_ = false, beats_ = false;
  gint64 progress_ = g_get_monotonic_time();
};

EventStream::EventStream(const Monitor &monitor, const History *history, size_t limit)
    : monitor_(monitor),
      history_(history),
      limit_(limit),
      history_error_(error_of(history)),
      history_notice_(notice_of(history)),
      incidents_version_(incidents_version_of(history)) {
  for (const auto &camera : monitor.cameras()) all_.insert(camera.get());
  const auto maintain = [](gpointer self) -> gboolean {
    static_cast<EventStream *>(self)->maintain();
    return G_SOURCE_CONTINUE;
  };
  maintain_timer_ = g_timeout_add_seconds(1, maintain, this);
}

EventStream::~EventStream() {
  g_source_remove(maintain_timer_);
  if (tick_ != 0) g_source_remove(tick_);
}

std::shared_ptr<Chunks> EventStream::open(const std::shared_ptr<Exchange> &exchange) {
  return std::make_shared<Client>(*this, exchange);
}

void EventStream::note(const Camera &camera) {
  changed_.insert(&camera);
  schedule();
}

void EventStream::schedule() {
  if (tick_ != 0) return;
  const gint64 wait = std::max(kGather, last_tick_ + kPeriod - g_get_monotonic_time());
  const auto due = [](gpointer self) -> gboolean {
    auto *stream = static_cast<EventStream *>(self);
    stream->tick_ = 0;
    stream->tick();
    return G_SOURCE_REMOVE;
  };
  tick_ = g_timeout_add(static_cast<guint>((wait + 999) / 1000), due, this);
}

void EventStream::add(const Camera &camera) {
  all_.insert(&camera);
  restart_clients();
}

void EventStream::remove(const Camera &camera) {
  all_.erase(&camera);
  changed_.erase(&camera);
  restart_clients();
}

void EventStream::restart_clients() {
  latest_.reset();
  whole_.reset();
  everything_.reset();
  for (Client *client : clients_) client->restart();
}

void EventStream::tick() {
  last_tick_ = g_get_monotonic_time();
  ++ticks_;
  are_incidents_changed_ = incidents_version_of(history_) != incidents_version_;
  incidents_version_ = incidents_version_of(history_);
  latest_ = clients_.empty() ? nullptr : update(changed_);
  changed_.clear();
  whole_.reset();
  everything_.reset();
  for (Client *client : clients_) client->wake();
}

void EventStream::maintain() {
  std::string error = error_of(history_), notice = notice_of(history_);
  if (error != history_error_ || notice != history_notice_) schedule();
  history_error_ = std::move(error);
  history_notice_ = std::move(notice);
  if (incidents_version_of(history_) != incidents_version_) schedule();
  heartbeat_.reset();
  for (Client *client : clients_) client->maintain();
}

EventStream::Text EventStream::heartbeat() {
  const Clock &clock = monitor_.clock();
  if (heartbeat_ == nullptr)
    heartbeat_ = shared(event("heartbeat", {{"time", clock.wall(clock.now())}}));
  return heartbeat_;
}

EventStream::Text EventStream::next(uint64_t seen) {
  if (seen == ticks_) return nullptr;
  if (seen == 0) {
    if (whole_ == nullptr)
      whole_ = shared(event("cameras", cameras_json(monitor_, history_)) + incidents());
    return whole_;
  }
  if (seen + 1 == ticks_ && latest_ != nullptr) return latest_;
  // The client did not keep up, and missed updates: it gets all cameras.
  if (everything_ == nullptr) {
    are_incidents_changed_ = true;  // perhaps
    everything_ = update(all_);
  }
  return everything_;
}

EventStream::Text EventStream::update(const std::set<const Camera *> &cameras) const {
  const Clock &clock = monitor_.clock();
  Json json = {{"time", clock.wall(clock.now())},
               {"history_error", error_of(history_)},
               {"history_notice", notice_of(history_)},
               {"cameras", Json::array()}};
  for (const auto &camera : monitor_.cameras())
    if (cameras.count(camera.get()) > 0) json["cameras"].push_back(camera_json(*camera, clock));
  return shared(event("update", json) + (are_incidents_changed_ ? incidents() : std::string()));
}

/// Returns an event with the version of the incidents. When it changes, clients ask for them again.
std::string EventStream::incidents() const {
  if (history_ == nullptr) return {};
  return event("incidents", {{"version", incidents_version_}});
}

}  // namespace luminance
