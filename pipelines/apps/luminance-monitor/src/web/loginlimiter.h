// SPDX-License-Identifier: LGPL-2.1-or-later
// Wrong passwords and tokens: responses to an address are delayed longer and longer, and few of its
// attempts are checked meanwhile. Other addresses and logged-in users are not affected.
#pragma once

#include <glib.h>
#include <sys/socket.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace luminance {

/// The key by which guesses are counted, as text: an IPv4 address, or a /64 network of IPv6.
std::string client_of(const sockaddr *address);
/// The same for an address as text; empty if it is invalid.
std::string client_of(const std::string &address);

/// Times are in microseconds of GLib's monotonic clock.
class LoginLimiter {
 public:
  static constexpr unsigned kFreeAttempts = 5;               // without delay
  static constexpr gint64 kFirstDelay = G_USEC_PER_SEC / 4;  // of the next one; then doubles
  static constexpr gint64 kMaxDelay = 4 * G_USEC_PER_SEC;
  static constexpr size_t kMaxWaiting = 4;                    // delayed responses
  static constexpr gint64 kMemory = 15 * G_TIME_SPAN_MINUTE;  // since the latest guess
  static constexpr size_t kMaxClients = 4096;

  /// How long no attempts of this client are checked, not even correct ones; 0: they are.
  gint64 refusal(const std::string &client, gint64 now) const;
  /// Counts a wrong guess. Returns the delay of its response, which holds even if the client
  /// leaves.
  gint64 add(const std::string &client, gint64 now);
  /// Counts an attempt that was refused unchecked.
  void count_refusal(const std::string &client, gint64 now);
  /// Log lines that are due: one for each of the most active clients since the last report, and
  /// one for all others.
  std::vector<std::string> report(gint64 now);
  size_t size() const { return clients_.size(); }

 private:
  struct Client {
    unsigned count = 0;
    gint64 latest = 0;
    std::vector<gint64> waiting;  // until when responses are delayed
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
