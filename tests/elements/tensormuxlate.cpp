// SPDX-License-Identifier: LGPL-2.1-or-later
// cudatensormux with live cameras that freeze, catch up, send bursts or have a wrong clock, and
// with files, of which no frame is dropped.
#include <algorithm>
#include <set>
#include <thread>

#include "gst/elements/cameralag.h"
#include "muxtimes.h"
#include "tests/kernels/random.h"

namespace cudatensor {
namespace {

constexpr std::nullopt_t kNone = std::nullopt;
/// How much older than the others' frames a frame may be, including the frames' phase.
constexpr GstClockTime kMostLate = 300 * GST_MSECOND + kFrame;

/// Two live cameras. The first is in time; the test decides when frames of the second arrive.
class TensorMuxLate : public MuxTimes {
 protected:
  void begin(const std::string &properties = "") {
    start(properties, 2, true);
    dropped_ = 0;
    last_ = GST_CLOCK_TIME_NONE;
    // Cameras have been running for a while.
    now_ = 250 * kFrame;
    push(0, now_);
    rig_->time_out();
    now_ += kFrame;
    take(rig_->pull());
  }

  size_t drops() {
    dropped_ += rig_->messages().of_type(GST_MESSAGE_QOS).size();
    return dropped_;
  }

  /// Runs a period: pushes the first camera's frame and the second's frames, and pulls the batch.
  Times period(const std::vector<GstClockTime> &others) {
    push(0, now_);
    for (const GstClockTime time : others) push(1, time);
    now_ += kFrame;
    const Times times = take(rig_->pull());
    advance();
    return times;
  }
  /// Advances the clock, because a batch that did not wait for it takes no time.
  void advance() {
    GstTestClock *clock = GST_TEST_CLOCK(gst_element_get_clock(rig_->element()));
    gst_test_clock_advance_time(clock, kFrame);
    gst_object_unref(clock);
  }
  /// Runs a period in which all frames of the second camera are dropped before the clock advances.
  Times period_without(const std::vector<GstClockTime> &others = {}) {
    const size_t expected = drops() + others.size();
    push(0, now_);
    for (const GstClockTime time : others) push(1, time);
    now_ += kFrame;
    for (int i = 0; i < 60000 && drops() < expected; ++i) g_usleep(1000);
    EXPECT_EQ(drops(), expected);
    rig_->time_out();
    const Times times = take(rig_->pull());
    EXPECT_EQ(times, (Times{now_ - kFrame, kNone}));
    return times;
  }
  /// Runs periods in which each frame of the second camera is late by `lateness`.
  void show_behind(GstClockTime lateness) {
    for (int i = 0; i < 25; ++i) period_without({now_ - lateness});
    for (int i = 0; i < 35; ++i) {
      const Times times = period({now_ - lateness});
      ASSERT_EQ(times, (Times{now_ - kFrame, now_ - kFrame - lateness})) << i;
    }
  }
  /// Pushes frames of the second camera from another thread, as upstream's queue does, and then
  /// EOS. Returns how many are in batches with frames of the first.
  int show_backlog(GstClockTime from, GstClockTime offset = 0) {
    std::thread queue([this, from, offset, to = now_] {
      for (GstClockTime t = from; t <= to; t += kFrame) push(1, t - offset);
      rig_->camera(1).eos();
    });
    int shown = 0;
    for (int i = 0; i < 15; ++i, now_ += kFrame) {
      push(0, now_);
      const Times times = take(rig_->pull());
      advance();
      if (!times[1]) continue;
      ++shown;
      EXPECT_LE(*times[0] - offset - *times[1], kMostLate) << i;
    }
    queue.join();
    return shown;
  }

  /// Checks what must hold for every batch.
  Times take(const BufferRef &batch) {
    const GstClockTime pts = GST_BUFFER_PTS(batch.get());
    EXPECT_NE(pts, last_) << "two batches of one time";
    last_ = pts;
    return times_of(batch);
  }

  GstClockTime now_ = 250 * kFrame;  // time of the first camera's next frame

 private:
  GstClockTime last_ = GST_CLOCK_TIME_NONE;
  size_t dropped_ = 0;
};

TEST_F(TensorMuxLate, ABacklogIsDropped) {
  for (const int frozen : {10, 100}) {
    begin();
    for (int i = 0; i < 5; ++i) {
      const Times times = period({now_});
      EXPECT_EQ(times, (Times{now_ - kFrame, now_ - kFrame}));
    }
    const GstClockTime from = now_;
    for (int i = 0; i < frozen; ++i) period_without();
    EXPECT_GE(show_backlog(from), 1);
  }
}

TEST_F(TensorMuxLate, ABacklogThatComesByTheFrameIsDropped) {
  begin();
  GstClockTime other = now_;
  for (int i = 0; i < 100; ++i) period_without();
  // Three frames arrive in the time of one.
  for (; now_ - other - 2 * kFrame > 300 * GST_MSECOND; other += 3 * kFrame)
    period_without({other, other + kFrame, other + 2 * kFrame});
  const Times times = period({other, other + kFrame, other + 2 * kFrame});
  ASSERT_TRUE(times[1]);
}

TEST_F(TensorMuxLate, TheNewestFrameOfABurstIsTaken) {
  begin();
  for (int i = 0; i < 20; ++i) {
    period_without();
    push(1, now_ - kFrame);
    push(1, now_);
    const Times times = period({});
    EXPECT_EQ(times, (Times{now_ - kFrame, now_ - kFrame}));
  }
  EXPECT_EQ(drops(), 20u);
}

TEST_F(TensorMuxLate, NothingOfABurstIsLostWithinTheLatency) {
  begin("latency=" + std::to_string(2 * kFrame));
  for (int i = 0; i < 20; ++i) {
    push(0, now_);
    push(0, now_ + kFrame);
    for (const GstClockTime t : {now_, now_ + kFrame}) push(1, t);
    for (const GstClockTime t : {now_, now_ + kFrame}) EXPECT_EQ(next(), (Times{t, t}));
    now_ += 2 * kFrame;
  }
  EXPECT_EQ(drops(), 0u);
}

TEST_F(TensorMuxLate, ACameraWithAWrongClockIsShown) {
  for (const GstClockTime offset : {GST_SECOND, 5 * GST_SECOND}) {
    begin();
    EXPECT_TRUE(warnings().empty());
    show_behind(offset);
    const auto texts = warnings();
    ASSERT_EQ(texts.size(), 1u);
    EXPECT_TRUE(mentions(texts[0], "sink_1: the camera's frames are always late"));
  }
}

TEST_F(TensorMuxLate, ACameraWithAWrongClockAndAnUnevenWayIsShown) {
  for_cases(5, [&](Random &random) {
    begin();
    int shown = 0;
    GstClockTime last = 0;
    for (int i = 0; i < 400; ++i, now_ += kFrame) {
      const GstClockTime lateness = 3 * GST_SECOND + random.between(0, 20) * kFrame;
      last = std::max(last + 1, now_ - lateness);
      const size_t before = drops();
      push(0, now_);
      push(1, last);
      // Each frame is used or dropped.
      BufferRef batch;
      for (int k = 0; k < 60000 && batch == nullptr && drops() == before; ++k) {
        batch = rig_->pull_if_there();
        if (batch == nullptr) g_usleep(1000);
      }
      if (batch == nullptr) {
        rig_->time_out();
        batch = rig_->pull();
      } else {
        advance();
      }
      shown += take(batch)[1].has_value();
    }
    EXPECT_GE(shown, 40);
  });
}

TEST_F(TensorMuxLate, ABacklogOfAWrongClockIsDroppedToo) {
  begin();
  show_behind(2 * GST_SECOND);
  const GstClockTime from = now_;
  for (int i = 0; i < 50; ++i) period_without();
  EXPECT_GE(show_backlog(from, 2 * GST_SECOND), 1);
}

TEST_F(TensorMuxLate, AWrongClockThatIsSetIsForgotten) {
  begin();
  show_behind(2 * GST_SECOND);
  for (int i = 0; i < 10; ++i) {
    const Times times = period({now_});
    EXPECT_EQ(times, (Times{now_ - kFrame, now_ - kFrame}));
  }
  period_without({now_ - 2 * GST_SECOND});
}

TEST_F(TensorMuxLate, ARestartForgetsAWrongClock) {
  begin();
  show_behind(2 * GST_SECOND);
  rig_->camera(1).begin(video_caps(desc_, kRate));
  period_without({now_ - 2 * GST_SECOND});
}

/// A camera with a fast clock does not make other cameras' frames late.
TEST_F(TensorMuxLate, ACameraFromTheFutureDropsNothingOfOthers) {
  start("", 2, true);
  rig_->camera(1).eos();
  push(0, 500 * kFrame);
  EXPECT_EQ(next(), (Times{500 * kFrame, kNone}));
  rig_->camera(1).event(gst_event_new_stream_start("again"));
  push(0, 501 * kFrame);
  push(1, 0);
  EXPECT_EQ(next(), (Times{501 * kFrame, 0}));
}

/// Frames that are in time again are used beside those of a camera with a fast clock.
TEST_F(TensorMuxLate, AWrongClockThatIsSetIsForgottenBesideOneFromTheFuture) {
  begin();
  show_behind(2 * GST_SECOND);
  const GstClockTime future = now_ + 500 * kFrame;
  push(0, future);
  push(1, now_ - 2 * GST_SECOND);
  EXPECT_EQ(next(), (Times{future, now_ - 2 * GST_SECOND}));
  push(0, future + kFrame);
  push(1, now_);
  EXPECT_EQ(next(), (Times{future + kFrame, now_}));
}

/// The gap is an event, and a buffer without memory.
TEST_F(TensorMuxLate, AGapDoesNotReplaceALatePicture) {
  for (const bool event : {true, false}) {
    const auto send_gap = [&](GstClockTime time) {
      if (event) return rig_->camera(1).event(gst_event_new_gap(time, kFrame));
      BufferRef gap(gst_buffer_new());
      GST_BUFFER_FLAG_SET(gap.get(), GST_BUFFER_FLAG_GAP);
      GST_BUFFER_PTS(gap.get()) = time;
      GST_BUFFER_DURATION(gap.get()) = kFrame;
      EXPECT_EQ(rig_->camera(1).push(std::move(gap)), GST_FLOW_OK);
    };
    begin();
    period_without();
    send_gap(now_ - kFrame / 2);
    push(0, now_);
    EXPECT_EQ(next(), (Times{now_, kNone}));
    now_ += kFrame;
    push(1, now_ - 2 * kFrame);
    send_gap(now_ - kFrame);
    push(0, now_);
    EXPECT_EQ(next(), (Times{now_, now_ - 2 * kFrame}));
    EXPECT_EQ(drops(), 0u);
  }
}

/// Collects the slots of all batches until the end, by camera.
class TensorMuxFiles : public MuxTimes {
 protected:
  void collect() {
    EXPECT_TRUE(rig_->reaches_eos());
    while (const BufferRef batch = rig_->pull_if_there()) {
      pts_.push_back(GST_BUFFER_PTS(batch.get()));
      const Times times = times_of(batch);
      seen_.resize(times.size());
      for (size_t i = 0; i < times.size(); ++i)
        if (times[i]) seen_[i].push_back(*times[i]);
    }
  }

  std::vector<GstClockTime> pts_;
  std::vector<std::vector<GstClockTime>> seen_;
};

TEST_F(TensorMuxFiles, EveryFrameIsUsedWhateverItsTime) {
  for_cases(20, [&](Random &random) {
    pts_.clear();
    seen_.clear();
    start("", 2);
    std::vector<std::vector<GstClockTime>> sent(2);
    for (int i = 0; i < 60; ++i) {
      // Times that are slow, equal, backward and far ahead, as in files.
      for (size_t camera = 0; camera < 2; ++camera) {
        const GstClockTime last = sent[camera].empty() ? 0 : sent[camera].back();
        const GstClockTime step =
            random.pick<GstClockTime>({0, kFrame / 2, kFrame, kFrame, 10 * kFrame, 200 * kFrame});
        sent[camera].push_back(random.chance(5) ? last / 2 : last + step);
      }
    }
    std::thread other([&] {
      for (const GstClockTime time : sent[1]) push(1, time);
      rig_->camera(1).eos();
    });
    for (const GstClockTime time : sent[0]) push(0, time);
    rig_->camera(0).eos();
    other.join();
    collect();
    EXPECT_EQ(seen_, sent);
    EXPECT_EQ(std::set<GstClockTime>(pts_.begin(), pts_.end()).size(), pts_.size());
    EXPECT_TRUE(rig_->messages().of_type(GST_MESSAGE_QOS).empty());
  });
}

/// If a camera has one frame in several seconds, a single late frame does not show that all are
/// late.
TEST(CameraLag, WaitsForTwoWindows) {
  for (const GstClockTime window : {GstClockTime{kFrame}, GstClockTime{3 * GST_SECOND}}) {
    const GstClockTime age = window + GST_SECOND, begin = 100 * GST_SECOND;
    const GstClockTime patience = std::max(GstClockTime{GST_SECOND}, 2 * window);
    CameraLag lag;
    EXPECT_TRUE(lag.drops(age, window, begin));
    EXPECT_TRUE(lag.drops(age, window, begin + patience - 1));
    EXPECT_FALSE(lag.is_behind());
    EXPECT_FALSE(lag.drops(age, window, begin + patience));
    EXPECT_TRUE(lag.is_behind());
    // From now on this age counts as usual.
    EXPECT_FALSE(lag.drops(age, window, begin + patience + window));
    lag.in_time(0);
    EXPECT_FALSE(lag.is_behind());
    EXPECT_TRUE(lag.drops(age, window, begin + 2 * patience));
  }
}

}  // namespace
}  // namespace cudatensor
