// SPDX-License-Identifier: LGPL-2.1-or-later
// Files of earlier versions are exported as they are, and upgraded with all their data.
#include <gtest/gtest.h>

#include <sstream>

#include "formerversions.h"
#include "history/database.h"
#include "history/error.h"
#include "history/export.h"
#include "historyrig.h"

namespace luminance::test {
namespace {

constexpr char kRecords[] = R"(
INSERT INTO camera (number, id, name) VALUES (1, 'c0', 'Camera 0');
INSERT INTO interval VALUES
  (1, 1763798340000, 60, 300, 120.5, 20.25, 220.75, 3, 1, 2, 4, 0.5, 0.25, 'too-dark');
INSERT INTO event (camera, time, verdict, raised, value)
  VALUES (1, 1763798345000, 'too-dark', 1, 30);
)";

// Values that cannot be computed from the rows, so that a summary made anew would differ.
constexpr char kSummary[] = R"(
UPDATE camera SET source = 'aaaaaaaa', finest = 600000, summed = 1763798400000;
INSERT INTO summary VALUES (1, 600000, 1763798400000, 1763798340000, 60, 7, 1, 11.5, 12.5, 4, 5, 6,
  7, 0.5, 0.25, '', 42, 17.5);
)";

constexpr char kReference[] =
    "INSERT INTO reference VALUES (1, 'aaaaaaaa', 1763798340000, x'0102', x'0304')";

constexpr char kIncident[] = R"(
INSERT INTO incident VALUES (7, 1, 'too-dark', 1763798345000, 1763798355000, 'value', 21.5, 40, 0,
  1763798350000, 'the lamp');
INSERT INTO incident_picture (incident, picture) VALUES (7, x'0506');
)";

constexpr int kFormer[] = {1, 2, 3, 4, 5, 6};

class HistoryUpgrade : public testing::Test {
 protected:
  HistoryUpgrade() { clocks = kBegin; }

  void write(int version) const {
    Database database(file(), Database::Access::kWrite);
    database.run(kFirstVersion);
    database.run(kRecords);
    if (version == 1) return;
    database.run(kSecondVersion);
    database.run(kSummary);
    if (version == 2) return;
    database.run(kThirdVersion);
    if (version == 3) return;
    database.run(kFourthVersion);
    database.run(kReference);
    if (version == 4) return;
    database.run(kFifthVersion);
    if (version == 6) database.run(kSixthVersion);
    database.run(kIncident);
  }
  std::string file() const { return folder_.file("history.db"); }
  Settings settings() const {
    Settings settings = settings_of(file());
    settings.history = {true, file(), 60, 30};
    return settings;
  }
  int64_t number(const char *sql) const {
    return Database(file(), Database::Access::kRead).number(sql);
  }

  const Folder folder_;
};

void expect_records(Rig &rig) {
  EXPECT_EQ(rig.history.error(), "");
  const std::vector<Row> rows = rig.rows();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].mean, 120.5);
  EXPECT_EQ(rows[0].min_mean, 20.25);
  EXPECT_EQ(rows[0].max_mean, 220.75);
  EXPECT_EQ(rows[0].verdicts, std::vector{Verdict::kTooDark});
  EXPECT_EQ(rig.reader.events("c0", kBeginOfTime, kEndOfTime, 10).size(), 1u);
}

TEST_F(HistoryUpgrade, KeepsTheRecordsOfEveryVersion) {
  for (const int version : kFormer) {
    SCOPED_TRACE(version);
    std::filesystem::remove(file());
    write(version);
    for (int start = 0; start < 2; ++start) {
      Rig rig(settings());
      expect_records(rig);
    }
    EXPECT_EQ(number("PRAGMA user_version"), kCurrentSchema);
    EXPECT_EQ(
        number("SELECT count(*) FROM measurement WHERE min_mean = 20.25 AND max_mean = 220.75"), 1);
  }
}

TEST_F(HistoryUpgrade, KeepsTheSummariesOfTheSecondVersion) {
  write(2);
  { Rig rig(settings()); }
  EXPECT_EQ(number("SELECT count(*) FROM summary WHERE min_mean = 11.5 AND max_mean = 12.5 AND "
                   "row_count = 42 AND max_duration = 17.5"),
            1);
  EXPECT_EQ(number("SELECT count(*) FROM camera WHERE min_summary_length = 600000 AND "
                   "summarized_until = 1763798400000"),
            1);
}

TEST_F(HistoryUpgrade, KeepsTheReferencesOfTheFourthVersion) {
  write(4);
  { Rig rig(settings()); }
  EXPECT_EQ(number("SELECT count(*) FROM reference WHERE camera = 1 AND learned = 1763798340000 "
                   "AND scenes = x'0102' AND picture = x'0304'"),
            1);
}

TEST_F(HistoryUpgrade, KeepsTheIncidentsOfTheFifthAndTheSixthVersion) {
  for (const int version : {5, 6}) {
    SCOPED_TRACE(version);
    std::filesystem::remove(file());
    write(version);
    const std::string line =
        "7,c0,Camera 0,too-dark,Too "
        "dark,2025-11-22T07:59:05.000Z,2025-11-22T07:59:15.000Z,10,value,21.5,"
        "40,mean luma,below,2025-11-22T07:59:10.000Z,,the lamp,no\r\n";
    const auto exported = [this] {
      std::ostringstream csv;
      export_incidents(file(), csv);
      return csv.str().substr(csv.str().find('\n') + 1);
    };
    EXPECT_EQ(exported(), line) << "as it is";
    Rig rig(settings());
    EXPECT_EQ(exported(), line);
    const std::optional<KeptIncident> incident = rig.reader.incident(7);
    ASSERT_TRUE(incident);
    EXPECT_EQ(incident->acknowledged_by, "");
    EXPECT_EQ(incident->picture_taken, 1763798345000) << "as far as is known";
  }
}

TEST_F(HistoryUpgrade, LeavesTheTablesOfANewFile) {
  const auto tables = [this] {
    return number(
        "SELECT sum(unicode(name) * length(name)) FROM (SELECT c.name FROM sqlite_schema s, "
        "pragma_table_info(s.name) c WHERE s.type = 'table')");
  };
  { Rig rig(settings()); }
  const int64_t fresh = tables();
  for (const int version : kFormer) {
    std::filesystem::remove(file());
    write(version);
    { Rig rig(settings()); }
    EXPECT_EQ(tables(), fresh) << version;
  }
}

TEST_F(HistoryUpgrade, IsNotNeededForAnExport) {
  for (const int version : kFormer) {
    SCOPED_TRACE(version);
    std::filesystem::remove(file());
    write(version);
    std::ostringstream csv;
    export_csv(file(), csv);
    EXPECT_NE(csv.str().find("\r\n2025-11-22T07:59:00.000Z,60,c0,Camera 0,300,120.5,20.25,220.75,"),
              std::string::npos)
        << csv.str();
    EXPECT_EQ(number("PRAGMA user_version"), version);
  }
}

}  // namespace
}  // namespace luminance::test
