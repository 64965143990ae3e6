// SPDX-License-Identifier: LGPL-2.1-or-later
// Plays a pipeline and takes it down on other threads: a camera that is slow to open or to close
// holds nobody up.
#pragma once

#include <gst/gst.h>

#include <memory>

namespace luminance {

class Player {
 public:
  /// Takes the pipeline.
  explicit Player(GstElement *pipeline);
  /// Stops it, which may take longer than this.
  ~Player();
  Player(const Player &) = delete;
  Player &operator=(const Player &) = delete;

  void play();
  GstElement *pipeline() const;

  /// Waits until no pipeline is left of players that are gone; false where some are, still.
  static bool wait_for_all(double seconds);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace luminance
