// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the messages of cudahistogram and adds them up.
#include "kernels/histogram.h"

#include <algorithm>
#include <string>

#include "gst/library/libraryerror.h"

namespace cudatensor {
namespace {

static_assert(G_N_ELEMENTS(GstCudaTensorHistogram::bins) == kBins);

/// A field of the message and the member that holds it.
template <class Value>
struct Field {
  const char *name;
  Value GstCudaTensorHistogram::*member;
};

constexpr Field<guint64> kLongs[] = {
    {"timestamp", &GstCudaTensorHistogram::timestamp},
    {"stream-time", &GstCudaTensorHistogram::stream_time},
    {"running-time", &GstCudaTensorHistogram::running_time},
    {"duration", &GstCudaTensorHistogram::duration},
    {"pixels", &GstCudaTensorHistogram::pixels},
};
constexpr Field<guint> kUints[] = {
    {"frames", &GstCudaTensorHistogram::frames}, {"min", &GstCudaTensorHistogram::min},
    {"max", &GstCudaTensorHistogram::max},       {"median", &GstCudaTensorHistogram::median},
    {"p1", &GstCudaTensorHistogram::p1},         {"p5", &GstCudaTensorHistogram::p5},
    {"p95", &GstCudaTensorHistogram::p95},       {"p99", &GstCudaTensorHistogram::p99},
};
constexpr Field<gdouble> kReals[] = {
    {"mean", &GstCudaTensorHistogram::mean},
    {"stddev", &GstCudaTensorHistogram::stddev},
    {"clipped-low", &GstCudaTensorHistogram::clipped_low},
    {"clipped-high", &GstCudaTensorHistogram::clipped_high},
};
constexpr Field<guint> kRegion[] = {
    {"roi-x", &GstCudaTensorHistogram::roi_x},
    {"roi-y", &GstCudaTensorHistogram::roi_y},
    {"roi-width", &GstCudaTensorHistogram::roi_width},
    {"roi-height", &GstCudaTensorHistogram::roi_height},
};
constexpr const char *kBinsField = "histogram";

[[noreturn]] void refuse(const std::string &cause) {
  throw LibraryError(GST_CUDA_TENSOR_ERROR_MESSAGE, "cudahistogram message: " + cause);
}

void check_type(const char *field, const GValue *value, GType type) {
  if (G_VALUE_HOLDS(value, type)) return;
  refuse(std::string("field ") + field + " holds " + G_VALUE_TYPE_NAME(value) + ", not " +
         g_type_name(type));
}

const GValue *find(const GstStructure *s, const char *field, GType type) {
  const GValue *value = gst_structure_get_value(s, field);
  if (value == nullptr) refuse(std::string("field ") + field + " is missing");
  check_type(field, value, type);
  return value;
}

template <class Fields, class Get>
void read(const GstStructure *s, const Fields &fields, GType type, Get get,
          GstCudaTensorHistogram &histogram) {
  for (const auto &field : fields) histogram.*field.member = get(find(s, field.name, type));
}

void read_bins(const GstStructure *s, GstCudaTensorHistogram &histogram) {
  const GValue *array = find(s, kBinsField, GST_TYPE_ARRAY);
  const guint size = gst_value_array_get_size(array);
  if (size != kBins)
    refuse(std::string("field ") + kBinsField + " has " + std::to_string(size) + " bins, not " +
           std::to_string(kBins));
  for (guint i = 0; i < size; ++i) {
    const GValue *bin = gst_value_array_get_value(array, i);
    check_type(kBinsField, bin, G_TYPE_UINT64);
    histogram.bins[i] = g_value_get_uint64(bin);
  }
}

GstCudaTensorHistogram parse(GstMessage *message) {
  if (!gst_cuda_tensor_is_histogram(message))
    throw LibraryError(GST_CUDA_TENSOR_ERROR_MESSAGE, "the message is not one of cudahistogram");
  const GstStructure *s = gst_message_get_structure(message);
  GstCudaTensorHistogram histogram = {};
  read(s, kLongs, G_TYPE_UINT64, g_value_get_uint64, histogram);
  read(s, kUints, G_TYPE_UINT, g_value_get_uint, histogram);
  read(s, kReals, G_TYPE_DOUBLE, g_value_get_double, histogram);
  read_bins(s, histogram);
  const auto is_there = [s](const auto &field) { return gst_structure_has_field(s, field.name); };
  histogram.has_roi = std::any_of(std::begin(kRegion), std::end(kRegion), is_there);
  if (histogram.has_roi) read(s, kRegion, G_TYPE_UINT, g_value_get_uint, histogram);
  return histogram;
}

GstClockTime known_or(GstClockTime time, GstClockTime otherwise) {
  return GST_CLOCK_TIME_IS_VALID(time) ? time : otherwise;
}

/// Extends the duration of `sum` to the end of `more`. In reverse playback, later frames have lower
/// timestamps.
void extend(GstCudaTensorHistogram &sum, const GstCudaTensorHistogram &more) {
  if (GST_CLOCK_TIME_IS_VALID(sum.timestamp) && GST_CLOCK_TIME_IS_VALID(more.timestamp)) {
    const auto [earlier, later] = std::minmax(sum.timestamp, more.timestamp);
    sum.duration =
        std::max(known_or(sum.duration, 0), later - earlier + known_or(more.duration, 0));
  } else if (GST_CLOCK_TIME_IS_VALID(more.duration)) {
    sum.duration = known_or(sum.duration, 0) + more.duration;
  }
}

void begin(GstCudaTensorHistogram &sum, const GstCudaTensorHistogram &first) {
  sum.timestamp = first.timestamp;
  sum.stream_time = first.stream_time;
  sum.running_time = first.running_time;
  sum.duration = first.duration;
  sum.has_roi = first.has_roi;
  for (const auto &field : kRegion) sum.*field.member = first.*field.member;
}

/// Returns the mean of two shares, weighted by their numbers of pixels.
double share_of(double a, guint64 pixels_a, double b, guint64 pixels_b) {
  if (pixels_a == 0) return b;
  const auto weight_a = static_cast<double>(pixels_a), weight_b = static_cast<double>(pixels_b);
  return (a * weight_a + b * weight_b) / (weight_a + weight_b);
}

void set_statistics(GstCudaTensorHistogram &histogram) {
  Bins bins;
  std::copy(std::begin(histogram.bins), std::end(histogram.bins), bins.begin());
  const HistogramStatistics s = statistics_of(bins);
  histogram.mean = s.mean, histogram.stddev = s.stddev;
  histogram.min = s.min, histogram.max = s.max, histogram.median = s.median;
  histogram.p1 = s.p1, histogram.p5 = s.p5, histogram.p95 = s.p95, histogram.p99 = s.p99;
}

void add(GstCudaTensorHistogram &sum, const GstCudaTensorHistogram &more) {
  if (sum.frames == 0)
    begin(sum, more);
  else
    extend(sum, more);
  sum.frames += more.frames;
  sum.clipped_low = share_of(sum.clipped_low, sum.pixels, more.clipped_low, more.pixels);
  sum.clipped_high = share_of(sum.clipped_high, sum.pixels, more.clipped_high, more.pixels);
  sum.pixels += more.pixels;
  for (int i = 0; i < kBins; ++i) sum.bins[i] += more.bins[i];
  set_statistics(sum);
}

}  // namespace
}  // namespace cudatensor

gboolean gst_cuda_tensor_is_histogram(GstMessage *message) {
  g_return_val_if_fail(GST_IS_MESSAGE(message), FALSE);
  return GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT &&
         gst_message_has_name(message, "cudahistogram");
}

gboolean gst_cuda_tensor_histogram_parse(GstMessage *message, GstCudaTensorHistogram *histogram,
                                         GError **error) {
  g_return_val_if_fail(GST_IS_MESSAGE(message), FALSE);
  g_return_val_if_fail(histogram != nullptr, FALSE);
  return cudatensor::caught(error, [&] {
    *histogram = cudatensor::parse(message);
    return TRUE;
  });
}

void gst_cuda_tensor_histogram_add(GstCudaTensorHistogram *sum,
                                   const GstCudaTensorHistogram *more) {
  g_return_if_fail(sum != nullptr);
  g_return_if_fail(more != nullptr);
  if (more->frames > 0) cudatensor::add(*sum, *more);
}
