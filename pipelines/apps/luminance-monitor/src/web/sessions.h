// SPDX-License-Identifier: LGPL-2.1-or-later
// Sessions of logged-in users. A secret in a cookie identifies each.
#pragma once

#include <glib.h>

#include <string>
#include <unordered_map>

namespace luminance {

class Sessions {
 public:
  static constexpr gint64 kLength = 7 * G_TIME_SPAN_DAY;  // from the login
  static constexpr size_t kMaxSessions = 256;             // another one ends the oldest

  /// Returns the secret of a new session: 256 random bits. `user`: its user; empty if not known.
  /// Times are in microseconds of GLib's monotonic clock.
  std::string begin(const std::string &user, gint64 now);
  bool knows(const std::string &secret, gint64 now) const;
  /// Returns the session's user; empty if the user or the session is not known.
  std::string user_of(const std::string &secret, gint64 now) const;
  void end(const std::string &secret);
  void end_all() { sessions_.clear(); }
  size_t size() const { return sessions_.size(); }

 private:
  struct Session {
    gint64 end;
    std::string user;
  };

  // Keyed by the hash of the secret, so that the time of a look-up reveals nothing about it.
  std::unordered_map<std::string, Session> sessions_;
};

}  // namespace luminance
