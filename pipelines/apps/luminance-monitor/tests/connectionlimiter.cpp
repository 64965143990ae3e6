// SPDX-License-Identifier: LGPL-2.1-or-later
// Which connections are admitted, and which addresses count as one peer.
#include "web/connectionlimiter.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <algorithm>
#include <string>

namespace luminance {
namespace {

sockaddr_storage address(const std::string &text) {
  sockaddr_storage storage = {};
  auto *ipv4 = reinterpret_cast<sockaddr_in *>(&storage);
  auto *ipv6 = reinterpret_cast<sockaddr_in6 *>(&storage);
  storage.ss_family = text.find(':') == std::string::npos ? AF_INET : AF_INET6;
  void *to = storage.ss_family == AF_INET ? static_cast<void *>(&ipv4->sin_addr) : &ipv6->sin6_addr;
  EXPECT_EQ(1, inet_pton(storage.ss_family, text.c_str(), to));
  return storage;
}

std::string peer(const std::string &text) {
  const sockaddr_storage storage = address(text);
  return peer_of(reinterpret_cast<const sockaddr *>(&storage));
}

bool enter(ConnectionLimiter &limiter, int socket, const std::string &text, gint64 now = 0) {
  const sockaddr_storage storage = address(text);
  return limiter.enter(socket, reinterpret_cast<const sockaddr *>(&storage), now);
}

TEST(Peer, IsAnAddressOrANetwork) {
  EXPECT_NE(peer("192.0.2.1"), peer("192.0.2.2"));
  EXPECT_EQ(peer("192.0.2.1"), peer("::ffff:192.0.2.1"));
  EXPECT_EQ(peer("2001:db8:1:2::1"), peer("2001:db8:1:2:ffff::2"));
  EXPECT_NE(peer("2001:db8:1:2::1"), peer("2001:db8:1:3::1"));
}

TEST(Peer, IsEmptyForThisMachine) {
  for (const char *text : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"})
    EXPECT_EQ("", peer(text)) << text;
  for (const char *text : {"128.0.0.1", "126.255.255.255", "::2", "::ffff:128.0.0.1"})
    EXPECT_NE("", peer(text)) << text;
}

TEST(ConnectionLimiter, GivesOnePeerAQuarterOfThePlaces) {
  ConnectionLimiter limiter(8);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(enter(limiter, i, "192.0.2.1"));
    EXPECT_EQ(Admission::kAdmitted, limiter.admission(i));
  }
  ASSERT_TRUE(enter(limiter, 2, "192.0.2.1"));
  EXPECT_EQ(Admission::kPeerLimit, limiter.admission(2));
  ASSERT_TRUE(enter(limiter, 3, "192.0.2.2"));
  EXPECT_EQ(Admission::kAdmitted, limiter.admission(3));
  limiter.leave(0);
  ASSERT_TRUE(enter(limiter, 4, "192.0.2.1"));
  EXPECT_EQ(Admission::kAdmitted, limiter.admission(4));
}

TEST(ConnectionLimiter, GivesThisMachineAllPlaces) {
  ConnectionLimiter limiter(8);
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(enter(limiter, i, "127.0.0.1"));
    EXPECT_EQ(Admission::kAdmitted, limiter.admission(i));
  }
  ASSERT_TRUE(enter(limiter, 8, "127.0.0.1"));
  EXPECT_EQ(Admission::kFull, limiter.admission(8));
  limiter.leave(8);  // It had no place, so none is free now.
  ASSERT_TRUE(enter(limiter, 9, "192.0.2.1"));
  EXPECT_EQ(Admission::kFull, limiter.admission(9));
}

TEST(ConnectionLimiter, ClosesConnectionsBeyondItsReserve) {
  ConnectionLimiter limiter(4);
  const int all = 4 + static_cast<int>(ConnectionLimiter::kRejectReserve);
  for (int i = 0; i < all; ++i) EXPECT_TRUE(enter(limiter, i, "::1"));
  EXPECT_FALSE(enter(limiter, all, "::1"));
  limiter.leave(all);  // It was never admitted.
  EXPECT_FALSE(enter(limiter, all, "::1"));
  limiter.leave(0);
  EXPECT_TRUE(enter(limiter, all, "::1"));
}

TEST(ConnectionLimiter, KeepsPlacesForOtherPeers) {
  ConnectionLimiter limiter(8);
  int socket = 0;
  while (enter(limiter, socket, "192.0.2.1")) ASSERT_LT(++socket, 100);
  EXPECT_EQ(2 + static_cast<int>(ConnectionLimiter::kRejectReserve), socket);
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(enter(limiter, 100 + i, "192.0.3." + std::to_string(i)));
    EXPECT_EQ(Admission::kAdmitted, limiter.admission(100 + i));
  }
  EXPECT_FALSE(enter(limiter, 200, "192.0.4.1"));  // All places and the reserve are taken.
}

TEST(ConnectionLimiter, AdmitsOnePeerEvenWithALowLimit) {
  ConnectionLimiter limiter(1);
  ASSERT_TRUE(enter(limiter, 1, "192.0.2.1"));
  EXPECT_EQ(Admission::kAdmitted, limiter.admission(1));
}

TEST(ConnectionLimiter, KnowsOverdueConnections) {
  ConnectionLimiter limiter(4);
  enter(limiter, 1, "::1", 1000);
  EXPECT_FALSE(limiter.is_overdue(1, 1000 + ConnectionLimiter::kRequest));
  EXPECT_TRUE(limiter.is_overdue(1, 1001 + ConnectionLimiter::kRequest));
  limiter.set_deadline(1, ConnectionLimiter::kNever);
  EXPECT_FALSE(limiter.is_overdue(1, ConnectionLimiter::kNever));
  limiter.set_deadline(7, 0);  // No such connection.
  EXPECT_EQ(std::vector<int>{1}, limiter.sockets());
}

}  // namespace
}  // namespace luminance
