// SPDX-License-Identifier: LGPL-2.1-or-later
// A connection to an MQTT broker: retained topics for Home Assistant, and messages as JSON.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "notify/channel.h"
#include "notify/homeassistant.h"
#include "settings/settings.h"

struct mosquitto;
struct mosquitto_message;

namespace luminance {

/// Keeps a connection on a thread of its own. Only that thread calls libmosquitto.
class Broker : public Channel {
 public:
  /// `retained`: the payloads that the broker shall retain.
  Broker(MqttSettings settings, Topics retained);
  /// Publishes that the monitor is offline. Takes up to a second, or longer if a name server does
  /// not respond.
  ~Broker() override;
  Broker(const Broker &) = delete;
  Broker &operator=(const Broker &) = delete;

  /// Replaces the payloads that the broker shall retain; others that were published before are
  /// removed from it. Any thread.
  void keep(Topics retained);
  /// Returns whether the broker has accepted a connection since the last call. Any thread.
  bool take_connected();
  void send(const Message &message, const std::atomic<bool> &is_cancelled) override;

 private:
  /// The message whose confirmation send() waits for.
  struct Outgoing {
    std::string payload;
    int number = 0;  // libmosquitto's message id; 0: not yet published
    bool is_sent = false;
  };
  enum class Link { kDown, kConnecting, kUp };

  void run();
  bool begin();
  void set_up(mosquitto *client) const;
  void end();
  void lose(const std::string &why);
  void pause();
  void synchronize();
  void publish_outgoing();
  int publish(const std::string &topic, const std::string &payload, bool is_retained);
  void on_connect(int code);
  void on_published(int number);
  void on_message(const mosquitto_message &message);
  void forget_stale(const std::string &topic, const std::string &payload);

  const MqttSettings settings_;
  // Used only by the thread.
  mosquitto *client_ = nullptr;  // null: neither connected nor connecting
  Topics published_;             // what the broker retains, as far as is known
  std::string library_error_;    // the latest error that libmosquitto logged

  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  Topics retained_;
  bool is_synchronized_ = false;
  bool has_connected_ = false;
  Link link_ = Link::kConnecting;
  std::string error_;  // why there is no connection
  std::optional<Outgoing> outgoing_;
  bool is_closing_ = false;
  std::thread thread_;
};

}  // namespace luminance
