// SPDX-License-Identifier: LGPL-2.1-or-later
// Wrong passwords and tokens: each address has to wait longer and longer for the answer to one, and
// has few of them looked at meanwhile. Others, and whoever is logged in, notice nothing.
#pragma once

#include <glib.h>
#include <sys/socket.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace luminance {

/// Whose guesses are counted together: an IPv4 address, or an IPv6 network of 64 bits. For people.
std::string guesser_of(const sockaddr *address);
/// The same of an address as text; empty where it is none.
std::string guesser_of(const std::string &address);

/// Times are in microseconds of GLib's monotonic clock.
class Guesses {
 public:
  static constexpr unsigned kFree = 5;                       // answered at once
  static constexpr gint64 kFirstDelay = G_USEC_PER_SEC / 4;  // of the next one; doubles
  static constexpr gint64 kLongestDelay = 4 * G_USEC_PER_SEC;
  static constexpr size_t kAtOnce = 4;                        // whose answers wait
  static constexpr gint64 kMemory = 15 * G_TIME_SPAN_MINUTE;  // since the latest one
  static constexpr size_t kGuessers = 4096;

  /// How long nothing more of this guesser is looked at, not even what is right; 0: it is.
  gint64 refusal(const std::string &guesser, gint64 now) const;
  /// A wrong one: how long its answer has to wait, also where the guesser does not.
  gint64 add(const std::string &guesser, gint64 now);
  /// One was refused.
  void note_refusal(const std::string &guesser, gint64 now);
  /// Lines for the log that are due: one for each of the busiest guessers since the last ones, and
  /// one for all others.
  std::vector<std::string> report(gint64 now);
  size_t size() const { return guessers_.size(); }

 private:
  struct Guesser {
    unsigned count = 0;
    gint64 latest = 0;
    std::vector<gint64> waiting;  // until when answers wait
  };

  struct Count {
    unsigned wrong = 0, refused = 0;
  };

  void forget(gint64 now);
  Count *to_report(const std::string &guesser, gint64 now);

  std::unordered_map<std::string, Guesser> guessers_;
  std::map<std::string, Count> unreported_;
  gint64 since_ = 0, due_ = 0, period_ = 0;  // of the report
};

}  // namespace luminance
