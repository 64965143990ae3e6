// SPDX-License-Identifier: LGPL-2.1-or-later
// The thread that sends the messages of one channel.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "notify/channel.h"

namespace luminance {

class Worker {
 public:
  /// Called on the main loop, unless the worker is gone by then. `error` is empty if the message was
  /// sent.
  using Done = std::function<void(const std::string &error)>;

  /// The main loop is that of the calling thread.
  explicit Worker(std::shared_ptr<Channel> channel);
  /// Cancels what is being sent, and waits for nothing: a name server can hold up the thread, which
  /// ends on its own.
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  void send(const Message &message, Done done);
  /// Cancels what is being sent. Nothing is sent any more.
  void cancel();
  /// Whether the thread has ended, after cancel(), by then.
  bool wait_until(std::chrono::steady_clock::time_point time);

 private:
  struct State;
  static void work(const std::shared_ptr<State> &state, std::shared_ptr<Channel> channel);

  std::shared_ptr<State> state_;
};

}  // namespace luminance
