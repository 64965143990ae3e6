// SPDX-License-Identifier: LGPL-2.1-or-later
// cudatensormux: its batches, and its reaction to cameras that are late, end or change.
#include "muxtimes.h"
#include "reference.h"

namespace cudatensor {
namespace {

const ImageDesc kDesc = {PixelFormat::NV12, 16, 8};

std::vector<bool> valid_of(GstBuffer *batch) {
  std::vector<bool> valid;
  for (const BatchSlotMeta &slot : slots_of(batch)) valid.push_back(slot.valid);
  return valid;
}
using Valid = std::vector<bool>;

// ------------------------------------------------------------------------------ what is computed

void expect_single_runs(const NormalizeCase &params, const std::vector<PixelFormat> &formats) {
  const std::vector<Picture> pictures = mixed_pictures(16, formats);
  MuxRig rig(properties_of(params), pictures.size());
  std::vector<Bytes> expected;
  for (size_t i = 0; i < pictures.size(); ++i) {
    rig.camera(i).caps(video_caps(pictures[i].desc(), kRate));
    EXPECT_EQ(rig.camera(i).push(frame_at(pictures[i], 0, kFrame)), GST_FLOW_OK);
    expected.push_back(slot_bytes(pictures[i], params));
  }
  EXPECT_TRUE(same_bytes(bytes_of(rig.pull().get()), joined(expected))) << properties_of(params);
}

TEST(TensorMux, SixteenCamerasEqualSixteenSingleRuns) {
  NormalizeCase params = small_params();
  for (const ResizeMode mode :
       {ResizeMode::stretch, ResizeMode::affine, ResizeMode::ultralytics, ResizeMode::top_left})
    for (const Color color : {Color::rgb, Color::bgr, Color::gray, Color::yuv}) {
      params.resize.mode = mode;
      params.color = color;
      params.out.c = color == Color::gray ? 1 : 3;
      expect_single_runs(params, color == Color::yuv ? kYuvFormats : kInputFormats);
    }
}

TEST(TensorMux, GivesEveryTypeAndLayout) {
  NormalizeCase params = small_params();
  for (const DType dtype :
       {DType::float32, DType::float16, DType::bfloat16, DType::uint8, DType::int8})
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      params.out.dtype = dtype;
      params.out.layout = layout;
      expect_single_runs(params, kInputFormats);
    }
}

TEST(TensorMux, NormalizesWithListsOfValues) {
  NormalizeCase params = small_params();
  params.mean = {0.485, 0.456, 0.406};
  params.std = {0.229, 0.224, 0.225};
  const Picture picture = random_picture(kDesc);
  MuxRig rig(properties_of(params) + " mean=<0.485,0.456,0.406> std=<0.229,0.224,0.225>", 1);
  rig.camera(0).caps(video_caps(kDesc));
  rig.camera(0).push(frame_at(picture, 0, kFrame));
  EXPECT_TRUE(same_bytes(bytes_of(rig.pull().get()), slot_bytes(picture, params)));
}

// -------------------------------------------------------------------------------------- the caps

/// Returns the text of the error that a batch gives.
std::string error_of(MuxRig &rig) {
  EXPECT_TRUE(rig.reaches_eos());
  const auto errors = rig.messages().errors();
  EXPECT_EQ(errors.size(), 1u);
  EXPECT_EQ(rig.pull_if_there(), nullptr);
  return errors.empty() ? "" : errors[0].text;
}

/// Returns the flow return that a refused camera gets, which its first frame does not, because it
/// waits.
GstFlowReturn refusal_of(MuxCamera &camera, const ImageDesc &desc) {
  for (int i = 0; i < 1000; ++i) {
    const GstFlowReturn flow = camera.push(buffer_of(Picture(desc)));
    if (flow != GST_FLOW_OK) return flow;
  }
  return GST_FLOW_OK;
}

/// A rig of cameras at 25 frames per second that have all pushed their first frame.
class TensorMuxCaps : public testing::Test {
 protected:
  void start(const std::string &properties, size_t cameras, const std::string &downstream = "ANY") {
    rig_ = std::make_unique<MuxRig>(properties, cameras);
    rig_->downstream(downstream);
    for (size_t i = 0; i < cameras; ++i) {
      rig_->camera(i).caps(video_caps(kDesc, kRate));
      rig_->camera(i).push(frame_at(Picture(kDesc), 0, kFrame));
    }
  }

  std::unique_ptr<MuxRig> rig_;
};

TEST_F(TensorMuxCaps, SayHowManyPicturesThereAre) {
  start("width=20 height=10 dtype=float16", 3);
  rig_->pull();
  EXPECT_EQ(rig_->output("dimensions"), "20:10:3:3");
  EXPECT_EQ(rig_->output("types"), "float16");
  EXPECT_EQ(rig_->output("framerate"), "25/1");
}

TEST_F(TensorMuxCaps, KeepABatchSize) {
  start("width=20 height=10 batch-size=8 layout=nhwc", 3);
  const BufferRef batch = rig_->pull();
  EXPECT_EQ(rig_->output("dimensions"), "3:20:10:8");
  EXPECT_EQ(valid_of(batch.get()), (Valid{true, true, true, false, false, false, false, false}));
}

TEST_F(TensorMuxCaps, TakeTheSizeFromDownstreamOrTheFirstCamera) {
  start("", 2);
  rig_->pull();
  EXPECT_EQ(rig_->output("dimensions"), "16:8:3:2");
  start("", 2, tensor_caps("float32", "30:20:3:2", kRate));
  rig_->pull();
  EXPECT_EQ(rig_->output("dimensions"), "30:20:3:2");
}

TEST_F(TensorMuxCaps, HaveThreeDimensionsForOnePicture) {
  start("width=20 height=10", 1, tensor_caps("float32", "20:10:3", kRate));
  rig_->pull();
  EXPECT_EQ(rig_->output("dimensions"), "20:10:3");
}

TEST_F(TensorMuxCaps, AreRefusedWhereDownstreamTakesAnotherBatch) {
  const WarningLog log;
  start("width=20 height=10", 2, tensor_caps("float32", "20:10:3:4", kRate));
  // Sources that have ended would not get the error as a flow return.
  const auto errors = rig_->wait_for_error();
  EXPECT_TRUE(mentions(errors, "a batch size of 2 produce 20:10:3:2"));
  EXPECT_EQ(refusal_of(rig_->camera(0), kDesc), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_TRUE(rig_->messages().errors().empty()) << "more than one";
}

TEST_F(TensorMuxCaps, AreRefusedWhereDownstreamTakesNoTensor) {
  start("width=20 height=10", 1, "text/plain");
  EXPECT_TRUE(mentions(rig_->wait_for_error(), "downstream accepts text/plain"));
}

TEST_F(TensorMuxCaps, AreRefusedIfACameraLacksTheColours) {
  MuxRig rig("color=yuv", 1);
  rig.camera(0).caps(video_caps({PixelFormat::RGB, 8, 8}));
  rig.camera(0).push(frame_at(Picture({PixelFormat::RGB, 8, 8}), 0, kFrame));
  EXPECT_TRUE(mentions(rig.wait_for_error(), "sink_0: color=yuv requires YUV input"));
}

// -------------------------------------------------------------------------------------- the meta

TEST(TensorMuxMeta, SaysWhatLiesInEachSlot) {
  MuxRig rig("width=20 height=20 resize-mode=ultralytics batch-size=3", 2);
  const ImageDesc wide = {PixelFormat::RGB, 40, 20}, high = {PixelFormat::NV12, 10, 40};
  rig.camera(0).event(gst_event_new_stream_start("front door"));
  rig.camera(0).caps(video_caps(wide, kRate));
  rig.camera(1).caps(video_caps(high, kRate));
  rig.camera(0).push(frame_at(Picture(wide), 5, kFrame));
  rig.camera(1).push(frame_at(Picture(high), 9, kFrame));
  const BufferRef batch = rig.pull();
  const auto slots = slots_of(batch.get());
  ASSERT_EQ(slots.size(), 3u);
  EXPECT_TRUE(slots[0].valid);
  EXPECT_EQ(slots[0].pad_index, 0);
  EXPECT_EQ(slots[0].stream_id, "front door");
  EXPECT_EQ(slots[0].pts, 5u);
  EXPECT_EQ(slots[0].duration, kFrame);
  EXPECT_EQ(slots[0].running_time, 5u);
  EXPECT_EQ(slots[0].src_width, 40);
  EXPECT_EQ(slots[0].content_height, 10);
  EXPECT_EQ(slots[0].pad_top, 5);
  EXPECT_EQ(slots[1].pad_index, 1);
  EXPECT_EQ(slots[1].running_time, 9u);
  EXPECT_EQ(slots[1].src_height, 40);
  EXPECT_EQ(slots[1].content_width, 5);
  EXPECT_FALSE(slots[2].valid);
  EXPECT_EQ(slots[2].pad_index, -1);
  EXPECT_EQ(GST_BUFFER_PTS(batch.get()), 5u);
}

TEST(TensorMuxMeta, SpeaksOfTheFirstPicture) {
  MuxRig rig("", 1);
  const ElementRef letterbox = make_element("cudaletterbox");
  GstHarness *harness = gst_harness_new_with_element(letterbox.get(), "sink", "src");
  gst_harness_set_sink_caps(harness,
                            gst_caps_from_string("video/x-raw,format=RGB,width=20,height=20"));
  gst_harness_set_src_caps(harness,
                           gst_caps_from_string(video_caps({PixelFormat::RGB, 40, 20}).c_str()));
  gst_harness_push(harness, buffer_of(Picture({PixelFormat::RGB, 40, 20})).release());
  BufferRef small(gst_harness_pull(harness));
  gst_harness_teardown(harness);
  rig.camera(0).caps(video_caps({PixelFormat::RGB, 20, 20}));
  rig.camera(0).push(std::move(small));
  EXPECT_EQ(slots_of(rig.pull().get())[0].src_width, 40);
}

// ---------------------------------------------------------------- files: frames are waited for

class TensorMuxTimes : public MuxTimes {};

TEST_F(TensorMuxTimes, FramesOfOneRateMeetWhateverTheirPhase) {
  start("", 2);
  for (GstClockTime t = 0; t < 5 * kFrame; t += kFrame) {
    push(0, t);
    push(1, t + kFrame / 2);
    EXPECT_EQ(next(), (Times{t, t + kFrame / 2}));
  }
}

TEST_F(TensorMuxTimes, ASlowerCameraIsInSomeBatches) {
  start("", 2);
  push(1, 0, 3 * kFrame);
  for (GstClockTime t = 0; t < 9 * kFrame; t += kFrame) {
    push(0, t);
    const bool both = t % (3 * kFrame) == 0;
    EXPECT_EQ(next(), (both ? Times{t, t} : Times{t, kNone}));
    if (both) push(1, t + 3 * kFrame, 3 * kFrame);
  }
}

TEST_F(TensorMuxTimes, TheWindowMayBeSet) {
  start("window=10", 2);
  push(0, 0);
  push(1, 9);
  EXPECT_EQ(next(), (Times{0, 9}));
  push(0, 100);
  push(1, 110);
  EXPECT_EQ(next(), (Times{100, kNone}));
  push(0, 200);
  EXPECT_EQ(next(), (Times{kNone, 110}));
}

TEST_F(TensorMuxTimes, TheWindowChangesWithTheNextBatch) {
  start("window=10", 2);
  push(0, 0);
  push(1, 0);
  next();
  rig_->set("window", "100");
  push(0, 1000);
  push(1, 1050);
  EXPECT_EQ(next(), (Times{1000, 1050}));
}

TEST_F(TensorMuxTimes, FramesOfASegmentInBytesHaveNoTimes) {
  start("", 2);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  rig_->camera(1).event(gst_event_new_segment(&segment));
  push(0, kFrame);
  push(1, 50 * kFrame);
  EXPECT_EQ(next(), (Times{kFrame, GST_CLOCK_TIME_NONE}));
}

TEST_F(TensorMuxTimes, TheSegmentsOfCamerasCount) {
  start("", 2);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 5 * kFrame;
  rig_->camera(1).event(gst_event_new_segment(&segment));
  push(0, 0);
  push(1, 2 * kFrame);      // before the segment: clipped
  push(1, 4 * kFrame + 1);  // reaches into the segment: its first frame
  const BufferRef first = rig_->pull();
  EXPECT_EQ(times_of(first), (Times{0, 0}));
  EXPECT_EQ(slots_of(first.get()).at(1).pts, 4 * kFrame + 1);
  push(0, kFrame);
  push(1, 6 * kFrame);
  EXPECT_EQ(next(), (Times{kFrame, kFrame}));
}

TEST_F(TensorMuxTimes, AFrameWithoutADurationLastsAsTheFramerateSays) {
  start("", 1);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 5 * kFrame;
  rig_->camera(0).event(gst_event_new_segment(&segment));
  push(0, 4 * kFrame, GST_CLOCK_TIME_NONE);  // ends at the segment's begin
  push(0, 4 * kFrame + 1, GST_CLOCK_TIME_NONE);
  EXPECT_EQ(next_times(), (std::vector<GstClockTime>{4 * kFrame + 1}));
}

TEST_F(TensorMuxTimes, AFrameWithADurationLastsAsItSays) {
  start("", 1);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 5 * kFrame;
  rig_->camera(0).event(gst_event_new_segment(&segment));
  push(0, 4 * kFrame + 1, kFrame / 2);  // ends before the segment
  push(0, 2 * kFrame, 4 * kFrame);
  EXPECT_EQ(next_times(), (std::vector<GstClockTime>{2 * kFrame}));
}

TEST_F(TensorMuxTimes, FramesWithoutTimesJoin) {
  start("", 2);
  push(0, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE);
  push(1, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE);
  EXPECT_EQ(next(), (Times{GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE}));
}

TEST_F(TensorMuxTimes, AGapLeavesItsSlotEmpty) {
  start("", 2);
  push(0, 0);
  rig_->camera(1).event(gst_event_new_gap(0, kFrame));
  EXPECT_EQ(next(), (Times{0, kNone}));
  push(0, kFrame);
  push(1, kFrame);
  EXPECT_EQ(next(), (Times{kFrame, kFrame}));
}

TEST_F(TensorMuxTimes, ACameraThatEndsLeavesTheOthers) {
  start("", 3);
  for (size_t i = 0; i < 3; ++i) push(i, 0);
  next();
  rig_->camera(1).eos();
  push(0, kFrame);
  push(2, kFrame);
  EXPECT_EQ(next(), (Times{kFrame, kNone, kFrame}));
  rig_->camera(0).eos();
  rig_->camera(2).eos();
  EXPECT_TRUE(rig_->reaches_eos());
}

TEST_F(TensorMuxTimes, ACameraThatEndedMayBeginAgain) {
  start("", 2);
  for (int round = 0; round < 50; ++round) {
    const GstClockTime t = round * 2 * kFrame;
    push(0, t);
    push(1, t);
    ASSERT_EQ(next(), (Times{t, t}));
    rig_->camera(1).eos();
    push(0, t + kFrame);
    ASSERT_EQ(next(), (Times{t + kFrame, kNone}));
    rig_->camera(1).event(gst_event_new_stream_start("again"));
  }
}

// ------------------------------------------------------------------- live: the clock goes on

TEST_F(TensorMuxTimes, AFullSetDoesNotWaitForTheClock) {
  start("", 2, true);
  push(0, 0);
  push(1, 0);
  EXPECT_EQ(next(), (Times{0, 0}));
}

TEST_F(TensorMuxTimes, AStalledCameraHoldsUpNobodyBeyondTheLatency) {
  start("latency=5000000", 2, true);
  push(0, 0);
  push(1, 0);
  next();
  push(0, kFrame);
  EXPECT_EQ(rig_->time_out(), 2 * kFrame + 5 * GST_MSECOND);
  EXPECT_EQ(next(), (Times{kFrame, kNone}));
}

TEST_F(TensorMuxTimes, ALateFrameGoesIntoTheNextBatch) {
  start("", 2, true);
  push(0, 0);
  push(1, 0);
  next();
  push(0, kFrame);
  EXPECT_EQ(rig_->time_out(), 2 * kFrame);
  EXPECT_EQ(next(), (Times{kFrame, kNone}));
  push(1, kFrame - 1);
  push(0, 2 * kFrame);
  EXPECT_EQ(next(), (Times{2 * kFrame, kFrame - 1}));
}

TEST_F(TensorMuxTimes, TheNewestLateFrameIsTaken) {
  start("", 2, true);
  push(0, 10 * kFrame);
  EXPECT_EQ(rig_->time_out(), 11 * kFrame);
  EXPECT_EQ(next(), (Times{10 * kFrame, kNone}));
  push(1, 3 * kFrame);
  push(1, 4 * kFrame);
  push(0, 11 * kFrame);
  EXPECT_EQ(next(), (Times{11 * kFrame, 4 * kFrame}));
  const auto messages = rig_->messages().of_type(GST_MESSAGE_QOS);
  ASSERT_EQ(messages.size(), 1u);
  guint64 time = 0;
  gst_message_parse_qos(messages[0].get(), nullptr, &time, nullptr, nullptr, nullptr);
  EXPECT_EQ(time, 3 * kFrame);
}

TEST_F(TensorMuxTimes, AFrameFromTheFutureHoldsUpNobodyAfterIt) {
  start("", 2, true);
  push(0, 500 * kFrame);
  rig_->camera(0).eos();
  EXPECT_EQ(rig_->time_out(), 501 * kFrame);
  EXPECT_EQ(next(), (Times{500 * kFrame, kNone}));
  push(1, 498 * kFrame);
  EXPECT_EQ(next(), (Times{kNone, 498 * kFrame}));
  // The other camera pushes nothing.
  rig_->camera(0).event(gst_event_new_stream_start("again"));
  push(1, 499 * kFrame);
  EXPECT_LE(rig_->time_out(), 503 * kFrame);
  EXPECT_EQ(next(), (Times{kNone, 499 * kFrame}));
}

/// The pipeline may have been started long after its clock.
TEST_F(TensorMuxTimes, AFrameFromTheFutureDoesNotMoveTheClock) {
  for (const GstClockTime base : {GstClockTime{0}, GstClockTime{10 * GST_SECOND}}) {
    start("", 2, true);
    gst_element_set_base_time(rig_->element(), base);
    GstTestClock *clock = GST_TEST_CLOCK(gst_element_get_clock(rig_->element()));
    gst_test_clock_set_time(clock, base);
    gst_object_unref(clock);
    push(0, 500 * kFrame);
    // There is no other camera to wait for, so the batch is pushed at once.
    rig_->camera(1).eos();
    EXPECT_EQ(next(), (Times{500 * kFrame, kNone}));
    rig_->camera(1).event(gst_event_new_stream_start("again"));
    push(1, kFrame);
    // The frame is late, so its batch is due now, not in 20 s.
    EXPECT_LE(rig_->time_out(), base + 2 * kFrame);
    EXPECT_EQ(next(), (Times{kNone, kFrame}));
  }
}

TEST_F(TensorMuxTimes, NoTwoBatchesHaveOneTime) {
  start("", 2, true);
  push(0, 10 * kFrame);
  rig_->time_out();
  EXPECT_EQ(next(), (Times{10 * kFrame, kNone}));
  push(1, 10 * kFrame);
  rig_->time_out();
  const BufferRef batch = rig_->pull();
  EXPECT_EQ(times_of(batch), (Times{kNone, 10 * kFrame}));
  EXPECT_GT(GST_BUFFER_PTS(batch.get()), 10 * kFrame);
  EXPECT_LE(GST_BUFFER_PTS(batch.get()), 11 * kFrame);
}

TEST_F(TensorMuxTimes, AFlushedCameraShowsNothingFromBefore) {
  start("", 2, true);
  push(0, 0);
  push(1, 0);
  next();
  push(1, kFrame);
  rig_->wait_for_clock();
  rig_->camera(1).event(gst_event_new_flush_start());
  rig_->camera(1).event(gst_event_new_flush_stop(TRUE));
  push(0, kFrame);
  rig_->time_out();
  EXPECT_EQ(next(), (Times{kFrame, kNone}));
}

TEST_F(TensorMuxTimes, BatchesThatAreLateDownstreamAreDropped) {
  start("", 2);
  const PadRef src(gst_element_get_static_pad(rig_->element(), "src"));
  const auto send_qos = [&] {
    gst_pad_send_event(src.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5, kFrame, kFrame));
  };
  send_qos();
  for (GstClockTime t = 0; t < 5 * kFrame; t += kFrame)
    for (size_t i = 0; i < 2; ++i) push(i, t);
  EXPECT_EQ(next(), (Times{4 * kFrame, 4 * kFrame}));
  EXPECT_EQ(rig_->messages().of_type(GST_MESSAGE_QOS).size(), 4u);
  // A batch that was in time.
  gst_pad_send_event(src.get(), gst_event_new_qos(GST_QOS_TYPE_OVERFLOW, 0.5,
                                                  -GstClockTimeDiff{kFrame}, 5 * kFrame));
  for (size_t i = 0; i < 2; ++i) push(i, 5 * kFrame);
  EXPECT_EQ(next(), (Times{5 * kFrame, 5 * kFrame}));
  rig_->set("qos", "false");
  send_qos();
  for (size_t i = 0; i < 2; ++i) push(i, 6 * kFrame);
  EXPECT_EQ(next(), (Times{6 * kFrame, 6 * kFrame}));
}

TEST_F(TensorMuxTimes, NoBatchIsMadeWithoutAFrame) {
  start("", 2, true);
  push(0, 0);
  push(1, 0);
  next();
  // The element waits for frames, not for the clock.
  g_usleep(20000);
  EXPECT_EQ(rig_->pending_waits(), 0u);
  EXPECT_EQ(rig_->pull_if_there(), nullptr);
}

/// The latency is a frame's duration of the fastest camera.
TEST_F(TensorMuxTimes, AFramesDurationIsTheLatency) {
  for (const auto &[first, second] :
       {std::pair("25/1", "25/1"), std::pair("25/1", "10/1"), std::pair("10/1", "25/1")}) {
    start("latency=7", 2, true, (std::string("framerate=") + first).c_str());
    rig_->camera(1).caps(video_caps(desc_, std::string("framerate=") + second));
    push(0, 0);
    push(1, 0);
    next();
    const QueryRef query(gst_query_new_latency());
    const PadRef src(gst_element_get_static_pad(rig_->element(), "src"));
    ASSERT_TRUE(gst_pad_query(src.get(), query.get()));
    gboolean live = FALSE;
    GstClockTime least = 0;
    gst_query_parse_latency(query.get(), &live, &least, nullptr);
    EXPECT_TRUE(live);
    EXPECT_EQ(least, kFrame + 7) << first << " and " << second;
  }
}

// ------------------------------------------------------------------------- what changes on the way

TEST_F(TensorMuxTimes, PadsComeAndGo) {
  start("", 2);
  push(0, 0);
  push(1, 0);
  EXPECT_EQ(next(), (Times{0, 0}));
  EXPECT_EQ(rig_->output("dimensions"), "4:4:1:2");
  rig_->add(2).caps(video_caps(desc_, kRate));
  for (size_t i = 0; i < 3; ++i) push(i, kFrame);
  EXPECT_EQ(next(), (Times{kFrame, kFrame, kFrame}));
  EXPECT_EQ(rig_->output("dimensions"), "4:4:1:3");
  rig_->remove(0);
  push(1, 2 * kFrame);
  push(2, 2 * kFrame);
  EXPECT_EQ(next(), (Times{2 * kFrame, 2 * kFrame}));
  EXPECT_EQ(rig_->output("dimensions"), "4:4:1:2");
}

TEST_F(TensorMuxTimes, PadsKeepTheirSlotsInABatchSize) {
  start("batch-size=3", 3);
  for (size_t i = 0; i < 3; ++i) push(i, 0);
  next();
  rig_->remove(1);
  push(0, kFrame);
  push(2, kFrame);
  EXPECT_EQ(next(), (Times{kFrame, kNone, kFrame}));
  rig_->add(1).caps(video_caps(desc_, kRate));
  for (size_t i = 0; i < 3; ++i) push(i, 2 * kFrame);
  EXPECT_EQ(next(), (Times{2 * kFrame, 2 * kFrame, 2 * kFrame}));
}

TEST_F(TensorMuxTimes, APadBeyondTheBatchSizeTakesAFreeSlot) {
  start("batch-size=2", 1);
  rig_->add(7).caps(video_caps(desc_, kRate));
  push(0, 0);
  push(7, 0);
  EXPECT_EQ(next(), (Times{0, 0}));
  const PadRef third(gst_element_request_pad_simple(rig_->element(), "sink_%u"));
  EXPECT_EQ(third, nullptr);
}

/// Without a batch size there is a slot for each pad, whatever its number.
TEST_F(TensorMuxTimes, PadsWithoutABatchSizeAreInTheOrderOfTheirNumbers) {
  start("", 0);
  for (const size_t i : {5, 0, 1}) rig_->add(i).caps(video_caps(desc_, kRate));
  for (int removed = 0; removed < 2; ++removed) {
    for (const size_t i : {5, 1}) push(i, removed * kFrame);
    if (removed == 0) push(0, 0);
    std::vector<int> pads;
    for (const BatchSlotMeta &slot : slots_of(rig_->pull().get())) pads.push_back(slot.pad_index);
    EXPECT_EQ(pads, removed == 0 ? std::vector<int>({0, 1, 5}) : std::vector<int>({1, 5}));
    if (removed == 0) rig_->remove(0);
  }
}

TEST(TensorMux, FollowsACameraToOtherCaps) {
  const NormalizeCase params = small_params();
  MuxRig rig(properties_of(params), 2);
  for (int round = 0; round < 3; ++round) {
    const auto pictures = mixed_pictures(2 + round, kInputFormats);
    std::vector<Bytes> expected;
    for (size_t i = 0; i < 2; ++i) {
      const Picture &picture = pictures[round + i];
      rig.camera(i).caps(video_caps(picture.desc(), kRate));
      rig.camera(i).push(frame_at(picture, round * kFrame, kFrame));
      expected.push_back(slot_bytes(picture, params));
    }
    EXPECT_TRUE(same_bytes(bytes_of(rig.pull().get()), joined(expected))) << round;
  }
}

TEST(TensorMux, PropertiesChangeWhileItRuns) {
  NormalizeCase params = small_params();
  const Picture picture = random_picture(kDesc);
  MuxRig rig(properties_of(params), 1);
  rig.camera(0).caps(video_caps(kDesc, kRate));
  const auto expect_next = [&](GstClockTime t) {
    rig.camera(0).push(frame_at(picture, t, kFrame));
    EXPECT_TRUE(same_bytes(bytes_of(rig.pull().get()), slot_bytes(picture, params)));
  };
  expect_next(0);
  rig.set("mean", "<0.5>");
  params.mean = {0.5};
  expect_next(kFrame);
  rig.set("width", "9");
  params.out.w = 9;
  expect_next(2 * kFrame);
  EXPECT_EQ(rig.output("dimensions"), "9:10:3:1");
  rig.set("batch-size", "2");
  rig.camera(0).push(frame_at(picture, 3 * kFrame, kFrame));
  EXPECT_TRUE(same_bytes(bytes_of(rig.pull().get()),
                         joined({slot_bytes(picture, params), pad_bytes(params)})));
}

TEST(TensorMux, ASlotWithoutACameraDoesNotMindOtherColours) {
  NormalizeCase params = small_params();
  params.color = Color::yuv;
  params.resize.mode = ResizeMode::stretch;
  const Picture picture = random_picture(kDesc);
  MuxRig rig("batch-size=2 width=12 height=10", 2);
  rig.camera(0).caps(video_caps(kDesc, kRate));
  rig.camera(1).caps(video_caps({PixelFormat::RGB, 9, 9}, kRate));
  rig.camera(0).push(frame_at(picture, 0, kFrame));
  rig.camera(1).push(frame_at(Picture({PixelFormat::RGB, 9, 9}), 0, kFrame));
  rig.pull();
  rig.remove(1);
  rig.set("color", "yuv");
  rig.camera(0).push(frame_at(picture, kFrame, kFrame));
  const Bytes batch = bytes_of(rig.pull().get());
  EXPECT_TRUE(same_bytes(Bytes(batch.begin(), batch.begin() + batch.size() / 2),
                         slot_bytes(picture, params)));
}

// ------------------------------------------------------------------------------------- bad input

TEST(TensorMuxErrors, NameColoursThatNobodyConverts) {
  MuxRig rig("width=4 height=4", 2);
  for (size_t i = 0; i < 2; ++i) {
    rig.camera(i).caps(video_caps(kDesc, kRate));
    rig.camera(i).push(frame_at(Picture(kDesc), 0, kFrame));
  }
  rig.pull();
  rig.camera(1).caps(video_caps(kDesc, "colorimetry=2:2:0:0"));
  for (size_t i = 0; i < 2; ++i) rig.camera(i).push(frame_at(Picture(kDesc), kFrame, kFrame));
  EXPECT_TRUE(mentions(error_of(rig), "matrix of BT.601"));
}

TEST(TensorMuxErrors, NameTheCauseOfRefusedCaps) {
  MuxRig rig("width=4 height=4", 2);
  for (size_t i = 0; i < 2; ++i) {
    rig.camera(i).caps(video_caps(kDesc, kRate));
    rig.camera(i).push(frame_at(Picture(kDesc), 0, kFrame));
  }
  rig.pull();
  // The template accepts these caps, but GStreamer cannot parse them.
  rig.camera(1).caps(video_caps(kDesc, "interlace-mode=alternate"));
  for (size_t i = 0; i < 2; ++i) rig.camera(i).push(frame_at(Picture(kDesc), kFrame, kFrame));
  EXPECT_TRUE(mentions(error_of(rig), "sink_1: the caps do not describe a picture"));
}

TEST(TensorMuxErrors, NameAMatrixThatANewColourNeeds) {
  for (const char *color : {"rgb", "bgr"}) {
    MuxRig rig("width=4 height=4 color=gray", 1);
    rig.camera(0).caps(video_caps(kDesc, "colorimetry=2:2:0:0"));
    rig.camera(0).push(frame_at(Picture(kDesc), 0, kFrame));
    rig.pull();
    rig.set("color", color);
    rig.camera(0).push(frame_at(Picture(kDesc), kFrame, kFrame));
    EXPECT_TRUE(mentions(error_of(rig), "matrix of BT.601")) << color;
  }
}

TEST(TensorMuxErrors, NameAFrameWithoutCaps) {
  MuxRig rig("width=4 height=4", 1);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.camera(0).event(gst_event_new_segment(&segment));
  rig.camera(0).push(buffer_of(Bytes(10)));
  EXPECT_TRUE(mentions(error_of(rig), "sink_0: a frame has no caps"));
}

TEST(TensorMuxErrors, NameAnInvalidProperty) {
  MuxRig rig("width=4 height=4 mean=<1,2>", 1);
  rig.camera(0).caps(video_caps(kDesc, kRate));
  rig.camera(0).push(frame_at(Picture(kDesc), 0, kFrame));
  EXPECT_TRUE(mentions(error_of(rig), "mean"));
}

TEST(TensorMuxErrors, NameABatchSizeBelowThePads) {
  MuxRig rig("width=4 height=4", 2);
  for (size_t i = 0; i < 2; ++i) {
    rig.camera(i).caps(video_caps(kDesc, kRate));
    rig.camera(i).push(frame_at(Picture(kDesc), 0, kFrame));
  }
  rig.pull();
  rig.set("batch-size", "1");
  for (size_t i = 0; i < 2; ++i) rig.camera(i).push(frame_at(Picture(kDesc), kFrame, kFrame));
  EXPECT_TRUE(mentions(error_of(rig), "batch-size"));
}

}  // namespace
}  // namespace cudatensor
