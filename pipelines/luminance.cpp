// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints the messages of cudahistogram, one line per interval.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "pipeline.h"

namespace {

constexpr int kBins = 256;
constexpr const char *kUsage = "SOURCE - print luminance histograms of a camera, file or URI";

using Histogram = std::array<guint64, kBins>;

/// The fields of a message that this application uses.
struct Interval {
  guint64 stream_time;
  guint frames, p1, p99;
  double mean, clipped_low, clipped_high;
  Histogram histogram;
};

Interval read_interval(const GstStructure *s) {
  Interval interval = {};
  const GValue *bins = gst_structure_get_value(s, "histogram");
  const gboolean complete = gst_structure_get(
      s, "stream-time", G_TYPE_UINT64, &interval.stream_time, "frames", G_TYPE_UINT,
      &interval.frames, "mean", G_TYPE_DOUBLE, &interval.mean, "p1", G_TYPE_UINT, &interval.p1,
      "p99", G_TYPE_UINT, &interval.p99, "clipped-low", G_TYPE_DOUBLE, &interval.clipped_low,
      "clipped-high", G_TYPE_DOUBLE, &interval.clipped_high, nullptr);
  if (!complete || bins == nullptr || !GST_VALUE_HOLDS_ARRAY(bins) ||
      gst_value_array_get_size(bins) != kBins)
    throw Failure("a message of cudahistogram has missing fields");
  for (int i = 0; i < kBins; ++i)
    interval.histogram[i] = g_value_get_uint64(gst_value_array_get_value(bins, i));
  return interval;
}

/// Returns the histogram as `columns` block characters. Heights are square roots of the counts, so
/// that small counts are visible.
std::string draw(const Histogram &histogram, int columns) {
  static constexpr const char *kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::vector<double> heights(columns);
  for (int i = 0; i < kBins; ++i) heights[i * columns / kBins] += histogram[i];
  for (double &height : heights) height = std::sqrt(height);
  const double highest = *std::max_element(heights.begin(), heights.end());
  std::string text;
  for (const double height : heights)
    text += kBlocks[highest > 0 ? static_cast<int>(std::ceil(8 * height / highest)) : 0];
  return text;
}

/// Returns the width of the histogram: 64 if there is no terminal or the line fits into it.
int histogram_columns() {
  winsize size = {};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known && size.ws_col < 106 ? 32 : 64;
}

void print_header(int columns) {
  std::printf("%7s   0%*d  %6s %4s %4s %7s %7s\n", "time", columns - 1, kBins - 1, "mean", "p1",
              "p99", "black", "white");
}

void print_interval(const Interval &interval, int columns) {
  std::printf("%5.1f s  │%s│ %6.1f %4u %4u %6.2f%% %6.2f%%\n",
              static_cast<double>(interval.stream_time) / GST_SECOND,
              draw(interval.histogram, columns).c_str(), interval.mean, interval.p1, interval.p99,
              100 * interval.clipped_low, 100 * interval.clipped_high);
  std::fflush(stdout);
}

void run(int argc, char **argv) {
  gint milliseconds = 500;
  const GOptionEntry options[] = {
      {"interval", 'i', 0, G_OPTION_ARG_INT, &milliseconds,
       "Length of an interval (500); 0: one line per frame", "MILLISECONDS"},
      {}};
  const auto arguments = parse_command_line(argc, argv, 1, kUsage, options);
  if (milliseconds < 0) throw Failure("--interval must not be negative");

  Pipeline pipeline(decoder_of(arguments[0]) + " ! cudahistogram interval=" +
                    std::to_string(milliseconds * GST_MSECOND) + " ! fakesink sync=false");
  const int columns = histogram_columns();
  guint intervals = 0, frames = 0;
  std::string failure;
  try {
    pipeline.play([&](const GstStructure *s) {
      if (!gst_structure_has_name(s, "cudahistogram")) return;
      const Interval interval = read_interval(s);
      if (intervals++ == 0) print_header(columns);
      print_interval(interval, columns);
      frames += interval.frames;
    });
  } catch (const Failure &why) {
    failure = why.what();  // the totals up to the failure are printed
  }
  if (frames == 0)
    throw Failure(failure.empty() ? "'" + shown_source(arguments[0]) + "' sent no frame" : failure);
  std::printf("%u frames in %u intervals\n", frames, intervals);
  if (!failure.empty()) throw Failure(failure);
}

}  // namespace

int main(int argc, char **argv) {
  return run_application([&] { run(argc, argv); });
}
