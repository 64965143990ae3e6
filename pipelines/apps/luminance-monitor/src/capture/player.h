// SPDX-License-Identifier: LGPL-2.1-or-later
// Starts and stops a pipeline on other threads, so that a camera that opens or closes slowly does
// not delay the main loop.
#pragma once

#include <gst/gst.h>

#include <memory>

namespace luminance {

class Player {
 public:
  /// Takes ownership of the pipeline.
  explicit Player(GstElement *pipeline);
  /// Stops the pipeline in the background.
  ~Player();
  Player(const Player &) = delete;
  Player &operator=(const Player &) = delete;

  void play();
  GstElement *pipeline() const;

  /// Waits until the pipelines of all destroyed players have stopped. Returns false if some have
  /// not stopped in time.
  static bool wait_for_all(double seconds);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace luminance
