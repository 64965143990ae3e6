// SPDX-License-Identifier: LGPL-2.1-or-later
#include "notify/broker.h"

#include <mosquitto.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <utility>

#include "log/log.h"

namespace luminance {
namespace {

using Moment = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kKeepAlive = 30;               // seconds
constexpr int kTurn = 100;                   // milliseconds
constexpr std::chrono::seconds kAnswer{10};  // for a connection and a confirmation
constexpr milliseconds kFarewell{1000};
constexpr std::chrono::seconds kPause{5};  // between two attempts
constexpr const char *kOnline = "online", *kOffline = "offline";

std::string text_of_error(int code) {
  return code == MOSQ_ERR_ERRNO ? std::strerror(errno) : mosquitto_strerror(code);
}

void check(int code) {
  if (code != MOSQ_ERR_SUCCESS) throw SendError(text_of_error(code));
}

bool is_library_ready() {
  static const int ready = mosquitto_lib_init();
  return ready == MOSQ_ERR_SUCCESS;
}

}  // namespace

Broker::Broker(MqttSettings settings, Topics retained)
    : settings_(std::move(settings)), retained_(std::move(retained)) {
  retained_[status_topic(settings_)] = kOnline;
  thread_ = std::thread([this] { run(); });
}

Broker::~Broker() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Broker::keep(Topics retained) {
  retained[status_topic(settings_)] = kOnline;
  const std::lock_guard lock(mutex_);
  retained_ = std::move(retained);
  is_synchronized_ = false;
}

bool Broker::take_connected() {
  const std::lock_guard lock(mutex_);
  return std::exchange(has_connected_, false);
}

void Broker::send(const Message &message, const std::atomic<bool> &is_cancelled) {
  const Moment::time_point end = Moment::now() + kAnswer;
  std::unique_lock lock(mutex_);
  const auto wait_while = [&](const auto &condition) {
    while (condition() && !is_cancelled && Moment::now() < end)
      changed_.wait_for(lock, milliseconds(kTurn));
  };
  wait_while([&] { return link_ == Link::kConnecting; });
  if (link_ == Link::kConnecting) throw SendError("no response from the broker");
  if (link_ == Link::kDown) throw SendError(error_);
  outgoing_ = Outgoing{json_of(message)};
  wait_while([&] { return link_ == Link::kUp && !outgoing_->is_sent; });
  const bool is_sent = outgoing_->is_sent;
  outgoing_.reset();
  if (is_sent) return;
  throw SendError(link_ == Link::kUp ? "the broker does not confirm the message" : error_);
}

void Broker::run() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (is_closing_) break;
    }
    if (client_ == nullptr && !begin()) {
      pause();
      continue;
    }
    const int code = mosquitto_loop(client_, kTurn, 1);
    if (code != MOSQ_ERR_SUCCESS) {
      lose(text_of_error(code));
      pause();
      continue;
    }
    synchronize();
    publish_outgoing();
  }
  end();
}

/// Starts a connection. Returns false if that failed at once.
bool Broker::begin() try {
  {
    const std::lock_guard lock(mutex_);
    link_ = Link::kConnecting;
  }
  library_error_.clear();
  published_.clear();
  client_ = is_library_ready() ? mosquitto_new(nullptr, true, this) : nullptr;
  if (client_ == nullptr) throw SendError("libmosquitto cannot be initialized");
  set_up(client_);
  check(mosquitto_connect_async(client_, settings_.host.c_str(), settings_.port, kKeepAlive));
  return true;
} catch (const SendError &error) {
  lose(error.what());
  return false;
}

void Broker::set_up(mosquitto *client) const {
  mosquitto_connect_callback_set(client, [](mosquitto *, void *broker, int code) {
    static_cast<Broker *>(broker)->on_connect(code);
  });
  mosquitto_publish_callback_set(client, [](mosquitto *, void *broker, int number) {
    static_cast<Broker *>(broker)->on_published(number);
  });
  mosquitto_message_callback_set(client,
                                 [](mosquitto *, void *broker, const mosquitto_message *message) {
                                   static_cast<Broker *>(broker)->on_message(*message);
                                 });
  mosquitto_log_callback_set(client, [](mosquitto *, void *broker, int level, const char *text) {
    if (level == MOSQ_LOG_ERR) static_cast<Broker *>(broker)->library_error_ = text;
  });
  const std::string status = status_topic(settings_);
  check(mosquitto_will_set(client, status.c_str(), static_cast<int>(std::strlen(kOffline)),
                           kOffline, 1, true));
  if (settings_.credentials)
    check(mosquitto_username_pw_set(client, settings_.credentials->user.c_str(),
                                    settings_.credentials->password.c_str()));
  if (!settings_.tls) return;
  if (settings_.ca_file.empty())
    check(mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1));
  else
    check(mosquitto_tls_set(client, settings_.ca_file.c_str(), nullptr, nullptr, nullptr, nullptr));
}

void Broker::lose(const std::string &why) {
  std::string text = why;
  if (!library_error_.empty()) text += ": " + library_error_;
  if (client_ != nullptr) mosquitto_destroy(std::exchange(client_, nullptr));
  const std::lock_guard lock(mutex_);
  link_ = Link::kDown;
  // If the broker gave a reason before it hung up, that reason says more.
  if (error_.empty()) error_ = on_one_line(text);
  changed_.notify_all();
}

void Broker::pause() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kPause, [&] { return is_closing_; });
  error_.clear();
  link_ = Link::kConnecting;
}

void Broker::end() {
  if (client_ == nullptr) return;
  bool is_up = false;
  {
    const std::lock_guard lock(mutex_);
    is_up = link_ == Link::kUp;
  }
  // If this message does not get through, the broker publishes the will instead.
  if (is_up && publish(status_topic(settings_), kOffline, true) == MOSQ_ERR_SUCCESS) {
    const Moment::time_point end = Moment::now() + kFarewell;
    while (mosquitto_want_write(client_) && Moment::now() < end &&
           mosquitto_loop(client_, kTurn, 1) == MOSQ_ERR_SUCCESS) {
    }
    mosquitto_disconnect(client_);
  }
  mosquitto_destroy(std::exchange(client_, nullptr));
}

int Broker::publish(const std::string &topic, const std::string &payload, bool is_retained) {
  return mosquitto_publish(client_, nullptr, topic.c_str(), static_cast<int>(payload.size()),
                           payload.data(), 1, is_retained);
}

/// Publishes retained payloads that the broker lacks, and removes those that it shall not keep.
void Broker::synchronize() {
  Topics wanted;
  {
    const std::lock_guard lock(mutex_);
    if (link_ != Link::kUp || std::exchange(is_synchronized_, true)) return;
    wanted = retained_;
  }
  bool is_complete = true;
  const auto bring = [&](const std::string &topic, const std::string &payload) {
    const bool is_done = publish(topic, payload, true) == MOSQ_ERR_SUCCESS;
    is_complete = is_complete && is_done;
    return is_done;
  };
  for (auto known = published_.begin(); known != published_.end();)
    known = wanted.count(known->first) == 0 && bring(known->first, "") ? published_.erase(known)
                                                                       : std::next(known);
  for (const auto &[topic, payload] : wanted) {
    const auto before = published_.find(topic);
    const bool is_known = before != published_.end() && before->second == payload;
    if (!is_known && bring(topic, payload)) published_[topic] = payload;
  }
  if (is_complete) return;
  const std::lock_guard lock(mutex_);
  is_synchronized_ = false;
}

void Broker::publish_outgoing() {
  const std::lock_guard lock(mutex_);
  if (link_ != Link::kUp || !outgoing_ || outgoing_->number != 0) return;
  const std::string topic = message_topic(settings_);
  // If this fails, no confirmation comes, and send() reports that.
  mosquitto_publish(client_, &outgoing_->number, topic.c_str(),
                    static_cast<int>(outgoing_->payload.size()), outgoing_->payload.data(), 1,
                    false);
}

void Broker::on_connect(int code) {
  const std::lock_guard lock(mutex_);
  if (code != 0) {
    error_ = mosquitto_connack_string(code);
    return;
  }
  link_ = Link::kUp;
  has_connected_ = true;
  is_synchronized_ = false;
  error_.clear();
  changed_.notify_all();
  for (const std::string &filter :
       {status_topic(settings_), birth_topic(settings_), description_filter(settings_)})
    mosquitto_subscribe(client_, nullptr, filter.c_str(), 1);
}

void Broker::on_published(int number) {
  const std::lock_guard lock(mutex_);
  if (!outgoing_ || outgoing_->number != number) return;
  outgoing_->is_sent = true;
  changed_.notify_all();
}

void Broker::on_message(const mosquitto_message &message) {
  const std::string topic = message.topic;
  const std::string payload(static_cast<const char *>(message.payload),
                            static_cast<size_t>(message.payloadlen));
  const bool is_birth = topic == birth_topic(settings_) && payload == kOnline && !message.retain;
  const bool is_will = topic == status_topic(settings_) && payload != kOnline;
  const std::lock_guard lock(mutex_);
  if (is_birth) published_.clear();      // Home Assistant may have forgotten everything
  if (is_will) published_.erase(topic);  // of a connection that was lost before this one
  if (is_birth || is_will) is_synchronized_ = false;
  if (message.retain && !payload.empty()) forget_stale(topic, payload);
}

/// Removes what an earlier run of the monitor described, if the camera no longer exists.
void Broker::forget_stale(const std::string &topic, const std::string &payload) {
  if (retained_.count(topic) > 0) return;
  for (const std::string &stale : topics_of_description(settings_, topic, payload))
    if (retained_.count(stale) == 0) publish(stale, "", true);
}

}  // namespace luminance
