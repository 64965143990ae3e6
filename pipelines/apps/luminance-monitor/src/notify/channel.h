// SPDX-License-Identifier: LGPL-2.1-or-later
// The interface of a channel, which sends messages to a receiver.
#pragma once

#include <atomic>
#include <stdexcept>

#include "notify/message.h"

namespace luminance {

/// A message could not be sent. The text is for people, and contains no secret.
struct SendError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Channel {
 public:
  virtual ~Channel() = default;
  /// Returns when the receiver has the message. Throws SendError if it cannot be sent. Runs on the
  /// worker's thread, and ends soon after `is_cancelled` is set.
  virtual void send(const Message &message, const std::atomic<bool> &is_cancelled) = 0;
};

}  // namespace luminance
