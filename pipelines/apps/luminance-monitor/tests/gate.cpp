// SPDX-License-Identifier: LGPL-2.1-or-later
// Who is let in, and what counts as one peer.
#include "web/gate.h"

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

bool enter(Gate &gate, int socket, const std::string &text, gint64 now = 0) {
  const sockaddr_storage storage = address(text);
  return gate.enter(socket, reinterpret_cast<const sockaddr *>(&storage), now);
}

TEST(Peer, IsAnAddressOrANetwork) {
  EXPECT_NE(peer("192.0.2.1"), peer("192.0.2.2"));
  EXPECT_EQ(peer("192.0.2.1"), peer("::ffff:192.0.2.1"));
  EXPECT_EQ(peer("2001:db8:1:2::1"), peer("2001:db8:1:2:ffff::2"));
  EXPECT_NE(peer("2001:db8:1:2::1"), peer("2001:db8:1:3::1"));
}

TEST(Peer, OfThisMachineIsNone) {
  for (const char *text : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"})
    EXPECT_EQ("", peer(text)) << text;
  for (const char *text : {"128.0.0.1", "126.255.255.255", "::2", "::ffff:128.0.0.1"})
    EXPECT_NE("", peer(text)) << text;
}

TEST(Gate, GivesOnePeerAQuarter) {
  Gate gate(8);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(enter(gate, i, "192.0.2.1"));
    EXPECT_EQ(Room::kThere, gate.room(i));
  }
  ASSERT_TRUE(enter(gate, 2, "192.0.2.1"));
  EXPECT_EQ(Room::kTakenByPeer, gate.room(2));
  ASSERT_TRUE(enter(gate, 3, "192.0.2.2"));
  EXPECT_EQ(Room::kThere, gate.room(3));
  gate.leave(0);
  ASSERT_TRUE(enter(gate, 4, "192.0.2.1"));
  EXPECT_EQ(Room::kThere, gate.room(4));
}

TEST(Gate, GivesThisMachineAll) {
  Gate gate(8);
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(enter(gate, i, "127.0.0.1"));
    EXPECT_EQ(Room::kThere, gate.room(i));
  }
  ASSERT_TRUE(enter(gate, 8, "127.0.0.1"));
  EXPECT_EQ(Room::kTaken, gate.room(8));
  gate.leave(8);  // which had no room: nobody else gets it
  ASSERT_TRUE(enter(gate, 9, "192.0.2.1"));
  EXPECT_EQ(Room::kTaken, gate.room(9));
}

TEST(Gate, ClosesWhatIsBeyondItsReserve) {
  Gate gate(4);
  const int all = 4 + static_cast<int>(Gate::kReserve);
  for (int i = 0; i < all; ++i) EXPECT_TRUE(enter(gate, i, "::1"));
  EXPECT_FALSE(enter(gate, all, "::1"));
  gate.leave(all);  // it never came in
  EXPECT_FALSE(enter(gate, all, "::1"));
  gate.leave(0);
  EXPECT_TRUE(enter(gate, all, "::1"));
}

TEST(Gate, LetsOnePeerTakeNobodysPlace) {
  Gate gate(8);
  int socket = 0;
  while (enter(gate, socket, "192.0.2.1")) ASSERT_LT(++socket, 100);
  EXPECT_EQ(2 + static_cast<int>(Gate::kReserve), socket);
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(enter(gate, 100 + i, "192.0.3." + std::to_string(i)));
    EXPECT_EQ(Room::kThere, gate.room(100 + i));
  }
  EXPECT_FALSE(enter(gate, 200, "192.0.4.1"));  // all are taken, and the reserve as well
}

TEST(Gate, HasOnePeerEvenWithALowLimit) {
  Gate gate(1);
  ASSERT_TRUE(enter(gate, 1, "192.0.2.1"));
  EXPECT_EQ(Room::kThere, gate.room(1));
}

TEST(Gate, KnowsWhoseTimeIsOver) {
  Gate gate(4);
  enter(gate, 1, "::1", 1000);
  EXPECT_FALSE(gate.is_overdue(1, 1000 + Gate::kRequest));
  EXPECT_TRUE(gate.is_overdue(1, 1001 + Gate::kRequest));
  gate.set_deadline(1, Gate::kNever);
  EXPECT_FALSE(gate.is_overdue(1, Gate::kNever));
  gate.set_deadline(7, 0);  // there is none
  EXPECT_EQ(std::vector<int>{1}, gate.sockets());
}

}  // namespace
}  // namespace luminance
