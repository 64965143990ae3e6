// SPDX-License-Identifier: LGPL-2.1-or-later
// cudatensormux with framerates that are wrong in the caps, or missing.
#include "muxtimes.h"

namespace cudatensor {
namespace {

/// Cameras whose frames are offset by half a frame.
class TensorMuxRates : public MuxTimes {
 protected:
  void begin(const std::string &properties, const std::vector<std::string> &rates,
             GstClockTime duration) {
    rig_ = std::make_unique<MuxRig>("width=4 height=4 dtype=uint8 color=gray " + properties, 2);
    duration_ = duration;
    for (size_t i = 0; i < 2; ++i) rig_->camera(i).caps(video_caps(desc_, "framerate=" + rates[i]));
  }

  void show(int frames) {
    for (int i = 0; i < frames; ++i, time_ += duration_) {
      push(0, time_, GST_CLOCK_TIME_NONE);
      push(1, time_ + duration_ / 2, GST_CLOCK_TIME_NONE);
    }
  }

  /// Ends both cameras. Returns the number of batches with both cameras, and of all batches.
  std::pair<int, int> ended() {
    for (size_t i = 0; i < 2; ++i) rig_->camera(i).eos();
    EXPECT_TRUE(rig_->reaches_eos());
    std::pair<int, int> full_of_all;
    while (const BufferRef batch = rig_->pull_if_there()) {
      const Times times = times_of(batch);
      full_of_all.first += times[0] && times[1];
      ++full_of_all.second;
    }
    return full_of_all;
  }

  /// Pushes frames of the first camera. Returns the window, which is the last batch's duration.
  GstClockTime window_after(int frames, GstClockTime duration) {
    GstClockTime last = 0;
    for (int i = 0; i < frames; ++i, time_ += duration) {
      push(0, time_, GST_CLOCK_TIME_NONE);
      last = GST_BUFFER_DURATION(rig_->pull().get());
    }
    return last;
  }

  GstClockTime duration_ = 0, time_ = 0;
};

constexpr GstClockTime kSlow = 100 * GST_MSECOND;

TEST_F(TensorMuxRates, AreMeasuredIfTheCapsAreImplausible) {
  for (const std::string rate : {"90000/1", "1000/1", "10000/1", "241/1", "1/90000", "0/1"}) {
    begin("", {rate, rate}, kSlow);
    show(40);
    const auto [full, all] = ended();
    EXPECT_GE(full, 34) << rate;
    EXPECT_LE(all, 46) << rate;
    EXPECT_EQ(rig_->output("framerate"), "0/1") << rate;
    const auto texts = warnings();
    EXPECT_EQ(texts.size(), rate == "0/1" ? 0u : 2u) << rate;
    for (const std::string &text : texts) EXPECT_TRUE(mentions(text, rate + " frames per second"));
  }
}

TEST_F(TensorMuxRates, AreIgnoredIfImplausibleBesideOthers) {
  begin("", {"10/1", "90000/1"}, kSlow);
  show(40);
  EXPECT_EQ(ended(), std::make_pair(40, 40));
  const auto texts = warnings();
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_TRUE(mentions(texts[0], "sink_1: "));
}

TEST_F(TensorMuxRates, AreConfirmedForFastCameras) {
  begin("", {"1000/1", "1000/1"}, GST_MSECOND);
  show(40);
  push(0, time_);
  EXPECT_EQ(ended(), std::make_pair(40, 41));
  EXPECT_TRUE(warnings().empty());
}

/// The batches' duration is the window.
TEST_F(TensorMuxRates, AreMeasuredAgainForACameraThatComesLate) {
  begin("", {"1/90000", "1/90000"}, kSlow);
  const auto window = [&] { return GST_BUFFER_DURATION(rig_->pull().get()); };
  for (int i = 0; i < 10; ++i) {
    show(1);
    if (i > 0) window();
  }
  EXPECT_EQ(window(), kSlow);
  rig_->add(2).caps(video_caps(desc_, "framerate=90000/1"));
  GstClockTime last = 0;
  for (int i = 0; i < 20; ++i) {
    // The other cameras' last frames wait for the new camera's first frame.
    for (const size_t camera : {2, 0, 1}) push(camera, time_ + i * kSlow / 2);
    last = window();
  }
  EXPECT_EQ(last, kSlow / 2);
}

TEST_F(TensorMuxRates, AreMeasuredOverTheLatestFrames) {
  start("", 1, false, "framerate=0/1");
  // A batch uses the window that was known before its frame.
  EXPECT_EQ(window_after(3, kSlow), 40 * GST_MSECOND);
  EXPECT_EQ(window_after(3, kSlow), kSlow);
  EXPECT_EQ(window_after(30, kSlow / 5), kSlow / 5);
  EXPECT_EQ(window_after(30, kSlow), kSlow);
}

/// A batch waits at most a second for the next frame.
TEST_F(TensorMuxRates, AreAtLeastOneFrameASecond) {
  start("", 1, false, "framerate=0/1");
  EXPECT_EQ(window_after(6, 5 * GST_SECOND), GST_SECOND);
}

TEST_F(TensorMuxRates, AreUnknownAfterNewCaps) {
  start("", 1, false, "framerate=0/1");
  EXPECT_EQ(window_after(10, kSlow), kSlow);
  rig_->camera(0).caps(video_caps(desc_, "framerate=0/1,multiview-mode=mono"));
  EXPECT_EQ(window_after(3, kSlow / 5), 40 * GST_MSECOND);
  EXPECT_EQ(window_after(3, kSlow / 5), kSlow / 5);
  // The same caps again change nothing.
  rig_->camera(0).caps(video_caps(desc_, "framerate=0/1,multiview-mode=mono"));
  EXPECT_EQ(window_after(1, kSlow / 5), kSlow / 5);
}

TEST_F(TensorMuxRates, AreMeasuredAgainAfterNewCaps) {
  begin("", {"0/1", "0/1"}, kSlow);
  show(10);
  for (size_t i = 0; i < 2; ++i)
    rig_->camera(i).caps(video_caps(desc_, "framerate=0/1,multiview-mode=mono"));
  duration_ = kSlow / 5;
  show(20);
  const auto [full, all] = ended();
  EXPECT_GE(full, 25);
  EXPECT_LE(all, 35);
}

TEST_F(TensorMuxRates, DoNotFollowFramesThatAreMissing) {
  begin("", {"90000/1", "90000/1"}, kSlow);
  show(20);
  for (int i = 0; i < 10; ++i) {
    show(3);
    time_ += 30 * kSlow;
  }
  const auto [full, all] = ended();
  EXPECT_GE(full, 45);
  EXPECT_LE(all, 55);
}

TEST_F(TensorMuxRates, DoNotMatterWhereTheWindowIsSet) {
  begin("window=" + std::to_string(kSlow), {"90000/1", "90000/1"}, kSlow);
  show(40);
  EXPECT_EQ(ended(), std::make_pair(40, 40));
  EXPECT_TRUE(warnings().empty());
}

}  // namespace
}  // namespace cudatensor
