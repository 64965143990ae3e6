// SPDX-License-Identifier: LGPL-2.1-or-later
// The elements in complete pipelines, with threads, queues and seeks.
#include <algorithm>

#include "pipeline.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

/// Returns a source of frames that differ, and are the same in every run.
std::string source(int frames, const std::string &format = "NV12") {
  return "videotestsrc pattern=ball num-buffers=" + std::to_string(frames) +
         " ! video/x-raw,width=64,height=48,framerate=30/1,format=" + format + " ! ";
}

const std::string kSink = " ! fakesink name=out sync=false";

TEST(Pipelines, SystemMemoryElementsNeedNothingBetween) {
  for (const char *chain :
       {"cudaletterbox ! video/x-raw,format=RGB,width=32,height=32",
        "cudanormalize width=32 height=32 resize-mode=ultralytics",
        "cudanv12toyuv444 ! cudanormalize color=yuv",
        "cudahistogram ! cudaletterbox ! videoconvert",
        "cudahistogram ! queue ! cudanormalize ! queue",
        "cudanormalize dtype=uint8 ! cudapixelshuffle upscale-factor=1 ! video/x-raw,format=BGR"}) {
    Pipeline pipeline(source(5) + chain + kSink);
    EXPECT_EQ(pipeline.run(), "") << chain;
    EXPECT_EQ(pipeline.count(), 5u) << chain;
  }
}

TEST(Pipelines, PicturesAreWhatTheyShow) {
  Pipeline pipeline(
      "videotestsrc pattern=white num-buffers=1 ! video/x-raw,width=64,height=48,"
      "framerate=30/1,format=NV12 ! cudaletterbox resize-mode=ultralytics pad-value=1 ! "
      "video/x-raw,format=GRAY8,width=64,height=64" +
      kSink);
  EXPECT_EQ(pipeline.run(), "");
  ASSERT_EQ(pipeline.count(), 1u);
  Bytes expected(64 * 64, 1);
  std::fill(expected.begin() + 8 * 64, expected.begin() + 56 * 64, uint8_t{255});
  EXPECT_TRUE(same_bytes(pipeline.outputs().begin()->second, expected));
}

TEST(Pipelines, TeeSharesBuffers) {
  const std::string head = source(20) + "tee name=t ";
  Pipeline pipeline(
      head + "t. ! queue ! cudahistogram interval=0 ! cudanormalize ! " +
      "fakesink name=out sync=false " +
      "t. ! queue ! cudaletterbox ! video/x-raw,width=9,height=9 ! fakesink sync=false");
  Pipeline alone(source(20) + "cudanormalize" + kSink);
  EXPECT_EQ(pipeline.run(), "");
  EXPECT_EQ(alone.run(), "");
  EXPECT_EQ(pipeline.outputs(), alone.outputs());
  EXPECT_EQ(pipeline.element_messages().size(), 20u);
}

TEST(Pipelines, TwoAtOnceDoNotDisturbEachOther) {
  const std::string first =
      source(60) + "cudanormalize width=40 height=30 resize-mode=affine" + kSink;
  const std::string second =
      source(60, "RGB") + "cudanormalize width=20 height=20 layout=nhwc dtype=float16" + kSink;
  Pipeline alone_first(first), alone_second(second);
  EXPECT_EQ(alone_first.run(), "");
  EXPECT_EQ(alone_second.run(), "");
  Pipeline together_first(first), together_second(second);
  together_first.start();
  together_second.start();
  EXPECT_EQ(together_first.wait(), "");
  EXPECT_EQ(together_second.wait(), "");
  EXPECT_EQ(together_first.outputs(), alone_first.outputs());
  EXPECT_EQ(together_second.outputs(), alone_second.outputs());
}

TEST(Pipelines, StartAndStopManyTimes) {
  Pipeline pipeline(source(-1) +
                    "queue ! cudahistogram interval=0 ! cudaletterbox ! "
                    "video/x-raw,format=RGB,width=32,height=32 ! queue ! "
                    "cudanormalize name=n" +
                    kSink);
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(pipeline.reaches(i % 2 == 0 ? GST_STATE_PLAYING : GST_STATE_PAUSED)) << i;
    pipeline.stop();
  }
}

void seek(Pipeline &pipeline, GstClockTime start, GstSeekFlags more) {
  EXPECT_TRUE(gst_element_seek(
      pipeline.get(), 1.0, GST_FORMAT_TIME, static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | more),
      GST_SEEK_TYPE_SET, static_cast<gint64>(start), GST_SEEK_TYPE_NONE, -1));
}

TEST(Pipelines, SeekAndFlushWhilePlaying) {
  const std::string chain =
      "cudahistogram name=h interval=18446744073709551615 ! cudaletterbox ! "
      "video/x-raw,format=RGB,width=32,height=32 ! cudanormalize";
  Pipeline straight(source(91) + chain + kSink);
  EXPECT_EQ(straight.run(), "");
  const auto expected = straight.outputs();
  straight.element_messages();

  Pipeline pipeline(source(-1) + chain + kSink);
  ASSERT_TRUE(pipeline.reaches(GST_STATE_PLAYING));
  for (const GstClockTime second : {2, 0, 1, 2, 1}) {
    seek(pipeline, second * GST_SECOND, GST_SEEK_FLAG_ACCURATE);
    g_usleep(20000);
  }
  gst_element_send_event(pipeline.get(), gst_event_new_eos());
  EXPECT_EQ(pipeline.wait(), "");
  size_t compared = 0;
  for (const auto &[pts, bytes] : pipeline.outputs()) {
    const auto found = expected.find(pts);
    if (found == expected.end()) continue;
    ++compared;
    EXPECT_TRUE(same_bytes(bytes, found->second)) << "at " << pts;
  }
  EXPECT_GT(compared, 0u);
  // Only frames after the last flush are counted.
  const auto messages = pipeline.element_messages();
  ASSERT_EQ(messages.size(), 1u);
  guint64 timestamp = 0;
  gst_structure_get_uint64(gst_message_get_structure(messages[0].get()), "timestamp", &timestamp);
  EXPECT_EQ(timestamp, GST_SECOND);
}

TEST(Pipelines, ThreadsMayChangeWhilePlaying) {
  const std::string chain = "cudanormalize name=n width=160 height=120 resize-mode=affine";
  Pipeline straight(source(200) + chain + kSink);
  EXPECT_EQ(straight.run(), "");
  Pipeline pipeline(source(200) + chain + kSink);
  pipeline.start();
  for (int i = 0; i < 100; ++i) {
    pipeline.set("n", "n-threads", i % 2 == 0 ? "1" : "3");
    g_usleep(500);
  }
  EXPECT_EQ(pipeline.wait(), "");
  EXPECT_EQ(pipeline.outputs(), straight.outputs());
}

TEST(Pipelines, DownstreamCapsMayChangeWhilePlaying) {
  Pipeline pipeline(
      source(300) +
      "cudaletterbox ! capsfilter name=f caps-change-mode=delayed caps=video/x-raw,format=GRAY8,"
      "width=32,height=32" +
      kSink);
  pipeline.start();
  for (int i = 0; i < 50; ++i) {
    pipeline.set("f", "caps",
                 i % 2 == 0 ? "video/x-raw,format=GRAY8,width=16,height=16"
                            : "video/x-raw,format=GRAY8,width=32,height=32");
    g_usleep(1000);
  }
  EXPECT_EQ(pipeline.wait(), "");
  EXPECT_EQ(pipeline.count(), 300u);
  for (const auto &[pts, bytes] : pipeline.outputs())
    EXPECT_TRUE(bytes.size() == 256 || bytes.size() == 1024) << bytes.size();
}

TEST(Pipelines, HistogramMessagesSpeakOfEveryFrameOnce) {
  Pipeline pipeline(source(31) + "cudahistogram interval=100000000" + kSink);
  EXPECT_EQ(pipeline.run(), "");
  guint frames = 0;
  for (const MessageRef &message : pipeline.element_messages()) {
    guint count = 0;
    EXPECT_TRUE(gst_structure_get_uint(gst_message_get_structure(message.get()), "frames", &count));
    frames += count;
  }
  EXPECT_EQ(frames, 31u);
}

TEST(Pipelines, AnErrorStopsThemWithItsCause) {
  Pipeline pipeline(source(5) + "cudanormalize mean=<1,2>" + kSink);
  EXPECT_TRUE(mentions(pipeline.run(), "mean"));
}

TEST(Pipelines, BackendCudaWithoutADeviceStopsThemWithItsCause) {
  try {
    open_cuda_backend();
    GTEST_SKIP() << "a CUDA device is usable";
  } catch (const std::exception &) {
  }
  Pipeline pipeline(source(5) + "cudanormalize backend=cuda" + kSink);
  EXPECT_TRUE(mentions(pipeline.run(), "CUDA"));
}

}  // namespace
}  // namespace cudatensor
