// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits the number of connections, in all and for each peer, and keeps their deadlines.
#pragma once

#include <glib.h>
#include <sys/socket.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace luminance {

/// Returns the key by which connections are limited: an IPv4 address, or a /64 network of IPv6.
/// Empty for programs on this machine, because one of them may be a proxy.
std::string peer_of(const sockaddr *address);

enum class Admission {
  kAdmitted,
  kFull,       // all peers together have reached the limit
  kPeerLimit,  // this peer has reached its share
};

class ConnectionLimiter {
 public:
  static constexpr gint64 kNever = G_MAXINT64;
  static constexpr gint64 kRequest = 10 * G_USEC_PER_SEC;  // microseconds for a request to arrive
  static constexpr gint64 kMaking = 10 * G_USEC_PER_SEC;   // microseconds to make a response
  static constexpr gint64 kAnswer = 30 * G_USEC_PER_SEC;   // microseconds for the peer to read it
  /// Connections above the limit that get an error response. Further ones are closed at once.
  static constexpr unsigned kRejectReserve = 32;

  explicit ConnectionLimiter(unsigned limit) : limit_(limit) {}

  /// Adds a connection, whose first request then has kRequest from now on. Returns false, and adds
  /// nothing, if the reserve is full, too.
  bool enter(int socket, const sockaddr *peer, gint64 now);
  void leave(int socket);
  Admission admission(int socket) const { return connections_.at(socket).admission; }
  /// Sets the time by which the current step must be finished, in microseconds of GLib's clock.
  void set_deadline(int socket, gint64 time);
  std::vector<int> sockets() const;
  bool is_overdue(int socket, gint64 now) const { return connections_.at(socket).deadline < now; }

 private:
  struct Connection {
    std::string peer;
    Admission admission;
    gint64 deadline;
  };

  Admission decide_admission(const std::string &peer) const;

  const unsigned limit_;
  unsigned admitted_ = 0;                            // number of admitted connections
  std::unordered_map<int, Connection> connections_;  // by socket
  std::unordered_map<std::string, unsigned> peers_;  // admitted connections, by key
};

}  // namespace luminance
