// SPDX-License-Identifier: LGPL-2.1-or-later
// cudatensormux: starts, stops, flushes and seeks leave no state behind.
#include <gst/controller/gstdirectcontrolbinding.h>

#include <functional>
#include <thread>
#include <utility>

#include "muxrig.h"
#include "pipeline.h"
#include "reference.h"

// ------------------------------------------------------------------- a call in the middle of a batch

namespace {

/// A control source that calls back when the element reads a property, before it takes a batch's
/// frames.
struct CallingSource {
  GstControlSource parent;
  std::function<void()> *call;
};
struct CallingSourceClass {
  GstControlSourceClass parent_class;
};
G_DEFINE_TYPE(CallingSource, calling_source, GST_TYPE_CONTROL_SOURCE)

void calling_source_class_init(CallingSourceClass *) {}
void calling_source_init(CallingSource *self) {
  self->parent.get_value = [](GstControlSource *source, GstClockTime, gdouble *value) -> gboolean {
    (*reinterpret_cast<CallingSource *>(source)->call)();
    *value = 114;
    return TRUE;
  };
}

}  // namespace

namespace cudatensor {
namespace {

constexpr GstClockTime kFrame = 40 * GST_MSECOND;  // 25 a second
constexpr const char *kRate = "framerate=25/1";

/// Runs `call` on the streaming thread before the frames of each batch are taken. It must live as
/// long as the element.
void call_before_batches(GstElement *mux, std::function<void()> &call) {
  auto *source = static_cast<CallingSource *>(
      g_object_ref_sink(g_object_new(calling_source_get_type(), nullptr)));
  source->call = &call;
  gst_object_add_control_binding(
      GST_OBJECT(mux), gst_direct_control_binding_new_absolute(GST_OBJECT(mux), "pad-value",
                                                               GST_CONTROL_SOURCE(source)));
  gst_object_unref(source);
}

/// Grey cameras whose frames differ in their level.
class TensorMuxLifecycle : public testing::Test {
 protected:
  void start(size_t cameras, const std::string &properties = "") {
    rig_ =
        std::make_unique<MuxRig>("width=4 height=4 dtype=uint8 color=gray " + properties, cameras);
    cameras_ = cameras;
    begin();
  }
  void begin() {
    for (size_t i = 0; i < cameras_; ++i) rig_->camera(i).begin(video_caps(desc_, kRate));
  }
  void restart() {
    rig_->restart();
    begin();
  }
  /// Begins the first camera's stream without caps.
  void begin_without_caps() {
    forget_caps(rig_->camera(0).source());
    rig_->camera(0).event(gst_event_new_stream_start("again"));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    rig_->camera(0).event(gst_event_new_segment(&segment));
  }
  void flush() {
    rig_->flush();
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    for (size_t i = 0; i < cameras_; ++i) rig_->camera(i).event(gst_event_new_segment(&segment));
  }
  GstFlowReturn push(size_t camera, GstClockTime pts, int level) {
    return rig_->camera(camera).push(
        frame_at(Picture(desc_, static_cast<uint8_t>(level)), pts, kFrame));
  }
  void push_all(GstClockTime pts, int level) {
    for (size_t i = 0; i < cameras_; ++i) push(i, pts, level);
  }
  /// Expects the next batch at this time, with frames of this level only.
  void expect_batch(GstClockTime pts, int level) {
    const BufferRef batch = rig_->pull();
    EXPECT_EQ(GST_BUFFER_PTS(batch.get()), pts);
    EXPECT_TRUE(
        same_bytes(bytes_of(batch.get()), Bytes(16 * cameras_, static_cast<uint8_t>(level))));
  }
  /// Makes batches before this running time late downstream.
  void be_late(GstClockTime time) {
    const PadRef src(gst_element_get_static_pad(rig_->element(), "src"));
    gst_pad_send_event(src.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5, 0, time));
  }

  const ImageDesc desc_ = {PixelFormat::GRAY8, 4, 4};
  std::unique_ptr<MuxRig> rig_;
  size_t cameras_ = 0;
};

TEST_F(TensorMuxLifecycle, StartsAndStopsManyTimes) {
  start(2);
  for (int round = 0; round < 50; ++round) {
    // Each start is earlier than the one before, so that a remaining clock state is noticed.
    const GstClockTime begins = (100 - round) * kFrame;
    push_all(begins, round);
    expect_batch(begins, round);
    push_all(begins + kFrame, 100 + round);
    expect_batch(begins + kFrame, 100 + round);
    // A frame that waits during the stop must not come out later.
    push(0, begins + 2 * kFrame, 255);
    ASSERT_EQ(gst_element_set_state(rig_->element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(property_of(rig_->element(), "active-backend"), "auto");
    restart();
  }
}

TEST_F(TensorMuxLifecycle, AnotherStartForgetsTheCapsOfItsCameras) {
  start(1);
  push_all(0, 1);
  expect_batch(0, 1);
  rig_->restart();
  begin_without_caps();
  push(0, 0, 2);
  EXPECT_TRUE(mentions(rig_->wait_for_error(), "sink_0: a frame has no caps"));
  EXPECT_EQ(rig_->pull_if_there(), nullptr);
}

TEST_F(TensorMuxLifecycle, AnotherStartForgetsWhyCapsWereRefused) {
  start(1);
  rig_->camera(0).caps(video_caps(desc_, "interlace-mode=alternate"));
  push(0, 0, 1);
  EXPECT_TRUE(mentions(rig_->wait_for_error(), "do not describe a picture"));
  rig_->restart();
  begin_without_caps();
  push(0, 0, 2);
  EXPECT_TRUE(mentions(rig_->wait_for_error(), "sink_0: a frame has no caps"));
}

TEST_F(TensorMuxLifecycle, AnotherStartForgetsWhatWasLateDownstream) {
  start(2);
  push_all(0, 1);
  expect_batch(0, 1);
  be_late(100 * kFrame);
  restart();
  push_all(kFrame, 2);
  expect_batch(kFrame, 2);
}

TEST_F(TensorMuxLifecycle, EachStartSaysItsOwnError) {
  Messages messages;
  const ElementRef mux = make_element("cudatensormux backend=cuda cuda-device-id=999");
  gst_element_set_bus(mux.get(), messages.bus());
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(gst_element_set_state(mux.get(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
    EXPECT_EQ(messages.errors().size(), 1u) << "round " << round;
    EXPECT_EQ(gst_element_set_state(mux.get(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  }
  gst_element_set_bus(mux.get(), nullptr);
}

// ---------------------------------------------------------------------------------------- flushes

TEST_F(TensorMuxLifecycle, SurvivesAFlush) {
  start(2);
  push_all(50 * kFrame, 1);
  expect_batch(50 * kFrame, 1);
  push(0, 51 * kFrame, 255);  // waits for the other camera
  flush();
  // The frames are not late, but the first ones after the flush.
  push_all(0, 2);
  expect_batch(0, 2);
  push_all(kFrame, 3);
  expect_batch(kFrame, 3);
}

TEST_F(TensorMuxLifecycle, AFlushForgetsWhatWasLateDownstream) {
  start(2);
  push_all(0, 1);
  expect_batch(0, 1);
  be_late(100 * kFrame);
  flush();
  push_all(kFrame, 2);
  expect_batch(kFrame, 2);
}

TEST_F(TensorMuxLifecycle, ACameraFlushedInTheMiddleOfABatchIsNotInIt) {
  start(2);
  push_all(0, 1);
  expect_batch(0, 1);
  bool flushed = false;
  std::function<void()> flush = [&] {
    if (std::exchange(flushed, true)) return;
    std::thread([&] {
      rig_->camera(1).event(gst_event_new_flush_start());
      rig_->camera(1).event(gst_event_new_flush_stop(TRUE));
    }).join();
  };
  call_before_batches(rig_->element(), flush);
  push_all(kFrame, 2);
  const BufferRef batch = rig_->pull();
  EXPECT_TRUE(flushed);
  const auto slots = slots_of(batch.get());
  EXPECT_TRUE(slots.at(0).valid);
  EXPECT_FALSE(slots.at(1).valid);
  rig_.reset();
}

// ------------------------------------------------------------------------------------------ seeks

/// Returns the stream times of a mux of two cameras after a seek to the segment from 2 s to 3 s.
std::vector<GstClockTime> stream_times_at(double rate) {
  Pipeline pipeline(
      "cudatensormux name=mux width=8 height=8 ! fakesink name=out sync=false "
      "videotestsrc ! video/x-raw,width=16,height=16,framerate=100/1 ! mux. "
      "videotestsrc ! video/x-raw,width=16,height=16,framerate=100/1 ! mux.");
  EXPECT_TRUE(pipeline.reaches(GST_STATE_PAUSED));
  std::vector<GstClockTime> times;
  const ElementRef mux = pipeline.find("mux");
  const PadRef src(gst_element_get_static_pad(mux.get(), "src"));
  const auto note = [](GstPad *pad, GstPadProbeInfo *info, gpointer to) {
    const EventRef event(gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0));
    const GstSegment *segment = nullptr;
    gst_event_parse_segment(event.get(), &segment);
    static_cast<std::vector<GstClockTime> *>(to)->push_back(gst_segment_to_stream_time(
        segment, GST_FORMAT_TIME, GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info))));
    return GST_PAD_PROBE_OK;
  };
  const gulong probe =
      gst_pad_add_probe(src.get(), GST_PAD_PROBE_TYPE_BUFFER, note, &times, nullptr);
  EXPECT_TRUE(gst_element_seek(pipeline.get(), rate, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                               GST_SEEK_TYPE_SET, 2 * GST_SECOND, GST_SEEK_TYPE_SET,
                               3 * GST_SECOND));
  EXPECT_EQ(pipeline.run(), "");
  pipeline.stop();
  gst_pad_remove_probe(src.get(), probe);
  return times;
}

TEST(TensorMuxSeek, StreamTimesAreTheCamerasAtAnyRate) {
  for (const double rate : {1.0, 2.0, 0.5}) {
    const auto times = stream_times_at(rate);
    ASSERT_EQ(times.size(), 100u) << rate;
    for (size_t i = 0; i < times.size(); ++i)
      ASSERT_EQ(times[i], 2 * GST_SECOND + i * 10 * GST_MSECOND) << rate;
  }
}

/// Times are exact to a nanosecond, by which the segment's end lies after the last frame.
TEST(TensorMuxSeek, StreamTimesAreTheCamerasBackwards) {
  for (const double rate : {-1.0, -2.0, -0.5}) {
    const auto times = stream_times_at(rate);
    ASSERT_GE(times.size(), 99u) << rate;
    for (size_t i = 0; i < times.size(); ++i)
      ASSERT_NEAR(static_cast<double>(times[i]),
                  static_cast<double>(3 * GST_SECOND - (i + 1) * 10 * GST_MSECOND), 3)
          << rate << ' ' << i;
  }
}

}  // namespace
}  // namespace cudatensor
