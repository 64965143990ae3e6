// SPDX-License-Identifier: LGPL-2.1-or-later
// Queries beside the main loop: answers, errors, their number, and queries that are dropped.
#include <gio/gio.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "history/database.h"
#include "history/queries.h"
#include "historyrig.h"

namespace luminance::test {
namespace {

using Outcomes = std::vector<std::string>;

class HistoryQueries : public testing::Test {
 protected:
  HistoryQueries() {
    clocks = kBegin;
    Rig rig(settings_of(file()));
    rig.play(3000, 100);
    rig.end();
  }

  std::string file() const { return folder_.file("history.db"); }
  Queries::Done note() {
    return [this](Queries::Outcome outcome) {
      EXPECT_EQ(std::this_thread::get_id(), main_);
      outcomes_.push_back(outcome.error.empty() ? outcome.text : "error: " + outcome.error);
    };
  }
  void wait(size_t count) {
    while (outcomes_.size() < count) g_main_context_iteration(nullptr, TRUE);
  }

  const Folder folder_;
  const std::thread::id main_ = std::this_thread::get_id();
  Outcomes outcomes_;
};

std::string count(Reader &reader) {
  return std::to_string(reader.rows("c0", kBeginOfTime, kEndOfTime, 1000000).size());
}

TEST_F(HistoryQueries, AreAnsweredOnTheMainLoop) {
  Queries queries(file(), 10);
  std::vector<std::unique_ptr<Queries::Handle>> handles;
  for (int i = 0; i < 10; ++i)
    handles.push_back(queries.submit(
        [this](Reader &reader) {
          EXPECT_NE(std::this_thread::get_id(), main_);
          return count(reader);
        },
        note()));
  wait(10);
  EXPECT_EQ(outcomes_, Outcomes(10, "300"));
}

TEST_F(HistoryQueries, AreBounded) {
  Queries queries(file(), 3);
  std::vector<std::unique_ptr<Queries::Handle>> handles;
  for (int i = 0; i < 3; ++i) handles.push_back(queries.submit(count, note()));
  wait(3);
  EXPECT_EQ(queries.submit(count, note()), nullptr) << "what is answered keeps its place";
  handles.pop_back();
  EXPECT_NE(queries.submit(count, note()), nullptr);
}

TEST_F(HistoryQueries, SayWhatFailed) {
  Queries queries(file(), 3);
  const auto wrong = queries.submit(
      [](Reader &) -> std::string { throw std::runtime_error("on purpose"); }, note());
  wait(1);
  EXPECT_EQ(outcomes_[0], "error: on purpose");
  std::filesystem::remove(file());
  const auto missing = queries.submit(count, note());
  wait(2);
  EXPECT_NE(outcomes_[1].find("error: history " + file()), std::string::npos) << outcomes_[1];
  Rig rig(settings_of(file()));
  rig.play(100, 100);
  rig.end();
  const auto there = queries.submit(count, note());
  wait(3);
  EXPECT_EQ(outcomes_[2], "10");
}

/// The queries read until they are stopped: the test passes only if it ends.
TEST_F(HistoryQueries, EndWhenTheirHandlesAreGone) {
  Queries queries(file(), 100);
  std::atomic<int> started{0}, ended{0};
  const auto endless = [&](Reader &reader) -> std::string {
    ++started;
    try {
      for (;;) count(reader);
    } catch (const HistoryError &) {
      ++ended;
      throw;
    }
  };
  std::vector<std::unique_ptr<Queries::Handle>> handles;
  for (int i = 0; i < 20; ++i) handles.push_back(queries.submit(endless, note()));
  while (started < 2) std::this_thread::yield();  // all threads are busy
  handles.clear();
  const auto next = queries.submit(count, note());
  wait(1);
  EXPECT_EQ(outcomes_, Outcomes{"300"});
  EXPECT_LE(started, 4) << "those that waited are not started";
  const auto last = queries.submit(endless, note());  // still pending when the test ends
}

/// The clock of the test stands still, so the time of the queries is over before they begin.
TEST_F(HistoryQueries, EndWhenTheirTimeIsOver) {
  Queries queries(file(), 10, std::chrono::milliseconds(-1));
  const auto late = queries.submit(
      [](Reader &reader) -> std::string {
        for (;;) count(reader);
      },
      note());
  wait(1);
  EXPECT_EQ(outcomes_[0], "error: history " + file() + ": a request took too long");
}

TEST_F(HistoryQueries, AreNotAnsweredAfterTheirEnd) {
  std::unique_ptr<Queries::Handle> kept;
  {
    Queries queries(file(), 10);
    kept = queries.submit(count, note());
    queries.submit(count, note());
  }
  while (g_main_context_iteration(nullptr, FALSE)) {
  }
  EXPECT_TRUE(outcomes_.empty());
}

TEST_F(HistoryQueries, StopInTheMiddleOfAStatement) {
  Database database(file(), Database::Access::kRead);
  Interrupt interrupt;
  database.set_interrupt(interrupt);
  std::thread other([&] {
    g_usleep(20000);
    interrupt.stop();
  });
  EXPECT_THROW(database.number("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
                               "SELECT max(x) FROM n"),
               HistoryError);
  other.join();
}

}  // namespace
}  // namespace luminance::test
