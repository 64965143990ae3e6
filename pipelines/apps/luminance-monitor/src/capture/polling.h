// SPDX-License-Identifier: LGPL-2.1-or-later
// Requests pictures of a camera again and again, on a thread of its own.
#pragma once

#include <functional>
#include <memory>

#include "capture/fetcher.h"

namespace luminance {

class Polling {
 public:
  /// Called on the main loop, unless the polling has been destroyed. After an error, no more
  /// pictures are requested.
  using Take = std::function<void(const Fetched &)>;

  /// Begins at once. The main loop is that of the calling thread. Throws std::runtime_error where
  /// libcurl cannot be initialized.
  Polling(const CameraSettings &camera, const Timeouts &timeouts, Take take);
  /// Cancels the request that is under way, and does not wait for the thread.
  ~Polling();
  Polling(const Polling &) = delete;
  Polling &operator=(const Polling &) = delete;

  /// Waits until the threads of all destroyed pollings have ended. Returns false if some have not
  /// ended in time.
  static bool wait_for_all(double seconds);

 private:
  struct State;
  static void work(const std::shared_ptr<State> &state);
  static void hand_over(const std::shared_ptr<State> &state, Fetched fetched);

  const std::shared_ptr<State> state_;
};

}  // namespace luminance
