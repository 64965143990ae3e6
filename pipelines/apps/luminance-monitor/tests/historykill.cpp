// SPDX-License-Identifier: LGPL-2.1-or-later
// A monitor is killed while it writes, again and again: the rows that it reported are in the file.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "history/database.h"
#include "history/export.h"
#include "historyrig.h"

namespace luminance::test {
namespace {

constexpr size_t kCameras = 4;
constexpr int64_t kRow = 10000;  // milliseconds

Settings long_settings(const std::string &file) {
  Settings settings = settings_of(file, kCameras);
  settings.history.retention = 3650;
  return settings;
}

/// Returns the luma of the only frame of a row.
uint8_t luma_of(int64_t row, size_t camera) {
  return static_cast<uint8_t>(row / kRow * 7 + static_cast<int64_t>(camera));
}

/// Writes a row of each camera and an event, again and again. Sends the time of the last row that
/// is certainly in the file.
[[noreturn]] void write_for_ever(const std::string &file, int64_t begin, int pipe) {
  clocks.real = begin * 1000;
  Rig rig(long_settings(file));
  for (int64_t now = begin;; now += kRow) {
    for (size_t i = 0; i < kCameras; ++i) rig.take(i, luma_of(now, i));
    rig.history.on_change(rig.camera(), {Verdict::kFlicker, true, rig.clock.now(), 1});
    rig.tick();
    // This frame ended the interval of the previous frame, which ended the row before that.
    const int64_t written = now - 2 * kRow;
    if (!rig.history.error().empty()) _exit(1);
    if (written >= begin && write(pipe, &written, sizeof written) != sizeof written) _exit(1);
    advance(10);
  }
}

/// Starts a writer, and kills it `delay` microseconds after its first row. Returns the last row
/// that it reported as written.
int64_t kill_writer(const std::string &file, int64_t begin, useconds_t delay) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) write_for_ever(file, begin, ends[1]);
  close(ends[1]);
  int64_t last = 0;
  EXPECT_EQ(read(ends[0], &last, sizeof last), ssize_t{sizeof last});
  usleep(delay);
  kill(child, SIGKILL);
  for (int64_t next; read(ends[0], &next, sizeof next) == sizeof next;) last = next;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
  return last;
}

/// Checks the rows of a writer that began at `begin` and reported `last`. Returns the last row.
int64_t check(Rig &rig, int64_t begin, int64_t last) {
  int64_t end = last;
  for (size_t i = 0; i < kCameras; ++i) {
    const std::vector<Row> rows = rig.reader.rows(rig.camera(i).id(), begin, kEndOfTime, 1000000);
    const auto expected = static_cast<size_t>((last - begin) / kRow) + 1;
    EXPECT_GE(rows.size(), expected);
    EXPECT_LE(rows.size(), expected + 2) << "more than what was in flight";
    int64_t time = begin;
    for (const Row &row : rows) {
      EXPECT_EQ(row.time, time);
      EXPECT_EQ(row.frames, 1u);
      EXPECT_EQ(row.mean, luma_of(time, i));
      time += kRow;
    }
    end = std::max(end, time - kRow);
  }
  EXPECT_GE(rig.reader.events("c0", begin, last, 1000000).size(),
            static_cast<size_t>((last - begin) / kRow) + 1);
  return end;
}

std::string integrity(const std::string &file) {
  Database database(file, Database::Access::kRead);
  Statement statement(database, "PRAGMA integrity_check");
  Results results = statement.with();
  return results.next() ? results.text(0) : "";
}

TEST(HistoryKill, KeepsWrittenRows) {
  std::mt19937 random(seed());
  const Folder folder;
  const std::string file = folder.file("history.db");
  int64_t begin = kBegin.real / 1000;
  size_t rows = 0;
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    clocks = kBegin;
    const int64_t last = kill_writer(file, begin, random() % 100000);
    std::ostringstream csv;
    export_csv(file, csv);  // the first to open what the killed writer left
    const std::string text = csv.str();
    EXPECT_GE(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')), 1 + rows);
    EXPECT_EQ(integrity(file), "ok");
    clocks.real = begin * 1000;
    Rig rig(long_settings(file));
    const int64_t end = check(rig, begin, last);
    rows += kCameras * static_cast<size_t>((last - begin) / kRow + 1);
    begin = end + kRow;
    if (HasFailure()) return;
  }
  std::printf("%zu rows through 40 kills\n", rows);
}

}  // namespace
}  // namespace luminance::test
