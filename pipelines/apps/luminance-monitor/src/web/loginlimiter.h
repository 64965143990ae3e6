// SPDX-License-Identifier: LGPL-2.1-or-later
// Slows down guesses of passwords and tokens: responses to an address that guessed wrong are
// delayed longer and longer, and meanwhile few of its attempts are checked. Other addresses and
// logged-in users are not affected.
#pragma once

#include <glib.h>
#include <sys/socket.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace luminance {

/// Returns the key by which guesses are counted, as text: an IPv4 address, or a /64 network of
/// IPv6.
std::string client_of(const sockaddr *address);
/// Returns the key for an address as text; empty if it is invalid.
std::string client_of(const std::string &address);

/// Times are in microseconds of GLib's monotonic clock.
class LoginLimiter {
 public:
  static constexpr unsigned kFreeAttempts = 5;               // wrong guesses without a delay
  static constexpr gint64 kFirstDelay = G_USEC_PER_SEC / 4;  // after those; then doubles
  static constexpr gint64 kMaxDelay = 4 * G_USEC_PER_SEC;
  static constexpr size_t kMaxWaiting = 4;                    // delayed responses to one client
  static constexpr gint64 kMemory = 15 * G_TIME_SPAN_MINUTE;  // after the latest wrong guess
  static constexpr size_t kMaxClients = 4096;

  /// Returns how long no attempts of this client are checked, not even correct ones; 0 if they are
  /// checked.
  gint64 refusal(const std::string &client, gint64 now) const;
  /// Counts a wrong guess. Returns the delay of its response, which counts even if the client
  /// disconnects.
  gint64 add(const std::string &client, gint64 now);
  /// Counts an attempt that was refused unchecked.
  void count_refusal(const std::string &client, gint64 now);
  /// Returns the log lines that are due: one for each of the most active clients since the last
  /// report, and one for all others.
  std::vector<std::string> report(gint64 now);
  size_t size() const { return clients_.size(); }

 private:
  struct Client {
    unsigned count = 0;
    gint64 latest = 0;
    std::vector<gint64> waiting;  // the ends of delays of responses
  };

  struct Count {
    unsigned wrong = 0, refused = 0;
  };

  void evict(gint64 now);
  Count *to_report(const std::string &client, gint64 now);

  std::unordered_map<std::string, Client> clients_;
  std::map<std::string, Count> unreported_;
  gint64 since_ = 0, due_ = 0, period_ = 0;  // of the report
};

}  // namespace luminance
