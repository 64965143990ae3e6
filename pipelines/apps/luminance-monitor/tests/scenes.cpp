// SPDX-License-Identifier: LGPL-2.1-or-later
// Judges grey pictures from standard input as luminance-monitor judges frames, for scenes.py.
//
// Input: lines "size WIDTH HEIGHT", "learn COUNT" and "case COUNT"; the latter two are followed by
// COUNT pictures, which are two seconds apart. Each case starts from the learned state. Output for
// each: a line per change, "NAME raised|cleared SECONDS", then "end"; at the end of the input, the
// mean microseconds of a thumbnail and of a judgement.
#include <gst/video/video.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "capture/blocks.h"
#include "capture/thumbnail.h"
#include "watch/verdicts.h"

namespace luminance {
namespace {

constexpr Time kApart = 2 * kSecond;

class Microseconds {
 public:
  template <class Do>
  auto measure(const Do &act) {
    const auto begin = std::chrono::steady_clock::now();
    const auto result = act();
    sum_ +=
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    ++count_;
    return result;
  }
  double mean() const { return count_ > 0 ? sum_ / count_ : 0; }

 private:
  double sum_ = 0;
  int count_ = 0;
};

class Theatre {
 public:
  void set_size(unsigned width, unsigned height) {
    gst_video_info_set_format(&info_, GST_VIDEO_FORMAT_GRAY8, width, height);
  }

  void play(int count, bool is_case) {
    auto judge = std::make_unique<Judge>(*learned_);
    for (int i = 0; i < count; ++i) {
      const Time time = begin_ + i * kApart;
      const Measurement frame = read(time);
      for (const Change &change : judging_.measure([&] { return judge->judge(frame); }))
        std::printf("%s %s %.0f\n", std::string(name_of(change.verdict)).c_str(),
                    change.raised ? "raised" : "cleared",
                    static_cast<double>(time - begin_) / kSecond);
    }
    std::printf("end\n");
    std::fflush(stdout);
    if (is_case) return;
    begin_ += count * kApart;
    learned_ = std::move(judge);
  }

  void report() const {
    std::printf("%.0f us per thumbnail, %.0f us per judgement\n", making_.mean(), judging_.mean());
  }

 private:
  Measurement read(Time time) {
    GstBuffer *buffer = gst_buffer_new_allocate(nullptr, info_.size, nullptr);
    GstMapInfo map;
    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    Measurement frame;
    frame.time = time;
    frame.frames = 1;
    const auto width = static_cast<size_t>(info_.width);
    const auto stride = static_cast<size_t>(GST_VIDEO_INFO_PLANE_STRIDE(&info_, 0));
    for (size_t y = 0; y < static_cast<size_t>(info_.height); ++y) {
      std::cin.read(reinterpret_cast<char *>(map.data) + y * stride,
                    static_cast<std::streamsize>(width));
      for (size_t x = 0; x < width; ++x) ++frame.bins[map.data[y * stride + x]];
    }
    gst_buffer_unmap(buffer, &map);
    frame.pixels = width * static_cast<size_t>(info_.height);
    const Cutout<size_t> all = pixels_of(cutout_of({}), width, static_cast<size_t>(info_.height));
    frame.blocks = BlockSampler(all).blocks_of(buffer, info_);
    frame.thumbnail = making_.measure([&] { return thumbnail_of(buffer, info_, all); });
    gst_buffer_unref(buffer);
    // Adding the histogram to an empty sum computes the statistics.
    Measurement sum = frame;
    std::fill_n(sum.bins, 256, 0);
    sum.frames = sum.pixels = 0;
    gst_cuda_tensor_histogram_add(&sum, &frame);
    return sum;
  }

  GstVideoInfo info_ = {};
  Time begin_ = 0;
  std::unique_ptr<Judge> learned_ = std::make_unique<Judge>(default_rules(), 0);
  Microseconds making_, judging_;
};

void run() {
  Theatre theatre;
  std::string word;
  while (std::cin >> word) {
    unsigned a = 0, b = 0;
    std::cin >> a;
    if (word == "size") std::cin >> b;
    std::cin.get();  // the end of the line
    if (word == "size")
      theatre.set_size(a, b);
    else
      theatre.play(static_cast<int>(a), word == "case");
  }
  theatre.report();
}

}  // namespace
}  // namespace luminance

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  luminance::run();
  return std::cin.bad() ? 1 : 0;
}
