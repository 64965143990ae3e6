// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames that cannot be used: the stream continues, and warnings about them are limited.
#include <ctime>

#include "muxrig.h"

namespace {

gint64 skipped = 0;  // microseconds

}  // namespace

/// Replaces GLib's function in this program and the plugin.
extern "C" gint64 g_get_monotonic_time() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000 + skipped;
}

namespace cudatensor {
namespace {

/// Skips more time than the pause between two warnings.
void skip_pause() { skipped += 11 * G_USEC_PER_SEC; }

const ImageDesc kUyvy = {PixelFormat::UYVY, 64, 48}, kGray = {PixelFormat::GRAY8, 8, 6};

BufferRef good(const ImageDesc &desc = kUyvy) { return buffer_of(Picture(desc, 50)); }
BufferRef too_short() { return buffer_of(Bytes(64 * 48)); }

class FaultyFrames : public testing::TestWithParam<const char *> {
 protected:
  FaultyFrames() : rig_(GetParam()) { EXPECT_TRUE(rig_.caps(video_caps(kUyvy))); }

  Rig rig_;
};

TEST_P(FaultyFrames, AreReportedOnceInARun) {
  expect_fault(rig_, too_short(), "a buffer of 3072 bytes cannot be mapped as a picture of 6144");
  for (int i = 0; i < 20; ++i) expect_silent_fault(rig_, too_short());
  rig_.process(good());
}

/// The camera has a fault in every other frame.
TEST_P(FaultyFrames, AreNotReportedAgainAtOnce) {
  rig_.process(good());
  expect_fault(rig_, too_short(), "3072");
  for (int i = 0; i < 20; ++i) {
    rig_.process(good());
    expect_silent_fault(rig_, too_short());
  }
}

TEST_P(FaultyFrames, AreReportedAgainAfterAPause) {
  expect_fault(rig_, too_short(), "3072");
  skip_pause();
  expect_silent_fault(rig_, too_short());  // of the same run
  rig_.process(good());
  expect_fault(rig_, too_short(), "(1 more frames since the last warning)");
  rig_.process(good());
  skip_pause();
  rig_.push(too_short());
  while (rig_.pull() != nullptr) {
  }
  const auto warnings = rig_.messages().warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_FALSE(mentions(warnings[0], "more frames"));
}

/// A changed property may be the cause.
TEST_P(FaultyFrames, AreReportedAgainAfterAPauseWhereASettingChanges) {
  expect_fault(rig_, too_short(), "3072");
  skip_pause();
  const bool counts = g_str_has_prefix(GetParam(), "cudahistogram");
  rig_.set(counts ? "interval" : "interlaced", counts ? "5" : "as-progressive");
  expect_fault(rig_, too_short(), "3072");
}

TEST_P(FaultyFrames, AreReportedAgainAfterNewCaps) {
  expect_fault(rig_, too_short(), "3072");
  forget_caps(rig_.harness()->srcpad);
  ASSERT_TRUE(rig_.caps(video_caps({PixelFormat::UYVY, 64, 50})));
  expect_fault(rig_, too_short(), "3072");
  expect_silent_fault(rig_, too_short());
}

TEST_P(FaultyFrames, AreReportedAgainAfterARestart) {
  expect_fault(rig_, too_short(), "3072");
  gst_element_set_state(rig_.element(), GST_STATE_READY);
  gst_element_set_state(rig_.element(), GST_STATE_PLAYING);
  forget_caps(rig_.harness()->srcpad);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig_.event(gst_event_new_stream_start("again"));
  ASSERT_TRUE(rig_.caps(video_caps(kUyvy)));
  rig_.event(gst_event_new_segment(&segment));
  expect_fault(rig_, too_short(), "3072");
}

/// A buffer that announces a gap may have no memory.
TEST_P(FaultyFrames, CanBeGaps) {
  BufferRef gap(gst_buffer_new());
  GST_BUFFER_FLAG_SET(gap.get(), GST_BUFFER_FLAG_GAP);
  expect_fault(rig_, std::move(gap), "a buffer of 0 bytes");
  BufferRef with_memory = good();
  GST_BUFFER_FLAG_SET(with_memory.get(), GST_BUFFER_FLAG_GAP);
  EXPECT_TRUE(
      GST_BUFFER_FLAG_IS_SET(rig_.process(std::move(with_memory)).get(), GST_BUFFER_FLAG_GAP));
}

/// The next frame does not continue the stream.
TEST_P(FaultyFrames, MakeTheNextADiscontinuityWhereTheyAreDropped) {
  rig_.process(good());
  expect_fault(rig_, too_short(), "3072");
  const BufferRef next = rig_.process(good());
  const bool passes = g_str_has_prefix(GetParam(), "cudahistogram");
  EXPECT_EQ(GST_BUFFER_FLAG_IS_SET(next.get(), GST_BUFFER_FLAG_DISCONT), !passes);
}

INSTANTIATE_TEST_SUITE_P(Elements, FaultyFrames,
                         testing::Values("cudanormalize", "cudaletterbox", "cudahistogram",
                                         "cudaletterbox keep-input=true",
                                         "cudanormalize regions=tiles width=8 height=8"),
                         [](const auto &info) { return "case" + std::to_string(info.index); });

// -------------------------------------------------------------------------------------- the mux

TEST(FaultyFramesOfCameras, AreReportedAgainAfterAPause) {
  MuxRig rig("width=8 height=8", 2);
  GstClockTime time = 0;
  const auto push = [&](bool is_good) {
    for (size_t i = 0; i < 2; ++i) {
      BufferRef frame = i == 0 || is_good ? good() : too_short();
      GST_BUFFER_PTS(frame.get()) = time;
      rig.camera(i).push(std::move(frame));
    }
    time += GST_SECOND / 25;
    EXPECT_EQ(slots_of(rig.pull().get()).at(1).valid, is_good);
    return rig.messages().warnings();
  };
  for (size_t i = 0; i < 2; ++i) rig.camera(i).caps(video_caps(kUyvy, "framerate=25/1"));
  EXPECT_EQ(push(false).size(), 1u);
  skip_pause();
  EXPECT_EQ(push(false).size(), 0u);  // of the same run
  EXPECT_EQ(push(true).size(), 0u);
  const auto again = push(false);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_TRUE(mentions(again[0], "(1 more frames since the last warning)"));
}

// ------------------------------------------------------------------------------- the histogram

TEST(FaultyFramesOfHistograms, AreNotCounted) {
  for (const char *interval : {"0", "1000000000"}) {
    SCOPED_TRACE(interval);
    Rig rig(std::string("cudahistogram interval=") + interval);
    ASSERT_TRUE(rig.caps(video_caps(kGray, "framerate=10/1")));
    for (int i = 0; i < 5; ++i) {
      BufferRef frame = i % 2 == 0 ? good(kGray) : buffer_of(Bytes(47));
      GST_BUFFER_PTS(frame.get()) = i * GST_SECOND / 10;
      rig.process(std::move(frame));
    }
    rig.event(gst_event_new_eos());
    const bool each = interval[0] == '0';
    const std::vector<MessageRef> messages = rig.histograms(each ? 3 : 1);
    ASSERT_EQ(messages.size(), each ? 3u : 1u);
    guint frames = 0;
    guint64 pixels = 0;
    ASSERT_TRUE(gst_structure_get(gst_message_get_structure(messages[0].get()), "frames",
                                  G_TYPE_UINT, &frames, "pixels", G_TYPE_UINT64, &pixels, nullptr));
    EXPECT_EQ(frames, each ? 1u : 3u);
    EXPECT_EQ(pixels, frames * 48u);
    EXPECT_TRUE(rig.messages().errors().empty());
    EXPECT_EQ(rig.messages().warnings().size(), 1u);
  }
}

/// A faulty frame ends an interval if it lies beyond it.
TEST(FaultyFramesOfHistograms, EndIntervals) {
  Rig rig("cudahistogram interval=100000000");
  ASSERT_TRUE(rig.caps(video_caps(kGray, "framerate=10/1")));
  for (int i = 0; i < 2; ++i) {
    BufferRef frame = i == 0 ? good(kGray) : buffer_of(Bytes(47));
    GST_BUFFER_PTS(frame.get()) = i * GST_SECOND;
    rig.process(std::move(frame));
  }
  EXPECT_EQ(rig.histograms(1).size(), 1u);
}

}  // namespace
}  // namespace cudatensor
