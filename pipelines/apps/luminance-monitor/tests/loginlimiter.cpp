// SPDX-License-Identifier: LGPL-2.1-or-later
// How long clients that guess passwords must wait, what the log says about them, and how long
// sessions last.
#include "web/loginlimiter.h"

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

TEST(Client, IsAnAddressOrANetwork) {
  EXPECT_EQ("192.0.2.1", client_of("192.0.2.1"));
  EXPECT_EQ("192.0.2.1", client_of("::ffff:192.0.2.1"));
  EXPECT_EQ(client_of("2001:db8:1:2::1"), client_of("2001:db8:1:2:ffff::2"));
  EXPECT_NE(client_of("2001:db8:1:2::1"), client_of("2001:db8:1:3::1"));
  EXPECT_NE(client_of("127.0.0.1"), client_of("127.0.0.2"));
  EXPECT_EQ("::1", client_of("::1"));
  EXPECT_EQ("", client_of("unknown"));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, "192.0.2.9", &address.sin_addr);
  EXPECT_EQ("192.0.2.9", client_of(reinterpret_cast<const sockaddr *>(&address)));
  EXPECT_EQ("?", client_of(static_cast<const sockaddr *>(nullptr)));
}

TEST(LoginLimiter, DelaysLongerAndLonger) {
  LoginLimiter limiter;
  for (unsigned i = 0; i < LoginLimiter::kFreeAttempts; ++i)
    EXPECT_EQ(0, limiter.add(kPeer, kSecond));
  gint64 now = kSecond, delay = LoginLimiter::kFirstDelay;
  for (int i = 0; i < 20; ++i, delay = std::min(2 * delay, LoginLimiter::kMaxDelay)) {
    EXPECT_EQ(delay, limiter.add(kPeer, now)) << i;
    now += delay;
  }
}

TEST(LoginLimiter, LimitsTheRateOfManyConnections) {
  LoginLimiter limiter;
  for (int i = 0; i < 100; ++i) limiter.add(kPeer, kSecond);
  int looked_at = 0;
  for (gint64 now = 100 * kSecond; now < 1000 * kSecond; now += kSecond / 100)
    if (limiter.refusal(kPeer, now) == 0) {
      limiter.add(kPeer, now);
      ++looked_at;
    }
  const auto expected = LoginLimiter::kMaxWaiting * 900 * kSecond / LoginLimiter::kMaxDelay;
  EXPECT_LE(looked_at, static_cast<int>(expected + LoginLimiter::kMaxWaiting));
  EXPECT_GE(looked_at, static_cast<int>(expected - LoginLimiter::kMaxWaiting));
}

TEST(LoginLimiter, DoesNotDelayOtherClients) {
  LoginLimiter limiter;
  for (int i = 0; i < 1000; ++i) limiter.add(kPeer, kSecond);
  EXPECT_GT(limiter.refusal(kPeer, kSecond), 0);
  EXPECT_EQ(0, limiter.refusal(kOther, kSecond));
  EXPECT_EQ(0, limiter.add(kOther, kSecond));
}

TEST(LoginLimiter, DoesNotRefuseOneAttemptAtATime) {
  LoginLimiter limiter;
  gint64 now = kSecond;
  for (int i = 0; i < 100; ++i) {  // as a program with an old token does
    EXPECT_EQ(0, limiter.refusal(kPeer, now));
    now += limiter.add(kPeer, now) / 2;
  }
}

TEST(LoginLimiter, ForgetsOldAttempts) {
  LoginLimiter limiter;
  for (int i = 0; i < 10; ++i) limiter.add(kPeer, kSecond);
  EXPECT_GT(limiter.add(kPeer, kSecond + LoginLimiter::kMemory), 0);
  EXPECT_EQ(0, limiter.add(kPeer, kSecond + 3 * LoginLimiter::kMemory));
}

TEST(LoginLimiter, LimitsItsMemory) {
  LoginLimiter limiter;
  size_t max_size = 0;
  for (int i = 0; i < 20000; ++i, max_size = std::max(max_size, limiter.size()))
    limiter.add("10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256), kSecond + i);
  EXPECT_EQ(LoginLimiter::kMaxClients, max_size);
}

TEST(LoginLimiter, ReportsAttemptsInFewLines) {
  LoginLimiter limiter;
  EXPECT_TRUE(limiter.report(0).empty());
  for (int i = 0; i < 300; ++i) limiter.add(kPeer, kSecond);
  for (int i = 0; i < 7; ++i) limiter.count_refusal(kPeer, kSecond);
  limiter.add(kOther, 2 * kSecond);
  EXPECT_TRUE(limiter.report(10 * kSecond).empty());
  const std::vector<std::string> lines = limiter.report(11 * kSecond);
  ASSERT_EQ(2u, lines.size());
  EXPECT_EQ(
      "wrong passwords or tokens from 192.0.2.1: 300 in 10 s; 7 more attempts were refused "
      "unchecked",
      lines[0]);
  EXPECT_EQ("wrong passwords or tokens from 192.0.2.2: 1 in 10 s", lines[1]);
  EXPECT_TRUE(limiter.report(1000 * kSecond).empty());
}

TEST(LoginLimiter, ReportsLastingAttemptsRarely) {
  LoginLimiter limiter;
  size_t lines = 0;
  const int hours = 24;
  for (gint64 now = kSecond; now < hours * 3600 * kSecond; now += kSecond) {
    limiter.add(kPeer, now);
    lines += limiter.report(now).size();
  }
  EXPECT_LE(lines, hours * 6u + 3);
  EXPECT_GE(lines, hours * 5u);
}

TEST(LoginLimiter, ReportsManyAddressesTogether) {
  LoginLimiter limiter;
  for (int i = 0; i < 100; ++i) limiter.add("10.0.0." + std::to_string(i), kSecond);
  const std::vector<std::string> lines = limiter.report(11 * kSecond);
  ASSERT_EQ(9u, lines.size());
  EXPECT_EQ("wrong passwords or tokens from 92 other addresses: 92 in 10 s", lines.back());
}

TEST(Sessions, BeginAndEnd) {
  Sessions sessions;
  EXPECT_FALSE(sessions.knows("", 0));
  const std::string one = sessions.begin("", 0), other = sessions.begin("", 0);
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
  for (size_t i = 0; i <= Sessions::kMaxSessions; ++i)
    secrets.push_back(sessions.begin("", 10 + gint64(i)));
  EXPECT_EQ(Sessions::kMaxSessions, sessions.size());
  EXPECT_FALSE(sessions.knows(secrets[0], 1000));  // the oldest
  EXPECT_TRUE(sessions.knows(secrets[1], 1000));
  EXPECT_TRUE(sessions.knows(secrets.back(), 1000));
  EXPECT_EQ(secrets.size(), std::set<std::string>(secrets.begin(), secrets.end()).size());
  sessions.begin("", Sessions::kLength + 1000);  // Expired sessions make room.
  EXPECT_EQ(1u, sessions.size());
}

}  // namespace
}  // namespace luminance
