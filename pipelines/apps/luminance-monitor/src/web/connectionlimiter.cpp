// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/connectionlimiter.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace luminance {
namespace {

std::string peer_of(const in_addr &address) {
  if (ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET) return {};
  return {reinterpret_cast<const char *>(&address), sizeof address};
}

std::string peer_of(const in6_addr &address) {
  constexpr size_t kNetwork = 8, kMapped = 12;
  if (IN6_IS_ADDR_LOOPBACK(&address)) return {};
  if (!IN6_IS_ADDR_V4MAPPED(&address)) return {reinterpret_cast<const char *>(&address), kNetwork};
  in_addr mapped;
  std::memcpy(&mapped, address.s6_addr + kMapped, sizeof mapped);
  return peer_of(mapped);
}

}  // namespace

std::string peer_of(const sockaddr *address) {
  if (address->sa_family == AF_INET)
    return peer_of(reinterpret_cast<const sockaddr_in *>(address)->sin_addr);
  return peer_of(reinterpret_cast<const sockaddr_in6 *>(address)->sin6_addr);
}

bool ConnectionLimiter::enter(int socket, const sockaddr *peer, gint64 now) {
  const std::string key = peer_of(peer);
  const Admission admission = decide_admission(key);
  // Connections that are not admitted use only the reserve, so they take no room from other peers.
  if (admission != Admission::kAdmitted && connections_.size() - admitted_ >= kRejectReserve)
    return false;
  if (admission == Admission::kAdmitted) {
    ++admitted_;
    ++peers_[key];
  }
  connections_[socket] = {key, admission, now + kRequest};
  return true;
}

void ConnectionLimiter::leave(int socket) {
  const auto found = connections_.find(socket);
  if (found == connections_.end()) return;
  if (found->second.admission == Admission::kAdmitted) {
    --admitted_;
    const auto peer = peers_.find(found->second.peer);
    if (--peer->second == 0) peers_.erase(peer);
  }
  connections_.erase(found);
}

void ConnectionLimiter::set_deadline(int socket, gint64 time) {
  const auto found = connections_.find(socket);
  if (found != connections_.end()) found->second.deadline = time;
}

std::vector<int> ConnectionLimiter::sockets() const {
  std::vector<int> sockets;
  for (const auto &[socket, connection] : connections_) sockets.push_back(socket);
  return sockets;
}

Admission ConnectionLimiter::decide_admission(const std::string &peer) const {
  if (admitted_ >= limit_) return Admission::kFull;
  const auto found = peers_.find(peer);
  const unsigned share = std::max(1u, limit_ / 4);
  if (!peer.empty() && found != peers_.end() && found->second >= share)
    return Admission::kPeerLimit;
  return Admission::kAdmitted;
}

}  // namespace luminance
