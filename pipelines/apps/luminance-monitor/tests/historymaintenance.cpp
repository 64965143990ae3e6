// SPDX-License-Identifier: LGPL-2.1-or-later
// The maintenance of cameras: it ends at its time, and lasts when the monitor or the camera is
// started again.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "history/database.h"
#include "historyrig.h"

namespace luminance::test {
namespace {

constexpr uint8_t kDark = 20, kBright = 100;
constexpr int64_t kStart = kBegin.real / 1000;  // milliseconds

/// Keeps the maintenance that it is told of.
struct Watcher : Observer {
  void on_maintenance(const Camera &camera) override { seen.push_back(camera.maintenance()); }

  std::vector<std::optional<Maintenance>> seen;
};

class HistoryMaintenance : public testing::Test {
 protected:
  HistoryMaintenance() { clocks = kBegin; }

  std::string file() const { return folder_.file("history.db"); }
  Settings settings() const {
    Settings settings = settings_of(file());
    settings.cameras[0].rules[static_cast<size_t>(Verdict::kTooDark)] = {true, 40, 45, 2};
    return settings;
  }
  int64_t number(const char *sql) const {
    return Database(file(), Database::Access::kRead).number(sql);
  }
  void run(const std::string &sql) const {
    Database(file(), Database::Access::kWrite).run(sql.c_str());
  }
  /// Returns the maintenance that a monitor reads if it starts now.
  std::optional<Maintenance> restored() const {
    Rig rig(settings());
    return rig.history.maintenance(rig.camera());
  }

  const Folder folder_;
};

TEST_F(HistoryMaintenance, LastsWhenTheMonitorStartsAgain) {
  {
    Rig rig(settings());
    EXPECT_FALSE(rig.history.maintenance(rig.camera()));
    rig.monitor.set_maintenance(0, Maintenance{kStart, {}, "new lamp: \xc3\xbc"});
    EXPECT_TRUE(rig.history.maintenance(rig.camera())) << "also before it is written";
    rig.tick();
  }
  advance(1000 * 24 * 3600.0);
  const std::optional<Maintenance> found = restored();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->since, kStart);
  EXPECT_FALSE(found->until) << "somebody is to end it";
  EXPECT_EQ(found->comment, "new lamp: \xc3\xbc");
  {
    Rig rig(settings());
    rig.monitor.set_maintenance(0, found);
    rig.monitor.set_maintenance(0, {});
    EXPECT_FALSE(rig.history.maintenance(rig.camera()));
    rig.tick();
  }
  EXPECT_FALSE(restored());
  EXPECT_EQ(number("SELECT count(*) FROM maintenance"), 0);
}

TEST_F(HistoryMaintenance, EndsByItself) {
  Watcher watcher;
  Rig rig(settings());
  rig.monitor.add(watcher);
  rig.monitor.set_maintenance(0, Maintenance{kStart, kStart + 20000, "an hour"});
  rig.play(19, kBright);
  EXPECT_TRUE(rig.camera().maintenance());
  EXPECT_EQ(watcher.seen.size(), 1u);
  rig.play(2, kBright);
  EXPECT_FALSE(rig.camera().maintenance());
  ASSERT_EQ(watcher.seen.size(), 2u);
  EXPECT_TRUE(watcher.seen[0] && !watcher.seen[1]);
  EXPECT_EQ(number("SELECT count(*) FROM maintenance"), 0);
}

TEST_F(HistoryMaintenance, EndsWhileNoMonitorRuns) {
  {
    Rig rig(settings());
    rig.monitor.set_maintenance(0, Maintenance{kStart, kStart + 60000, ""});
    rig.tick();
  }
  advance(59);
  ASSERT_TRUE(restored());
  EXPECT_EQ(restored()->until, kStart + 60000);
  advance(1);
  EXPECT_FALSE(restored());
}

TEST_F(HistoryMaintenance, LastsWhenTheCameraIsAddedAgain) {
  Rig rig(settings());
  rig.monitor.set_maintenance(0, Maintenance{kStart, kStart + 60000, "moved"});
  rig.monitor.remove(0);
  advance(1);
  rig.tick();
  const size_t again = rig.monitor.add(settings().cameras[0]);
  ASSERT_TRUE(rig.camera().maintenance());
  EXPECT_EQ(rig.camera().maintenance()->comment, "moved");
  rig.monitor.remove(again);
  advance(60);
  rig.monitor.add(settings().cameras[0]);
  rig.tick();
  EXPECT_FALSE(rig.camera().maintenance()) << "it was over meanwhile";
}

TEST_F(HistoryMaintenance, IsKeptForACameraWithNothingElse) {
  {
    Rig rig(settings());
    rig.monitor.set_maintenance(0, Maintenance{kStart, {}, "not mounted yet"});
    rig.history.tick();
  }
  EXPECT_EQ(number("SELECT count(*) FROM maintenance"), 1);
  EXPECT_TRUE(restored());
}

TEST_F(HistoryMaintenance, MarksIncidentsThatBeginMeanwhile) {
  Rig rig(settings());
  const auto darken = [&] {
    rig.play(10, kDark);
    rig.play(20, kBright);
  };
  darken();
  rig.monitor.set_maintenance(0, Maintenance{kStart, {}, ""});
  darken();
  rig.monitor.set_maintenance(0, {});
  darken();
  rig.tick();
  const std::vector<KeptIncident> found = rig.reader.incidents({}, 10);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_FALSE(found[0].is_in_maintenance || found[2].is_in_maintenance);
  EXPECT_TRUE(found[1].is_in_maintenance);
  EXPECT_FALSE(found[1].is_open()) << "it is kept as any other";
}

TEST_F(HistoryMaintenance, DoesNotReturnWithAFileThatWasAwayAtTheStart) {
  {
    Rig rig(settings());
    rig.monitor.set_maintenance(0, Maintenance{kStart, {}, "of another file"});
    rig.tick();
  }
  const std::string elsewhere = folder_.file("elsewhere.db");
  std::filesystem::rename(file(), elsewhere);
  Rig rig(settings());
  EXPECT_FALSE(rig.history.maintenance(rig.camera()));
  for (const char *suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file() + suffix);
  std::filesystem::rename(elsewhere, file());
  rig.play(30, kBright);
  EXPECT_EQ(number("SELECT count(*) FROM maintenance"), 0);
}

TEST_F(HistoryMaintenance, IsKnownOnceTheFileCanBeOpened) {
  namespace fs = std::filesystem;
  const std::string here = folder_.file("here"), away = folder_.file("away");
  fs::create_directory(here);
  Settings within = settings();
  within.history.file = here + "/history.db";
  {
    Rig rig(within);
    rig.monitor.set_maintenance(0, Maintenance{kStart, {}, "for weeks"});
    rig.tick();
  }
  fs::rename(here, away);
  std::ofstream(here) << "no folder";
  Clock clock(false);
  Monitor monitor(within, clock);
  History history(within.history, monitor, History::OpenMode::kDeferred);
  monitor.add(history);
  history.tick();
  EXPECT_FALSE(history.error().empty());
  EXPECT_FALSE(history.take_opened_late());
  fs::remove(here);
  fs::rename(away, here);
  advance(60);
  history.tick();
  EXPECT_EQ(history.error(), "");
  EXPECT_TRUE(history.take_opened_late());
  EXPECT_FALSE(history.take_opened_late()) << "once";
  const std::optional<Maintenance> found = history.maintenance(*monitor.cameras()[0]);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->comment, "for weeks");
}

TEST_F(HistoryMaintenance, EndsIfItsRowIsDamaged) {
  for (const char *damage : {"since = -9223372036854775808", "since = 9223372036854775807",
                             "until = -9223372036854775808", "until = 9223372036854775807"}) {
    {
      Rig rig(settings());
      rig.monitor.set_maintenance(0, Maintenance{kStart, kStart + 3600000, ""});
      rig.tick();
    }
    ASSERT_TRUE(restored());
    run(std::string("UPDATE maintenance SET ") + damage);
    EXPECT_FALSE(restored()) << damage;
  }
}

TEST_F(HistoryMaintenance, IsDeletedInTimeForCamerasThatAreGone) {
  {
    Rig rig(settings());
    rig.monitor.set_maintenance(0, Maintenance{kStart, kStart + 60000, ""});
    rig.play(20, kBright);
  }
  Settings others = settings();
  others.cameras[0].id = "other";
  others.cameras[0].name = "Other";
  others.cameras[0].source = "other";
  advance(32 * 24 * 3600.0);
  Rig rig(others);
  rig.play(30, kBright);
  EXPECT_EQ(number("SELECT count(*) FROM maintenance"), 0);
}

}  // namespace
}  // namespace luminance::test
