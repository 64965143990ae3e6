// SPDX-License-Identifier: LGPL-2.1-or-later
// cudahistogram while the GPU counts: its later messages equal the CPU's, each is posted once and
// in order, and no thread waits for them unless it must.
#include <atomic>
#include <functional>
#include <thread>

#include "gpu.h"
#include "pools.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

const ImageDesc kGray = {PixelFormat::GRAY8, 40, 30};

/// The memory of the frames.
enum class Source { system, pinned, row, pool };

const Source kSources[] = {Source::system, Source::pinned, Source::row, Source::pool};

/// A cudahistogram and its upstream.
class Histogram {
 public:
  /// `answer` is the bus' sync handler, which runs in the thread that waits for the GPU.
  Histogram(const std::string &properties, Source source, GstBusSyncHandler answer = nullptr,
            gpointer data = nullptr)
      : source_(source), rig_("cudahistogram " + properties, answer, data) {}

  Rig &rig() { return rig_; }

  void caps(const ImageDesc &desc, const std::string &more = "") {
    desc_ = desc;
    const std::string caps = video_caps(desc, more);
    const bool cuda = source_ == Source::row || source_ == Source::pool;
    EXPECT_TRUE(rig_.caps(cuda ? in_cuda(caps) : caps));
  }
  BufferRef frame(const Picture &picture, GstClockTime pts) const {
    BufferRef buffer = in_its_memory(picture);
    GST_BUFFER_PTS(buffer.get()) = pts;
    return buffer;
  }
  void push(const Picture &picture, GstClockTime pts) { rig_.process(frame(picture, pts)); }
  /// Pushes a frame of noise of the caps' size.
  void push(GstClockTime pts) { push(random_picture(desc_, pts + 1), pts); }

  void end() { rig_.event(gst_event_new_eos()); }

 private:
  BufferRef in_its_memory(const Picture &picture) const {
    switch (source_) {
      case Source::system: return buffer_of(picture);
      case Source::pinned: return pinned(picture);
      case Source::row: return to_cuda(buffer_of(picture));
      case Source::pool:
        return has_pool(picture.desc()) ? pooled(picture) : to_cuda(buffer_of(picture));
    }
    return nullptr;
  }
  /// Returns pinned memory as the pool of a downstream element provides it, if one takes the
  /// format.
  static BufferRef pinned(const Picture &picture);

  Source source_;
  Rig rig_;
  ImageDesc desc_ = kGray;
};

BufferRef Histogram::pinned(const Picture &picture) {
  Rig next("cudaletterbox");
  const bool taken = next.caps(video_caps(picture.desc()));
  if (!taken) return buffer_of(picture);
  const Ref<GstBufferPool> pool = offered_pool(next);
  BufferRef buffer = acquire(pool);
  gst_buffer_pool_set_active(pool.get(), FALSE);
  write_picture(buffer.get(), picture);
  return buffer;
}

using Script = std::function<void(Histogram &)>;

std::vector<std::string> texts_of(const std::vector<MessageRef> &messages) {
  std::vector<std::string> texts;
  for (const MessageRef &message : messages) {
    gchar *text = gst_structure_to_string(gst_message_get_structure(message.get()));
    texts.emplace_back(text);
    g_free(text);
  }
  return texts;
}

std::vector<std::string> posted(const std::string &properties, Source source, const Script &script,
                                size_t expected) {
  Histogram histogram(properties, source);
  script(histogram);
  // Also waits a moment for unexpected messages.
  return texts_of(histogram.rig().messages().elements("cudahistogram", expected, 1000));
}

/// Expects the same messages as from the CPU, for every memory.
void expect_the_cpus(const std::string &properties, const Script &script) {
  const auto expected = posted(properties + " backend=cpu", Source::system, script, 0);
  EXPECT_FALSE(expected.empty());
  for (const Source source : kSources)
    EXPECT_EQ(posted(properties, source, script, expected.size()), expected)
        << properties << " from memory " << static_cast<int>(source);
}

class CudaHistogram : public GpuTest {};

// -------------------------------------------------------------------------------------- messages

class CudaHistogramFormats : public GpuTest, public testing::WithParamInterface<PixelFormat> {};

INSTANTIATE_TEST_SUITE_P(CudaHistogram, CudaHistogramFormats, testing::ValuesIn(kInputFormats),
                         [](const auto &info) { return std::string(name_of(info.param)); });

TEST_P(CudaHistogramFormats, EqualTheCpu) {
  for (const auto &[width, height] : {std::pair(1, 1), {17, 9}, {100, 62}})
    for (const char *roi : {"", "roi=<3,1,5,5>"}) {
      if (*roi != '\0' && width == 1) continue;
      const ImageDesc desc = {GetParam(), width, height};
      expect_the_cpus(std::string("interval=0 ") + roi, [&](Histogram &histogram) {
        histogram.caps(desc);
        for (GstClockTime pts = 0; pts < 3; ++pts) histogram.push(pts);
        histogram.push(Picture(desc, 255), 3);
      });
    }
}

TEST_F(CudaHistogram, SumsIntervalsAsTheCpuDoes) {
  for (const char *interval : {"interval=0", "interval=1", "interval=10", "interval=1000"})
    expect_the_cpus(interval, [](Histogram &histogram) {
      histogram.caps(kGray);
      for (GstClockTime pts = 0; pts < 60; pts += 3) histogram.push(pts);
      histogram.push(20);
      histogram.push(21);
      histogram.push(GST_CLOCK_TIME_NONE);
      histogram.push(22);
      histogram.end();
    });
}

TEST_F(CudaHistogram, FollowsChangesAsTheCpuDoes) {
  expect_the_cpus("interval=100", [](Histogram &histogram) {
    GstClockTime pts = 0;
    const auto some = [&] {
      for (int i = 0; i < 3; ++i) histogram.push(pts += 10);
    };
    histogram.caps(kGray);
    some();
    histogram.rig().set("roi", "<1,2,9,9>");
    some();
    histogram.caps({PixelFormat::NV12, 32, 20}, "colorimetry=bt709");
    some();
    histogram.rig().set("interval", "15");
    some();
    histogram.rig().set("roi", "<>");
    histogram.caps({PixelFormat::RGB, 21, 20});
    some();
    histogram.rig().set("interval", "0");
    some();
    histogram.rig().set("interval", "100");
    some();
    histogram.rig().set("post-messages", "false");
    some();
    histogram.rig().set("post-messages", "true");
    some();
    histogram.end();
  });
}

TEST_F(CudaHistogram, SumsOverCapsAsTheCpuDoes) {
  expect_the_cpus("interval=1000", [](Histogram &histogram) {
    const ImageDesc large = {PixelFormat::NV12, 320, 200}, small = {PixelFormat::NV12, 32, 20};
    GstClockTime pts = 0;
    // Other sizes and formats, and other levels of black and white with the same size and format.
    for (const auto &[desc, more] : {std::pair(small, "colorimetry=bt709"),
                                     {small, "colorimetry=1:4:0:0"},
                                     {large, ""},
                                     {small, "colorimetry=bt709"},
                                     {kGray, ""},
                                     {small, "colorimetry=bt601"}}) {
      histogram.caps(desc, more);
      for (int i = 0; i < 3; ++i) histogram.push(++pts);
    }
    histogram.end();
  });
}

TEST_F(CudaHistogram, LosesNoneOfAThousandFrames) {
  const auto expected = [](guint i) { return static_cast<uint8_t>(i % 251); };
  for (const Source source : {Source::system, Source::row}) {
    Histogram histogram("interval=0", source);
    histogram.caps(kGray);
    // Buffers are created first, so that the GPU falls behind.
    std::vector<BufferRef> frames;
    for (guint i = 0; i < 1000; ++i)
      frames.push_back(histogram.frame(Picture(kGray, expected(i)), i));
    for (BufferRef &frame : frames) {
      ASSERT_EQ(histogram.rig().push(std::move(frame)), GST_FLOW_OK);
      histogram.rig().pull();
    }
    const auto messages = histogram.rig().histograms(1000);
    ASSERT_EQ(messages.size(), 1000u);
    for (guint i = 0; i < 1000; ++i) {
      const GstStructure *s = gst_message_get_structure(messages[i].get());
      guint64 timestamp = 0, pixels = 0;
      double mean = 0;
      gst_structure_get(s, "timestamp", G_TYPE_UINT64, &timestamp, "pixels", G_TYPE_UINT64, &pixels,
                        "mean", G_TYPE_DOUBLE, &mean, nullptr);
      ASSERT_EQ(timestamp, i);
      ASSERT_EQ(pixels, 1200u);
      ASSERT_EQ(mean, expected(i)) << i;
    }
  }
}

TEST_F(CudaHistogram, CountsBuffersBeforeTheirPoolGivesThemOutAgain) {
  const ImageDesc large = {PixelFormat::NV12, 1920, 1080};
  for (const std::string &caps : {video_caps(large), in_cuda(video_caps(large))}) {
    Rig next("cudaletterbox"), rig("cudahistogram interval=0");
    ASSERT_TRUE(next.caps(caps));
    ASSERT_TRUE(rig.caps(caps));
    const Ref<GstBufferPool> pool = offered_pool(next);
    ASSERT_NE(pool, nullptr);
    for (guint i = 0; i < 60; ++i) {
      BufferRef buffer = acquire(pool);
      // libgstcuda does not wait for pending uploads before the host writes.
      if (stream_of(buffer.get()) != nullptr) device_bytes_of(buffer.get());
      write_picture(buffer.get(), Picture(large, static_cast<uint8_t>(i)));
      GST_BUFFER_PTS(buffer.get()) = i;
      rig.process(std::move(buffer));
    }
    const auto messages = rig.histograms(60);
    ASSERT_EQ(messages.size(), 60u);
    for (guint i = 0; i < 60; ++i) {
      double mean = 0;
      gst_structure_get_double(gst_message_get_structure(messages[i].get()), "mean", &mean);
      EXPECT_EQ(mean, i) << caps;
    }
    gst_buffer_pool_set_active(pool.get(), FALSE);
  }
}

// ------------------------------------------------------------------------------------ when, where

TEST_F(CudaHistogram, PostsWithoutAFurtherFrame) {
  for (const Source source : kSources) {
    Histogram histogram("interval=0", source);
    histogram.caps(kGray);
    histogram.push(0);
    const gint64 begin = g_get_monotonic_time();
    EXPECT_EQ(histogram.rig().messages().elements("cudahistogram", 1).size(), 1u);
    EXPECT_LT(g_get_monotonic_time() - begin, G_USEC_PER_SEC);
  }
}

/// Records what the bus holds when an event leaves the element.
struct Witness {
  GstEventType event;
  Messages *messages;
  std::vector<MessageRef> seen;
};

GstPadProbeReturn look_at_bus(GstPad *, GstPadProbeInfo *info, gpointer data) {
  auto *witness = static_cast<Witness *>(data);
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == witness->event)
    witness->seen = witness->messages->elements("cudahistogram");
  return GST_PAD_PROBE_OK;
}

TEST_F(CudaHistogram, HasPostedAllWhenEosLeavesIt) {
  for (const char *properties : {"interval=0", "interval=1000"}) {
    Histogram histogram(properties, Source::system);
    histogram.caps(kGray);
    Witness witness = {GST_EVENT_EOS, &histogram.rig().messages(), {}};
    const PadRef pad(gst_element_get_static_pad(histogram.rig().element(), "src"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, look_at_bus, &witness,
                      nullptr);
    for (GstClockTime pts = 0; pts < 50; ++pts) histogram.push(pts);
    const size_t before = histogram.rig().messages().elements("cudahistogram").size();
    histogram.end();
    EXPECT_EQ(before + witness.seen.size(), g_str_equal(properties, "interval=0") ? 50u : 1u);
    EXPECT_TRUE(histogram.rig().histograms(0).empty());
  }
}

GstBusSyncReply post_slowly(GstBus *, GstMessage *message, gpointer posted) {
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT) return GST_BUS_PASS;
  g_usleep(50000);
  ++*static_cast<std::atomic<int> *>(posted);
  return GST_BUS_PASS;
}

/// Upstream sends the query before it frees the memory of its frames, some of which the element
/// holds until they are counted.
TEST_F(CudaHistogram, HoldsNoFrameWhenItAnswersADrainQuery) {
  for (const Source source : {Source::system, Source::pinned}) {
    std::atomic<int> posted{0};
    Histogram histogram("interval=0", source, post_slowly, &posted);
    histogram.caps(kGray);
    std::vector<BufferRef> frames;
    for (GstClockTime pts = 0; pts < 3; ++pts) {
      frames.push_back(histogram.frame(random_picture(kGray, pts + 1), pts));
      histogram.rig().process(BufferRef(gst_buffer_ref(frames.back().get())));
    }
    const QueryRef drain(gst_query_new_drain());
    gst_pad_peer_query(histogram.rig().harness()->srcpad, drain.get());
    EXPECT_EQ(posted, 3);
    for (const BufferRef &frame : frames) EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(frame.get()), 1);
  }
}

TEST_F(CudaHistogram, PostsAnIntervalWhenTheNextBegins) {
  for (const Source source : kSources) {
    Histogram histogram("interval=3", source);
    histogram.caps(kGray);
    for (GstClockTime pts = 0; pts < 3; ++pts) histogram.push(pts);
    EXPECT_TRUE(histogram.rig().histograms(0).empty());
    histogram.push(3);
    EXPECT_EQ(histogram.rig().messages().elements("cudahistogram", 1).size(), 1u);
  }
}

TEST_F(CudaHistogram, PostsNothingAfterAStop) {
  Histogram partial("interval=1000", Source::system), each("interval=0", Source::system);
  for (Histogram *histogram : {&partial, &each}) {
    histogram->caps(kGray);
    for (GstClockTime pts = 0; pts < 50; ++pts) histogram->push(pts);
    gst_element_set_state(histogram->rig().element(), GST_STATE_READY);
  }
  // A partial interval is dropped. Complete intervals are posted, and none twice.
  EXPECT_TRUE(partial.rig().histograms(0).empty());
  EXPECT_EQ(each.rig().messages().elements("cudahistogram").size(), 50u);
  EXPECT_TRUE(each.rig().histograms(0).empty());
}

void flush(Rig &rig) {
  rig.event(gst_event_new_flush_start());
  rig.event(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.event(gst_event_new_segment(&segment));
}

TEST_F(CudaHistogram, ForgetsWhatIsFlushed) {
  Histogram histogram("interval=1000", Source::system);
  histogram.caps(kGray);
  for (GstClockTime pts = 0; pts < 50; ++pts) histogram.push(pts);
  flush(histogram.rig());
  histogram.push(70);
  histogram.end();
  const auto messages = histogram.rig().histograms(1);
  ASSERT_EQ(messages.size(), 1u);
  guint frames = 0;
  guint64 timestamp = 0, pixels = 0;
  gst_structure_get(gst_message_get_structure(messages[0].get()), "frames", G_TYPE_UINT, &frames,
                    "timestamp", G_TYPE_UINT64, &timestamp, "pixels", G_TYPE_UINT64, &pixels,
                    nullptr);
  EXPECT_EQ(frames, 1u);
  EXPECT_EQ(timestamp, 70u);
  EXPECT_EQ(pixels, 1200u);
}

// ------------------------------------------------------------------------------------- who waits

class CudaHistogramStreams : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && !has_streams()) GTEST_SKIP() << "needs the streams of GStreamer 1.24";
  }

  static BufferRef frame(GstClockTime pts, gstcuda::Stream *stream) {
    BufferRef buffer =
        to_cuda(buffer_of(Picture(kGray, static_cast<uint8_t>(pts))), {shared_context(), stream});
    GST_BUFFER_PTS(buffer.get()) = pts;
    return buffer;
  }
  /// Returns a frame on the stream.
  BufferRef frame(GstClockTime pts) const { return frame(pts, stream_.get()); }
  /// Lets the rig allocate all that six frames at once need.
  void warm_up(Rig &rig) {
    for (int round = 0; round < 2; ++round) {
      std::vector<BufferRef> frames, held;
      for (GstClockTime pts = 0; pts < 6; ++pts) frames.push_back(frame(pts));
      const Entered entered;
      Gate gate(handle_of(stream_.get()));
      for (BufferRef &each : frames) held.push_back(rig.process(std::move(each)));
      // Freeing memory would wait for the whole device.
      gate.open();
    }
    EXPECT_EQ(rig.histograms(12).size(), 12u);
  }

  StreamRef stream_;
};

TEST_F(CudaHistogramStreams, DoNotMakeTheStreamingThreadWait) {
  stream_ = new_stream();
  Rig rig("cudahistogram interval=0");
  ASSERT_TRUE(rig.caps(in_cuda(video_caps(kGray))));
  warm_up(rig);
  std::vector<BufferRef> frames, held;
  for (GstClockTime pts = 0; pts < 5; ++pts) frames.push_back(frame(pts));
  {
    const Entered entered;
    Gate gate(handle_of(stream_.get()));
    for (BufferRef &each : frames) held.push_back(rig.process(std::move(each)));
    EXPECT_TRUE(gate.holds()) << "a push has waited";
    for (const BufferRef &out : held) EXPECT_TRUE(gst_buffer_is_writable(out.get()));
    EXPECT_TRUE(rig.messages().elements("cudahistogram").empty());
  }
  const auto messages = rig.histograms(5);
  ASSERT_EQ(messages.size(), 5u);
  for (guint i = 0; i < 5; ++i) {
    double mean = 0;
    gst_structure_get_double(gst_message_get_structure(messages[i].get()), "mean", &mean);
    EXPECT_EQ(mean, i);
  }
}

TEST_F(CudaHistogramStreams, EndWithAllThatIsUnderWay) {
  stream_ = new_stream();
  for (const bool ends : {true, false}) {
    Rig rig("cudahistogram interval=0");
    ASSERT_TRUE(rig.caps(in_cuda(video_caps(kGray))));
    warm_up(rig);
    rig.set("interval", "1000");
    std::vector<BufferRef> frames, held;
    for (GstClockTime pts = 0; pts < 6; ++pts) frames.push_back(frame(pts));
    held.push_back(rig.process(std::move(frames[0])));
    {
      const Entered entered;
      Gate gate(handle_of(stream_.get()));
      for (size_t i = 1; i < 6; ++i) held.push_back(rig.process(std::move(frames[i])));
      // The gate opens while the event waits for the GPU.
      std::thread opener([&] {
        g_usleep(50000);
        gate.open();
      });
      if (ends)
        rig.event(gst_event_new_eos());
      else
        flush(rig);
      opener.join();
    }
    const auto messages = rig.histograms(ends ? 1 : 0);
    ASSERT_EQ(messages.size(), ends ? 1u : 0u);
    guint counted = 0;
    if (ends)
      gst_structure_get_uint(gst_message_get_structure(messages[0].get()), "frames", &counted);
    EXPECT_EQ(counted, ends ? 6u : 0u);
  }
}

TEST_F(CudaHistogramStreams, HaveTheirFramesInOneSum) {
  const StreamRef streams[] = {new_stream(), new_stream()};
  Rig rig("cudahistogram interval=1000");
  ASSERT_TRUE(rig.caps(in_cuda(video_caps(kGray))));
  std::vector<BufferRef> frames, held;
  for (GstClockTime pts = 0; pts < 6; ++pts) frames.push_back(frame(pts, streams[pts % 2].get()));
  for (size_t i = 0; i < 2; ++i) held.push_back(rig.process(std::move(frames[i])));
  {
    const Entered entered;
    Gate gate(handle_of(streams[1].get()));
    for (size_t i = 2; i < 6; ++i) held.push_back(rig.process(std::move(frames[i])));
    EXPECT_TRUE(gate.holds()) << "a push has waited";
    std::thread opener([&] {
      g_usleep(50000);
      gate.open();
    });
    rig.event(gst_event_new_eos());
    opener.join();
  }
  const auto messages = rig.histograms(1);
  ASSERT_EQ(messages.size(), 1u);
  guint64 pixels = 0;
  double mean = 0;
  gst_structure_get(gst_message_get_structure(messages[0].get()), "pixels", G_TYPE_UINT64, &pixels,
                    "mean", G_TYPE_DOUBLE, &mean, nullptr);
  EXPECT_EQ(pixels, 6 * 1200u);
  EXPECT_EQ(mean, 2.5);
}

}  // namespace
}  // namespace cudatensor
