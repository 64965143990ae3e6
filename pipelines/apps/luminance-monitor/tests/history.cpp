// SPDX-License-Identifier: LGPL-2.1-or-later
// The rows of the history against values that the test computes from the pixels of the frames.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "historyrig.h"

namespace luminance::test {
namespace {

class HistoryTest : public testing::Test {
 protected:
  HistoryTest() { clocks = kBegin; }
  const Folder folder_;
};

struct Frame {
  int64_t wall;  // wall clock, milliseconds
  std::vector<uint8_t> pixels;
};

/// Returns the frames of each row of ten seconds, by the begin of the row. A frame belongs to the
/// row in which its interval begins; an interval takes the frames of less than a second.
std::map<int64_t, std::vector<Frame>> in_rows(const std::vector<Frame> &frames) {
  std::map<int64_t, std::vector<Frame>> rows;
  int64_t interval = -1000000;
  for (const Frame &frame : frames) {
    if (frame.wall - interval >= 1000) interval = frame.wall;
    rows[interval / 10000 * 10000].push_back(frame);
  }
  return rows;
}

double mean_of(const std::vector<uint8_t> &pixels) {
  double sum = 0;
  for (const uint8_t luma : pixels) sum += luma;
  return sum / static_cast<double>(pixels.size());
}

/// Returns the least luma that is not exceeded by `percent` percent of the pixels.
double percentile(const std::vector<uint8_t> &sorted, size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

double share(const std::vector<uint8_t> &pixels, bool (*is_one)(uint8_t)) {
  const auto count = std::count_if(pixels.begin(), pixels.end(), is_one);
  return static_cast<double>(count) / static_cast<double>(pixels.size());
}

void expect_row(const Row &row, const std::vector<Frame> &frames) {
  std::vector<uint8_t> all;
  std::vector<double> means;
  for (const Frame &frame : frames) {
    all.insert(all.end(), frame.pixels.begin(), frame.pixels.end());
    means.push_back(mean_of(frame.pixels));
  }
  std::sort(all.begin(), all.end());
  const double mean = mean_of(all);
  double squares = 0;
  for (const uint8_t luma : all) squares += (luma - mean) * (luma - mean);

  EXPECT_EQ(row.duration, 10);
  EXPECT_EQ(row.frames, frames.size());
  EXPECT_NEAR(row.mean, mean, 1e-9);
  EXPECT_NEAR(row.stddev, std::sqrt(squares / static_cast<double>(all.size())), 1e-9);
  EXPECT_NEAR(row.min_mean, *std::min_element(means.begin(), means.end()), 1e-9);
  EXPECT_NEAR(row.max_mean, *std::max_element(means.begin(), means.end()), 1e-9);
  EXPECT_EQ(row.p1, percentile(all, 1));
  EXPECT_EQ(row.median, percentile(all, 50));
  EXPECT_EQ(row.p99, percentile(all, 99));
  EXPECT_NEAR(row.clipped_low, share(all, [](uint8_t luma) { return luma <= 16; }), 1e-9);
  EXPECT_NEAR(row.clipped_high, share(all, [](uint8_t luma) { return luma >= 235; }), 1e-9);
}

TEST_F(HistoryTest, RowsAreTheSumsOfTheirFrames) {
  std::mt19937 random(seed());
  Rig rig(settings_of(folder_.file("history.db"), 3));
  std::vector<std::vector<Frame>> frames(3);
  const double pauses[] = {0.04, 0.3, 1.7};
  for (int step = 0; step < 3000; ++step) {
    advance(0.02 + 0.001 * (random() % 10));
    for (size_t i = 0; i < 3; ++i) {
      if (random() % 1000 / 1000.0 > 0.025 / pauses[i]) continue;
      frames[i].push_back({clocks.real / 1000, random_pixels(random)});
      rig.take(i, frames[i].back().pixels);
    }
    if (step % 10 == 0) rig.tick();
  }
  rig.end();

  for (size_t i = 0; i < 3; ++i) {
    auto expected = in_rows(frames[i]);
    for (const Row &row : rig.rows(i)) {
      SCOPED_TRACE("camera " + std::to_string(i) + " at " + std::to_string(row.time));
      if (row.frames == 0) continue;
      expect_row(row, expected[row.time]);
      expected.erase(row.time);
    }
    EXPECT_TRUE(expected.empty()) << "a row is missing of camera " << i;
  }
}

TEST_F(HistoryTest, RowsOfAllCamerasHaveTheSameTimesEvenWithoutFrames) {
  Rig rig(settings_of(folder_.file("history.db"), 2));
  advance(3.3);
  for (int i = 0; i < 350; ++i) {
    if (i >= 100 && i < 230) rig.take(0, 77);
    rig.tick();
    advance(0.1);
  }
  rig.end();

  const std::vector<Row> played = rig.rows(0), silent = rig.rows(1);
  ASSERT_EQ(played.size(), silent.size());
  EXPECT_EQ(frames_of(played), 130u);
  for (size_t i = 0; i < silent.size(); ++i) {
    EXPECT_EQ(silent[i].time, played[i].time);
    EXPECT_EQ(silent[i].time % 10000, 0);
    EXPECT_EQ(silent[i].time, silent[0].time + 10000 * static_cast<int64_t>(i));
    EXPECT_EQ(silent[i].frames, 0u);
    for (const double none : {silent[i].mean, silent[i].min_mean, silent[i].stddev, silent[i].p1,
                              silent[i].p99, silent[i].clipped_low})
      EXPECT_TRUE(std::isnan(none));
  }
}

TEST_F(HistoryTest, ARowIsWrittenWhenItIsOver) {
  Rig rig(settings_of(folder_.file("history.db")));
  rig.play(25, 100);
  ASSERT_EQ(rig.rows().size(), 2u);
  EXPECT_EQ(rig.rows()[0].frames, 10u);
  EXPECT_EQ(rig.rows()[1].frames, 10u);
}

TEST_F(HistoryTest, VerdictsAreInTheirRowsAndEvents) {
  Settings settings = settings_of(folder_.file("history.db"), 2);
  Rule &dark = settings.cameras[0].rules[static_cast<size_t>(Verdict::kTooDark)];
  dark = {true, 40, 45, 15};
  Rig rig(settings);
  const int64_t begin = clocks.real / 1000;
  rig.play(28, 100);
  rig.play(42, 30);   // since 28 s, raised after 43 s
  rig.play(40, 100);  // since 70 s, cleared after 85 s
  rig.end();

  const std::vector<Event> events = rig.reader.events({}, kBeginOfTime, kEndOfTime, 10);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_FALSE(events[0].raised);
  EXPECT_TRUE(events[1].raised);
  EXPECT_EQ(events[0].time, begin + 70000);
  EXPECT_EQ(events[1].time, begin + 28000);
  EXPECT_EQ(events[0].value, 100);
  EXPECT_EQ(events[1].value, 30);
  for (const Event &event : events) {
    EXPECT_EQ(event.camera, "c0");
    EXPECT_EQ(event.verdict, Verdict::kTooDark);
  }
  const std::vector<Verdict> none, too_dark = {Verdict::kTooDark};
  const std::vector<Row> rows = rig.rows();
  ASSERT_EQ(rows.size(), 11u);
  for (const Row &row : rows) {
    const int64_t at = row.time - begin;
    EXPECT_EQ(row.verdicts, at >= 20000 && at <= 80000 ? too_dark : none) << at;
  }
  for (const Row &row : rig.rows(1)) EXPECT_EQ(row.verdicts, none);
}

TEST_F(HistoryTest, EventsAreFoundByCameraTimeAndNumber) {
  Rig rig(settings_of(folder_.file("history.db"), 2));
  const int64_t begin = clocks.real / 1000;
  for (int i = 0; i < 40; ++i) {
    const Change change = {Verdict::kFlicker, i % 4 < 2, rig.clock.now(), 1.0 * i};
    rig.history.on_change(rig.camera(i % 2), change);
    advance(1);
  }
  rig.history.tick();
  const auto values = [&](const std::optional<std::string> &camera, int64_t from, int64_t to,
                          size_t limit) {
    std::vector<double> values;
    for (const Event &event : rig.reader.events(camera, begin + from, begin + to, limit))
      values.push_back(event.value);
    return values;
  };
  EXPECT_EQ(values({}, 0, 100000, 3), (std::vector<double>{39, 38, 37}));
  EXPECT_EQ(values("c1", 0, 100000, 3), (std::vector<double>{39, 37, 35}));
  EXPECT_EQ(values("c0", 3000, 8000, 100), (std::vector<double>{8, 6, 4}));
  EXPECT_EQ(values({}, 5000, 6000, 100), (std::vector<double>{6, 5}));
  EXPECT_TRUE(values("c9", 0, 100000, 3).empty());
  EXPECT_TRUE(values({}, 0, 100000, 0).empty());
}

/// Compares the frames, means, variances and extremes of both, weighted by the frames of each row.
void expect_same_totals(const std::vector<Row> &merged, const std::vector<Row> &rows) {
  double sums[2] = {}, squares[2] = {}, min_means[2] = {300, 300};
  uint64_t frames[2] = {};
  const std::vector<Row> *const both[] = {&merged, &rows};
  for (size_t i = 0; i < 2; ++i)
    for (const Row &row : *both[i]) {
      if (row.frames == 0) continue;
      const auto weight = static_cast<double>(row.frames);
      frames[i] += row.frames;
      sums[i] += weight * row.mean;
      squares[i] += weight * (row.stddev * row.stddev + row.mean * row.mean);
      min_means[i] = std::min(min_means[i], row.min_mean);
    }
  EXPECT_EQ(frames[0], frames[1]);
  EXPECT_NEAR(sums[0], sums[1], 1e-9 * sums[1]);
  EXPECT_NEAR(squares[0], squares[1], 1e-9 * squares[1]);
  EXPECT_EQ(min_means[0], min_means[1]);
}

TEST_F(HistoryTest, NeighbouringRowsAreMerged) {
  std::mt19937 random(seed());
  Rig rig(settings_of(folder_.file("history.db")));
  for (int i = 0; i < 3000; ++i) {
    if (random() % 5 != 0) rig.take(0, random_pixels(random));
    if (random() % 100 == 0) advance(500);  // no monitor ran
    rig.tick();
    advance(0.5 + random() % 3);
  }
  rig.end();
  const std::vector<Row> rows = rig.rows();
  ASSERT_GT(rows.size(), 200u);
  EXPECT_EQ(rig.rows(0, rows.size()).size(), rows.size());
  for (size_t points = 1; points < rows.size() + 2; points += 1 + random() % 7) {
    SCOPED_TRACE("points=" + std::to_string(points));
    const std::vector<Row> merged = rig.rows(0, points);
    EXPECT_LE(merged.size(), points);
    EXPECT_GE(merged.size(), 1u);
    expect_same_totals(merged, rows);
    for (size_t i = 1; i < merged.size(); ++i)
      EXPECT_GE(merged[i].time, merged[i - 1].time + 1000 * merged[i - 1].duration);
  }
  EXPECT_TRUE(rig.rows(0, 0).empty());
}

TEST_F(HistoryTest, MergedRowsStayTheSameWhileTimeGoesBy) {
  Rig rig(settings_of(folder_.file("history.db")));
  rig.play(10 * 100 + 5, 100);
  const std::vector<Row> before = rig.rows(0, 40);
  rig.play(10, 100);
  const std::vector<Row> after = rig.rows(0, 40);
  for (size_t i = 1; i + 1 < before.size(); ++i) {
    EXPECT_EQ(after[i].time, before[i].time);
    EXPECT_EQ(after[i].frames, before[i].frames);
  }
}

TEST_F(HistoryTest, ARestartContinuesTheSameRow) {
  const Settings settings = settings_of(folder_.file("history.db"));
  for (const uint8_t luma : {50, 100, 150}) {
    Rig rig(settings);
    rig.play(3, luma);
    rig.end();
  }
  Rig rig(settings);
  const std::vector<Row> rows = rig.rows();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].frames, 9u);
  EXPECT_NEAR(rows[0].mean, 100, 1e-9);
  EXPECT_NEAR(rows[0].stddev, std::sqrt(5000.0 / 3), 1e-9);
  EXPECT_EQ(rows[0].min_mean, 50);
  EXPECT_EQ(rows[0].max_mean, 150);
  EXPECT_EQ(rows[0].duration, 10);
}

TEST_F(HistoryTest, RowsAreKeptWhenTheClockIsSet) {
  for (const double hours : {-1.0, 1.0, -0.001, -26280.0}) {
    SCOPED_TRACE(hours);
    const Clocks before = clocks;
    const std::string file = folder_.file("history" + std::to_string(hours));
    Rig rig(settings_of(file));
    rig.play(600, 100);
    clocks.real += static_cast<int64_t>(hours * 3600e6);
    rig.play(57, 200);
    clocks.real -= static_cast<int64_t>(hours * 3600e6);
    rig.play(600, 100);
    rig.end();
    EXPECT_EQ(rig.history.error(), "");
    // Rows that seem to be older than the retention are deleted.
    const uint64_t old = hours < -720 ? 57 : 0;
    EXPECT_EQ(frames_of(rig.rows()), 1257u - old);
    clocks = before;
  }
}

TEST_F(HistoryTest, AWrongClockForAWhileDoesNotCostTheHistory) {
  Rig rig(settings_of(folder_.file("history.db")));
  rig.play(10 * 1000, 100);
  const size_t rows = rig.rows().size();
  clocks.real += int64_t{10} * 365 * 24 * 3600 * 1000000;
  rig.play(50, 100);
  EXPECT_GT(rig.rows().size(), rows / 2);
}

}  // namespace
}  // namespace luminance::test
