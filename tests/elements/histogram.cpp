// SPDX-License-Identifier: LGPL-2.1-or-later
// cudahistogram: it leaves buffers unchanged, and its messages are right.
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

constexpr int kWidth = 8, kHeight = 4;
constexpr ImageDesc kGray = {PixelFormat::GRAY8, kWidth, kHeight};
constexpr GstClockTime kNone = GST_CLOCK_TIME_NONE;

/// The fields of a message.
struct Report {
  guint64 timestamp, stream_time, running_time, duration, pixels;
  guint frames, min, max, median, p1, p5, p95, p99;
  double mean, stddev, clipped_low, clipped_high;
  std::vector<guint64> bins;
  std::vector<guint> roi;  ///< empty if the message has none

  guint64 sum() const { return std::accumulate(bins.begin(), bins.end(), guint64{0}); }
};

class Reader {
 public:
  explicit Reader(GstMessage *message) : s_(gst_message_get_structure(message)) {}

  guint64 uint64(const char *field) const { return g_value_get_uint64(of(field, G_TYPE_UINT64)); }
  guint uint(const char *field) const { return g_value_get_uint(of(field, G_TYPE_UINT)); }
  double real(const char *field) const { return g_value_get_double(of(field, G_TYPE_DOUBLE)); }
  bool has(const char *field) const { return gst_structure_has_field(s_, field); }

  std::vector<guint64> bins() const {
    const GValue *array = of("histogram", GST_TYPE_ARRAY);
    std::vector<guint64> bins;
    for (guint i = 0; i < gst_value_array_get_size(array); ++i) {
      const GValue *item = gst_value_array_get_value(array, i);
      EXPECT_TRUE(G_VALUE_HOLDS_UINT64(item));
      bins.push_back(g_value_get_uint64(item));
    }
    EXPECT_EQ(bins.size(), 256u);
    return bins;
  }

 private:
  const GValue *of(const char *field, GType type) const {
    const GValue *value = gst_structure_get_value(s_, field);
    // Reading a wrong type gives criticals and wrong values.
    if (value == nullptr || G_VALUE_TYPE(value) != type)
      throw std::runtime_error(std::string(field) + " is missing or of another type");
    return value;
  }

  const GstStructure *s_;
};

Report report_of(GstMessage *message) {
  const Reader r(message);
  Report report = {r.uint64("timestamp"),
                   r.uint64("stream-time"),
                   r.uint64("running-time"),
                   r.uint64("duration"),
                   r.uint64("pixels"),
                   r.uint("frames"),
                   r.uint("min"),
                   r.uint("max"),
                   r.uint("median"),
                   r.uint("p1"),
                   r.uint("p5"),
                   r.uint("p95"),
                   r.uint("p99"),
                   r.real("mean"),
                   r.real("stddev"),
                   r.real("clipped-low"),
                   r.real("clipped-high"),
                   r.bins(),
                   {}};
  for (const char *field : {"roi-x", "roi-y", "roi-width", "roi-height"})
    if (r.has(field)) report.roi.push_back(r.uint(field));
  return report;
}

/// A running cudahistogram.
class Histogram : public testing::Test {
 protected:
  void start(const std::string &properties, const ImageDesc &desc = kGray,
             const std::string &more = "") {
    rig_ = std::make_unique<Rig>("cudahistogram " + properties);
    ASSERT_TRUE(rig_->caps(video_caps(desc, more)));
  }

  /// Pushes a grey frame of one value.
  void frame(GstClockTime pts, uint8_t value = 0, GstClockTime duration = kNone) {
    BufferRef buffer = buffer_of(Picture(kGray, value));
    GST_BUFFER_PTS(buffer.get()) = pts;
    GST_BUFFER_DURATION(buffer.get()) = duration;
    rig_->process(std::move(buffer));
  }

  /// Returns the expected number of messages, or more if there are more.
  std::vector<Report> reports(size_t expected) {
    std::vector<Report> reports;
    for (const MessageRef &message : rig_->histograms(expected)) {
      EXPECT_EQ(GST_MESSAGE_SRC(message.get()), GST_OBJECT(rig_->element()));
      reports.push_back(report_of(message.get()));
    }
    return reports;
  }

  /// Expects messages with these numbers of frames, and no others.
  void expect_frames(const std::vector<guint> &expected) {
    std::vector<guint> counts;
    for (const Report &report : reports(expected.size())) counts.push_back(report.frames);
    EXPECT_EQ(counts, expected);
  }

  void eos() { rig_->event(gst_event_new_eos()); }
  void flush() {
    rig_->event(gst_event_new_flush_start());
    rig_->event(gst_event_new_flush_stop(TRUE));
    segment([](GstSegment &) {});
  }
  template <class Change>
  void segment(const Change &change) {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    change(segment);
    rig_->event(gst_event_new_segment(&segment));
  }

  std::unique_ptr<Rig> rig_;
};

// ---------------------------------------------------------------------------------- passthrough

TEST_F(Histogram, PassesTheVeryBuffer) {
  start("");
  GstBuffer *buffer = buffer_of(random_picture(kGray)).release();
  gst_buffer_ref(buffer);
  const Bytes before = bytes_of(buffer);
  ASSERT_EQ(rig_->push(BufferRef(buffer)), GST_FLOW_OK);
  const BufferRef out = rig_->pull();
  EXPECT_EQ(out.get(), buffer);
  // One reference is ours, the other is that of the output.
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(buffer), 2);
  EXPECT_TRUE(same_bytes(bytes_of(buffer), before));
  gst_buffer_unref(buffer);
}

TEST_F(Histogram, LeavesAWritableBufferWritable) {
  start("interval=0");
  const BufferRef out = rig_->process(buffer_of(random_picture(kGray)));
  EXPECT_TRUE(gst_buffer_is_writable(out.get()));
}

TEST_F(Histogram, CountsReadOnlyMemory) {
  start("interval=0");
  static const Bytes constant(kWidth * kHeight, 77);
  BufferRef buffer(
      gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, const_cast<uint8_t *>(constant.data()),
                                  constant.size(), 0, constant.size(), nullptr, nullptr));
  rig_->process(std::move(buffer));
  const auto all = reports(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].bins[77], constant.size());
}

TEST_F(Histogram, ForwardsAllocationQueries) {
  start("");
  gst_harness_add_propose_allocation_meta(rig_->harness(), GST_VIDEO_CROP_META_API_TYPE, nullptr);
  const CapsRef caps(gst_pad_get_current_caps(rig_->harness()->srcpad));
  const QueryRef query(gst_query_new_allocation(caps.get(), TRUE));
  ASSERT_TRUE(gst_pad_peer_query(rig_->harness()->srcpad, query.get()));
  EXPECT_TRUE(gst_query_find_allocation_meta(query.get(), GST_VIDEO_CROP_META_API_TYPE, nullptr));
}

// --------------------------------------------------------------------------------------- values

Report single_report(const std::string &properties, const Picture &picture,
                     const std::string &more = "") {
  Rig rig("cudahistogram interval=0 " + properties);
  EXPECT_TRUE(rig.caps(video_caps(picture.desc(), more)));
  rig.process(buffer_of(picture));
  const auto messages = rig.messages().elements("cudahistogram", 1);
  EXPECT_EQ(messages.size(), 1u);
  return messages.empty() ? Report{} : report_of(messages[0].get());
}

TEST(Message, EqualsAHandCount) {
  // 1, 2, 3, … 100: percentiles are the values themselves.
  Bytes values(100);
  std::iota(values.begin(), values.end(), uint8_t{1});
  const Report r = single_report("", Picture({PixelFormat::GRAY8, 20, 5}, values));
  EXPECT_EQ(r.frames, 1u);
  EXPECT_EQ(r.pixels, 100u);
  EXPECT_EQ(r.sum(), 100u);
  for (size_t i = 0; i < 256; ++i) EXPECT_EQ(r.bins[i], i >= 1 && i <= 100 ? 1u : 0u) << i;
  EXPECT_DOUBLE_EQ(r.mean, 50.5);
  EXPECT_NEAR(r.stddev, std::sqrt((100.0 * 100.0 - 1.0) / 12.0), 1e-9);
  EXPECT_EQ(r.min, 1u);
  EXPECT_EQ(r.max, 100u);
  EXPECT_EQ(r.p1, 1u);
  EXPECT_EQ(r.p5, 5u);
  EXPECT_EQ(r.median, 50u);
  EXPECT_EQ(r.p95, 95u);
  EXPECT_EQ(r.p99, 99u);
  EXPECT_TRUE(r.roi.empty());
}

TEST(Message, HasStatisticsOfItsOwnBins) {
  const Report r = single_report("", random_picture({PixelFormat::BGRA, 37, 23}));
  EXPECT_EQ(r.pixels, 37u * 23u);
  EXPECT_EQ(r.sum(), r.pixels);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < 256; ++i) {
    const auto count = static_cast<double>(r.bins[i]);
    sum += count * static_cast<double>(i);
    squares += count * static_cast<double>(i * i);
  }
  const double mean = sum / static_cast<double>(r.pixels);
  EXPECT_NEAR(r.mean, mean, 1e-9);
  EXPECT_NEAR(r.stddev, std::sqrt(squares / static_cast<double>(r.pixels) - mean * mean), 1e-6);
  EXPECT_LE(r.min, r.p1);
  EXPECT_LE(r.p1, r.p5);
  EXPECT_LE(r.p5, r.median);
  EXPECT_LE(r.median, r.p95);
  EXPECT_LE(r.p95, r.p99);
  EXPECT_LE(r.p99, r.max);
}

TEST(Message, HasOneLevelForAFlatFrame) {
  const Report r = single_report("", Picture(kGray, 200));
  EXPECT_EQ(r.mean, 200.0);
  EXPECT_EQ(r.stddev, 0.0);
  for (const guint value : {r.min, r.max, r.median, r.p1, r.p5, r.p95, r.p99})
    EXPECT_EQ(value, 200u);
}

TEST(Message, RgbGreysFollowThePublishedFormula) {
  // Most greys are their own bin; with these roundings 13 of them land one bin lower.
  guint lower = 0;
  for (int grey = 0; grey < 256; ++grey) {
    const Report r =
        single_report("", Picture({PixelFormat::RGB, 1, 1}, static_cast<uint8_t>(grey)));
    EXPECT_GE(r.min + 1, static_cast<guint>(grey));
    EXPECT_LE(r.min, static_cast<guint>(grey));
    lower += r.min != static_cast<guint>(grey);
  }
  EXPECT_EQ(lower, 13u);
}

// Ten pixels each: four at or below 16, three at or above 235, one 0 and two 255.
const Bytes kLevels = {0, 10, 16, 16, 17, 128, 234, 235, 255, 255};

Picture levels(PixelFormat format) {
  Picture picture({format, 10, 1}, 128);
  picture.planes()[0].bytes = kLevels;
  return picture;
}

void expect_clipped(const Report &r, double low, double high) {
  EXPECT_DOUBLE_EQ(r.clipped_low, low);
  EXPECT_DOUBLE_EQ(r.clipped_high, high);
}

TEST(Clipping, BeginsAt16And235InLimitedYuv) {
  expect_clipped(single_report("", levels(PixelFormat::NV12), "colorimetry=bt709"), 0.4, 0.3);
  expect_clipped(single_report("", levels(PixelFormat::Y444), "colorimetry=bt601"), 0.4, 0.3);
  expect_clipped(single_report("", levels(PixelFormat::I420)), 0.4, 0.3);
}

TEST(Clipping, IsAt0And255InFullYuv) {
  expect_clipped(single_report("", levels(PixelFormat::NV12), "colorimetry=(string)1:3:5:1"), 0.1,
                 0.2);
}

TEST(Clipping, IsAt0And255InGreyAndRgb) {
  expect_clipped(single_report("", levels(PixelFormat::GRAY8)), 0.1, 0.2);
  Bytes rgb;
  for (const uint8_t level : kLevels) rgb.insert(rgb.end(), 3, level);
  const Report r = single_report("", Picture({PixelFormat::RGB, 10, 1}, rgb));
  EXPECT_DOUBLE_EQ(r.clipped_low, static_cast<double>(r.bins[0]) / 10);
  EXPECT_DOUBLE_EQ(r.clipped_high, static_cast<double>(r.bins[255]) / 10);
  EXPECT_EQ(r.bins[0], 1u);
}

TEST(Clipping, TakesTheUpperEightOfTenBits) {
  Picture picture({PixelFormat::P010_10LE, 10, 1}, 128);
  for (size_t i = 0; i < 10; ++i) {
    picture.planes()[0].bytes[2 * i] = 0xff;
    picture.planes()[0].bytes[2 * i + 1] = kLevels[i];
  }
  const Report r = single_report("", picture, "colorimetry=bt709");
  expect_clipped(r, 0.4, 0.3);
  EXPECT_EQ(r.bins[17], 1u);
  EXPECT_EQ(r.bins[255], 2u);
}

// ------------------------------------------------------------------------------------------ roi

/// Returns a picture whose pixels are numbered.
Picture numbered_pixels() {
  Bytes values(kWidth * kHeight);
  std::iota(values.begin(), values.end(), uint8_t{0});
  return Picture(kGray, values);
}

using Roi = std::vector<guint>;

TEST(RegionOfInterest, IsCountedAlone) {
  const Report r = single_report("roi=<2,1,3,2>", numbered_pixels());
  EXPECT_EQ(r.pixels, 6u);
  for (const size_t value : {10, 11, 12, 18, 19, 20}) EXPECT_EQ(r.bins[value], 1u) << value;
  EXPECT_EQ(r.roi, (Roi{2, 1, 3, 2}));
}

TEST(RegionOfInterest, IsClippedToTheFrame) {
  const Report low = single_report("roi=<-3,-2,5,3>", numbered_pixels());
  EXPECT_EQ(low.roi, (Roi{0, 0, 2, 1}));
  EXPECT_EQ(low.pixels, 2u);
  EXPECT_EQ(low.bins[0] + low.bins[1], 2u);
  const Report high = single_report("roi=<6,3,2147483647,2147483647>", numbered_pixels());
  EXPECT_EQ(high.roi, (Roi{6, 3, 2, 1}));
  EXPECT_EQ(high.bins[30] + high.bins[31], 2u);
}

TEST(RegionOfInterest, IsReportedEvenForTheWholeFrame) {
  const Report r = single_report("roi=<0,0,8,4>", numbered_pixels());
  EXPECT_EQ(r.roi, (Roi{0, 0, 8, 4}));
  EXPECT_EQ(r.pixels, 32u);
}

TEST(RegionOfInterest, MayBeginAtOddPixelsInYuv) {
  Picture picture = random_picture({PixelFormat::NV12, 9, 7});
  const Report r = single_report("roi=<3,1,5,5>", picture);
  std::vector<guint64> bins(256);
  for (size_t y = 1; y < 6; ++y)
    for (size_t x = 3; x < 8; ++x) ++bins[picture.planes()[0].bytes[9 * y + x]];
  EXPECT_EQ(r.bins, bins);
}

TEST_F(Histogram, RegionFollowsANewSize) {
  start("interval=0 roi=<2,1,100,100>");
  frame(0);
  const ImageDesc larger = {PixelFormat::GRAY8, 20, 10};
  ASSERT_TRUE(rig_->caps(video_caps(larger)));
  rig_->process(buffer_of(Picture(larger)));
  const auto all = reports(2);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].roi, (Roi{2, 1, 6, 3}));
  EXPECT_EQ(all[1].roi, (Roi{2, 1, 18, 9}));
}

// ------------------------------------------------------------------------------------ intervals

TEST_F(Histogram, AnIntervalBeginsWithItsFirstFrame) {
  start("interval=100");
  for (const GstClockTime pts : {1000, 1050, 1099, 1100, 1199, 1300}) frame(pts);
  expect_frames({3, 2});
  eos();
  expect_frames({1});
}

TEST_F(Histogram, AnIntervalSumsItsFrames) {
  start("interval=100");
  frame(1000, 10);
  frame(1040, 20, 30);
  frame(1080, 20, 15);
  frame(2000, 99);
  const auto all = reports(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].timestamp, 1000u);
  EXPECT_EQ(all[0].duration, 95u);
  EXPECT_EQ(all[0].pixels, 96u);
  EXPECT_EQ(all[0].bins[10], 32u);
  EXPECT_EQ(all[0].bins[20], 64u);
  EXPECT_EQ(all[0].bins[99], 0u);
}

TEST_F(Histogram, TheDefaultIntervalIsATenthOfASecond) {
  start("");
  for (GstClockTime i = 0; i < 8; ++i) frame(i * 33333333);
  expect_frames({4});
}

TEST_F(Histogram, IntervalZeroPostsEveryBuffer) {
  start("interval=0");
  for (GstClockTime i = 0; i < 3; ++i) frame(i, static_cast<uint8_t>(i), 40);
  const auto all = reports(3);
  ASSERT_EQ(all.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all[i].timestamp, i);
    EXPECT_EQ(all[i].duration, 40u);
    EXPECT_EQ(all[i].bins[i], 32u);
  }
  eos();
  EXPECT_TRUE(reports(0).empty());
}

TEST_F(Histogram, DurationIsTheFrameratesWhereBuffersHaveNone) {
  start("interval=0");
  frame(0);
  const auto all = reports(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].duration, GST_SECOND / 30);
}

TEST_F(Histogram, FramesWithoutTimestampsArePostedEach) {
  start("interval=1000");
  frame(kNone, 1);
  frame(kNone, 2);
  const auto all = reports(2);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].timestamp, kNone);
  EXPECT_EQ(all[0].stream_time, kNone);
  EXPECT_EQ(all[0].running_time, kNone);
  EXPECT_EQ(all[1].bins[2], 32u);
}

TEST_F(Histogram, AFrameWithoutTimestampEndsTheInterval) {
  start("interval=1000");
  frame(0);
  frame(10);
  frame(kNone);
  frame(20);
  expect_frames({2, 1});
  eos();
  expect_frames({1});
}

TEST_F(Histogram, TimestampsThatGoBackBeginAnInterval) {
  start("interval=100");
  frame(1000);
  frame(1050);
  frame(500);
  frame(599);
  frame(600);
  expect_frames({2, 2});
}

TEST_F(Histogram, TheHighestIntervalTakesAllFrames) {
  start("interval=18446744073709551615");
  frame(0);
  frame(1000 * GST_SECOND);
  frame(GST_CLOCK_TIME_NONE - 10);
  EXPECT_TRUE(reports(0).empty());
  eos();
  expect_frames({3});
}

TEST_F(Histogram, ACapsChangeDoesNotEndTheInterval) {
  start("interval=1000");
  frame(0, 10);
  const ImageDesc nv12 = {PixelFormat::NV12, 6, 2};
  ASSERT_TRUE(rig_->caps(video_caps(nv12, "colorimetry=bt709")));
  rig_->process(buffer_of(Picture(nv12, 10)));
  eos();
  const auto all = reports(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].frames, 2u);
  EXPECT_EQ(all[0].pixels, 32u + 12u);
  EXPECT_EQ(all[0].bins[10], 44u);
  // Each frame is counted by the levels of its own caps: 10 is black only in the second.
  EXPECT_DOUBLE_EQ(all[0].clipped_low, 12.0 / 44.0);
}

TEST_F(Histogram, AFlushDiscardsTheInterval) {
  start("interval=1000");
  frame(0);
  flush();
  frame(5, 7);
  eos();
  const auto all = reports(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].frames, 1u);
  EXPECT_EQ(all[0].timestamp, 5u);
  EXPECT_EQ(all[0].bins[7], 32u);
}

TEST_F(Histogram, AStopDiscardsTheInterval) {
  start("interval=1000");
  frame(0);
  gst_element_set_state(rig_->element(), GST_STATE_READY);
  gst_element_set_state(rig_->element(), GST_STATE_PLAYING);
  rig_->event(gst_event_new_stream_start("again"));
  ASSERT_TRUE(rig_->caps(video_caps(kGray)));
  segment([](GstSegment &) {});
  frame(10);
  eos();
  expect_frames({1});
}

TEST_F(Histogram, TheLastIntervalIsPostedBeforeEos) {
  start("interval=1000");
  frame(0);
  // Records what the bus holds when EOS leaves the element.
  struct Context {
    Messages *messages;
    size_t posted;
  } context = {&rig_->messages(), 0};
  const auto look = [](GstPad *, GstPadProbeInfo *info, gpointer data) {
    auto *c = static_cast<Context *>(data);
    if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS)
      c->posted = c->messages->elements("cudahistogram").size();
    return GST_PAD_PROBE_OK;
  };
  PadRef pad(gst_element_get_static_pad(rig_->element(), "src"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, look, &context, nullptr);
  eos();
  EXPECT_EQ(context.posted, 1u);
}

TEST_F(Histogram, TheLastIntervalIsPostedBeforeSegmentDone) {
  start("interval=1000");
  frame(0);
  frame(1);
  rig_->event(gst_event_new_segment_done(GST_FORMAT_TIME, 2));
  expect_frames({2});
  // A looping source continues with another segment.
  segment([](GstSegment &) {});
  frame(0);
  eos();
  expect_frames({1});
}

TEST_F(Histogram, EosWithoutFramesPostsNothing) {
  start("");
  eos();
  EXPECT_TRUE(reports(0).empty());
}

// --------------------------------------------------------------------------- reverse playback

TEST_F(Histogram, IntervalsCountBackwardsWhereFramesDo) {
  start("interval=1000");
  segment([](GstSegment &s) {
    s.rate = -2.0;
    s.stop = s.position = 5000;
  });
  for (const GstClockTime pts : {2900, 2500, 2000, 1900, 1500, 100}) frame(pts, 7, 100);
  eos();
  const auto all = reports(3);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].frames, 3u);
  EXPECT_EQ(all[0].timestamp, 2900u);
  EXPECT_EQ(all[0].running_time, 1050u);
  EXPECT_EQ(all[0].stream_time, 2900u);
  EXPECT_EQ(all[0].duration, 1000u);
  EXPECT_EQ(all[1].frames, 2u);
  EXPECT_EQ(all[1].timestamp, 1900u);
  EXPECT_EQ(all[1].duration, 500u);
  EXPECT_EQ(all[2].frames, 1u);
  EXPECT_EQ(all[2].duration, 100u);
}

TEST_F(Histogram, TimestampsThatGoForwardInReverseBeginAnInterval) {
  start("interval=1000");
  segment([](GstSegment &s) {
    s.rate = -1.0;
    s.stop = s.position = 5000;
  });
  frame(2000);
  frame(2100);
  eos();
  expect_frames({1, 1});
}

TEST_F(Histogram, AChangeOfDirectionEndsTheInterval) {
  start("interval=1000");
  frame(2000);
  frame(2100);
  segment([](GstSegment &s) {
    s.rate = -1.0;
    s.stop = s.position = 5000;
  });
  frame(2050);
  frame(2000);
  segment([](GstSegment &) {});
  frame(2010);
  eos();
  expect_frames({2, 2, 1});
}

// ----------------------------------------------------------------------------------------- times

TEST_F(Histogram, TimesAreThoseOfTheSegment) {
  start("interval=0");
  segment([](GstSegment &s) {
    s.rate = 2.0;
    s.start = 10 * GST_SECOND;
    s.time = 100 * GST_SECOND;
    s.base = 5 * GST_SECOND;
    s.applied_rate = 1.0;
  });
  frame(14 * GST_SECOND);
  const auto all = reports(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].timestamp, 14 * GST_SECOND);
  EXPECT_EQ(all[0].running_time, 7 * GST_SECOND);
  EXPECT_EQ(all[0].stream_time, 104 * GST_SECOND);
}

TEST_F(Histogram, TimesAreThoseOfTheFirstFrame) {
  start("interval=1000");
  segment([](GstSegment &s) { s.base = 50; });
  frame(3);
  frame(4);
  // A new segment in the middle of an interval moves only what comes after it.
  segment([](GstSegment &s) { s.base = 90; });
  frame(5);
  eos();
  const auto all = reports(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].frames, 3u);
  EXPECT_EQ(all[0].timestamp, 3u);
  EXPECT_EQ(all[0].running_time, 53u);
  EXPECT_EQ(all[0].stream_time, 3u);
}

TEST_F(Histogram, AFrameOutsideTheSegmentHasNoTimes) {
  start("interval=0");
  segment([](GstSegment &s) { s.start = GST_SECOND; });
  frame(0);
  const auto all = reports(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].timestamp, 0u);
  EXPECT_EQ(all[0].running_time, kNone);
  EXPECT_EQ(all[0].stream_time, kNone);
}

TEST_F(Histogram, ASegmentInBytesHasNoTimes) {
  start("interval=0");
  GstSegment bytes;
  gst_segment_init(&bytes, GST_FORMAT_BYTES);
  rig_->event(gst_event_new_segment(&bytes));
  frame(7);
  const auto all = reports(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].timestamp, 7u);
  EXPECT_EQ(all[0].running_time, kNone);
}

// ------------------------------------------------------------------------------- live properties

TEST_F(Histogram, PostsNothingWhereMessagesAreOff) {
  start("post-messages=false interval=0");
  frame(0);
  frame(1);
  eos();
  EXPECT_TRUE(reports(0).empty());
}

TEST_F(Histogram, MessagesGoOnAndOff) {
  start("interval=0");
  frame(0);
  rig_->set("post-messages", "false");
  frame(1);
  rig_->set("post-messages", "true");
  frame(2);
  const auto all = reports(2);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].timestamp, 0u);
  EXPECT_EQ(all[1].timestamp, 2u);
}

TEST_F(Histogram, TheIntervalThatIsOpenGoesWithTheMessages) {
  start("interval=1000");
  frame(0);
  rig_->set("post-messages", "false");
  frame(1);
  rig_->set("post-messages", "true");
  frame(2);
  eos();
  const auto all = reports(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].timestamp, 2u);
  EXPECT_EQ(all[0].frames, 1u);
}

TEST_F(Histogram, IntervalAndRegionChangeAtTheNextFrame) {
  start("interval=1000");
  frame(0);
  rig_->set("interval", "0");
  frame(1);
  rig_->set("roi", "<1,1,2,2>");
  frame(2);
  rig_->set("roi", "<>");
  frame(3);
  const auto all = reports(4);
  guint64 pixels = 0;
  for (const Report &report : all) pixels += report.pixels;
  EXPECT_EQ(pixels, 32u + 32u + 4u + 32u);
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(all[all.size() - 2].roi, (Roi{1, 1, 2, 2}));
  EXPECT_EQ(all[all.size() - 2].pixels, 4u);
  EXPECT_TRUE(all.back().roi.empty());
}

/// Changes each number of the region alone.
TEST_F(Histogram, RegionMovesAtTheNextFrame) {
  start("interval=0");
  const Picture picture = numbered_pixels();
  const std::vector<Roi> regions = {
      {1, 1, 2, 2}, {2, 1, 2, 2}, {2, 2, 2, 2}, {2, 2, 3, 2}, {2, 2, 3, 1}};
  for (const Roi &r : regions) {
    std::string text;
    for (const guint number : r) text += (text.empty() ? "<" : ",") + std::to_string(number);
    rig_->set("roi", text + ">");
    rig_->process(buffer_of(picture));
  }
  const auto all = reports(regions.size());
  ASSERT_EQ(all.size(), regions.size());
  for (size_t i = 0; i < regions.size(); ++i) {
    const Roi &r = regions[i];
    std::vector<guint64> bins(256);
    for (guint y = r[1]; y < r[1] + r[3]; ++y)
      for (guint x = r[0]; x < r[0] + r[2]; ++x) ++bins[kWidth * y + x];
    EXPECT_EQ(all[i].roi, r);
    EXPECT_EQ(all[i].bins, bins) << i;
  }
}

TEST_F(Histogram, AMessageNeverMixesRegions) {
  start("interval=1000");
  frame(0);
  rig_->set("roi", "<1,1,2,2>");
  frame(1);
  eos();
  for (const Report &report : reports(2))
    EXPECT_EQ(report.pixels, report.frames * (report.roi.empty() ? 32u : 4u));
}

/// Returns whether the lock becomes free; other threads may hold it for a moment.
bool can_lock(GstObject *object) {
  for (int i = 0; i < 1000; ++i) {
    if (g_mutex_trylock(GST_OBJECT_GET_LOCK(object))) {
      GST_OBJECT_UNLOCK(object);
      return true;
    }
    g_usleep(1000);
  }
  return false;
}

TEST_F(Histogram, PostsWithoutTheObjectLock) {
  start("interval=0");
  const auto handler = [](GstBus *, GstMessage *message, gpointer) {
    GstObject *source = GST_MESSAGE_SRC(message);
    // Deadlocks if the poster holds the lock.
    const bool is_free = can_lock(source);
    EXPECT_TRUE(is_free);
    if (!is_free) return GST_BUS_PASS;
    gchar *name = gst_object_get_name(source);
    g_free(name);
    gboolean post = FALSE;
    g_object_get(source, "post-messages", &post, nullptr);
    g_object_set(source, "interval", guint64{0}, nullptr);
    return GST_BUS_PASS;
  };
  gst_bus_set_sync_handler(rig_->messages().bus(), handler, nullptr, nullptr);
  frame(0);
  frame(1);
  expect_frames({1, 1});
}

}  // namespace
}  // namespace cudatensor
