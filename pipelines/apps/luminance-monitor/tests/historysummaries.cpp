// SPDX-License-Identifier: LGPL-2.1-or-later
// The merged rows of a long time are the sums of its rows, whichever summaries they are made of.
// Missing summaries are made.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "history/database.h"
#include "history/summaries.h"
#include "historyrig.h"

namespace luminance::test {
namespace {

class HistorySummaries : public testing::Test {
 protected:
  HistorySummaries() { clocks = kBegin; }

  std::string file() const { return folder_.file("history.db"); }

  const Folder folder_;
};

/// Returns settings with rows of a second, so that a short run has summaries of several lengths.
Settings seconds_of(const std::string &file, size_t cameras = 1) {
  Settings settings = settings_of(file, cameras);
  settings.history = {true, file, 1, 30};
  for (CameraSettings &camera : settings.cameras)
    camera.rules[static_cast<size_t>(Verdict::kTooDark)] = {true, 40, 45, 5};
  return settings;
}

/// Plays random frames with gaps, and with times when no monitor ran.
void play(Rig &rig, std::mt19937 &random, int steps) {
  for (int i = 0; i < steps; ++i) {
    const bool is_night = i / 200 % 3 == 0;
    for (size_t camera = 0; camera < rig.monitor.cameras().size(); ++camera)
      if (random() % 5 != 0)
        rig.take(camera, is_night ? std::vector<uint8_t>(10, 20) : random_pixels(random));
    if (random() % 300 == 0) advance(random() % 20000);
    rig.tick();
    advance(0.5 + 0.25 * (random() % 4));
  }
}

bool near(double a, double b) { return std::fabs(a - b) <= 1e-9 * std::max(1.0, std::fabs(b)); }

/// Compares a merged row with the sum of its rows.
void expect_sum(const Row &merged, const std::vector<Row> &rows) {
  double weight = 0, min = 300, max = -1;
  double sums[7] = {};  // mean, squares, p1, median, p99, low, high
  std::set<Verdict> verdicts;
  for (const Row &row : rows) {
    verdicts.insert(row.verdicts.begin(), row.verdicts.end());
    if (row.frames == 0) continue;
    const auto frames = static_cast<double>(row.frames);
    const double values[] = {row.mean,        row.stddev * row.stddev + row.mean * row.mean,
                             row.p1,          row.median,
                             row.p99,         row.clipped_low,
                             row.clipped_high};
    for (size_t i = 0; i < 7; ++i) sums[i] += frames * values[i];
    weight += frames;
    min = std::min(min, row.min_mean), max = std::max(max, row.max_mean);
  }
  EXPECT_EQ(merged.frames, frames_of(rows));
  EXPECT_EQ(std::set<Verdict>(merged.verdicts.begin(), merged.verdicts.end()), verdicts);
  EXPECT_EQ(merged.time, rows.front().time);
  double end = 0;  // seconds after the first row's begin; rows of several lengths may overlap
  for (const Row &row : rows)
    end = std::max(end, static_cast<double>(row.time - merged.time) / 1000 + row.duration);
  EXPECT_TRUE(near(merged.duration, end)) << merged.duration << " " << end;
  EXPECT_EQ(std::isnan(merged.mean), merged.frames == 0);
  if (merged.frames == 0) return;
  const double values[] = {
      merged.mean,        merged.stddev * merged.stddev + merged.mean * merged.mean,
      merged.p1,          merged.median,
      merged.p99,         merged.clipped_low,
      merged.clipped_high};
  for (size_t i = 0; i < 7; ++i) EXPECT_TRUE(near(values[i], sums[i] / weight)) << i;
  EXPECT_EQ(merged.min_mean, min);
  EXPECT_EQ(merged.max_mean, max);
}

/// Checks that each merged row has the rows that begin in it, and that each row is in one of them.
void expect_merged(const std::vector<Row> &merged, const std::vector<Row> &rows) {
  size_t at = 0;
  for (size_t i = 0; i < merged.size(); ++i) {
    const int64_t next = i + 1 < merged.size() ? merged[i + 1].time : kEndOfTime;
    std::vector<Row> its;
    for (; at < rows.size() && rows[at].time < next; ++at) its.push_back(rows[at]);
    ASSERT_FALSE(its.empty()) << merged[i].time;
    expect_sum(merged[i], its);
  }
  EXPECT_EQ(at, rows.size());
}

/// Checks random parts of the history, in random numbers of points.
void expect_whole(Rig &rig, size_t camera, std::mt19937 &random, int times) {
  const std::vector<Row> all = rig.rows(camera);
  ASSERT_FALSE(all.empty());
  for (int i = 0; i < times && !testing::Test::HasFailure(); ++i) {
    int64_t from = all[random() % all.size()].time + static_cast<int64_t>(random() % 3) - 1,
            to = all[random() % all.size()].time + static_cast<int64_t>(random() % 3) - 1;
    if (i % 5 == 0) from = kBeginOfTime, to = kEndOfTime;
    if (from > to) std::swap(from, to);
    const size_t points = i % 7 == 0 ? 1 : 1 + random() % (random() % 2 == 0 ? 20 : 2000);
    SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to) + ", " +
                 std::to_string(points) + " points");
    std::vector<Row> rows;
    for (const Row &row : all)
      if (row.time >= from && row.time <= to) rows.push_back(row);
    const auto merged = rig.reader.rows(rig.camera(camera).id(), from, to, points);
    EXPECT_LE(merged.size(), points);
    EXPECT_TRUE(rows.size() > points || merged.size() == rows.size());
    expect_merged(merged, rows);
  }
}

TEST_F(HistorySummaries, AreTheSumsOfTheirRows) {
  std::mt19937 random(seed());
  Rig rig(seconds_of(file(), 2));
  play(rig, random, 6000);
  rig.end();
  EXPECT_EQ(rig.history.error(), "");
  expect_whole(rig, 0, random, 60);
  expect_whole(rig, 1, random, 60);
}

TEST_F(HistorySummaries, FollowRestartsAndClocksThatAreSetBack) {
  std::mt19937 random(seed());
  for (const double back : {0.0, 0.4, 3000.0, 100000.0}) {
    Rig rig(seconds_of(file()));
    play(rig, random, 700);
    rig.end();
    advance(-back);
  }
  Rig rig(seconds_of(file()));
  expect_whole(rig, 0, random, 100);
}

TEST_F(HistorySummaries, ForgetDeletedRows) {
  std::mt19937 random(seed());
  Settings settings = seconds_of(file());
  settings.history.retention = 0.05;  // 4320 s
  Rig rig(settings);
  for (int round = 0; round < 6; ++round) {
    play(rig, random, 700);
    rig.end();
    expect_whole(rig, 0, random, 30);
    if (HasFailure()) return;
  }
}

/// The summaries that contain the first row also include deleted rows. No query reads them until
/// the machine's clock is set back and an earlier row comes.
TEST_F(HistorySummaries, ForgetDeletedRowsEvenIfAnEarlierRowComes) {
  std::mt19937 random(seed());
  Settings settings = seconds_of(file());
  settings.history.retention = 0.01;  // 864 s
  for (int round = 0; round < 5 && !HasFailure(); ++round) {
    Rig rig(settings);
    for (int second = 0; second < 1203; ++second) {
      rig.take(0, random_pixels(random));
      rig.tick();
      advance(1);
    }
    const Clocks before = clocks;
    clocks.real = (rig.rows().front().time - 30000 - static_cast<int64_t>(random() % 60000)) * 1000;
    rig.take(0, random_pixels(random));
    rig.tick();
    rig.end();
    expect_whole(rig, 0, random, 60);
    clocks = before;
  }
}

TEST_F(HistorySummaries, GetFinerWithShorterRows) {
  std::mt19937 random(seed());
  Settings settings = seconds_of(file());
  settings.history.interval = 7;  // seconds; divides the length of no summary
  {
    Rig rig(settings);
    play(rig, random, 2000);
    rig.end();
  }
  for (const double interval : {1.0, 60.0, 86400.0, 2.0}) {
    settings.history.interval = interval;
    Rig rig(settings);
    play(rig, random, 800);
    rig.end();
    expect_whole(rig, 0, random, 30);
    if (HasFailure()) return;
  }
}

Settings minutes_of(const std::string &file) {
  Settings settings = settings_of(file, 2);
  settings.history = {true, file, 60, 30};
  return settings;
}

/// Writes three days of rows of a minute, of two cameras, without summaries.
void write_rows(const std::string &file) {
  { Rig rig(minutes_of(file)); }  // makes the tables
  Database database(file, Database::Access::kWrite);
  Transaction transaction(database);
  database.run("DELETE FROM measurement; DELETE FROM summary; DELETE FROM camera");
  database.run(
      "INSERT INTO camera (number, id, name) VALUES (1, 'c0', 'Camera 0'), (5, 'c1', 'Camera 1')");
  Statement put(database,
                "INSERT INTO measurement VALUES (?1, ?2, 60, ?3, ?4, ?4 - 1, ?4 + 1, 3, 1, 2, 4, "
                "0.5, 0.25, ?5)");
  for (int64_t minute = 0; minute < 3 * 1440; ++minute)
    for (const int64_t camera : {1, 5})
      put.run(camera, kBegin.real / 1000 + (minute - 3 * 1440) * 60000, 1 + minute % 7,
              static_cast<double>(minute % 200),
              std::string_view(minute % 100 < 3 ? "too-dark unknown-to-all" : ""));
  transaction.commit();
}

TEST_F(HistorySummaries, AreMadeWhereTheyAreMissing) {
  std::mt19937 random(seed());
  write_rows(file());
  Rig rig(minutes_of(file()));
  for (const size_t camera : {0, 1}) {
    EXPECT_EQ(rig.rows(camera).size(), 3 * 1440u);
    expect_whole(rig, camera, random, 40);
  }
  Database database(file(), Database::Access::kRead);
  EXPECT_GT(database.number("SELECT count(*) FROM summary"), 2 * 3 * 144);
  rig.play(100, 100);
  rig.end();
  expect_whole(rig, 0, random, 40);
}

TEST_F(HistorySummaries, AreAsFineAsTheShortestRows) {
  write_rows(file());
  const auto min_summary_length = [&] {
    Database database(file(), Database::Access::kRead);
    return database.number("SELECT max(min_summary_length) FROM camera");
  };
  Settings settings = minutes_of(file());
  settings.history.interval = 3600;
  { Rig rig(settings); }
  EXPECT_EQ(min_summary_length(), 600000);  // for the rows of a minute in the file
  settings.history.interval = 2;
  { Rig rig(settings); }
  EXPECT_EQ(min_summary_length(), 10000);  // for the coming rows of two seconds
}

TEST_F(HistorySummaries, AreMadeAfterAnInterruptedStart) {
  std::mt19937 random(seed());
  write_rows(file());
  { Rig rig(minutes_of(file())); }
  Database(file(), Database::Access::kWrite)
      .run(
          "DELETE FROM summary WHERE camera = 5; UPDATE camera SET min_summary_length = 0 WHERE "
          "number = 5");
  Rig rig(minutes_of(file()));
  expect_whole(rig, 1, random, 40);
  Database database(file(), Database::Access::kRead);
  EXPECT_EQ(database.number("SELECT count(DISTINCT camera) FROM summary"), 2);
}

TEST(Durations, AreAtLeastAMillisecondEvenInADamagedFile) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(milliseconds_of(1.5), 1500);
  for (const double damaged : {0.0, -5.0, 0.0005, std::nan(""), -kInfinity})
    EXPECT_EQ(milliseconds_of(damaged), 1) << damaged;
  for (const double damaged : {1e12, kInfinity})
    EXPECT_EQ(milliseconds_of(damaged), 1000000000000) << damaged;
}

TEST(Cover, TakesEverythingOnce) {
  std::mt19937 random(seed());
  for (int i = 0; i < 2000; ++i) {
    const int64_t from = random() % 1000000000, to = from + random() % 1000000000;
    const int64_t min_summary_length = kLengths[random() % std::size(kLengths)];
    const int64_t length = i % 4 == 0 ? kLatest : kLengths[random() % std::size(kLengths)];
    int64_t at = from;
    const int64_t until = begin_of(random() % 2000000000, min_summary_length);
    size_t parts = 0;
    cover(from, to, length, {1, min_summary_length, until},
          [&](int64_t of, int64_t begin, int64_t end) {
            EXPECT_EQ(begin, at);
            EXPECT_LT(begin, end);
            EXPECT_LE(of, length);
            EXPECT_TRUE(of == 0 || (of >= min_summary_length && begin % of == 0 && end % of == 0 &&
                                    end <= until));
            at = end;
            ++parts;
          });
    EXPECT_EQ(at, to);
    EXPECT_LE(parts, 2 * std::size(kLengths) + 1);
  }
}

}  // namespace
}  // namespace luminance::test
