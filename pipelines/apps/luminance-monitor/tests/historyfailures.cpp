// SPDX-License-Identifier: LGPL-2.1-or-later
// Files that are no history, and writes that fail: each causes an error, and the monitor continues.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "history/damage.h"
#include "history/database.h"
#include "history/export.h"
#include "historyrig.h"

namespace luminance::test {
namespace {

class HistoryFailures : public testing::Test {
 protected:
  HistoryFailures() { clocks = kBegin; }

  std::string file() const { return folder_.file("history.db"); }

  const Folder folder_;
};

void expect_refused(const std::string &file, const std::string &why) {
  try {
    Rig rig(settings_of(file));
    ADD_FAILURE() << file << " was taken";
  } catch (const HistoryError &error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(file), std::string::npos) << text;
    EXPECT_NE(text.find(why), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

std::string bytes_of(const std::string &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string &file, const std::string &bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

/// Runs as the user 65534, if the test runs as root, for which permissions do not count.
class AsNobody {
 public:
  AsNobody() : user_(geteuid()) {
    if (user_ == 0 && seteuid(65534) != 0) throw std::runtime_error("seteuid");
  }
  ~AsNobody() {
    if (seteuid(user_) != 0) std::abort();
  }

 private:
  const uid_t user_;
};

/// Limits the size of files, so that writes beyond it fail as on a full disk.
class DiskFull {
 public:
  explicit DiskFull(size_t size) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit full = {size, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
  }
  ~DiskFull() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

TEST_F(HistoryFailures, PathsThatCannotBeWrittenAreRefused) {
  expect_refused(folder_.file("nowhere/history.db"), "No such file or directory");
  expect_refused(folder_.path(), "unable to open");
  write(file(), "");
  expect_refused(file() + "/history.db", "Not a directory");
}

TEST_F(HistoryFailures, PathsWithoutPermissionAreRefused) {
  { Rig rig(settings_of(file())); }
  chmod(file().c_str(), 0444);
  chmod(folder_.path().c_str(), 0555);
  {
    const AsNobody nobody;
    expect_refused(folder_.file("other.db"), "Permission denied");
    expect_refused(file(), "readonly");
  }
  chmod(folder_.path().c_str(), 0755);
}

TEST_F(HistoryFailures, OnlyTheOwnerCanReadTheFiles) {
  const auto others = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
  const auto expect_private = [&](const char *what) {
    for (const char *end : {"", "-wal", "-shm"})
      EXPECT_EQ(std::filesystem::status(file() + end).permissions() & others,
                std::filesystem::perms::none)
          << what << end;
  };
  Rig rig(settings_of(file()));
  rig.play(30, 100);
  expect_private("new");
  for (const char *end : {"", "-wal", "-shm"})
    std::filesystem::permissions(file() + end, std::filesystem::perms(0644));
  Rig again(settings_of(file()));
  again.play(30, 100);
  expect_private("from before");
}

TEST_F(HistoryFailures, NamesThatAreSpecialInSqliteAreFileNames) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  for (const char *name : {":memory:", "file:x?mode=memory", "-", "%41"}) {
    Rig(settings_of(name)).play(30, 100);
    EXPECT_GE(Rig(settings_of(name)).rows().size(), 2u) << name;
    EXPECT_TRUE(std::filesystem::exists(name)) << name;
  }
  std::filesystem::current_path(before);
}

TEST_F(HistoryFailures, FilesThatAreNoHistoryAreRefused) {
  write(file(), std::string(10000, 'x'));
  expect_refused(file(), "not a database");
  write(file(), "short");
  expect_refused(file(), "not a database");
  std::filesystem::remove(file());
  Database(file(), Database::Access::kWrite).run("CREATE TABLE something (other)");
  const std::string other = bytes_of(file());
  expect_refused(file(), "not a history");
  EXPECT_EQ(bytes_of(file()), other) << "it was changed";
}

TEST_F(HistoryFailures, ANewerSchemaIsRefused) {
  { Rig rig(settings_of(file())); }
  const std::string newer = std::to_string(kCurrentSchema + 1);
  Database(file(), Database::Access::kWrite).run(("PRAGMA user_version = " + newer).c_str());
  expect_refused(file(), "newer version");
  std::ostringstream csv;
  EXPECT_THROW(export_csv(file(), csv), HistoryError);
}

TEST_F(HistoryFailures, AFullDiskIsReportedAndLosesNoRows) {
  Rig rig(settings_of(file()));
  rig.play(100, 100);
  EXPECT_EQ(rig.history.error(), "");
  const size_t before = rig.rows().size();
  {
    const DiskFull full(1);
    rig.play(300, 100);
    EXPECT_NE(rig.history.error().find(file()), std::string::npos) << rig.history.error();
    EXPECT_EQ(rig.rows().size(), before) << "can be read all the same";
    rig.end();
    EXPECT_NE(rig.history.error(), "");
  }
  rig.history.flush();
  EXPECT_EQ(rig.history.error(), "");
  EXPECT_EQ(frames_of(rig.rows()), 400u) << "what was written later is all of it";
}

TEST_F(HistoryFailures, PendingRecordsAreBounded) {
  constexpr size_t kCameras = 100;
  Rig rig(settings_of(file(), kCameras));
  {
    const DiskFull full(1);
    for (int i = 0; i < 15000; ++i) {
      rig.history.on_change(rig.camera(), {Verdict::kFlicker, true, rig.clock.now(), 1.0 * i});
      if (i % kCameras != 0) continue;
      rig.tick();
      advance(10);
    }
  }
  rig.end();
  EXPECT_EQ(rig.history.error(), "");
  size_t rows = 0;
  for (size_t i = 0; i < kCameras; ++i) rows += rig.rows(i).size();
  EXPECT_EQ(rows, 10000u);
  const auto events = rig.reader.events({}, kBeginOfTime, kEndOfTime, 100000);
  ASSERT_EQ(events.size(), 10000u);
  EXPECT_EQ(events.front().value, 14999) << "the oldest go";
}

TEST_F(HistoryFailures, AWriteToALockedFileIsRepeated) {
  Rig rig(settings_of(file()));
  rig.play(30, 100);
  {
    Database other(file(), Database::Access::kWrite);
    const Transaction transaction(other);
    rig.play(40, 100);
    EXPECT_NE(rig.history.error().find("locked"), std::string::npos) << rig.history.error();
    EXPECT_EQ(rig.rows().size(), 2u);
  }
  rig.play(40, 100);
  EXPECT_EQ(rig.history.error(), "") << "it was not tried again";
  rig.end();
  EXPECT_EQ(frames_of(rig.rows()), 110u);
}

TEST_F(HistoryFailures, ADeletedFileIsCreatedAgain) {
  Rig rig(settings_of(file()));
  rig.play(100, 100);
  std::filesystem::remove(file());
  rig.play(100, 100);
  EXPECT_EQ(rig.history.error(), "");
  EXPECT_TRUE(std::filesystem::exists(file()));
  EXPECT_GE(rig.rows().size(), 9u);

  const std::string away = folder_.path() + "-away";
  std::filesystem::rename(folder_.path(), away);
  rig.play(100, 100);
  EXPECT_NE(rig.history.error().find("No such file"), std::string::npos) << rig.history.error();
  EXPECT_THROW(rig.rows(), HistoryError);
  EXPECT_THROW(rig.reader.events({}, 0, 1, 1), HistoryError);
  std::filesystem::rename(away, folder_.path());
  rig.play(60, 100);
  EXPECT_EQ(rig.history.error(), "");
  EXPECT_GE(rig.rows().size(), 23u);
}

TEST_F(HistoryFailures, TwoMonitorsCanShareOneFile) {
  Settings other = settings_of(file());
  other.cameras[0].id = "other";
  Rig one(settings_of(file())), two(other);
  for (int i = 0; i < 100; ++i) {
    one.take(0, 100);
    two.take(0, 200);
    one.tick();
    two.tick();
    advance(1);
  }
  one.end();
  two.end();
  EXPECT_EQ(one.history.error() + two.history.error(), "");
  EXPECT_EQ(frames_of(one.rows()), 100u);
  EXPECT_EQ(frames_of(two.rows()), 100u);
}

/// Exports, reads and writes the file. Checks that nothing but HistoryError is thrown.
void use(const std::string &file) {
  try {
    std::ostringstream csv;
    export_csv(file, csv);
  } catch (const HistoryError &) {
  }
  try {
    Rig rig(settings_of(file, 3));
    rig.play(40, 100);
    for (const size_t points : {size_t{1}, size_t{3}, size_t{100}})
      rig.reader.rows("c1", std::numeric_limits<int64_t>::min(),
                      std::numeric_limits<int64_t>::max(), points);
    rig.reader.events({}, kBeginOfTime, kEndOfTime, 10);
    rig.reader.events("c0", kBeginOfTime, kEndOfTime, 1000);
  } catch (const HistoryError &error) {
    EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
  }
}

/// Returns the six bytes in which SQLite stores the time of a row.
std::string six_bytes(int64_t time) {
  std::string bytes;
  for (int shift = 40; shift >= 0; shift -= 8) bytes += static_cast<char>(time >> shift);
  return bytes;
}

/// One row has a time before the rows already read, and the next a time beyond the end: a reader
/// that continues after the last row it got would read the same rows for ever.
TEST_F(HistoryFailures, AnExportOfUnorderedRowsEnds) {
  std::vector<Row> rows;
  {
    Rig rig(settings_of(file()));
    rig.play(20 * 60, 100);
    rig.end();
    rows = rig.rows();
  }
  ASSERT_GT(rows.size(), 18u);
  std::string bytes = bytes_of(file());
  constexpr int64_t kLate = (int64_t{1} << 47) - 1;
  for (const auto &[row, time] : {std::pair(size_t{12}, rows[2].time + 1), {size_t{13}, kLate}}) {
    const size_t at = bytes.find(six_bytes(rows[row].time));
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, 6, six_bytes(time));
  }
  write(file(), bytes);
  std::ostringstream csv;
  try {
    export_csv(file(), csv);
    ADD_FAILURE() << "all is well: " << csv.str();
  } catch (const HistoryError &error) {
    EXPECT_NE(std::string(error.what()).find("damaged"), std::string::npos) << error.what();
  }
}

TEST_F(HistoryFailures, FilesWithWrongBytesCauseNothingButHistoryErrors) {
  std::mt19937 random(seed());
  Settings settings = settings_of(file(), 3);
  for (CameraSettings &camera : settings.cameras) camera.rules = default_rules();
  {
    Rig rig(settings);
    rig.play(1000, 100);
    rig.play(1000, 10);
    rig.end();
  }
  const std::string bytes = bytes_of(file());
  ASSERT_GT(bytes.size(), 20000u);
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    std::string wrong = bytes;
    for (size_t count = 1 + random() % 100; count > 0; --count)
      wrong[random() % wrong.size()] = static_cast<char>(random());
    if (random() % 4 == 0) wrong.resize(random() % wrong.size());
    std::filesystem::remove(file() + "-wal");
    std::filesystem::remove(file() + "-shm");
    write(file(), wrong);
    use(file());
  }
}

/// Checks the new history, the notice for the page and the metrics after a file was set aside.
void expect_begun_anew(const Settings &settings, const std::string &folder) {
  Rig rig(settings);
  rig.play(100, 100);
  EXPECT_EQ(rig.history.error(), "");
  EXPECT_GE(rig.rows().size(), 9u);
  EXPECT_EQ(rig.history.stats().set_aside, 1u);
  EXPECT_NE(rig.history.notice().find(".damaged-20"), std::string::npos) << rig.history.notice();
  size_t kept = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    kept += entry.path().filename().string().rfind("history.db.damaged-20", 0) == 0 ? 1 : 0;
  EXPECT_GE(kept, 1u);
}

TEST_F(HistoryFailures, AHistoryWhoseFirstPageIsLostIsSetAside) {
  for (const size_t size : {size_t{100}, size_t{4096}, size_t{8192}}) {
    SCOPED_TRACE(size);
    const Folder folder;
    const Settings settings = settings_of(folder.file("history.db"), 3);
    {
      Rig rig(settings);
      rig.play(1000, 100);
      rig.end();
    }
    std::string bytes = bytes_of(folder.file("history.db"));
    bytes.replace(0, size, size, '\xa5');
    write(folder.file("history.db"), bytes);
    expect_begun_anew(settings, folder.path());
  }
}

/// The log limits the errors of a damaged file, but always says that the file was set aside.
TEST_F(HistoryFailures, AHistoryThatIsSetAsideIsLogged) {
  {
    Rig rig(settings_of(file(), 3));
    rig.play(1000, 100);
    rig.end();
  }
  std::string bytes = bytes_of(file());
  write(file(), bytes.replace(0, 100, 100, '\xa5'));
  for (int i = 0; i < 200; ++i) log_once("fault " + std::to_string(i));
  testing::internal::CaptureStdout();
  Rig rig(settings_of(file(), 3));
  const std::string logged = testing::internal::GetCapturedStdout();
  EXPECT_NE(logged.find("the damaged file was set aside as " + file() + ".damaged-20"),
            std::string::npos)
      << logged;
}

/// 200 random places are overwritten, in a closed history and in one that the monitor writes to. In
/// each case, the monitor continues to write.
TEST_F(HistoryFailures, AHistoryOverwrittenAtRandomIsSetAside) {
  std::mt19937 random(seed());
  Settings settings = settings_of(file(), 3);
  for (CameraSettings &camera : settings.cameras) camera.rules = default_rules();
  {
    Rig rig(settings);
    rig.play(2000, 100);
    rig.play(1000, 10);
    rig.end();
  }
  const std::string bytes = bytes_of(file());
  size_t set_aside = 0;
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    std::string wrong = bytes;
    for (int count = 0; count < 200; ++count)
      wrong.replace(random() % (wrong.size() - 16), 16,
                    std::string(16, static_cast<char>(random())));
    for (const char *end : {"-wal", "-shm"}) std::filesystem::remove(file() + end);
    const bool is_running = i % 4 == 0;
    write(file(), is_running ? bytes : wrong);
    Rig rig(settings);
    if (is_running) {
      rig.play(50, 100);
      std::fstream(file(), std::ios::binary | std::ios::in | std::ios::out) << wrong;
    }
    rig.play(300, i % 2 == 0 ? 100 : 10);
    rig.end();
    EXPECT_EQ(rig.history.error(), "");
    set_aside += rig.history.stats().set_aside;
    for (const auto &entry : std::filesystem::directory_iterator(folder_.path()))
      if (entry.path() != file()) std::filesystem::remove(entry.path());
  }
  EXPECT_GT(set_aside, 10u);
}

}  // namespace
}  // namespace luminance::test
