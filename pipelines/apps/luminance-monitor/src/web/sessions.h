// SPDX-License-Identifier: LGPL-2.1-or-later
// People who have logged in: who they are is said by a secret that their browser keeps.
#pragma once

#include <glib.h>

#include <string>
#include <unordered_map>

namespace luminance {

class Sessions {
 public:
  static constexpr gint64 kLength = 7 * G_TIME_SPAN_DAY;  // from the login
  static constexpr size_t kMost = 256;                    // then the oldest one ends

  /// Returns its secret: 256 random bits. Times are in microseconds of GLib's monotonic clock.
  std::string begin(gint64 now);
  bool knows(const std::string &secret, gint64 now) const;
  void end(const std::string &secret);
  void end_all() { ends_.clear(); }
  size_t size() const { return ends_.size(); }

 private:
  // By the secret's hash: how long a look-up takes says nothing of a secret.
  std::unordered_map<std::string, gint64> ends_;
};

}  // namespace luminance
