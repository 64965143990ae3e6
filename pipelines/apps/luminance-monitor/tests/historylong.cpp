// SPDX-License-Identifier: LGPL-2.1-or-later
// A month of 32 cameras, and the time after it, when neither the file nor memory grows any more.
#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "history/database.h"
#include "history/export.h"
#include "historyrig.h"

namespace luminance::test {
namespace {

constexpr int64_t kDay = 24 * 60 * 60 * 1000;

/// Returns the milliseconds of the system's clock; the C++ clocks are set by the test.
double real_time() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

double megabytes(const std::string &file) {
  return static_cast<double>(std::filesystem::file_size(file)) / (1 << 20);
}

double resident_megabytes() {
  std::ifstream statm("/proc/self/statm");
  long total = 0, resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// Returns settings with rows of a minute, each of one interval.
Settings minutes_of(const std::string &file, size_t cameras, double days) {
  Settings settings = settings_of(file, cameras);
  settings.interval = 60;
  settings.history = {true, file, 60, days};
  return settings;
}

void play_minutes(Rig &rig, int minutes) {
  for (int minute = 0; minute < minutes; ++minute) {
    for (size_t i = 0; i < rig.monitor.cameras().size(); ++i)
      rig.take(i, {static_cast<uint8_t>(minute + i), static_cast<uint8_t>(3 * minute), 20});
    if (minute % 60 == 0)
      rig.history.on_change(rig.camera(), {Verdict::kTooDark, true, rig.clock.now(), 1});
    rig.tick();
    advance(60);
  }
}

template <class Query>
double time_of(const char *what, Query query) {
  const double begin = real_time();
  const size_t count = query();
  const double took = real_time() - begin;
  std::printf("%-40s %6zu in %7.2f ms\n", what, count, took);
  return took;
}

void expect_quick_queries(Rig &rig, const std::string &file) {
  const int64_t now = clocks.real / 1000;
  const auto rows = [&](int64_t days, size_t points) {
    return rig.reader.rows("c7", now - days * kDay, now, points).size();
  };
  const auto events = [&](const std::optional<std::string> &camera) {
    return rig.reader.events(camera, 0, now, 1000).size();
  };
  std::ofstream nowhere("/dev/null");
  const double all = time_of("export of all", [&] { return export_csv(file, nowhere), size_t{1}; });
  // A search of the whole file takes as long as the export of all. Each of these queries reads a
  // small part of it.
  const double day = time_of("a day, 600 points", [&] { return rows(1, 600); });
  EXPECT_LT(day, all / 30);
  EXPECT_LT(time_of("events", [&] { return events({}); }), all / 30);
  EXPECT_LT(time_of("events of a camera", [&] { return events("c0"); }), all / 30);
  EXPECT_LT(time_of("a week, 600 points", [&] { return rows(7, 600); }), all / 5);
  // A month has 30 times the rows of a day, and is not read row by row.
  double month = time_of("a month, 600 points", [&] { return rows(30, 600); });
  for (int again = 0; again < 5; ++again)  // Other work may slow down the machine.
    month = std::min(month, time_of("a month, 600 points", [&] { return rows(30, 600); }));
  EXPECT_LT(month, 15 * day);
  EXPECT_LT(time_of("a month, 5000 points", [&] { return rows(30, 5000); }), all / 5);
}

TEST(HistoryLong, KeepsAMonthOf32Cameras) {
  clocks = kBegin;
  const Folder folder;
  const std::string file = folder.file("history.db");
  Rig rig(minutes_of(file, 32, 30));
  const double begin = real_time();
  play_minutes(rig, 5 * 1440);
  const double memory = resident_megabytes();
  play_minutes(rig, 25 * 1440 + 720);
  const double full = megabytes(file);
  play_minutes(rig, 2 * 1440);
  ASSERT_EQ(rig.history.error(), "");
  std::printf(
      "32.5 days in %.1f s: %.1f MB at 30.5 days, %.1f MB at the end; memory %.1f MB at 5 "
      "days, %.1f MB at the end\n",
      1e-3 * (real_time() - begin), full, megabytes(file), memory, resident_megabytes());
  EXPECT_LT(megabytes(file), 1.03 * full);
  EXPECT_LT(megabytes(file + "-wal"), 5);
  EXPECT_LT(resident_megabytes(), memory + 8);
  for (const size_t i : {0, 17, 31}) EXPECT_NEAR(rig.rows(i).size(), 30 * 1440, 3);
  EXPECT_NEAR(rig.reader.events({}, 0, kEndOfTime, 10000).size(), 30 * 24, 2);
  expect_quick_queries(rig, file);
}

TEST(HistoryLong, GivesPagesBack) {
  clocks = kBegin;
  const Folder folder;
  const std::string file = folder.file("history.db");
  {
    Rig rig(minutes_of(file, 4, 30));
    play_minutes(rig, 10 * 1440);
  }
  const double before = megabytes(file);
  {
    Rig rig(minutes_of(file, 1, 1));  // The three other cameras are deleted, too.
    play_minutes(rig, 2 * 1440);
    EXPECT_NEAR(rig.rows().size(), 1440, 62);
    EXPECT_TRUE(rig.reader.rows("c3", 0, kEndOfTime, 10).empty());
  }
  std::printf("%.2f MB, then %.2f MB\n", before, megabytes(file));
  EXPECT_LT(megabytes(file), before / 10);
  Database database(file, Database::Access::kRead);
  EXPECT_EQ(database.number("SELECT count(*) FROM camera"), 1);
}

}  // namespace
}  // namespace luminance::test
