// SPDX-License-Identifier: LGPL-2.1-or-later
// The thread that asks a camera for a picture, again and again.
#pragma once

#include <functional>
#include <memory>

#include "capture/fetcher.h"

namespace luminance {

class Polling {
 public:
  /// Called on the main loop, unless the polling is gone by then. After an error, no more is asked
  /// for.
  using Take = std::function<void(const Fetched &)>;

  /// Begins at once. The main loop is that of the calling thread. Throws std::runtime_error where
  /// libcurl cannot be initialized.
  Polling(const CameraSettings &camera, const Timeouts &timeouts, Take take);
  /// Cancels what is under way, and waits for nothing.
  ~Polling();
  Polling(const Polling &) = delete;
  Polling &operator=(const Polling &) = delete;

  /// Waits until the threads of all that were destroyed have ended; false if some have not in time.
  static bool wait_for_all(double seconds);

 private:
  struct State;
  static void work(const std::shared_ptr<State> &state);
  static void hand_over(const std::shared_ptr<State> &state, Fetched fetched);

  const std::shared_ptr<State> state_;
};

}  // namespace luminance
