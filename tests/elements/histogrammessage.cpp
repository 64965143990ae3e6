// SPDX-License-Identifier: LGPL-2.1-or-later
// The library's functions for messages of cudahistogram.
#include <algorithm>
#include <cmath>

#include "handed.h"
#include "rig.h"

namespace cudatensor {
namespace {

constexpr ImageDesc kGray = {PixelFormat::GRAY8, 8, 4};
constexpr GstClockTime kNone = GST_CLOCK_TIME_NONE, kFrame = 40 * GST_MSECOND;

MessageRef message_of(GstStructure *s) { return MessageRef(gst_message_new_element(nullptr, s)); }

MessageRef message_named(const char *name) { return message_of(gst_structure_new_empty(name)); }

GstStructure *fields_of(GstMessage *message) {
  return gst_structure_copy(gst_message_get_structure(message));
}

GstCudaTensorHistogram parsed(GstMessage *message) {
  GstCudaTensorHistogram histogram = {};
  GError *error = nullptr;
  EXPECT_TRUE(gst_cuda_tensor_histogram_parse(message, &histogram, &error)) << error->message;
  return histogram;
}

/// Expects a refusal that names the cause and leaves the struct unchanged.
void expect_refusal(GstMessage *message, const std::string &cause) {
  GstCudaTensorHistogram histogram = {};
  histogram.frames = 77;
  Refusal refusal;
  EXPECT_FALSE(gst_cuda_tensor_histogram_parse(message, &histogram, refusal.into()));
  EXPECT_TRUE(refusal.is(GST_CUDA_TENSOR_ERROR_MESSAGE, cause));
  EXPECT_EQ(histogram.frames, 77u);
  EXPECT_FALSE(gst_cuda_tensor_histogram_parse(message, &histogram, nullptr));
}

/// Returns the messages that cudahistogram posts with these properties for these frames, whose
/// lumas are 10 apart and which have one row of another luma.
std::vector<MessageRef> messages_of(const std::string &properties, int frames, double rate = 1,
                                    bool timed = true) {
  Rig rig("cudahistogram qos=false " + properties);
  EXPECT_TRUE(rig.caps(video_caps(kGray)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = rate;
  segment.stop = 1000 * kFrame;
  EXPECT_TRUE(rig.event(gst_event_new_segment(&segment)));
  for (int i = 0; i < frames; ++i) {
    const int place = rate > 0 ? i : frames - 1 - i;
    Picture picture(kGray, static_cast<uint8_t>(5 + 10 * place));
    std::fill_n(picture.planes()[0].bytes.begin(), kGray.width, uint8_t{250});
    BufferRef buffer = buffer_of(picture);
    GST_BUFFER_PTS(buffer.get()) = timed ? static_cast<GstClockTime>(place + 3) * kFrame : kNone;
    GST_BUFFER_DURATION(buffer.get()) = timed ? kFrame : kNone;
    rig.process(std::move(buffer));
  }
  EXPECT_TRUE(rig.event(gst_event_new_eos()));
  return rig.histograms(1);
}

GstCudaTensorHistogram sum_of(const std::vector<MessageRef> &messages) {
  GstCudaTensorHistogram sum = {};
  for (const MessageRef &message : messages) {
    const GstCudaTensorHistogram more = parsed(message.get());
    gst_cuda_tensor_histogram_add(&sum, &more);
  }
  return sum;
}

void expect_same(const GstCudaTensorHistogram &a, const GstCudaTensorHistogram &b) {
  EXPECT_EQ(a.timestamp, b.timestamp);
  EXPECT_EQ(a.stream_time, b.stream_time);
  EXPECT_EQ(a.running_time, b.running_time);
  EXPECT_EQ(a.duration, b.duration);
  EXPECT_EQ(a.frames, b.frames);
  EXPECT_EQ(a.pixels, b.pixels);
  EXPECT_TRUE(std::equal(std::begin(a.bins), std::end(a.bins), std::begin(b.bins)));
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.stddev, b.stddev);
  for (const auto member :
       {&GstCudaTensorHistogram::min, &GstCudaTensorHistogram::max, &GstCudaTensorHistogram::median,
        &GstCudaTensorHistogram::p1, &GstCudaTensorHistogram::p5, &GstCudaTensorHistogram::p95,
        &GstCudaTensorHistogram::p99, &GstCudaTensorHistogram::roi_x,
        &GstCudaTensorHistogram::roi_y, &GstCudaTensorHistogram::roi_width,
        &GstCudaTensorHistogram::roi_height})
    EXPECT_EQ(a.*member, b.*member);
  EXPECT_NEAR(a.clipped_low, b.clipped_low, 1e-12);
  EXPECT_NEAR(a.clipped_high, b.clipped_high, 1e-12);
  EXPECT_EQ(a.has_roi, b.has_roi);
}

TEST(HistogramMessage, IsReadWhole) {
  const auto messages = messages_of("interval=0", 2);
  ASSERT_EQ(messages.size(), 2u);
  const GstCudaTensorHistogram h = parsed(messages[1].get());
  EXPECT_EQ(h.timestamp, 4 * kFrame);
  EXPECT_EQ(h.stream_time, 4 * kFrame);
  EXPECT_EQ(h.running_time, 4 * kFrame);
  EXPECT_EQ(h.duration, kFrame);
  EXPECT_EQ(h.frames, 1u);
  EXPECT_EQ(h.pixels, 32u);
  for (int luma = 0; luma < 256; ++luma)
    EXPECT_EQ(h.bins[luma], luma == 15 ? 24u : luma == 250 ? 8u : 0u) << luma;
  EXPECT_EQ(h.mean, (24 * 15 + 8 * 250) / 32.0);
  EXPECT_NEAR(h.stddev, 235 * std::sqrt(0.25 * 0.75), 1e-9);
  EXPECT_EQ(h.min, 15u);
  EXPECT_EQ(h.max, 250u);
  EXPECT_EQ(h.median, 15u);
  EXPECT_EQ(h.p1, 15u);
  EXPECT_EQ(h.p5, 15u);
  EXPECT_EQ(h.p95, 250u);
  EXPECT_EQ(h.p99, 250u);
  EXPECT_EQ(h.clipped_low, 0);
  EXPECT_EQ(h.clipped_high, 0);
  EXPECT_FALSE(h.has_roi);
}

TEST(HistogramMessage, HasARegionWhereOneIsSet) {
  const auto messages = messages_of("interval=0 roi=<2,1,5,3>", 1);
  ASSERT_EQ(messages.size(), 1u);
  const GstCudaTensorHistogram h = parsed(messages[0].get());
  EXPECT_TRUE(h.has_roi);
  EXPECT_EQ(h.roi_x, 2u);
  EXPECT_EQ(h.roi_y, 1u);
  EXPECT_EQ(h.roi_width, 5u);
  EXPECT_EQ(h.roi_height, 3u);
  EXPECT_EQ(h.pixels, 15u);
}

TEST(HistogramMessage, IsDistinguishedFromOthers) {
  std::vector<MessageRef> others;
  others.push_back(message_named("histogram"));
  others.push_back(message_named("cudahistograms"));
  others.emplace_back(gst_message_new_eos(nullptr));
  others.emplace_back(
      gst_message_new_application(nullptr, gst_structure_new_empty("cudahistogram")));
  for (const MessageRef &message : others) {
    EXPECT_FALSE(gst_cuda_tensor_is_histogram(message.get()));
    expect_refusal(message.get(), "not one of cudahistogram");
  }
  const MessageRef empty = message_named("cudahistogram");
  EXPECT_TRUE(gst_cuda_tensor_is_histogram(empty.get()));
  expect_refusal(empty.get(), "is missing");
}

TEST(HistogramMessage, IsRefusedNamingAMissingOrWrongField) {
  const auto messages = messages_of("roi=<0,0,4,4>", 1);
  ASSERT_EQ(messages.size(), 1u);
  GstStructure *whole = fields_of(messages[0].get());
  const int fields = gst_structure_n_fields(whole);
  EXPECT_EQ(fields, 22);
  for (int i = 0; i < fields; ++i) {
    const std::string name = gst_structure_nth_field_name(whole, static_cast<guint>(i));
    GstStructure *less = gst_structure_copy(whole);
    gst_structure_remove_field(less, name.c_str());
    expect_refusal(message_of(less).get(), "field " + name + " is missing");
    GstStructure *wrong = gst_structure_copy(whole);
    gst_structure_set(wrong, name.c_str(), G_TYPE_STRING, "7", nullptr);
    expect_refusal(message_of(wrong).get(), "field " + name + " holds gchararray, not ");
  }
  gst_structure_free(whole);
}

TEST(HistogramMessage, IsRefusedWithOtherBins) {
  const auto messages = messages_of("", 1);
  ASSERT_EQ(messages.size(), 1u);
  for (const guint size : {0u, 255u, 257u, 256u}) {
    GValue array = G_VALUE_INIT;
    g_value_init(&array, GST_TYPE_ARRAY);
    for (guint i = 0; i < size; ++i) {
      GValue bin = G_VALUE_INIT;
      g_value_init(&bin, size == 256 ? G_TYPE_INT : G_TYPE_UINT64);
      gst_value_array_append_and_take_value(&array, &bin);
    }
    GstStructure *s = fields_of(messages[0].get());
    gst_structure_take_value(s, "histogram", &array);
    expect_refusal(message_of(s).get(),
                   size == 256 ? "field histogram holds gint, not guint64"
                               : "field histogram has " + std::to_string(size) + " bins, not 256");
  }
}

/// The reference is the element's own sum, in one message.
TEST(HistogramSum, EqualsOneMessageOfAllFrames) {
  for (const char *region : {"", " roi=<1,0,3,2>"})
    for (const double rate : {1.0, -1.0}) {
      const auto each = messages_of(std::string("interval=0") + region, 20, rate);
      const auto all = messages_of(std::string("interval=100000000000") + region, 20, rate);
      const auto some = messages_of(std::string("interval=120000000") + region, 20, rate);
      ASSERT_EQ(each.size(), 20u);
      ASSERT_EQ(all.size(), 1u);
      ASSERT_EQ(some.size(), 7u);
      expect_same(sum_of(each), parsed(all[0].get()));
      expect_same(sum_of(some), parsed(all[0].get()));
    }
}

TEST(HistogramSum, HasAnEmptyNeutralElement) {
  const auto messages = messages_of("roi=<1,0,3,2>", 3);
  ASSERT_EQ(messages.size(), 1u);
  const GstCudaTensorHistogram h = parsed(messages[0].get()), nothing = {};
  GstCudaTensorHistogram sum = {};
  gst_cuda_tensor_histogram_add(&sum, &h);
  expect_same(sum, h);
  gst_cuda_tensor_histogram_add(&sum, &nothing);
  expect_same(sum, h);
  sum = {};
  gst_cuda_tensor_histogram_add(&sum, &nothing);
  expect_same(sum, nothing);
}

TEST(HistogramSum, WeightsClippedSharesByPixels) {
  GstCudaTensorHistogram a = {}, b = {};
  a.frames = b.frames = 1;
  a.pixels = a.bins[0] = 300, a.clipped_low = 1;
  b.pixels = b.bins[255] = 100, b.clipped_high = 0.5;
  gst_cuda_tensor_histogram_add(&a, &b);
  EXPECT_EQ(a.clipped_low, 0.75);
  EXPECT_EQ(a.clipped_high, 0.125);
  EXPECT_EQ(a.pixels, 400u);
  EXPECT_EQ(a.median, 0u);
  EXPECT_EQ(a.p95, 255u);
  gst_cuda_tensor_histogram_add(&a, &a);
  EXPECT_EQ(a.clipped_low, 0.75);
  EXPECT_EQ(a.pixels, 800u);
  EXPECT_EQ(a.bins[0], 600u);
}

TEST(HistogramSum, AddsDurationsWhereTimestampsAreNotKnown) {
  const auto messages = messages_of("interval=0", 3, 1, false);
  const GstCudaTensorHistogram sum = sum_of(messages);
  EXPECT_EQ(sum.frames, 3u);
  EXPECT_EQ(sum.timestamp, kNone);
  EXPECT_EQ(sum.duration, 3 * parsed(messages[0].get()).duration);
}

TEST(HistogramSum, GoesWithoutDurationsThatAreNotKnown) {
  GstCudaTensorHistogram sum = {}, frame = {};
  frame.frames = 1;
  frame.timestamp = frame.duration = kNone;
  for (int i = 0; i < 2; ++i) gst_cuda_tensor_histogram_add(&sum, &frame);
  EXPECT_EQ(sum.duration, kNone);
  sum = {};
  for (const GstClockTime timestamp : {5, 9}) {
    frame.timestamp = timestamp;
    gst_cuda_tensor_histogram_add(&sum, &frame);
  }
  EXPECT_EQ(sum.duration, 4u);
  frame.duration = 3;
  gst_cuda_tensor_histogram_add(&sum, &frame);
  EXPECT_EQ(sum.duration, 7u);
}

TEST(HistogramSum, IsZeroForFramesWithoutPixels) {
  GstCudaTensorHistogram sum = {}, empty = {};
  empty.frames = 1;
  gst_cuda_tensor_histogram_add(&sum, &empty);
  gst_cuda_tensor_histogram_add(&sum, &empty);
  EXPECT_EQ(sum.frames, 2u);
  EXPECT_EQ(sum.mean, 0);
  EXPECT_EQ(sum.clipped_high, 0);
}

}  // namespace
}  // namespace cudatensor
