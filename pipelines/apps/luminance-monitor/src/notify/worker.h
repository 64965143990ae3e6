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
  /// Called on the main loop, unless the worker has been cancelled or destroyed by then. `error` is
  /// empty if the message was sent.
  using Done = std::function<void(const std::string &error)>;

  /// Starts the thread. The calling thread's main loop runs the `Done` callbacks.
  explicit Worker(std::shared_ptr<Channel> channel);
  /// Cancels as cancel() does. Does not wait for the thread, because a name server can hold it up;
  /// the thread ends on its own.
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  void send(const Message &message, Done done);
  /// Cancels the message that is being sent. No others are sent.
  void cancel();
  /// After cancel(): waits for the thread until `time`. Returns whether it has ended.
  bool wait_until(std::chrono::steady_clock::time_point time);

 private:
  struct State;
  static void work(const std::shared_ptr<State> &state, std::shared_ptr<Channel> channel);

  std::shared_ptr<State> state_;
};

}  // namespace luminance
