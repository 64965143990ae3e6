// SPDX-License-Identifier: LGPL-2.1-or-later
// Incidents: they last from when a verdict is raised until it is cleared, even if the monitor ends
// or the file cannot be written meanwhile.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <limits>
#include <optional>
#include <sstream>

#include "history/database.h"
#include "history/export.h"
#include "history/incidenttable.h"
#include "history/store.h"
#include "historyrig.h"

namespace luminance::test {
namespace {

constexpr uint8_t kDark = 20, kDarker = 10, kBright = 100;
constexpr size_t kAll = std::numeric_limits<size_t>::max();
constexpr int64_t kStart = kBegin.real / 1000;  // milliseconds

class HistoryIncidents : public testing::Test {
 protected:
  HistoryIncidents() { clocks = kBegin; }

  std::string file() const { return folder_.file("history.db"); }
  Settings settings(size_t cameras = 1) const {
    Settings settings = settings_of(file(), cameras);
    for (CameraSettings &camera : settings.cameras)
      camera.rules[static_cast<size_t>(Verdict::kTooDark)] = {true, 40, 45, 2};
    return settings;
  }
  std::vector<KeptIncident> incidents(const IncidentFilter &filter = {},
                                      size_t limit = kAll) const {
    return Reader(file()).incidents(filter, limit);
  }
  KeptIncident only() const {
    const std::vector<KeptIncident> found = incidents();
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? KeptIncident() : found.front();
  }
  void run(const std::string &sql) const {
    Database(file(), Database::Access::kWrite).run(sql.c_str());
  }
  int64_t number(const char *sql) const {
    return Database(file(), Database::Access::kRead).number(sql);
  }
  /// Plays ten seconds of light, then ten seconds of darkness.
  void darken(Rig &rig) const {
    rig.play(10, kBright);
    rig.play(10, kDark);
    rig.tick();
  }

  const Folder folder_;
};

/// Limits the size of files to a byte, so that writes fail as on a full disk.
class NoSpace {
 public:
  NoSpace() {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit full = {1, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
  }
  ~NoSpace() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

std::shared_ptr<const std::string> picture(size_t size = 100) {
  return std::make_shared<const std::string>(size, 'p');
}

TEST_F(HistoryIncidents, LastFromRaisedToCleared) {
  Rig rig(settings());
  darken(rig);
  const KeptIncident open = only();
  EXPECT_TRUE(open.is_open());
  EXPECT_EQ(open.camera, "c0");
  EXPECT_EQ(open.name, "Camera 0");
  EXPECT_EQ(open.verdict, Verdict::kTooDark);
  EXPECT_EQ(open.since, kStart + 10000) << "when it began, not when the hold time was over";
  EXPECT_EQ(open.threshold, 40);
  EXPECT_EQ(open.value, kDark);
  EXPECT_FALSE(open.acknowledged || open.picture_taken || open.is_in_maintenance);
  rig.play(10, kDarker);
  rig.play(10, kDark);
  rig.play(20, kBright);
  rig.tick();
  const KeptIncident closed = only();
  EXPECT_EQ(closed.number, open.number);
  EXPECT_EQ(closed.reason, "value");
  EXPECT_EQ(closed.since, open.since);
  EXPECT_EQ(closed.until, kStart + 40000);
  EXPECT_EQ(closed.value, kDarker) << "the worst while it lasted";
  EXPECT_EQ(rig.reader.events("c0", kBeginOfTime, kEndOfTime, 10).size(), 2u);
  darken(rig);
  EXPECT_EQ(incidents().size(), 2u) << "another one";
  EXPECT_EQ(incidents().front().number, closed.number + 1) << "changes cost no numbers";
  EXPECT_GT(incidents().front().since, closed.until) << "the newest first";
}

TEST_F(HistoryIncidents, HaveTheirWorstValueWrittenWhileTheyLast) {
  Rig rig(settings());
  darken(rig);
  rig.play(1, kDarker);
  rig.play(30, kDark);
  EXPECT_TRUE(only().is_open());
  EXPECT_EQ(only().value, kDarker);
  EXPECT_GE(only().until, kStart + 35000);
}

TEST_F(HistoryIncidents, SayWhyTheyAreOver) {
  Settings with_silence = settings();
  with_silence.cameras[0].rules[static_cast<size_t>(Verdict::kNoFrames)] = {true, 10, 10, 0};
  Rig rig(with_silence);
  darken(rig);
  for (int i = 0; i < 300; ++i) {
    advance(0.2);
    rig.tick();
  }
  std::vector<KeptIncident> found = incidents();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.front().verdict, Verdict::kNoFrames);
  EXPECT_TRUE(found.front().is_open());
  EXPECT_GE(found.front().value, 30) << "the silence grows";
  EXPECT_EQ(found.back().reason, "silence");
  rig.play(20, kDark);
  Rules rules = with_silence.cameras[0].rules;
  rules[static_cast<size_t>(Verdict::kTooDark)].enabled = false;
  rig.monitor.set_rules(0, rules, {});
  rig.tick();
  found = incidents();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found.front().reason, "rules");
  EXPECT_EQ(found[1].reason, "value") << "frames are there again";
}

TEST_F(HistoryIncidents, EndWhenTheirCameraIsRemoved) {
  Rig rig(settings(2));
  darken(rig);
  EXPECT_EQ(incidents().size(), 2u);
  rig.monitor.remove(1);
  rig.tick();
  for (const KeptIncident &incident : incidents())
    EXPECT_EQ(incident.reason, incident.camera == "c1" ? "removed" : "") << incident.camera;
}

TEST_F(HistoryIncidents, ContinueAfterARestart) {
  {
    Rig rig(settings());
    darken(rig);
    ASSERT_TRUE(rig.history.amend(only().number, {true, "seen"}));
    rig.history.flush();
  }
  advance(60);
  Rig rig(settings());
  rig.play(10, kDarker);
  rig.tick();
  KeptIncident incident = only();
  EXPECT_TRUE(incident.is_open());
  EXPECT_EQ(incident.since, kStart + 10000);
  EXPECT_EQ(incident.value, kDarker);
  EXPECT_EQ(incident.comment, "seen");
  rig.play(10, kBright);
  rig.tick();
  incident = only();
  EXPECT_EQ(incident.reason, "value");
  EXPECT_EQ(incident.value, kDarker);
  EXPECT_TRUE(incident.acknowledged);
}

TEST_F(HistoryIncidents, EndIfTheyDoNotContinueAfterARestart) {
  int64_t known = 0;
  {
    Rig rig(settings());
    darken(rig);
    rig.history.flush();
    known = only().until;
  }
  advance(60);
  Rig rig(settings());
  rig.play(250, kBright);
  EXPECT_TRUE(only().is_open()) << "it may be raised yet";
  rig.play(60, kBright);
  EXPECT_EQ(only().reason, "restart");
  EXPECT_EQ(only().until, known) << "when it was last known to last";
  EXPECT_GE(known, kStart + 20000);
}

TEST_F(HistoryIncidents, EndAfterALongPauseOrWithoutTheirCamera) {
  const auto kept = [&] {
    Rig rig(settings(2));
    darken(rig);
    rig.history.flush();
  };
  kept();
  {
    Rig rig(settings(1));
    rig.tick();
    for (const KeptIncident &incident : incidents())
      EXPECT_EQ(incident.is_open(), incident.camera == "c0") << incident.camera;
    rig.history.flush();
  }
  advance(3600);
  Rig rig(settings(1));
  rig.tick();
  for (const KeptIncident &incident : incidents()) EXPECT_EQ(incident.reason, "restart");
}

TEST_F(HistoryIncidents, EndAtTheirLastWrittenTimeIfTheMonitorWasKilled) {
  { Rig(settings()).tick(); }
  run("INSERT INTO camera (number, id, name) VALUES (1, 'c0', 'Camera 0'); "
      "INSERT INTO incident (camera, verdict, since, until) VALUES (1, 'too-dark', "
      "1763798400000, 1763798500000)");
  advance(3600);
  Rig rig(settings());
  rig.tick();
  EXPECT_EQ(only().reason, "restart");
  EXPECT_EQ(only().until, 1763798500000);
}

TEST_F(HistoryIncidents, EndWithTheirRecording) {
  Settings fast = settings();
  fast.fast = true;
  Rig rig(fast);
  for (int i = 0; i < 30; ++i) {
    rig.monitor.take(0, measure(std::vector<uint8_t>(100, kDark), clocks.monotonic));
    advance(1);
  }
  rig.end();
  EXPECT_EQ(only().reason, "end");
  EXPECT_EQ(only().until, kStart + 29000);
}

TEST_F(HistoryIncidents, ExpireWhenTheyAreOver) {
  Settings short_lived = settings(2);
  short_lived.history.retention = 1;
  for (CameraSettings &camera : short_lived.cameras)
    camera.rules[static_cast<size_t>(Verdict::kNoFrames)].raise = 1000;
  Rig rig(short_lived);
  darken(rig);
  for (const KeptIncident &incident : incidents())
    rig.history.keep_picture({key_of(incident), incident.since, picture()});
  for (int i = 0; i < 10; ++i) {
    rig.take(0, kBright);
    rig.take(1, kDark);
    rig.tick();
    advance(1);
  }
  EXPECT_EQ(number("SELECT count(*) FROM incident_picture"), 2);
  for (int i = 0; i < 2 * 24 * 60; ++i) {
    rig.take(0, kBright);
    rig.take(1, kDark);
    advance(60);
    rig.tick();
  }
  EXPECT_EQ(only().camera, "c1") << "one that lasts does not expire";
  EXPECT_TRUE(only().is_open());
  EXPECT_EQ(number("SELECT count(*) FROM incident_picture"), 1);
}

TEST_F(HistoryIncidents, DoNotEndBeforeTheyBegin) {
  Rig rig(settings());
  darken(rig);
  clocks.real -= 3600 * int64_t{1000000};
  rig.play(20, kBright);
  rig.tick();
  EXPECT_EQ(only().reason, "value");
  EXPECT_EQ(only().until, only().since);
}

TEST_F(HistoryIncidents, AreWrittenWhenTheDiskHasSpaceAgain) {
  Rig rig(settings());
  rig.play(10, kBright);
  {
    const NoSpace full;
    rig.play(10, kDark);
    rig.play(10, kBright);
    rig.play(10, kDarker);
    EXPECT_NE(rig.history.error(), "");
    EXPECT_TRUE(incidents().empty());
  }
  rig.play(60, kDarker);
  EXPECT_EQ(rig.history.error(), "");
  const std::vector<KeptIncident> found = incidents();
  ASSERT_EQ(found.size(), 2u) << "each once";
  EXPECT_TRUE(found[0].is_open());
  EXPECT_EQ(found[1].since, kStart + 10000);
  EXPECT_EQ(found[1].until, kStart + 20000);
  EXPECT_EQ(found[1].value, kDark);
  const NoSpace full;
  EXPECT_THROW(rig.history.amend(found[1].number, {true, {}}), HistoryError);
}

TEST_F(HistoryIncidents, AreBoundedWhileTheyWait) {
  Rig rig(settings());
  {
    const NoSpace full;
    for (int i = 0; i < 11000; ++i) {
      rig.history.on_change(rig.camera(), {Verdict::kFlicker, true, rig.clock.now(), 1.0 * i});
      rig.history.on_change(rig.camera(), {Verdict::kFlicker, false, rig.clock.now(), 0});
      advance(0.01);
    }
    rig.tick();
  }
  rig.end();
  EXPECT_EQ(rig.history.error(), "");
  const std::vector<KeptIncident> found = incidents();
  ASSERT_EQ(found.size(), 10000u);
  EXPECT_EQ(found.front().value, 10999) << "the oldest go";
}

TEST_F(HistoryIncidents, HaveAPicture) {
  Rig rig(settings());
  EXPECT_FALSE(rig.history.incident_of(rig.camera(), Verdict::kTooDark));
  darken(rig);
  const auto key = rig.history.incident_of(rig.camera(), Verdict::kTooDark);
  ASSERT_TRUE(key);
  rig.history.keep_picture({*key, key->since + 30000, picture(1 << 20)});
  rig.tick();
  EXPECT_FALSE(only().picture_taken) << "too large a one";
  const auto first = std::make_shared<const std::string>("\xff\xd8 first");
  const uint64_t version = rig.history.incidents_version();
  rig.history.keep_picture({*key, key->since + 30000, first});
  rig.history.keep_picture({*key, key->since + 40000, picture()});
  rig.history.keep_picture({{key->since + 1, "c0", Verdict::kTooDark}, key->since, picture()});
  rig.tick();
  EXPECT_EQ(only().picture_taken, key->since + 30000);
  EXPECT_EQ(rig.reader.incident_picture(only().number), *first) << "the one of the begin";
  EXPECT_EQ(number("SELECT count(*) FROM incident_picture"), 1);
  EXPECT_GT(rig.history.incidents_version(), version);
  EXPECT_EQ(rig.reader.incident_picture(only().number + 1), "");
}

TEST_F(HistoryIncidents, KeepOnlyTheLatestPictures) {
  {
    Rig rig(settings());
    rig.tick();
    Store store(file(), 10000, rig.monitor);
    constexpr int64_t kMore = IncidentTable::kMaxPictures + 50;
    Batch batch;
    for (int64_t i = 0; i < kMore; ++i) {
      const Incident incident = {"c0", Verdict::kTooDark, kStart + i, kStart + i, "value", 1, 2,
                                 false};
      batch.incidents[key_of(incident)] = incident;
      batch.pictures.push_back({key_of(incident), incident.since, picture(10)});
    }
    store.write(batch, 0);
  }
  EXPECT_EQ(number("SELECT count(*) FROM incident_picture"), IncidentTable::kMaxPictures);
  EXPECT_EQ(number("SELECT min(incident) FROM incident_picture"), 51) << "the oldest go";
}

TEST_F(HistoryIncidents, AreAcknowledgedOnce) {
  Rig rig(settings());
  darken(rig);
  const int64_t id = only().number;
  EXPECT_FALSE(rig.history.amend(id + 1, {true, {}}));
  const uint64_t version = rig.history.incidents_version();
  EXPECT_TRUE(rig.history.amend(id, {true, {}, "Ann"}));
  EXPECT_GT(rig.history.incidents_version(), version);
  EXPECT_EQ(only().acknowledged_by, "Ann");
  const std::optional<int64_t> time = only().acknowledged;
  ASSERT_TRUE(time);
  advance(10);
  EXPECT_TRUE(rig.history.amend(id, {true, "a comment", "Bob"}));
  EXPECT_EQ(only().acknowledged, time) << "since the first time";
  EXPECT_EQ(only().acknowledged_by, "Ann") << "by whoever was first";
  const uint64_t amended = rig.history.incidents_version();
  rig.play(30, kDark);
  EXPECT_EQ(rig.history.incidents_version(), amended) << "nothing but its duration has changed";
  EXPECT_EQ(only().comment, "a comment") << "what is written later keeps it";
  EXPECT_EQ(only().acknowledged, time);
  EXPECT_TRUE(rig.history.amend(id, {false, {}}));
  EXPECT_FALSE(only().acknowledged);
  EXPECT_EQ(only().acknowledged_by, "");
  EXPECT_EQ(only().comment, "a comment");
  EXPECT_TRUE(rig.history.amend(id, {true, {}, "Bob"}));
  EXPECT_EQ(only().acknowledged_by, "Bob");
}

TEST_F(HistoryIncidents, AreNotAmendedInAReplacedFile) {
  Rig rig(settings());
  darken(rig);
  const int64_t id = only().number;
  std::filesystem::rename(file(), folder_.file("away.db"));
  EXPECT_THROW(rig.history.amend(id, {true, {}}), HistoryError);
}

constexpr char kMany[] = R"(
INSERT OR IGNORE INTO camera (number, id, name) VALUES (1, 'c0', 'Camera 0'), (2, 'c1', '=1+1');
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
INSERT INTO incident (camera, verdict, since, until, reason, value, threshold, acknowledged)
  SELECT i % 2 + 1, iif(i % 5, 'too-dark', 'frozen'), 1763000000000 + i / 2 * 1000,
  1763000000500 + i / 2 * 1000, iif(i < 9990, 'value', NULL), i, 40, iif(i % 3, NULL, 5) FROM n;
)";

TEST_F(HistoryIncidents, AreReadInPages) {
  { Rig(settings(2)).tick(); }
  run(kMany);
  IncidentFilter filter;
  const std::vector<KeptIncident> all = incidents();
  ASSERT_EQ(all.size(), 10000u);
  std::vector<int64_t> paged;
  for (;;) {
    const std::vector<KeptIncident> page = incidents(filter, 999);
    if (page.empty()) break;
    for (const KeptIncident &incident : page) paged.push_back(incident.number);
    filter.before = IncidentCursor{page.back().since, page.back().number};
  }
  ASSERT_EQ(paged.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(paged[i], all[i].number) << i;
}

TEST_F(HistoryIncidents, AreFiltered) {
  { Rig(settings(2)).tick(); }
  run(kMany);
  const auto count = [&](auto change) {
    IncidentFilter filter;
    change(filter);
    return incidents(filter).size();
  };
  using Filter = IncidentFilter;
  EXPECT_EQ(count([](Filter &f) { f.camera = "c1"; }), 5000u);
  EXPECT_EQ(count([](Filter &f) { f.camera = "nobody"; }), 0u);
  EXPECT_EQ(count([](Filter &f) { f.verdict = Verdict::kFrozen; }), 2000u);
  EXPECT_EQ(count([](Filter &f) { f.is_open = true; }), 10u);
  EXPECT_EQ(count([](Filter &f) { f.is_open = false; }), 9990u);
  EXPECT_EQ(count([](Filter &f) { f.is_acknowledged = true; }), 3334u);
  EXPECT_EQ(count([](Filter &f) { f.is_acknowledged = false; }), 6666u);
  EXPECT_EQ(count([](Filter &f) { f.to = 1763000000000; }), 2u);
  EXPECT_EQ(count([](Filter &f) { f.from = 1763000000500, f.to = 1763000001000; }), 4u)
      << "those that lasted at any time between";
  EXPECT_EQ(count([](Filter &f) { f.from = 1763100000000; }), 10u) << "those that last still";
  EXPECT_EQ(count([](Filter &f) {
              f.camera = "c0", f.verdict = Verdict::kFrozen, f.is_acknowledged = true;
              f.is_open = false;
            }),
            333u);
}

TEST_F(HistoryIncidents, AreExported) {
  { Rig(settings(2)).tick(); }
  run(kMany);
  std::ostringstream csv;
  export_incidents(file(), csv);
  const std::string text = csv.str();
  size_t lines = 0;
  for (size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos; at += 2) ++lines;
  EXPECT_EQ(lines, 10001u);
  EXPECT_EQ(text.rfind("id,camera,name,verdict,title,begin,end,duration,reason,value,", 0), 0u);
  EXPECT_NE(text.find("\r\n2,c1,'=1+1,too-dark,Too dark,2025-11-13T02:13:20.000Z,"
                      "2025-11-13T02:13:20.500Z,0.5,value,1,40,mean luma,below,,,,no\r\n"),
            std::string::npos)
      << text.substr(text.size() - 400);
}

TEST_F(HistoryIncidents, AreLeftOutIfDamaged) {
  { Rig(settings(2)).tick(); }
  run(kMany);
  for (const char *change :
       {"until = since - 1", "camera = 77", "verdict = 'unheard-of'", "since = -1",
        "until = 9223372036854775807", "since = 9223372036854775807"}) {
    SCOPED_TRACE(change);
    std::filesystem::remove(file());
    { Rig(settings(2)).tick(); }
    run(kMany);
    run(std::string("PRAGMA foreign_keys = OFF; UPDATE incident SET ") + change +
        " WHERE number = 10000");
    EXPECT_EQ(incidents().size(), 9999u);
    Rig rig(settings(2));
    darken(rig);
    EXPECT_EQ(rig.history.error(), "");
  }
}

}  // namespace
}  // namespace luminance::test
