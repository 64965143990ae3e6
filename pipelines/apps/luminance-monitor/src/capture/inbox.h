// SPDX-License-Identifier: LGPL-2.1-or-later
// The queue of measurements from the streaming threads to the main loop.
#pragma once

#include <glib.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "watch/measurement.h"

namespace luminance {

struct Arrival {
  size_t camera;
  unsigned connection;  // number of its connection: frames of an ended one may still arrive
  Measurement frame;
};

class Inbox {
 public:
  /// `deliver` is called on the main loop.
  explicit Inbox(std::function<void(const Arrival &)> deliver);
  ~Inbox();

  /// Any thread. Waits while the queue is full, until `cancelled` is true and wake() is called;
  /// then nothing is delivered.
  void put(const Arrival &arrival, const std::atomic<bool> &cancelled);
  void wake();
  /// Delivers everything in the queue. Main thread.
  void drain();
  /// Discards the queue and delivers nothing more. Main thread.
  void close();

 private:
  const std::function<void(const Arrival &)> deliver_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::vector<Arrival> arrivals_;
  bool closed_ = false;
  guint source_ = 0;  // idle source on the main loop, which calls drain()
};

}  // namespace luminance
