// SPDX-License-Identifier: LGPL-2.1-or-later
// Measurements on their way from the streams' threads to the main loop.
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
  unsigned connection;  // of that camera: one that is over may still have something under way
  Measurement frame;
};

class Inbox {
 public:
  /// `deliver` is called on the main loop.
  explicit Inbox(std::function<void(const Arrival &)> deliver);
  ~Inbox();

  /// Any thread. Waits while there is no room, unless `over` turns true and wake() is called; then
  /// nothing is delivered.
  void put(const Arrival &arrival, const std::atomic<bool> &over);
  void wake();
  /// Delivers what is there. Main thread.
  void drain();
  /// Delivers nothing more. Main thread.
  void close();

 private:
  const std::function<void(const Arrival &)> deliver_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::vector<Arrival> arrivals_;
  bool closed_ = false;
  guint source_ = 0;  // of the main loop, that will drain
};

}  // namespace luminance
