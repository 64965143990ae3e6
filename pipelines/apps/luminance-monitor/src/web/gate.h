// SPDX-License-Identifier: LGPL-2.1-or-later
// Who is connected, how many there may be, and until when each has to be done.
#pragma once

#include <glib.h>
#include <sys/socket.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace luminance {

/// What limits are counted by: an address, or an IPv6 network of 64 bits. Empty for programs of this
/// machine, which may be a proxy for everybody.
std::string peer_of(const sockaddr *address);

enum class Room {
  kThere,
  kTaken,        // by all together
  kTakenByPeer,  // by this one alone
};

class Gate {
 public:
  static constexpr gint64 kNever = G_MAXINT64;
  static constexpr gint64 kRequest = 10 * G_USEC_PER_SEC;  // to arrive whole
  static constexpr gint64 kMaking = 10 * G_USEC_PER_SEC;   // for an answer to be there
  static constexpr gint64 kAnswer = 30 * G_USEC_PER_SEC;   // to be taken whole
  /// Connections beyond the limit that are told so. What comes beyond these is closed at once.
  static constexpr unsigned kReserve = 32;

  explicit Gate(unsigned limit) : limit_(limit) {}

  /// Whether it may stay; then it has kRequest from now on.
  bool enter(int socket, const sockaddr *peer, gint64 now);
  void leave(int socket);
  Room room(int socket) const { return connections_.at(socket).room; }
  /// By when the connection has to be done with what it does, in microseconds of GLib's clock.
  void set_deadline(int socket, gint64 time);
  std::vector<int> sockets() const;
  bool is_overdue(int socket, gint64 now) const { return connections_.at(socket).deadline < now; }

 private:
  struct Connection {
    std::string peer;
    Room room;
    gint64 deadline;
  };

  Room find_room(const std::string &peer) const;

  const unsigned limit_;
  unsigned within_ = 0;                              // the limit
  std::unordered_map<int, Connection> connections_;  // by socket
  std::unordered_map<std::string, unsigned> peers_;  // those within the limit
};

}  // namespace luminance
