// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "history/export.h"
#include "historyrig.h"

namespace luminance::test {
namespace {

class HistoryCsv : public testing::Test {
 protected:
  HistoryCsv() { clocks = kBegin; }

  std::string file() const { return folder_.file("history.db"); }
  std::vector<std::vector<std::string>> exported() const;

  const Folder folder_;
};

/// Returns the cells of each line, by the rules of RFC 4180.
std::vector<std::vector<std::string>> parse(const std::string &csv) {
  std::vector<std::vector<std::string>> lines(1, {""});
  bool quoted = false;
  for (size_t i = 0; i < csv.size(); ++i) {
    std::string &cell = lines.back().back();
    if (quoted && csv.compare(i, 2, "\"\"") == 0) {
      cell += csv[i++];
    } else if (csv[i] == '"') {
      EXPECT_TRUE(quoted || cell.empty()) << "a quote within a cell at " << i;
      quoted = !quoted;
    } else if (quoted) {
      cell += csv[i];
    } else if (csv[i] == ',') {
      lines.back().emplace_back();
    } else if (csv.compare(i, 2, "\r\n") == 0) {
      lines.push_back({""});
      ++i;
    } else {
      EXPECT_TRUE(csv[i] != '\n' && csv[i] != '\r') << "a bare line end at " << i;
      cell += csv[i];
    }
  }
  EXPECT_FALSE(quoted);
  EXPECT_EQ(lines.back(), std::vector<std::string>{""}) << "the last line has no end";
  lines.pop_back();
  return lines;
}

std::vector<std::vector<std::string>> HistoryCsv::exported() const {
  std::ostringstream csv;
  export_csv(file(), csv);
  return parse(csv.str());
}

TEST_F(HistoryCsv, LinesAreTheRows) {
  Settings settings = settings_of(file(), 3);
  settings.cameras[0].rules = settings.cameras[2].rules = default_rules();
  std::mt19937 random(seed());
  Rig rig(settings);
  for (int i = 0; i < 500; ++i) {
    rig.take(0, random_pixels(random));
    rig.take(1, i < 300 ? 3 : 250);
    rig.tick();
    advance(1);
  }
  rig.end();

  const auto lines = exported();
  EXPECT_EQ(lines[0],
            (std::vector<std::string>{"time", "duration", "camera", "name", "frames", "mean",
                                      "min_mean", "max_mean", "stddev", "p1", "median", "p99",
                                      "clipped_low", "clipped_high", "verdicts"}));
  EXPECT_EQ(lines[1][0], "2025-11-22T08:00:00.000Z");
  EXPECT_EQ(lines[2][0], "2025-11-22T08:00:10.000Z");
  size_t line = 1;
  for (size_t camera = 0; camera < 3; ++camera)
    for (const Row &row : rig.rows(camera)) {
      SCOPED_TRACE("line " + std::to_string(line));
      ASSERT_LT(line, lines.size());
      const std::vector<std::string> &cells = lines[line++];
      ASSERT_EQ(cells.size(), 15u);
      EXPECT_EQ(cells[1], "10");
      EXPECT_EQ(cells[2], "c" + std::to_string(camera));
      EXPECT_EQ(cells[3], "Camera " + std::to_string(camera));
      EXPECT_EQ(cells[4], std::to_string(row.frames));
      const double numbers[] = {row.mean,   row.min_mean, row.max_mean,    row.stddev,      row.p1,
                                row.median, row.p99,      row.clipped_low, row.clipped_high};
      for (size_t i = 0; i < 9; ++i) {
        if (row.frames == 0)
          EXPECT_EQ(cells[5 + i], "");
        else
          EXPECT_EQ(std::stod(cells[5 + i]), numbers[i]);
      }
      std::string verdicts;
      for (const Verdict verdict : row.verdicts)
        verdicts += (verdicts.empty() ? "" : " ") + std::string(name_of(verdict));
      EXPECT_EQ(cells[14], verdicts);
    }
  EXPECT_EQ(line, lines.size());
  EXPECT_EQ(lines.back()[14], "no-frames");
}

TEST_F(HistoryCsv, AllOfManyRowsAreExported) {
  Rig rig(settings_of(file(), 4));
  rig.play(10 * 1003, 100);
  rig.end();
  EXPECT_EQ(exported().size(), 1 + 4 * 1003u);
}

TEST_F(HistoryCsv, NamesFromOutsideAreEscaped) {
  using namespace std::string_literals;
  const std::pair<std::string, std::string> names[] = {
      {"Gate, \"north\"", "Gate, \"north\""},
      {"two\r\nlines", "two\r\nlines"},
      {"'); DROP TABLE camera; --", "'); DROP TABLE camera; --"},
      {"=HYPERLINK(\"http://x\",\"y\")", "'=HYPERLINK(\"http://x\",\"y\")"},
      {"+1", "'+1"},
      {"-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"},
      {"@SUM(1)", "'@SUM(1)"},
      {"\t=1", "'\t=1"},
      {"\r=1", "'\r=1"},
      {"nul\0nul"s, "nul\uFFFDnul"},
      {"bad \xff\xc3 UTF-8", "bad \uFFFD\uFFFD UTF-8"},
      {"", ""},
      {"Tür 入口 🚪", "Tür 入口 🚪"},
      {std::string(1000, '"'), std::string(1000, '"')}};
  Settings settings = settings_of(file(), std::size(names));
  for (size_t i = 0; i < std::size(names); ++i) {
    settings.cameras[i].id = std::string("-") + static_cast<char>('a' + i);
    settings.cameras[i].name = names[i].first;
  }
  Rig rig(settings);
  rig.play(5, 100);
  rig.end();
  EXPECT_EQ(rig.history.error(), "");
  const auto lines = exported();
  ASSERT_EQ(lines.size(), 1 + std::size(names));
  for (size_t i = 0; i < std::size(names); ++i) EXPECT_EQ(lines[1 + i][3], names[i].second);
  EXPECT_EQ(lines[1][2], "'-a");
}

TEST_F(HistoryCsv, ARenamedCameraKeepsItsRows) {
  Settings settings = settings_of(file());
  Rig(settings).play(35, 100);
  settings.cameras[0].name = "Another";
  Rig(settings).play(35, 100);
  const auto lines = exported();
  ASSERT_GE(lines.size(), 6u);
  for (size_t i = 1; i < lines.size(); ++i) EXPECT_EQ(lines[i][3], "Another");
}

/// A buffer that calls a function at each write.
class Watched : public std::stringbuf {
 public:
  explicit Watched(std::function<void()> on_write) : on_write_(std::move(on_write)) {}

 protected:
  std::streamsize xsputn(const char *text, std::streamsize size) override {
    on_write_();
    return std::stringbuf::xsputn(text, size);
  }

 private:
  const std::function<void()> on_write_;
};

TEST_F(HistoryCsv, AnExportDoesNotBlockTheMonitor) {
  Rig rig(settings_of(file(), 4));
  rig.play(10000, 100);
  uintmax_t log = 0;
  Watched buffer([&] {
    rig.play(3000, 100);
    ASSERT_EQ(rig.history.error(), "");
    log = std::max(log, std::filesystem::file_size(file() + "-wal"));
  });
  std::ostream out(&buffer);
  export_csv(file(), out);
  const auto lines = parse(buffer.str());
  EXPECT_GT(lines.size(), 4 * 1000u);
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto &line : lines) {
    EXPECT_EQ(line.size(), 15u);
    EXPECT_TRUE(seen.emplace(line[0], line[2]).second) << line[0] << " is there twice";
  }
  EXPECT_LT(log, 5u << 20) << "the write-ahead log grows while somebody reads";
}

TEST_F(HistoryCsv, AnExportChangesNothing) {
  EXPECT_THROW(exported(), HistoryError);
  EXPECT_FALSE(std::filesystem::exists(file())) << "an export began a history";
  { Rig(settings_of(file())).play(100, 100); }
  const auto before = std::filesystem::last_write_time(file());
  EXPECT_GT(exported().size(), 5u);
  EXPECT_EQ(std::filesystem::last_write_time(file()), before);
}

TEST_F(HistoryCsv, AFullOutputIsAnError) {
  Rig(settings_of(file())).play(100, 100);
  std::ofstream full("/dev/full");
  try {
    export_csv(file(), full);
    ADD_FAILURE() << "it was taken for written";
  } catch (const HistoryError &error) {
    EXPECT_NE(std::string(error.what()).find("No space left"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace luminance::test
