// SPDX-License-Identifier: LGPL-2.1-or-later
// The reference scene of a camera outlasts the monitor, and is dropped when it no longer applies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "history/database.h"
#include "history/references.h"
#include "historyrig.h"

namespace luminance::test {
namespace {

using Thumb = std::shared_ptr<const Thumbnail>;

constexpr int kToLearn = 70;  // thumbnails, two seconds apart

/// Returns overlapping boxes, `shift` pixels to the left.
Thumb thumbnail(unsigned seed, size_t shift = 0) {
  std::mt19937 random(seed);
  auto thumbnail = std::make_shared<Thumbnail>();
  thumbnail->lumas.fill(120 * Thumbnail::kLuma);
  for (int box = 0; box < 300; ++box) {
    const size_t left = random() % 140, top = random() % Thumbnail::kHeight;
    const size_t right = left + 2 + random() % 14, bottom = top + 2 + random() % 14;
    const auto luma = static_cast<uint16_t>((40 + random() % 160) * Thumbnail::kLuma);
    for (size_t y = top; y < std::min(bottom, Thumbnail::kHeight); ++y)
      for (size_t x = left; x < right; ++x)
        if (x >= shift && x - shift < Thumbnail::kWidth)
          thumbnail->lumas[y * Thumbnail::kWidth + x - shift] = luma;
  }
  return thumbnail;
}

/// Returns a thumbnail with a box in each of `count` separate cells.
Thumb boxes(size_t count) {
  auto thumbnail = std::make_shared<Thumbnail>();
  thumbnail->lumas.fill(120 * Thumbnail::kLuma);
  for (size_t box = 0; box < count; ++box) {
    const size_t left = box % 8 * 2 * Thumbnail::kCell + 3,
                 top = box / 8 * 4 * Thumbnail::kCell + 3;
    for (size_t y = top; y < top + 2; ++y)
      for (size_t x = left; x < left + 2; ++x)
        thumbnail->lumas[y * Thumbnail::kWidth + x] = 180 * Thumbnail::kLuma;
  }
  return thumbnail;
}

std::vector<Scene> scenes(size_t count, unsigned seed) {
  std::vector<Scene> made(count);
  for (size_t i = 0; i < count; ++i) {
    const Thumb seen = thumbnail(seed + static_cast<unsigned>(i));
    Plane lumas;
    for (size_t pixel = 0; pixel < lumas.size(); ++pixel)
      lumas[pixel] = static_cast<float>(seen->lumas[pixel]) / Thumbnail::kLuma;
    made[i].edges = edges_of(lumas);
    std::copy_n(lumas.begin(), made[i].lumas.size(), made[i].lumas.begin());
    for (Fineness &fineness : made[i].fineness) fineness = {0.25F, 0.5F};
    made[i].likeness = 1.0000001;  // as rounded for a picture that does not change
  }
  return made;
}

class HistoryReferences : public testing::Test {
 protected:
  HistoryReferences() { clocks = kBegin; }

  /// Returns settings of a camera with the verdicts on its scene.
  Settings settings() const {
    Settings settings = settings_of(folder_.file("history.db"));
    settings.cameras[0].source = "aaaaaaaa";
    for (const Verdict verdict : {Verdict::kMoved, Verdict::kCovered, Verdict::kBlurred})
      settings.cameras[0].rules[static_cast<size_t>(verdict)].enabled = true;
    return settings;
  }
  int64_t number(const char *sql) const {
    return Database(folder_.file("history.db"), Database::Access::kRead).number(sql);
  }

  const Folder folder_;
  const unsigned seed_ = seed();
  const Thumb usual_ = thumbnail(seed_), moved_ = thumbnail(seed_, 5);
};

/// Feeds `count` frames with this thumbnail, then writes what is due.
void see(Rig &rig, const Thumb &thumbnail, int count) {
  for (int i = 0; i < count; ++i) {
    Measurement frame = measure(std::vector<uint8_t>(100, 120), rig.clock.now());
    frame.thumbnail = thumbnail;
    rig.monitor.take(0, frame);
    rig.tick();
    advance(2);
  }
}

std::optional<Reference> restore(Rig &rig) {
  const std::optional<Reference> reference = rig.history.reference(rig.camera());
  if (reference) rig.monitor.restore_reference(0, *reference);
  return reference;
}

int64_t learned(const Rig &rig) { return rig.camera().reference_time().value(); }

bool is_moved(const Rig &rig) {
  const std::vector<Standing> standing = rig.camera().standing();
  return standing.size() == 1 && standing[0].verdict == Verdict::kMoved;
}

TEST_F(HistoryReferences, OutlastTheMonitor) {
  int64_t before = 0;
  {
    Rig rig(settings());
    see(rig, usual_, kToLearn);
    rig.monitor.keep_reference_picture(0, rig.camera().scene_learned().value(),
                                       std::make_shared<const std::string>("a JPEG"));
    before = learned(rig);
    rig.tick();
    EXPECT_EQ(number("SELECT count(*) FROM reference"), 1) << "a kill would lose it";
  }
  advance(3600);
  clocks.monotonic = 5000000;  // the machine was started again
  Rig rig(settings());
  ASSERT_TRUE(restore(rig));
  EXPECT_EQ(learned(rig), before);
  ASSERT_NE(rig.camera().reference_picture(), nullptr);
  EXPECT_EQ(*rig.camera().reference_picture(), "a JPEG");
  see(rig, usual_, 30);
  EXPECT_TRUE(rig.camera().standing().empty());
  see(rig, moved_, 30);
  EXPECT_TRUE(is_moved(rig));
  EXPECT_EQ(learned(rig), before);
}

TEST_F(HistoryReferences, KeepTheirTimeWhenTheClockIsSet) {
  int64_t before = 0;
  {
    Rig rig(settings());
    see(rig, usual_, kToLearn);
    before = learned(rig);
    for (const int64_t seconds : {40, -3600}) {
      clocks.real += seconds * kSecond;
      see(rig, usual_, 2);
      EXPECT_EQ(learned(rig), before) << seconds;
    }
    rig.end();
    EXPECT_EQ(number("SELECT learned FROM reference"), before);
  }
  Rig rig(settings());
  ASSERT_TRUE(restore(rig));
  EXPECT_EQ(learned(rig), before);
}

TEST_F(HistoryReferences, FindACameraThatWasMovedMeanwhile) {
  {
    Rig rig(settings());
    see(rig, usual_, kToLearn);
  }
  Rig rig(settings());
  restore(rig);
  see(rig, moved_, 30);
  EXPECT_TRUE(is_moved(rig));
}

TEST_F(HistoryReferences, AreForgottenByARenewal) {
  {
    Rig rig(settings());
    see(rig, usual_, kToLearn);
    rig.monitor.renew_scene(0);
    rig.tick();
  }
  EXPECT_EQ(number("SELECT count(*) FROM reference"), 0);
  Rig rig(settings());
  EXPECT_FALSE(restore(rig));
}

TEST_F(HistoryReferences, AreNotUsedForAnotherSource) {
  {
    Rig rig(settings());
    see(rig, usual_, kToLearn);
  }
  Settings other = settings();
  other.cameras[0].source = "bbbbbbbb";
  Rig rig(other);
  EXPECT_FALSE(restore(rig));
  see(rig, moved_, kToLearn);
  EXPECT_TRUE(rig.camera().standing().empty());
  EXPECT_EQ(number("SELECT count(*) FROM reference WHERE source = 'bbbbbbbb'"), 1);
}

TEST_F(HistoryReferences, AreNotUsedForAnotherRegion) {
  Settings masked = settings();
  masked.cameras[0].region.masks = {{0, 0, 0.2, 0.2}};
  {
    Rig rig(masked);
    see(rig, usual_, kToLearn);
  }
  {
    Rig rig(masked);
    EXPECT_TRUE(restore(rig));
  }
  Settings other = masked;
  other.cameras[0].region.masks[0].width = 0.3;
  for (const Settings &others : {other, settings()}) {
    Rig rig(others);
    EXPECT_FALSE(restore(rig));
  }
}

TEST_F(HistoryReferences, OutlastARestartOfTheCamera) {
  Rig rig(settings());
  see(rig, usual_, kToLearn);
  const int64_t before = learned(rig);
  rig.monitor.remove(0);
  const size_t number = rig.monitor.add(settings().cameras[0]);
  const std::optional<Reference> reference = rig.history.reference(rig.camera());
  ASSERT_TRUE(reference) << "it waits to be written";
  rig.monitor.restore_reference(number, *reference);
  EXPECT_EQ(learned(rig), before);
}

TEST_F(HistoryReferences, FollowTheScene) {
  const auto sum = [this] { return number("SELECT sum(length(scenes)) FROM reference"); };
  Rig rig(settings());
  see(rig, usual_, kToLearn);
  EXPECT_GT(sum(), 0);
  {
    Database database(folder_.file("history.db"), Database::Access::kWrite);
    database.run("UPDATE reference SET scenes = x'00'");
  }
  see(rig, usual_, 3600);
  EXPECT_EQ(sum(), 1) << "it is written too often";
  advance(4 * 3600);
  see(rig, usual_, 10);
  EXPECT_GT(sum(), 1) << "it is not written again";
  rig.end();
}

/// Edges that fade are followed as long as the scene can be recognized, so that what is kept can
/// be read.
TEST_F(HistoryReferences, CanBeReadWhenTheSceneHasFaded) {
  {
    Rig rig(settings());
    see(rig, boxes(Match::kMinCells), kToLearn);
    ASSERT_TRUE(rig.camera().scene_learned());
    see(rig, boxes(Match::kMinCells - 1), 4000);
    const std::optional<Reference> reference = rig.camera().reference();
    ASSERT_TRUE(reference);
    for (const Scene &scene : reference->scenes) EXPECT_TRUE(scene.is_sound());
    rig.end();
  }
  Rig rig(settings());
  EXPECT_TRUE(rig.history.reference(rig.camera()));
}

TEST_F(HistoryReferences, AreWrittenAtTheEnd) {
  {
    Rig rig(settings());
    see(rig, usual_, kToLearn);
    {
      Database database(folder_.file("history.db"), Database::Access::kWrite);
      database.run("DELETE FROM reference");
    }
    rig.end();
  }
  EXPECT_EQ(number("SELECT count(*) FROM reference"), 1);
}

TEST_F(HistoryReferences, AreNotKeptForRecordings) {
  Settings fast = settings();
  fast.fast = true;
  Rig rig(fast);
  for (int i = 0; i < kToLearn; ++i) {
    Measurement frame = measure(std::vector<uint8_t>(100, 120), clocks.monotonic + i * 2 * kSecond);
    frame.thumbnail = usual_;
    rig.monitor.take(0, frame);
    rig.tick();
  }
  ASSERT_TRUE(rig.camera().scene_learned());
  rig.end();
  EXPECT_EQ(number("SELECT count(*) FROM reference"), 0);
  EXPECT_FALSE(rig.history.reference(rig.camera()));
}

TEST_F(HistoryReferences, AreDeletedWithTheirCamera) {
  {
    Rig rig(settings());
    see(rig, usual_, kToLearn);
    rig.end();
  }
  advance(40 * 86400.0);
  Settings others = settings();
  others.cameras[0].id = others.cameras[0].name = others.cameras[0].source = "another";
  Rig rig(others);
  see(rig, usual_, 3);
  rig.end();
  EXPECT_EQ(number("SELECT count(*) FROM camera WHERE id = 'c0'"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM reference"), 0);
}

TEST_F(HistoryReferences, AreLearnedAgainIfDamaged) {
  {
    Rig rig(settings());
    see(rig, usual_, kToLearn);
  }
  for (const char *damage : {"scenes = x''", "scenes = substr(scenes, 2)", "learned = -5",
                             "scenes = zeroblob(1000)", "scenes = zeroblob(length(scenes))"}) {
    Database(folder_.file("history.db"), Database::Access::kWrite)
        .run((std::string("UPDATE reference SET ") + damage).c_str());
    Rig rig(settings());
    EXPECT_FALSE(restore(rig)) << damage;
    EXPECT_EQ(rig.history.error(), "");
    see(rig, usual_, kToLearn);
    EXPECT_TRUE(rig.camera().scene_learned());
  }
}

void expect_same(const std::vector<Scene> &read, const std::vector<Scene> &written) {
  ASSERT_EQ(read.size(), written.size());
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].edges.x, written[i].edges.x);
    EXPECT_EQ(read[i].edges.y, written[i].edges.y);
    EXPECT_EQ(read[i].edges.energy, written[i].edges.energy);
    EXPECT_EQ(read[i].lumas, written[i].lumas);
    EXPECT_EQ(read[i].fineness[7].near, written[i].fineness[7].near);
    EXPECT_EQ(read[i].likeness, written[i].likeness);
  }
}

TEST(References, AreReadAsTheyWereWritten) {
  const unsigned begin = seed();
  for (size_t count = 1; count <= 4; ++count) {
    const std::vector<Scene> written = scenes(count, begin);
    const auto read = scenes_of(bytes_of(written));
    ASSERT_TRUE(read);
    expect_same(*read, written);
  }
}

TEST(References, AreRefusedIfImplausible) {
  const unsigned begin = seed();
  const std::string bytes = bytes_of(scenes(2, begin));
  for (size_t size = 0; size < bytes.size(); size += size < 64 ? 1 : 997)
    EXPECT_FALSE(scenes_of(bytes.substr(0, size))) << size;
  EXPECT_FALSE(scenes_of(bytes_of(scenes(5, begin)))) << "too many";
  EXPECT_FALSE(scenes_of(bytes_of({Scene()}))) << "nothing to recognize it by";
  std::vector<Scene> wrong = scenes(1, begin);
  wrong[0].lumas[3] = NAN;
  EXPECT_FALSE(scenes_of(bytes_of(wrong)));
  wrong = scenes(1, begin);
  wrong[0].edges.x[5] = 1e9F;
  EXPECT_FALSE(scenes_of(bytes_of(wrong)));
  wrong = scenes(1, begin);
  wrong[0].fineness[5].far = INFINITY;
  EXPECT_FALSE(scenes_of(bytes_of(wrong)));
  wrong = scenes(1, begin);
  wrong[0].likeness = NAN;
  EXPECT_FALSE(scenes_of(bytes_of(wrong)));
}

}  // namespace
}  // namespace luminance::test
