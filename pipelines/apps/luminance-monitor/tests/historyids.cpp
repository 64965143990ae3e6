// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera keeps its history, whatever cameras come before it, and when it gets another id.
#include <gtest/gtest.h>

#include <map>

#include "historyrig.h"
#include "settings/identity.h"

namespace luminance::test {
namespace {

class HistoryIds : public testing::Test {
 protected:
  HistoryIds() { clocks = kBegin; }

  std::string file() const { return folder_.file("history.db"); }

  const Folder folder_;
};

struct Named {
  std::string name, source, id = "";
};

Settings settings_of_cameras(const std::string &file, const std::vector<Named> &cameras) {
  Settings settings = settings_of(file, cameras.size());
  for (size_t i = 0; i < cameras.size(); ++i) {
    settings.cameras[i].name = cameras[i].name;
    settings.cameras[i].source = cameras[i].source;
    settings.cameras[i].configured_id = cameras[i].id;
  }
  identify(settings.cameras);
  return settings;
}

/// The luma that each camera shows, by its source.
const std::map<std::string, uint8_t> kLuma = {
    {"aaaaaaaa", 50}, {"bbbbbbbb", 90}, {"cccccccc", 140}};

/// Plays each camera with its luma, and checks that its history has no other luma.
void play_and_check(const std::string &file, const std::vector<Named> &cameras) {
  Rig rig(settings_of_cameras(file, cameras));
  for (int second = 0; second < 30; ++second) {
    for (size_t i = 0; i < cameras.size(); ++i) rig.take(i, kLuma.at(cameras[i].source));
    rig.tick();
    advance(1);
  }
  rig.end();
  EXPECT_EQ(rig.history.error(), "");
  for (size_t i = 0; i < cameras.size(); ++i)
    for (const Row &row : rig.rows(i))
      EXPECT_TRUE(row.frames == 0 ||
                  (row.min_mean == kLuma.at(cameras[i].source) && row.max_mean == row.min_mean))
          << rig.camera(i).id() << " has frames of another: " << row.min_mean << " to "
          << row.max_mean;
}

size_t rows_of(const std::string &file, const std::vector<Named> &cameras, size_t index) {
  Rig rig(settings_of_cameras(file, cameras));
  return rig.rows(index).size();
}

TEST_F(HistoryIds, CamerasWithNonLatinNamesAreNotMixed) {
  const Named stock = {"Склад", "aaaaaaaa"}, garage = {"Гараж", "bbbbbbbb"},
              yard = {"Двор", "cccccccc"};
  play_and_check(file(), {garage, yard});
  play_and_check(file(), {stock, garage, yard});
  play_and_check(file(), {yard, stock});
  EXPECT_GE(rows_of(file(), {garage, stock, yard}, 0), 6u);
}

TEST_F(HistoryIds, CamerasWithoutLettersInTheirNamesAreNotMixed) {
  const Named one = {"📷", "aaaaaaaa"}, two = {"🚪!", "bbbbbbbb"}, three = {"…", "cccccccc"};
  play_and_check(file(), {two, three});
  play_and_check(file(), {one, two, three});
  play_and_check(file(), {three, one});
}

TEST_F(HistoryIds, AnotherCameraOfTheSameNameChangesNothing) {
  const Named first = {"Entrance", "aaaaaaaa"}, second = {"Entrance", "bbbbbbbb"},
              third = {"entrance!", "cccccccc"};
  play_and_check(file(), {first});
  play_and_check(file(), {second, first});
  play_and_check(file(), {third, second, first});
  play_and_check(file(), {first});
  EXPECT_GE(rows_of(file(), {first}, 0), 12u) << "its rows are somewhere else";
  EXPECT_GE(rows_of(file(), {second, first}, 0), 6u);
}

TEST_F(HistoryIds, RowsFollowANewId) {
  const Named before = {"Entrance", "aaaaaaaa"}, after = {"Entrance", "aaaaaaaa", "gate-1"};
  play_and_check(file(), {before});
  play_and_check(file(), {after});
  EXPECT_GE(rows_of(file(), {after}, 0), 6u);
  // With an id that is set, the name may change.
  EXPECT_GE(rows_of(file(), {{"Exit", "bbbbbbbb", "gate-1"}}, 0), 6u);
}

TEST_F(HistoryIds, AnotherCamerasRowsAreNotTaken) {
  const Named first = {"Entrance", "aaaaaaaa", "x"}, same = {"Entrance", "aaaaaaaa", "y"};
  play_and_check(file(), {first});
  EXPECT_EQ(rows_of(file(), {first, same}, 1), 0u) << "of a camera that is there";
  play_and_check(file(), {{"Old", "bbbbbbbb", "gate"}});
  // The rows of "x" and of "gate" may be its own.
  const Named gate = {"Entrance", "aaaaaaaa", "gate"};
  EXPECT_EQ(rows_of(file(), {gate}, 0), 3u) << "the id counts";
}

}  // namespace
}  // namespace luminance::test
