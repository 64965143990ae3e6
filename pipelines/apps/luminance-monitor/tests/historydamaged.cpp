// SPDX-License-Identifier: LGPL-2.1-or-later
// Files whose records are damaged, or whose pages refer to each other in ways that no writer makes:
// each reader and writer ends, and gives a correct result or an error.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <list>
#include <sstream>

#include "history/database.h"
#include "history/export.h"
#include "historyrig.h"

namespace luminance::test {
namespace {

constexpr unsigned kSeconds = 60;  // time limit of a step
#ifdef __SANITIZE_ADDRESS__
constexpr int64_t kMemory = 8 << 20;  // KiB: the sanitizer keeps what earlier tests freed
#else
constexpr int64_t kMemory = 600 << 10;  // KiB, memory limit of a step
#endif

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                  kGreatest = std::numeric_limits<int64_t>::max();
constexpr int64_t kRows = 5000, kRow = 10000;  // milliseconds

/// Three days of camera c0 in rows of ten seconds, many events, incidents and cameras.
const std::string kFill = R"(
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
INSERT INTO measurement SELECT 1, 1763798400000 - i * 10000, 10, 7, 100 + i % 50, 99, 155, 40, 20,
  101, 220, 0.01, 0.02, '' FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO event SELECT i, 1, 1763798400000 - i * 10000, 'too-dark', i % 2, 30 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO incident SELECT i, 1, 'too-dark', 1763798400000 - i * 10000, 1763798405000 - i * 10000,
  iif(i % 100, 'value', NULL), 30, 40, 0, NULL, '', 'Ann' FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO camera (number, id, name, min_summary_length)
  SELECT i + 10, printf('other-%06d', i), 'Other', 120000 FROM n;
UPDATE camera SET min_summary_length = 0;
)";

class HistoryDamaged : public testing::Test {
 protected:
  HistoryDamaged() {
    clocks = kBegin;
    {
      Rig rig(settings());
      rig.tick();
      rig.history.flush();
    }
    run("INSERT OR IGNORE INTO camera (number, id, name) VALUES (1, 'c0', 'Camera 0')");
    run("UPDATE camera SET number = 1 WHERE id = 'c0'");
    run(kFill);
    // The rig makes the summaries. Its first write would delete the cameras without rows.
    { Rig rig(settings()); }
  }

  std::string file() const { return folder_.file("history.db"); }
  Settings settings() const { return settings_of(file()); }
  void run(const std::string &sql) const {
    Database(file(), Database::Access::kWrite).run(sql.c_str());
  }
  int64_t number(const std::string &sql) const {
    return Database(file(), Database::Access::kWrite).number(sql.c_str());
  }

  const Folder folder_;
};

/// Checks in a child process that `act` ends within the limits of time and memory. HistoryError
/// counts as success.
void expect_end(const std::string &what, const std::function<void()> &act) {
  SCOPED_TRACE(what);
  const auto failures = [] {
    return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
  };
  const int before = failures();
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    try {
      act();
    } catch (const HistoryError &) {
    }
    std::fflush(nullptr);
    _exit(failures() > before ? 1 : 0);
  }
  int status = 0;
  rusage usage = {};
  ASSERT_EQ(wait4(child, &status, 0, &usage), child);
  EXPECT_FALSE(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) << "it does not end";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  EXPECT_LT(usage.ru_maxrss, kMemory);
}

void read_rows(const std::string &file) {
  for (const size_t points : {size_t{1}, size_t{3}, size_t{600}, size_t{100000}}) try {
      Reader reader(file);
      EXPECT_LE(reader.rows("c0", kLeast, kGreatest, points).size(), points);
      reader.rows("c0", kBegin.real / 1000 - 3600000, kBegin.real / 1000, points);
    } catch (const HistoryError &error) {
      EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
    }
}

void read_events(const std::string &file) {
  for (const std::optional<std::string> &camera : {std::optional<std::string>(), {"c0"}}) try {
      Reader reader(file);
      EXPECT_LE(reader.events(camera, kLeast, kGreatest, 1000).size(), 1000u);
    } catch (const HistoryError &error) {
      EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
    }
}

void read_incidents(const std::string &file) {
  for (const std::optional<std::string> &camera : {std::optional<std::string>(), {"c0"}}) try {
      Reader reader(file);
      IncidentFilter filter;
      filter.camera = camera;
      EXPECT_LE(reader.incidents(filter, 1000).size(), 1000u);
      filter.is_open = true;
      EXPECT_LE(reader.incidents(filter, 100000).size(), 30u);
      reader.incident(7);
      reader.incident_picture(7);
    } catch (const HistoryError &error) {
      EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
    }
}

void export_all(const std::string &file) {
  std::ostringstream csv;
  export_csv(file, csv);
}

void export_all_incidents(const std::string &file) {
  std::ostringstream csv;
  export_incidents(file, csv);
}

void write_to(const Settings &settings) {
  Rig rig(settings);
  rig.play(100, 100);
  rig.end();
}

void summarize_and_write(const Settings &settings) {
  Database(settings.history.file, Database::Access::kWrite)
      .run("UPDATE camera SET min_summary_length = 0 WHERE number = 1");
  write_to(settings);
}

void expect_all_end(const Settings &settings) {
  const std::string file = settings.history.file;
  expect_end("rows", [&] { read_rows(file); });
  expect_end("events", [&] { read_events(file); });
  expect_end("incidents", [&] { read_incidents(file); });
  expect_end("export", [&] { export_all(file); });
  expect_end("export of incidents", [&] { export_all_incidents(file); });
  expect_end("writing", [&] { write_to(settings); });
  expect_end("summaries", [&] { summarize_and_write(settings); });
}

/// The pages of a file, as bytes. SQLite writes numbers with the most significant byte first.
class Pages {
 public:
  explicit Pages(const std::string &file) : file_(file) {
    std::ifstream in(file, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    size_ = read(16, 2) == 1 ? 65536 : read(16, 2);
  }
  ~Pages() {
    put(28, 4, static_cast<uint32_t>(bytes_.size() / size_));
    std::ofstream(file_, std::ios::binary) << bytes_;
  }

  /// Makes all references of the inner page lead to the page `to`.
  void refer(size_t page, size_t to) {
    const size_t at = begin(page);
    put(at + 8, 4, static_cast<uint32_t>(to));
    for (size_t i = 0; i < read(at + 3, 2); ++i)
      put(at + read(at + 12 + 2 * i, 2), 4, static_cast<uint32_t>(to));
  }
  size_t first_child(size_t page) const { return read(begin(page) + read(begin(page) + 12, 2), 4); }
  bool is_inner(size_t page) const {
    return read(begin(page), 1) == 2 || read(begin(page), 1) == 5;
  }
  size_t references(size_t page) const { return read(begin(page) + 3, 2) + 1; }
  size_t copy(size_t page) {
    bytes_ += bytes_.substr(begin(page), size_);
    return bytes_.size() / size_;
  }

 private:
  size_t begin(size_t page) const { return (page - 1) * size_; }
  size_t read(size_t at, int count) const {
    size_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8 | static_cast<uint8_t>(bytes_.at(at++));
    return value;
  }
  void put(size_t at, int count, uint32_t value) {
    for (int i = count; i-- > 0; value >>= 8) bytes_.at(at + i) = static_cast<char>(value);
  }

  const std::string file_;
  std::string bytes_;
  size_t size_ = 0;
};

/// Makes all references of the root lead to one page, all references of that page to the next, and
/// so on for fourteen pages: a reader finds the few records of the last page more than 10^14 times.
void tangle(const std::string &file, size_t root) {
  Pages pages(file);
  ASSERT_TRUE(pages.is_inner(root));
  size_t inner = root;
  while (pages.is_inner(pages.first_child(inner))) inner = pages.first_child(inner);
  ASSERT_GE(pages.references(inner), 10u);
  size_t below = pages.first_child(inner);
  for (int depth = 0; depth < 14; ++depth) {
    const size_t copy = pages.copy(inner);
    pages.refer(copy, below);
    below = copy;
  }
  pages.refer(root, below);
}

class HistoryTangled : public HistoryDamaged, public testing::WithParamInterface<const char *> {};

TEST_P(HistoryTangled, TangledPagesAreNotReadForEver) {
  const int64_t root =
      number("SELECT rootpage FROM sqlite_schema WHERE name = '" + std::string(GetParam()) + "'");
  ASSERT_GT(root, 1);
  ASSERT_FALSE(std::filesystem::exists(file() + "-wal"));
  tangle(file(), static_cast<size_t>(root));
  expect_all_end(settings());
}

INSTANTIATE_TEST_SUITE_P(Tables, HistoryTangled,
                         testing::Values("measurement", "summary", "event", "event_time",
                                         "event_camera", "incident", "incident_since",
                                         "incident_camera", "camera", "sqlite_autoindex_camera_1"));

TEST_F(HistoryDamaged, ViewsAndTriggersDoNotRun) {
  run(R"(
    CREATE TRIGGER endless AFTER INSERT ON measurement BEGIN
      UPDATE camera SET source = (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
        SELECT max(x) FROM n);
    END)");
  expect_all_end(settings());
  run(R"(
    DROP TRIGGER endless;
    ALTER TABLE measurement RENAME TO other;
    CREATE VIEW measurement AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
      SELECT 1 camera, x time, 1.0 duration, 1 frames FROM n WHERE x < 0)");
  expect_all_end(settings());
}

/// Returns the sum of the frames of all rows, merged into at most `points` rows.
uint64_t frames_in(const std::string &file, size_t points) {
  return frames_of(Reader(file).rows("c0", kLeast, kGreatest, points));
}

struct Damage {
  const char *sql;
  uint64_t lost;  // number of rows
};

void PrintTo(const Damage &damage, std::ostream *out) { *out << damage.sql; }

class HistoryValues : public HistoryDamaged, public testing::WithParamInterface<Damage> {};

/// Only the damaged rows are left out, and no row is counted twice.
TEST_P(HistoryValues, WrongNumbersAreNotTakenForRight) {
  run(GetParam().sql);
  const uint64_t frames = 7 * (kRows - GetParam().lost);
  const auto expect_frames = [&] {
    for (const size_t points : {size_t{1}, size_t{3}, size_t{600}, size_t{100000}})
      EXPECT_EQ(frames_in(file(), points), frames) << points;
  };
  expect_end("before it is opened", expect_frames);
  expect_all_end(settings());
  run("DELETE FROM measurement WHERE time BETWEEN 1763798400000 AND 1763798600000");
  run("UPDATE camera SET min_summary_length = 0 WHERE number = 1");
  expect_end("summaries anew", [&] {
    { Rig rig(settings()); }
    expect_frames();
  });
}

constexpr char kRowAt[] = "camera = 1 AND time = 1763798400000 - 20000";

/// Returns SQL that changes one row and marks the summaries of its camera as missing, because they
/// still contain the old values.
std::string row_with(const std::string &change) {
  return "UPDATE measurement SET " + change + " WHERE " + kRowAt +
         "; UPDATE camera SET min_summary_length = 0 WHERE number = 1";
}

std::string row_at(const std::string &time) {
  return "INSERT INTO measurement SELECT camera, " + time +
         ", duration, frames, mean, min_mean, max_mean, stddev, p1, median, p99, clipped_low, "
         "clipped_high, verdicts FROM measurement WHERE " +
         kRowAt;
}

/// Returns a copy of the text that lives until the program ends, as test parameters must.
const char *kept(const std::string &text) {
  static std::list<std::string> texts;
  return texts.emplace_back(text).c_str();
}

std::vector<Damage> damages() {
  std::vector<Damage> all;
  for (const char *time : {"-9223372036854775808", "-9223372036854775807", "-1", "(1 << 50) + 1",
                           "9223372036854775806", "9223372036854775807"})
    all.push_back({kept(row_at(time)), 0});
  for (const char *change :
       {"duration = 0", "duration = -10", "duration = 1e300", "duration = -1e300",
        "duration = 9e999", "duration = -9e999", "duration = 1e-300", "frames = -1",
        "frames = 9223372036854775807", "frames = -9223372036854775808", "mean = NULL",
        "mean = 9e999", "p99 = -9e999"})
    all.push_back({kept(row_with(change)), 1});
  for (const char *number : {"-9223372036854775808", "-1", "1", "7", "9223372036854775806",
                             "9223372036854775807", "(1 << 49) / 120000 * 120000"})
    for (const char *column : {"summarized_until", "min_summary_length"})
      all.push_back(
          {kept(std::string("UPDATE camera SET ") + column + " = " + number + " WHERE number = 1"),
           0});
  for (const char *change :
       {"row_count = -1", "row_count = 9223372036854775807", "row_count = -9223372036854775808",
        "row_count = 1", "max_duration = 0", "max_duration = 9e999", "max_duration = -5",
        "time = -9223372036854775808", "time = 9223372036854775807", "duration = 9e999",
        "duration = 0", "frames = -7", "mean = NULL", "bucket = bucket + 1",
        "bucket = 9223372036854775807 - bucket"})
    all.push_back({kept(std::string("UPDATE summary SET ") + change), 0});
  for (const char *time : {"-9223372036854775808", "9223372036854775807"})
    all.push_back({kept(std::string("UPDATE event SET time = ") + time), 0});
  for (const char *time : {"-9223372036854775808", "9223372036854775807"})
    for (const char *column : {"since", "until"})
      for (const char *number : {"100", "7"})
        all.push_back({kept(std::string("UPDATE incident SET ") + column + " = " + time +
                            " WHERE number = " + number),
                       0});
  all.push_back({"UPDATE incident SET camera = 9223372036854775807", 0});
  all.push_back({"UPDATE incident SET verdict = 'unheard-of', value = 9e999, reason = NULL", 0});
  all.push_back({"UPDATE event SET camera = 9223372036854775807", 0});
  all.push_back({"UPDATE event SET raised = -9223372036854775808", 0});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Statements, HistoryValues, testing::ValuesIn(damages()));

}  // namespace
}  // namespace luminance::test
