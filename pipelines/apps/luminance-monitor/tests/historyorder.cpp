// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks that keep loops over a damaged history finite: the order of records, arithmetic at the
// limits of the numbers, and limits of statements.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <random>

#include "history/damage.h"
#include "history/summaries.h"
#include "historyrig.h"

namespace luminance::test {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                  kGreatest = std::numeric_limits<int64_t>::max();
constexpr char kEndless[] =
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n";

class HistoryOrder : public testing::Test {
 protected:
  HistoryOrder() { database.run("CREATE TABLE something (other)"); }

  /// Returns the index of the first key that is refused, or -1 if none is.
  int failure(const std::vector<int64_t> &keys, int64_t min, int64_t max) {
    Ascending order(database, "record", min, max);
    for (size_t i = 0; i < keys.size(); ++i) try {
        order.check(keys[i]);
      } catch (const HistoryError &error) {
        const std::string text = error.what();
        EXPECT_NE(text.find(file), std::string::npos) << text;
        EXPECT_NE(text.find("record at " + std::to_string(keys[i])), std::string::npos) << text;
        return static_cast<int>(i);
      }
    return -1;
  }
  std::string error_of(const char *sql) {
    try {
      database.number(sql);
    } catch (const HistoryError &error) {
      return error.what();
    }
    return {};
  }

  const Folder folder;
  const std::string file = folder.file("history.db");
  Database database{file, Database::Access::kWrite};
};

TEST_F(HistoryOrder, KeysMustIncrease) {
  EXPECT_EQ(failure({1, 2, 5}, 1, 5), -1);
  EXPECT_EQ(failure({1, 2, 2}, 1, 5), 2) << "twice";
  EXPECT_EQ(failure({1, 3, 2}, 1, 5), 2) << "backwards";
  EXPECT_EQ(failure({0}, 1, 5), 0) << "before";
  EXPECT_EQ(failure({5, 6}, 1, 5), 1) << "after";
  EXPECT_EQ(failure({kLeast, 0, kGreatest}, kLeast, kGreatest), -1);
  EXPECT_EQ(failure({kGreatest, kGreatest}, kLeast, kGreatest), 1);
  EXPECT_EQ(failure({kGreatest, kLeast}, kLeast, kGreatest), 1) << "not beyond the end";
}

TEST_F(HistoryOrder, ALoopThatEndsEarlyIsNoticed) {
  Ascending order(database, "record", 0, 10);
  EXPECT_NO_THROW(order.check_end({}));
  EXPECT_THROW(order.check_end(3), HistoryError);
  order.check(3);
  EXPECT_NO_THROW(order.check_end(3));
  EXPECT_THROW(order.check_end(4), HistoryError);
  EXPECT_THROW(order.check_end({}), HistoryError);
}

TEST_F(HistoryOrder, EventsMustBeTheLatestFirst) {
  Descending order(database, "event", 0, 10);
  order.check(5, 7);
  order.check(5, 6);
  order.check(4, 9);
  EXPECT_THROW(order.check(4, 9), HistoryError);
  EXPECT_THROW(order.check(5, 1), HistoryError);
  EXPECT_THROW(order.check(-1, 1), HistoryError);
}

TEST_F(HistoryOrder, AnEndlessStatementIsEnded) {
  EXPECT_NE(error_of(kEndless).find("damaged"), std::string::npos) << error_of(kEndless);
  EXPECT_EQ(error_of("SELECT 1"), "") << "the next one is not";
}

TEST_F(HistoryOrder, AStatementEndsWhenItsTimeIsOver) {
  Interrupt interrupt;
  database.set_interrupt(interrupt);
  interrupt.begin(std::chrono::milliseconds(-1));
  EXPECT_NE(error_of(kEndless).find("too long"), std::string::npos) << error_of(kEndless);
  interrupt.stop();
  EXPECT_NE(error_of(kEndless).find("stopped"), std::string::npos) << error_of(kEndless);
  interrupt.begin(std::chrono::hours(1));
  EXPECT_NE(error_of(kEndless).find("damaged"), std::string::npos) << error_of(kEndless);
}

TEST(HistoryArithmetic, ABeginIsAMultipleOrTheLeastNumber) {
  std::mt19937_64 random(seed());
  for (int i = 0; i < 100000; ++i) {
    const int64_t length = i % 3 == 0 ? 1 + static_cast<int64_t>(random() >> 1) % kGreatest
                                      : kLengths[random() % std::size(kLengths)];
    const auto time = static_cast<int64_t>(random() >> random() % 64);
    const int64_t begin = begin_of(i % 2 == 0 ? time : kLeast + time % 1000 + 1000, length);
    EXPECT_TRUE(begin % length == 0 || begin == kLeast) << begin << " of " << length;
  }
  for (const int64_t time : {kLeast, kLeast + 1, int64_t{-1}, int64_t{0}, kGreatest})
    EXPECT_LE(begin_of(time, kGreatest), time);
  EXPECT_EQ(begin_of(-1, 10), -10);
  EXPECT_EQ(begin_of(kLeast, 10), kLeast);
  EXPECT_EQ(begin_of(kGreatest, kGreatest), kGreatest);
}

TEST(HistoryArithmetic, AnyRangeIsCoveredOnce) {
  std::mt19937_64 random(seed());
  const int64_t ends[] = {kLeast,      kLeast + 1,    -1,       0, 1, 86400000, kLatest,
                          kLatest + 1, kGreatest - 1, kGreatest};
  for (const int64_t from : ends)
    for (const int64_t to : ends)
      for (const int64_t until : ends)
        for (const int64_t min_length : ends) {
          int64_t at = std::min(from, to);
          size_t parts = 0;
          cover(from, to, kLatest, {1, min_length, until},
                [&](int64_t, int64_t begin, int64_t end) {
                  EXPECT_EQ(begin, at);
                  EXPECT_LT(begin, end);
                  at = end;
                  ++parts;
                });
          EXPECT_EQ(at, from < to ? to : std::min(from, to));
          EXPECT_LE(parts, 2 * std::size(kLengths) + 1);
        }
}

TEST(HistoryArithmetic, ValuesBeyondTheLimitsAreFaults) {
  Row row;
  row.time = kLatest;
  row.duration = 86400;
  EXPECT_EQ(fault_of(row), "");
  for (const int64_t time : {kLeast, kEarliest - 1, kLatest + 1, kGreatest}) {
    Row wrong = row;
    wrong.time = time;
    EXPECT_NE(fault_of(wrong), "") << time;
  }
  for (const double duration : {0.0, -1.0, 1e6, std::nan(""), HUGE_VAL}) {
    Row wrong = row;
    wrong.duration = duration;
    EXPECT_NE(fault_of(wrong), "") << duration;
  }
  EXPECT_EQ(fault_of(SummaryState{1, 10000, 20000}), "");
  EXPECT_EQ(fault_of(SummaryState{1, kNoSummaries, 0}), "");
  for (const SummaryState &state : {SummaryState{1, 10000, kLeast},
                                    {1, 10000, kGreatest},
                                    {1, 10000, 1},
                                    {1, -1, 0},
                                    {1, kLeast, 0},
                                    {1, 10001, 0}})
    EXPECT_NE(fault_of(state), "") << state.min_summary_length << " " << state.until;
}

}  // namespace
}  // namespace luminance::test
