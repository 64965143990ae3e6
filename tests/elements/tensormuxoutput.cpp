// SPDX-License-Identifier: LGPL-2.1-or-later
// cudatensormux: rates, times and messages of its output.
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <tuple>

#include "muxrig.h"

namespace cudatensor {
namespace {

constexpr GstClockTime kFrame = 40 * GST_MSECOND;  // 25 a second

/// Grey cameras of any rates.
class TensorMuxOutput : public testing::Test {
 protected:
  void start(const std::vector<std::string> &rates, const std::string &properties = "",
             bool live = false) {
    rig_ = std::make_unique<MuxRig>("width=4 height=4 dtype=uint8 color=gray " + properties,
                                    rates.size(), live);
    for (size_t i = 0; i < rates.size(); ++i)
      rig_->camera(i).caps(video_caps(desc_, "framerate=" + rates[i]));
  }
  void push(size_t camera, GstClockTime pts) {
    rig_->camera(camera).push(frame_at(Picture(desc_), pts, GST_CLOCK_TIME_NONE));
  }
  void push_all(size_t cameras, GstClockTime pts) {
    for (size_t i = 0; i < cameras; ++i) push(i, pts);
  }
  /// Times of the frames in the next batch.
  using Times = std::vector<std::optional<GstClockTime>>;
  Times next() {
    Times times;
    for (const BatchSlotMeta &slot : slots_of(rig_->pull().get()))
      times.push_back(slot.valid ? std::optional(slot.pts) : std::nullopt);
    return times;
  }

  const ImageDesc desc_ = {PixelFormat::GRAY8, 4, 4};
  std::unique_ptr<MuxRig> rig_;
};

TEST_F(TensorMuxOutput, HasTheRateOfTheFastestCamera) {
  start({"25/1", "50/1", "30/1"});
  push_all(3, 0);
  EXPECT_EQ(GST_BUFFER_DURATION(rig_->pull().get()), kFrame / 2);
  EXPECT_EQ(rig_->output("framerate"), "50/1");
}

TEST_F(TensorMuxOutput, TakesFramesWithinTheFastestCamerasFrame) {
  start({"25/1", "50/1"});
  push(0, kFrame / 2 - 1);
  push(1, 0);
  EXPECT_EQ(next(), (Times{kFrame / 2 - 1, 0}));
  push(0, kFrame + kFrame / 2);
  push(1, kFrame);
  EXPECT_EQ(next(), (Times{std::nullopt, kFrame}));
}

TEST_F(TensorMuxOutput, HasNoTimeWhereNoFrameHasOne) {
  start({"25/1", "25/1"});
  push_all(2, GST_CLOCK_TIME_NONE);
  EXPECT_EQ(GST_BUFFER_PTS(rig_->pull().get()), GST_CLOCK_TIME_NONE);
  push(0, kFrame);
  push(1, GST_CLOCK_TIME_NONE);
  EXPECT_EQ(GST_BUFFER_PTS(rig_->pull().get()), kFrame);
}

TEST_F(TensorMuxOutput, HasAllFramesOfFiles) {
  start({"25/1", "25/1"}, "latency=1000000000");  // holds two frames per camera
  push_all(2, 10 * kFrame);
  EXPECT_EQ(next(), (Times{10 * kFrame, 10 * kFrame}));
  // In live mode, only the last of the late frames would be used.
  push(1, 3 * kFrame);
  push(1, 4 * kFrame);
  push(0, 11 * kFrame);
  EXPECT_EQ(next(), (Times{11 * kFrame, 3 * kFrame}));
  push(0, 12 * kFrame);
  EXPECT_EQ(next(), (Times{12 * kFrame, 4 * kFrame}));
  EXPECT_TRUE(rig_->messages().of_type(GST_MESSAGE_QOS).empty());
}

TEST_F(TensorMuxOutput, SaysNothingOfBatchesThatWouldHoldNoPicture) {
  start({"25/1"});
  push(0, 0);
  rig_->pull();
  const PadRef src(gst_element_get_static_pad(rig_->element(), "src"));
  gst_pad_send_event(src.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5, 0, 5 * kFrame));
  rig_->camera(0).event(gst_event_new_gap(kFrame, kFrame));
  push(0, 2 * kFrame);  // late
  push(0, 9 * kFrame);
  EXPECT_EQ(next(), (Times{9 * kFrame}));
  EXPECT_EQ(rig_->messages().of_type(GST_MESSAGE_QOS).size(), 1u);
}

TEST_F(TensorMuxOutput, TakesACameraWhoseStreamBeginsWithAGap) {
  start({"25/1", "25/1"});
  MuxCamera &late = rig_->add(2);
  late.event(gst_event_new_stream_start("late"));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  late.event(gst_event_new_segment(&segment));
  late.event(gst_event_new_gap(0, kFrame));
  push_all(2, 0);
  EXPECT_EQ(next(), (Times{0, 0, std::nullopt}));
  late.caps(video_caps(desc_, "framerate=25/1"));
  push_all(3, kFrame);
  EXPECT_EQ(next(), (Times{kFrame, kFrame, kFrame}));
}

TEST_F(TensorMuxOutput, HasTheControlledPropertyOfItsTime) {
  start({"25/1"}, "batch-size=2");
  GstControlSource *source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  for (guint i = 0; i < 4; ++i)
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), i * kFrame,
                                       50.0 * i);
  gst_object_add_control_binding(
      GST_OBJECT(rig_->element()),
      gst_direct_control_binding_new_absolute(GST_OBJECT(rig_->element()), "pad-value", source));
  gst_object_unref(source);
  for (guint i = 0; i < 4; ++i) {
    push(0, i * kFrame);
    const Bytes batch = bytes_of(rig_->pull().get());
    EXPECT_EQ(batch.at(16), 50 * i) << "in the empty slot";
  }
}

TEST_F(TensorMuxOutput, SignalsItsSamplesAtTheirPosition) {
  start({"25/1"}, "emit-signals=true");
  GstClockTime position = 0;
  const auto note = [](GstElement *, const GstSegment *segment, GstClockTime, GstClockTime,
                       GstClockTime, GstStructure *,
                       gpointer to) { *static_cast<GstClockTime *>(to) = segment->position; };
  g_signal_connect(
      rig_->element(), "samples-selected",
      reinterpret_cast<GCallback>(
          static_cast<void (*)(GstElement *, const GstSegment *, GstClockTime, GstClockTime,
                               GstClockTime, GstStructure *, gpointer)>(note)),
      &position);
  push(0, 7 * kFrame);
  rig_->pull();
  EXPECT_EQ(position, 7 * kFrame);
  rig_.reset();
}

/// Returns false for GStreamer before 1.22.9, which may free a query that is being answered.
bool has_safe_queries() {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  return std::tie(minor, micro) >= std::make_tuple(22u, 9u);
}

TEST_F(TensorMuxOutput, OffersPoolsOfTheCapsThatItIsAskedWith) {
  start({"25/1"});
  push(0, 0);
  rig_->pull();
  const ImageDesc other = {PixelFormat::RGB, 130, 70};
  const CapsRef caps(gst_caps_from_string(video_caps(other).c_str()));
  const QueryRef query(gst_query_new_allocation(caps.get(), TRUE));
  ASSERT_EQ(gst_pad_peer_query(rig_->camera(0).source(), query.get()), has_safe_queries());
  if (!has_safe_queries()) return;
  ASSERT_GE(gst_query_get_n_allocation_pools(query.get()), 1u);
  guint size = 0;
  gst_query_parse_nth_allocation_pool(query.get(), 0, nullptr, &size, nullptr, nullptr);
  EXPECT_EQ(size, video_info_of(other).size);
}

// ----------------------------------------------------------------------------- where it goes nowhere

TEST_F(TensorMuxOutput, EndsInAnErrorWhereNobodyTakesTensors) {
  start({"25/1"});
  rig_->downstream("text/plain");
  push(0, 0);
  EXPECT_TRUE(mentions(rig_->wait_for_error(), "downstream accepts text/plain"));
}

TEST_F(TensorMuxOutput, EndsInAnErrorWhereNothingIsLinked) {
  start({"25/1"});
  push(0, 0);
  rig_->pull();
  const PadRef src(gst_element_get_static_pad(rig_->element(), "src"));
  const PadRef sink(gst_pad_get_peer(src.get()));
  gst_pad_unlink(src.get(), sink.get());
  push(0, kFrame);
  EXPECT_TRUE(mentions(rig_->wait_for_error(), "stream"));
  gst_pad_link(src.get(), sink.get());
}

}  // namespace
}  // namespace cudatensor
