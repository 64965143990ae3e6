// SPDX-License-Identifier: LGPL-2.1-or-later
// cudatensormux with sources that have their own threads, fail and return.
#include <map>
#include <mutex>

#include "muxrig.h"
#include "pipeline.h"

namespace cudatensor {
namespace {

constexpr int kFramesPerSecond = 100;

/// A pipeline whose mux `mux` has cameras that come and go; records each camera's frames.
class Cameras {
 public:
  explicit Cameras(const std::string &properties)
      : pipeline_("cudatensormux name=mux width=8 height=8 dtype=uint8 " + properties +
                  " ! fakesink name=out sync=false async=false"),
        mux_(pipeline_.find("mux")) {
    const PadRef src(gst_element_get_static_pad(mux_.get(), "src"));
    gst_pad_add_probe(src.get(), GST_PAD_PROBE_TYPE_BUFFER, collect, this, nullptr);
  }
  ~Cameras() { pipeline_.stop(); }

  void add(int number, bool live, const std::string &more = "") {
    const std::string description =
        std::string("videotestsrc pattern=black ") + (live ? "is-live=true " : "") + more +
        " ! capsfilter caps=video/x-raw,format=GRAY8,width=16,height=16,framerate=" +
        std::to_string(kFramesPerSecond) + "/1";
    GstElement *camera = gst_parse_bin_from_description(description.c_str(), TRUE, nullptr);
    gst_bin_add(GST_BIN(pipeline_.get()), camera);
    const PadRef sink(
        gst_element_request_pad_simple(mux_.get(), ("sink_" + std::to_string(number)).c_str()));
    const PadRef src(gst_element_get_static_pad(camera, "src"));
    EXPECT_EQ(gst_pad_link(src.get(), sink.get()), GST_PAD_LINK_OK);
    gst_element_sync_state_with_parent(camera);
    cameras_[number] = camera;
  }

  /// Simulates a source whose thread ends without an event, and the application that notices.
  void kill(int number) {
    GstElement *camera = cameras_[number];
    const PadRef src(gst_element_get_static_pad(camera, "src"));
    const PadRef sink(gst_pad_get_peer(src.get()));
    gst_element_set_locked_state(camera, TRUE);
    gst_element_set_state(camera, GST_STATE_NULL);
    gst_pad_unlink(src.get(), sink.get());
    gst_element_release_request_pad(mux_.get(), sink.get());
    gst_bin_remove(GST_BIN(pipeline_.get()), camera);
    cameras_.erase(number);
  }

  void start() { pipeline_.start(); }
  std::string wait() { return pipeline_.wait(); }

  /// Returns the times of a camera's frames in order of arrival.
  std::vector<GstClockTime> times_of(int number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return times_[number];
  }
  /// Waits until this number of a camera's frames has arrived.
  void wait_for(int number, size_t count) {
    for (int i = 0; i < 6000 && times_of(number).size() < count; ++i) g_usleep(10000);
    EXPECT_GE(times_of(number).size(), count) << "camera " << number;
  }

 private:
  static GstPadProbeReturn collect(GstPad *, GstPadProbeInfo *info, gpointer self) {
    auto &cameras = *static_cast<Cameras *>(self);
    const std::lock_guard<std::mutex> lock(cameras.mutex_);
    for (const BatchSlotMeta &slot : slots_of(GST_PAD_PROBE_INFO_BUFFER(info)))
      if (slot.valid) cameras.times_[slot.pad_index].push_back(slot.pts);
    return GST_PAD_PROBE_OK;
  }

  Pipeline pipeline_;
  ElementRef mux_;
  std::map<int, GstElement *> cameras_;
  std::mutex mutex_;
  std::map<int, std::vector<GstClockTime>> times_;
};

/// Expects every frame once, in order.
void expect_no_loss(const std::vector<GstClockTime> &times) {
  const GstClockTime frame = GST_SECOND / kFramesPerSecond;
  for (size_t i = 1; i < times.size(); ++i)
    ASSERT_EQ((times[i] - times[0] + frame / 2) / frame, i) << "frame " << i;
}

TEST(TensorMuxLive, OneOfFourCamerasDiesFiftyTimesAndTheOthersLoseNothing) {
  Cameras cameras("batch-size=4 latency=2000000000");
  for (int i = 0; i < 4; ++i) cameras.add(i, true);
  cameras.start();
  for (int i = 0; i < 4; ++i) cameras.wait_for(i, 1);
  for (int round = 0; round < 50; ++round) {
    const size_t before = cameras.times_of(3).size();
    cameras.kill(3);
    cameras.wait_for(0, cameras.times_of(0).size() + 2);
    cameras.add(3, true, "do-timestamp=true");
    cameras.wait_for(3, before + 1);
  }
  for (int i = 0; i < 3; ++i) expect_no_loss(cameras.times_of(i));
}

TEST(TensorMuxLive, FilesEndOneAfterTheOther) {
  Cameras cameras("batch-size=3");
  for (int i = 0; i < 3; ++i) cameras.add(i, false, "num-buffers=" + std::to_string(20 * (i + 1)));
  cameras.start();
  EXPECT_EQ(cameras.wait(), "");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cameras.times_of(i).size(), 20u * (i + 1));
    expect_no_loss(cameras.times_of(i));
  }
}

TEST(TensorMuxLive, AFileThatIsTakenAwayHoldsUpNobody) {
  Cameras cameras("");
  for (int i = 0; i < 3; ++i) cameras.add(i, false);
  cameras.start();
  for (int round = 0; round < 20; ++round) {
    cameras.wait_for(2, cameras.times_of(2).size() + 3);
    cameras.kill(2);
    cameras.wait_for(0, cameras.times_of(0).size() + 3);
    cameras.add(2, false);
  }
  expect_no_loss(cameras.times_of(0));
  expect_no_loss(cameras.times_of(1));
}

/// Records buffers that lie in the current segment.
struct Played {
  GstSegment segment;
  std::vector<GstClockTime> stream_times;
};

GstPadProbeReturn play(GstPad *pad, GstPadProbeInfo *info, gpointer to) {
  auto &played = *static_cast<Played *>(to);
  const EventRef event(gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0));
  if (event) gst_event_copy_segment(event.get(), &played.segment);
  const GstClockTime pts = GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info));
  if (gst_segment_to_running_time(&played.segment, GST_FORMAT_TIME, pts) != GST_CLOCK_TIME_NONE)
    played.stream_times.push_back(
        gst_segment_to_stream_time(&played.segment, GST_FORMAT_TIME, pts));
  return GST_PAD_PROBE_OK;
}

TEST(TensorMuxLive, ASeekPlaysWhatItAsksFor) {
  Pipeline pipeline(
      "cudatensormux name=mux width=8 height=8 ! fakesink name=out sync=false "
      "videotestsrc ! video/x-raw,width=16,height=16,framerate=100/1 ! mux. "
      "videotestsrc ! video/x-raw,width=16,height=16,framerate=50/1 ! mux.");
  ASSERT_TRUE(pipeline.reaches(GST_STATE_PAUSED));
  Played played = {};
  const ElementRef mux = pipeline.find("mux");
  const PadRef src(gst_element_get_static_pad(mux.get(), "src"));
  gst_pad_add_probe(src.get(), GST_PAD_PROBE_TYPE_BUFFER, play, &played, nullptr);
  ASSERT_TRUE(gst_element_seek(pipeline.get(), 1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                               GST_SEEK_TYPE_SET, 2 * GST_SECOND, GST_SEEK_TYPE_SET,
                               3 * GST_SECOND));
  EXPECT_EQ(pipeline.run(), "");
  ASSERT_EQ(played.stream_times.size(), 100u);
  EXPECT_EQ(played.stream_times.front(), 2 * GST_SECOND);
  EXPECT_EQ(played.stream_times.back(), 2 * GST_SECOND + 99 * GST_SECOND / 100);
}

TEST(TensorMuxLive, AnErrorComesThoughTheSourcesHaveEnded) {
  Pipeline pipeline(
      "videotestsrc num-buffers=1 ! video/x-raw,width=16,height=16 ! cudatensormux ! "
      "other/tensors,types=uint8 ! fakesink name=out");
  EXPECT_TRUE(mentions(pipeline.run(), "not negotiated"));
}

TEST(TensorMuxLive, StopsWhileCamerasWait) {
  for (int round = 0; round < 20; ++round) {
    Cameras cameras("latency=1000000000");
    for (int i = 0; i < 3; ++i) cameras.add(i, true);
    cameras.start();
    if (round % 2 == 0) cameras.wait_for(0, 1);
  }
}

}  // namespace
}  // namespace cudatensor
