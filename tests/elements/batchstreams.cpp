// SPDX-License-Identifier: LGPL-2.1-or-later
// GstAnalyticsBatchMeta of batches: the stream, the caps and the segment of each slot.
#include "analytics.h"
#include "muxrig.h"
#include "rig.h"

namespace cudatensor {
namespace {

using gstanalytics::BatchMeta;
using gstanalytics::BatchStreamData;

const ImageDesc kWide = {PixelFormat::NV12, 40, 30}, kNarrow = {PixelFormat::BGR, 24, 36};
constexpr GstClockTime kDuration = 40 * GST_MSECOND;

#define SKIP_WITHOUT_BATCH_META() \
  SKIP_WITHOUT_ANALYTICS();       \
  if (gstanalytics::library()->get_batch_meta == nullptr) GTEST_SKIP() << "before GStreamer 1.28"

const BatchMeta *meta_of(GstBuffer *batch) {
  return gstanalytics::library()->get_batch_meta(batch);
}

GstEvent *event_of(const BatchStreamData &stream, GstEventType type) {
  for (gsize i = 0; i < stream.n_sticky_events; ++i)
    if (GST_EVENT_TYPE(stream.sticky_events[i]) == type) return stream.sticky_events[i];
  return nullptr;
}

std::string stream_id_of(const BatchStreamData &stream) {
  const gchar *id = nullptr;
  GstEvent *start = event_of(stream, GST_EVENT_STREAM_START);
  if (start != nullptr) gst_event_parse_stream_start(start, &id);
  return id != nullptr ? id : "(none)";
}

int width_of(const BatchStreamData &stream) {
  GstCaps *caps = nullptr;
  GstEvent *event = event_of(stream, GST_EVENT_CAPS);
  if (event == nullptr) return 0;
  gst_event_parse_caps(event, &caps);
  int width = 0;
  gst_structure_get_int(gst_caps_get_structure(caps, 0), "width", &width);
  return width;
}

GstClockTime start_of(const BatchStreamData &stream) {
  const GstSegment *segment = nullptr;
  GstEvent *event = event_of(stream, GST_EVENT_SEGMENT);
  if (event == nullptr) return GST_CLOCK_TIME_NONE;
  gst_event_parse_segment(event, &segment);
  return segment->format == GST_FORMAT_TIME ? segment->start : GST_CLOCK_TIME_NONE;
}

GstClockTime pts_of(const BatchStreamData &stream) {
  return stream.n_objects == 1 ? GST_BUFFER_PTS(stream.objects[0]) : GST_CLOCK_TIME_NONE;
}

TEST(BatchStreams, DescribeEachCamera) {
  SKIP_WITHOUT_BATCH_META();
  MuxRig rig("width=8 height=8 batch-size=3", 2);
  rig.camera(0).begin(video_caps(kWide, "framerate=25/1"));
  rig.camera(1).begin(video_caps(kNarrow, "framerate=25/1"));
  for (int round = 0; round < 5; ++round) {
    const GstClockTime time = round * kDuration;
    rig.camera(0).push(frame_at(random_picture(kWide), time, kDuration));
    rig.camera(1).push(frame_at(random_picture(kNarrow), time, kDuration));
    const BufferRef batch = rig.pull();
    ASSERT_NE(batch, nullptr);
    const BatchMeta *meta = meta_of(batch.get());
    ASSERT_NE(meta, nullptr);
    ASSERT_EQ(meta->n_streams, 3U);
    const auto slots = slots_of(batch.get());
    for (guint i = 0; i < 2; ++i) {
      const BatchStreamData &stream = meta->streams[i];
      EXPECT_EQ(stream.index, i);
      EXPECT_EQ(stream_id_of(stream), slots[i].stream_id);
      EXPECT_EQ(width_of(stream), i == 0 ? 40 : 24);
      EXPECT_EQ(start_of(stream), 0U);
      EXPECT_EQ(pts_of(stream), time);
      EXPECT_EQ(gst_buffer_n_memory(GST_BUFFER(stream.objects[0])), 0U);
    }
    EXPECT_EQ(meta->streams[2].n_sticky_events, 0U);
    EXPECT_EQ(meta->streams[2].n_objects, 0U);
  }
}

TEST(BatchStreams, FollowChangesOfCaps) {
  SKIP_WITHOUT_BATCH_META();
  MuxRig rig("width=8 height=8", 1);
  rig.camera(0).begin(video_caps(kWide, "framerate=25/1"));
  rig.camera(0).push(frame_at(random_picture(kWide), 0, kDuration));
  EXPECT_EQ(width_of(meta_of(rig.pull().get())->streams[0]), 40);
  rig.camera(0).caps(video_caps(kNarrow, "framerate=25/1"));
  rig.camera(0).push(frame_at(random_picture(kNarrow), kDuration, kDuration));
  EXPECT_EQ(width_of(meta_of(rig.pull().get())->streams[0]), 24);
}

/// A camera without a picture still has a stream.
TEST(BatchStreams, HaveNoObjectForAnEmptySlot) {
  SKIP_WITHOUT_BATCH_META();
  Rig rig("cudanormalize width=8 height=8 regions=list region-list=<0,0,8,8,8,8,8,8> max-batch=3");
  rig.downstream("other/tensors");
  ASSERT_TRUE(rig.caps(video_caps(kWide)));
  for (int round = 0; round < 3; ++round) {
    const BufferRef batch =
        rig.process(frame_at(random_picture(kWide), round * kDuration, kDuration));
    const BatchMeta *meta = meta_of(batch.get());
    ASSERT_NE(meta, nullptr);
    ASSERT_EQ(meta->n_streams, 3U);
    for (guint i = 0; i < 3; ++i) {
      EXPECT_EQ(width_of(meta->streams[i]), 40);
      EXPECT_NE(stream_id_of(meta->streams[i]), "(none)");
      EXPECT_EQ(meta->streams[i].n_objects, i < 2 ? 1U : 0U);
    }
    EXPECT_EQ(pts_of(meta->streams[0]), round * kDuration);
  }
}

/// GStreamer 1.28 leaks a part of each copy.
TEST(BatchStreams, AreNotCopied) {
  SKIP_WITHOUT_BATCH_META();
  Rig rig(
      "cudanormalize width=8 height=8 dtype=uint8 regions=tiles tile-columns=2 tile-rows=1 ! "
      "cudapixelshuffle upscale-factor=1");
  rig.downstream("other/tensors");
  ASSERT_TRUE(rig.caps(video_caps(kWide)));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(meta_of(rig.process(buffer_of(random_picture(kWide))).get()), nullptr);
}

/// The number of slots changes while buffers are in the pool.
TEST(BatchStreams, FollowTheNumberOfSlots) {
  SKIP_WITHOUT_BATCH_META();
  Rig rig("cudanormalize width=8 height=8 regions=tiles tile-columns=2 tile-rows=1");
  rig.downstream("other/tensors");
  ASSERT_TRUE(rig.caps(video_caps(kWide)));
  EXPECT_EQ(meta_of(rig.process(buffer_of(random_picture(kWide))).get())->n_streams, 2U);
  rig.set("tile-rows", "2");
  EXPECT_EQ(meta_of(rig.process(buffer_of(random_picture(kWide))).get())->n_streams, 4U);
}

}  // namespace
}  // namespace cudatensor
