// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures of incidents when many cameras fail at once.
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "historyrig.h"
#include "web/incidentpictures.h"

namespace luminance::test {
namespace {

constexpr size_t kCameras = 32;

/// Makes pictures when the test calls make().
class LaterStills : public Stills {
 public:
  void still(size_t camera, const std::function<void(GBytes *)> &done) override {
    waiting.emplace_back(camera, done);
  }
  /// Makes the picture that was requested first. An empty text makes none.
  void make(const std::string &jpeg) {
    const auto next = std::move(waiting.front());
    waiting.pop_front();
    GBytes *const bytes = jpeg.empty() ? nullptr : g_bytes_new(jpeg.data(), jpeg.size());
    next.second(bytes);
    if (bytes != nullptr) g_bytes_unref(bytes);
  }

  std::deque<std::pair<size_t, std::function<void(GBytes *)>>> waiting;
};

class HistoryPictures : public testing::Test {
 protected:
  HistoryPictures() {
    clocks = kBegin;
    Settings settings = settings_of(folder_.file("history.db"), kCameras);
    for (CameraSettings &camera : settings.cameras)
      camera.rules[static_cast<size_t>(Verdict::kTooDark)] = {true, 40, 45, 2};
    rig_ = std::make_unique<Rig>(settings);
    pictures_ = std::make_unique<IncidentPictures>(rig_->monitor, stills_, &rig_->history);
    rig_->play(10, 20);
    for (const auto &camera : rig_->monitor.cameras()) pictures_->note(*camera, Verdict::kTooDark);
  }

  std::vector<KeptIncident> incidents() {
    rig_->tick();
    return rig_->reader.incidents({}, 1000);
  }
  size_t with_picture() {
    size_t count = 0;
    for (const KeptIncident &incident : incidents()) count += incident.picture_taken.has_value();
    return count;
  }

  const Folder folder_;
  LaterStills stills_;
  std::unique_ptr<Rig> rig_;
  std::unique_ptr<IncidentPictures> pictures_;
};

TEST_F(HistoryPictures, AreMadeOneAfterTheOther) {
  for (size_t i = 0; i < kCameras; ++i) {
    ASSERT_EQ(stills_.waiting.size(), 1u) << i;
    stills_.make("of camera " + std::to_string(stills_.waiting.front().first));
  }
  EXPECT_TRUE(stills_.waiting.empty());
  const std::vector<KeptIncident> found = incidents();
  ASSERT_EQ(found.size(), kCameras);
  for (const KeptIncident &incident : found)
    EXPECT_EQ(rig_->reader.incident_picture(incident.number),
              "of camera " + incident.camera.substr(1));
}

TEST_F(HistoryPictures, MayBeMissing) {
  stills_.make("");
  ASSERT_EQ(stills_.waiting.size(), 1u) << "the next is asked for";
  stills_.make("one");
  EXPECT_EQ(with_picture(), 1u);
}

TEST_F(HistoryPictures, AreNotTakenOfOldIncidents) {
  advance(70);
  stills_.make("of the one that was asked for in time");
  EXPECT_TRUE(stills_.waiting.empty());
  EXPECT_EQ(with_picture(), 1u);
}

TEST_F(HistoryPictures, AreNotTakenOfRemovedCameras) {
  for (size_t i = 1; i < kCameras; ++i) pictures_->remove(rig_->camera(i));
  stills_.make("the first");
  EXPECT_TRUE(stills_.waiting.empty());
  EXPECT_EQ(with_picture(), 1u);
}

TEST_F(HistoryPictures, MayComeAfterTheirReceiverIsGone) {
  pictures_.reset();
  stills_.make("nobody waits for it");
  EXPECT_EQ(with_picture(), 0u);
}

TEST_F(HistoryPictures, AreOnlyTakenOfStandingVerdicts) {
  while (!stills_.waiting.empty()) stills_.make("another");
  pictures_->note(rig_->camera(), Verdict::kFrozen);
  EXPECT_TRUE(stills_.waiting.empty());
}

}  // namespace
}  // namespace luminance::test
