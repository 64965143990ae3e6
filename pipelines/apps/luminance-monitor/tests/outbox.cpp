// SPDX-License-Identifier: LGPL-2.1-or-later
// Which messages a channel sends, and when, at made-up times.
#include "notify/outbox.h"

#include <gtest/gtest.h>

namespace luminance {
namespace {

using Event = Alert::Event;

Alert alert_of(int camera, Event event = Event::kRaised, int64_t since = 1000) {
  Alert alert;
  alert.event = event;
  alert.camera = std::to_string(camera);
  alert.verdict = Verdict::kTooDark;
  alert.since = since;
  if (event == Event::kCleared) alert.cleared = since + 1;
  return alert;
}

OutboxLimits limits(unsigned max_per_hour = 30) { return {30 * kSecond, max_per_hour}; }

TEST(Outbox, GroupsAlertsThatComeTogether) {
  Outbox outbox(limits());
  EXPECT_FALSE(outbox.take(0));
  for (int i = 0; i < 20; ++i) outbox.add(alert_of(i), i * kSecond);
  EXPECT_FALSE(outbox.take(30 * kSecond - 1));
  const auto batch = outbox.take(30 * kSecond);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->alerts.size(), 20u);
  EXPECT_EQ(batch->alerts[0].camera, "0");
  EXPECT_FALSE(outbox.take(31 * kSecond)) << "it is being sent";
  outbox.sent(32 * kSecond);
  EXPECT_EQ(outbox.size(), 0u);
  EXPECT_FALSE(outbox.take(1000 * kSecond));
}

TEST(Outbox, SendsAlertsThatComeMeanwhileInTheNextMessage) {
  Outbox outbox(limits());
  outbox.add(alert_of(1), 0);
  const auto first = outbox.take(30 * kSecond);
  outbox.add(alert_of(1, Event::kCleared), 31 * kSecond);
  outbox.sent(32 * kSecond);
  const auto second = outbox.take(61 * kSecond);
  ASSERT_TRUE(first && second);
  ASSERT_EQ(second->alerts.size(), 1u);
  EXPECT_EQ(second->alerts[0].event, Event::kCleared);
  EXPECT_NE(first->number, second->number);
}

TEST(Outbox, MakesOneAlertOfAFaultThatIsOverBeforeItIsSent) {
  Outbox outbox(limits());
  outbox.add(alert_of(1), 0);
  outbox.add(alert_of(2), 0);
  outbox.add(alert_of(1, Event::kReminder), kSecond);
  outbox.add(alert_of(1, Event::kCleared), 2 * kSecond);
  outbox.add(alert_of(1, Event::kRaised, 9000), 3 * kSecond);  // another fault
  const auto batch = outbox.take(30 * kSecond);
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->alerts.size(), 3u);
  EXPECT_EQ(batch->alerts[0].event, Event::kCleared);
  EXPECT_EQ(batch->alerts[2].since, 9000);
}

TEST(Outbox, TriesAgainWithGrowingPauses) {
  Outbox outbox(limits());
  outbox.add(alert_of(1), 0);
  Time now = 30 * kSecond;
  uint64_t number = 0;
  for (const int pause : {5, 10, 20, 40, 80, 160, 320, 600, 600}) {
    const auto batch = outbox.take(now);
    ASSERT_TRUE(batch) << pause;
    if (number == 0) number = batch->number;
    EXPECT_EQ(batch->number, number) << "it is the same message";
    EXPECT_EQ(outbox.size(), 1u);
    outbox.failed(now);
    EXPECT_FALSE(outbox.take(now + pause * kSecond - 1)) << pause;
    now += pause * kSecond;
  }
  outbox.add(alert_of(2), now);
  const auto batch = outbox.take(now);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->alerts.size(), 2u) << "one message has everything";
  EXPECT_NE(batch->number, number) << "another message";
  outbox.sent(now);
  outbox.add(alert_of(3), now);
  ASSERT_TRUE(outbox.take(now + 30 * kSecond));
  outbox.failed(now + 30 * kSecond);
  EXPECT_TRUE(outbox.take(now + 35 * kSecond)) << "the pause is short again";
}

TEST(Outbox, MergesFailedAlertsWithNewOnes) {
  Outbox outbox(limits());
  outbox.add(alert_of(1), 0);
  outbox.add(alert_of(2), 0);
  ASSERT_TRUE(outbox.take(30 * kSecond));
  outbox.add(alert_of(1, Event::kCleared), 31 * kSecond);
  outbox.failed(32 * kSecond);
  const auto batch = outbox.take(37 * kSecond);
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->alerts.size(), 2u);
  EXPECT_EQ(batch->alerts[0].event, Event::kCleared);
}

TEST(Outbox, LimitsTheRateAndSumsUp) {
  Outbox outbox(limits(3));
  Time now = 0;
  size_t messages = 0, alerts = 0;
  for (int i = 0; i < 3600; i += 40, now = i * kSecond) {
    outbox.add(alert_of(i), now);
    if (const auto batch = outbox.take(now)) {
      ++messages;
      alerts += batch->alerts.size();
      outbox.sent(now);
    }
  }
  EXPECT_EQ(messages, 3u);
  const auto batch = outbox.take(3700 * kSecond);
  ASSERT_TRUE(batch) << "an hour after the first";
  EXPECT_EQ(alerts + batch->alerts.size(), 90u) << "none is lost";
}

TEST(Outbox, CountsDiscardedAlerts) {
  Outbox outbox(limits());
  for (size_t i = 0; i < Outbox::kMaxAlerts + 7; ++i) outbox.add(alert_of(static_cast<int>(i)), 0);
  EXPECT_EQ(outbox.size(), Outbox::kMaxAlerts);
  auto batch = outbox.take(30 * kSecond);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->omitted, 7u);
  EXPECT_EQ(batch->alerts[0].camera, "7") << "the oldest go";
  for (int i = 0; i < 3; ++i) outbox.add(alert_of(i, Event::kRaised, 5), 31 * kSecond);
  outbox.failed(32 * kSecond);
  EXPECT_EQ(outbox.size(), Outbox::kMaxAlerts);
  batch = outbox.take(60 * kSecond);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->omitted, 10u);
  outbox.sent(60 * kSecond);
  outbox.add(alert_of(1), 100 * kSecond);
  batch = outbox.take(200 * kSecond);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->omitted, 0u) << "it was said";
}

TEST(Outbox, SendsAgainAtOnceAfterARestart) {
  Outbox outbox(limits());
  outbox.add(alert_of(1), 0);
  const auto first = outbox.take(30 * kSecond);
  ASSERT_TRUE(first);
  outbox.failed(31 * kSecond);
  outbox.restart(32 * kSecond);
  const auto second = outbox.take(32 * kSecond);
  ASSERT_TRUE(second) << "it waits for a channel that is gone";
  EXPECT_EQ(second->number, first->number);
  outbox.add(alert_of(2), 33 * kSecond);
  outbox.restart(34 * kSecond);
  const auto third = outbox.take(34 * kSecond);
  ASSERT_TRUE(third) << "that of the other channel is still being sent";
  ASSERT_EQ(third->alerts.size(), 2u);
  EXPECT_EQ(third->alerts[0].camera, "1");
  EXPECT_EQ(third->alerts[1].camera, "2");
  EXPECT_NE(third->number, second->number) << "it has more";
}

TEST(Outbox, SendsAtOnceWhenTheReceiverWorksAgain) {
  Outbox outbox(limits());
  outbox.add(alert_of(1), 0);
  Time now = 30 * kSecond;
  for (int i = 0; i < 10; ++i, now += Outbox::kLastPause) {
    ASSERT_TRUE(outbox.take(now));
    outbox.failed(now);
  }
  now += kSecond - Outbox::kLastPause;
  ASSERT_FALSE(outbox.take(now));
  outbox.resume();
  EXPECT_TRUE(outbox.take(now));
}

TEST(Outbox, GivesUpAfterADay) {
  Outbox outbox(limits());
  outbox.add(alert_of(1), 0);
  outbox.add(alert_of(2), 3600 * kSecond);
  ASSERT_TRUE(outbox.take(3600 * kSecond));
  outbox.failed(3600 * kSecond);
  EXPECT_EQ(outbox.give_up(Outbox::kGiveUp - 1), 0u);
  EXPECT_EQ(outbox.give_up(Outbox::kGiveUp), 1u);
  EXPECT_EQ(outbox.give_up(Outbox::kGiveUp), 0u);
  const auto batch = outbox.take(Outbox::kGiveUp);
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->alerts.size(), 1u);
  EXPECT_EQ(batch->alerts[0].camera, "2");
  EXPECT_EQ(batch->omitted, 1u);
}

}  // namespace
}  // namespace luminance
