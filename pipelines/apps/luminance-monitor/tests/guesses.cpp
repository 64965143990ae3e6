// SPDX-License-Identifier: LGPL-2.1-or-later
// How long who guesses passwords has to wait, what the log says of it, and how long who knows them
// stays logged in.
#include "web/guesses.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <algorithm>
#include <set>

#include "web/sessions.h"

namespace luminance {
namespace {

constexpr gint64 kSecond = G_USEC_PER_SEC;
const std::string kPeer = "192.0.2.1", kOther = "192.0.2.2";

TEST(Guesser, IsAnAddressOrANetwork) {
  EXPECT_EQ("192.0.2.1", guesser_of("192.0.2.1"));
  EXPECT_EQ("192.0.2.1", guesser_of("::ffff:192.0.2.1"));
  EXPECT_EQ(guesser_of("2001:db8:1:2::1"), guesser_of("2001:db8:1:2:ffff::2"));
  EXPECT_NE(guesser_of("2001:db8:1:2::1"), guesser_of("2001:db8:1:3::1"));
  EXPECT_NE(guesser_of("127.0.0.1"), guesser_of("127.0.0.2"));
  EXPECT_EQ("::1", guesser_of("::1"));
  EXPECT_EQ("", guesser_of("unknown"));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, "192.0.2.9", &address.sin_addr);
  EXPECT_EQ("192.0.2.9", guesser_of(reinterpret_cast<const sockaddr *>(&address)));
  EXPECT_EQ("?", guesser_of(static_cast<const sockaddr *>(nullptr)));
}

TEST(Guesses, WaitLongerAndLonger) {
  Guesses guesses;
  for (unsigned i = 0; i < Guesses::kFree; ++i) EXPECT_EQ(0, guesses.add(kPeer, kSecond));
  gint64 now = kSecond, delay = Guesses::kFirstDelay;
  for (int i = 0; i < 20; ++i, delay = std::min(2 * delay, Guesses::kLongestDelay)) {
    EXPECT_EQ(delay, guesses.add(kPeer, now)) << i;
    now += delay;
  }
}

TEST(Guesses, OfManyConnectionsAreNoFaster) {
  Guesses guesses;
  for (int i = 0; i < 100; ++i) guesses.add(kPeer, kSecond);
  int looked_at = 0;
  for (gint64 now = 100 * kSecond; now < 1000 * kSecond; now += kSecond / 100)
    if (guesses.refusal(kPeer, now) == 0) {
      guesses.add(kPeer, now);
      ++looked_at;
    }
  const auto most = Guesses::kAtOnce * 900 * kSecond / Guesses::kLongestDelay;
  EXPECT_LE(looked_at, static_cast<int>(most + Guesses::kAtOnce));
  EXPECT_GE(looked_at, static_cast<int>(most - Guesses::kAtOnce));
}

TEST(Guesses, HinderNobodyElse) {
  Guesses guesses;
  for (int i = 0; i < 1000; ++i) guesses.add(kPeer, kSecond);
  EXPECT_GT(guesses.refusal(kPeer, kSecond), 0);
  EXPECT_EQ(0, guesses.refusal(kOther, kSecond));
  EXPECT_EQ(0, guesses.add(kOther, kSecond));
}

TEST(Guesses, OfOneAtATimeRefuseNobody) {
  Guesses guesses;
  gint64 now = kSecond;
  for (int i = 0; i < 100; ++i) {  // a program with an old token
    EXPECT_EQ(0, guesses.refusal(kPeer, now));
    now += guesses.add(kPeer, now) / 2;
  }
}

TEST(Guesses, AreForgotten) {
  Guesses guesses;
  for (int i = 0; i < 10; ++i) guesses.add(kPeer, kSecond);
  EXPECT_GT(guesses.add(kPeer, kSecond + Guesses::kMemory), 0);
  EXPECT_EQ(0, guesses.add(kPeer, kSecond + 3 * Guesses::kMemory));
}

TEST(Guesses, TakeLimitedMemory) {
  Guesses guesses;
  size_t most = 0;
  for (int i = 0; i < 20000; ++i, most = std::max(most, guesses.size()))
    guesses.add("10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256), kSecond + i);
  EXPECT_EQ(Guesses::kGuessers, most);
}

TEST(Guesses, AreReportedInFewLines) {
  Guesses guesses;
  EXPECT_TRUE(guesses.report(0).empty());
  for (int i = 0; i < 300; ++i) guesses.add(kPeer, kSecond);
  for (int i = 0; i < 7; ++i) guesses.note_refusal(kPeer, kSecond);
  guesses.add(kOther, 2 * kSecond);
  EXPECT_TRUE(guesses.report(10 * kSecond).empty());
  const std::vector<std::string> lines = guesses.report(11 * kSecond);
  ASSERT_EQ(2u, lines.size());
  EXPECT_EQ(
      "wrong passwords or tokens from 192.0.2.1: 300 in 10 s; 7 more attempts were refused "
      "unchecked",
      lines[0]);
  EXPECT_EQ("wrong passwords or tokens from 192.0.2.2: 1 in 10 s", lines[1]);
  EXPECT_TRUE(guesses.report(1000 * kSecond).empty());
}

TEST(Guesses, ThatGoOnAreReportedRarely) {
  Guesses guesses;
  size_t lines = 0;
  const int hours = 24;
  for (gint64 now = kSecond; now < hours * 3600 * kSecond; now += kSecond) {
    guesses.add(kPeer, now);
    lines += guesses.report(now).size();
  }
  EXPECT_LE(lines, hours * 6u + 3);
  EXPECT_GE(lines, hours * 5u);
}

TEST(Guesses, OfManyAreReportedTogether) {
  Guesses guesses;
  for (int i = 0; i < 100; ++i) guesses.add("10.0.0." + std::to_string(i), kSecond);
  const std::vector<std::string> lines = guesses.report(11 * kSecond);
  ASSERT_EQ(9u, lines.size());
  EXPECT_EQ("wrong passwords or tokens from 92 other addresses: 92 in 10 s", lines.back());
}

TEST(Sessions, BeginAndEnd) {
  Sessions sessions;
  EXPECT_FALSE(sessions.knows("", 0));
  const std::string one = sessions.begin(0), other = sessions.begin(0);
  EXPECT_EQ(64u, one.size());  // 256 bits
  EXPECT_NE(one, other);
  EXPECT_TRUE(sessions.knows(one, Sessions::kLength - 1));
  EXPECT_FALSE(sessions.knows(one, Sessions::kLength));
  EXPECT_FALSE(sessions.knows(one.substr(1), 0));
  EXPECT_FALSE(sessions.knows(one + " ", 0));
  sessions.end(one);
  EXPECT_FALSE(sessions.knows(one, 0));
  EXPECT_TRUE(sessions.knows(other, 0));
  sessions.end_all();
  EXPECT_FALSE(sessions.knows(other, 0));
}

TEST(Sessions, AreLimited) {
  Sessions sessions;
  std::vector<std::string> secrets;
  for (size_t i = 0; i <= Sessions::kMost; ++i) secrets.push_back(sessions.begin(10 + gint64(i)));
  EXPECT_EQ(Sessions::kMost, sessions.size());
  EXPECT_FALSE(sessions.knows(secrets[0], 1000));  // the oldest
  EXPECT_TRUE(sessions.knows(secrets[1], 1000));
  EXPECT_TRUE(sessions.knows(secrets.back(), 1000));
  EXPECT_EQ(secrets.size(), std::set<std::string>(secrets.begin(), secrets.end()).size());
  sessions.begin(Sessions::kLength + 1000);  // those that are over make room
  EXPECT_EQ(1u, sessions.size());
}

}  // namespace
}  // namespace luminance
