// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames that cannot be used: the stream goes on, and the warnings about them do not become a flood.
#include "rig.h"

namespace cudatensor {
namespace {

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

/// A camera with a fault in every other frame.
TEST_P(FaultyFrames, AreNotReportedAgainAtOnce) {
  rig_.process(good());
  expect_fault(rig_, too_short(), "3072");
  for (int i = 0; i < 20; ++i) {
    rig_.process(good());
    expect_silent_fault(rig_, too_short());
  }
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

/// What announces a gap may have no memory at all.
TEST_P(FaultyFrames, CanBeGaps) {
  BufferRef gap(gst_buffer_new());
  GST_BUFFER_FLAG_SET(gap.get(), GST_BUFFER_FLAG_GAP);
  expect_fault(rig_, std::move(gap), "a buffer of 0 bytes");
  BufferRef with_memory = good();
  GST_BUFFER_FLAG_SET(with_memory.get(), GST_BUFFER_FLAG_GAP);
  EXPECT_TRUE(
      GST_BUFFER_FLAG_IS_SET(rig_.process(std::move(with_memory)).get(), GST_BUFFER_FLAG_GAP));
}

/// What follows is not the next frame of a continuous stream.
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

/// An interval that a faulty frame lies beyond is over.
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
