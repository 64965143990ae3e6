// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions and masks: in the configuration, in pixels of pictures of any size, and in the
// measurements of a frame.
#include "settings/region.h"

#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "capture/blocks.h"
#include "capture/regioncounter.h"
#include "capture/thumbnail.h"
#include "seed.h"
#include "settings/changes.h"
#include "settings/reader.h"
#include "watch/edges.h"

namespace luminance {
namespace {

using Json = nlohmann::json;
using Picture = std::vector<uint8_t>;

Region random_region(std::mt19937 &random) {
  // Edges at twentieths often meet.
  const auto span = [&] {
    const unsigned begin = random() % 20, end = begin + 1 + random() % (20 - begin);
    return std::pair(begin / 20., (end - begin) / 20.);
  };
  const auto area = [&] {
    const auto [x, width] = span();
    const auto [y, height] = span();
    return Area{x, y, width, height};
  };
  Region region;
  if (random() % 3 > 0) region.area = area();
  for (unsigned masks = random() % 6; masks > 0; --masks) region.masks.push_back(area());
  return region;
}

/// Returns whether the centre of this pixel is in the area, by the definition.
bool has_centre(const Area &area, size_t x, size_t y, size_t width, size_t height) {
  const auto is_within = [](double begin, double length, size_t at, size_t count) {
    const auto first = [&](double edge) {
      return std::ceil(std::round(edge * 1e9) / 1e9 * static_cast<double>(count) - 0.5);
    };
    const auto pixel = static_cast<double>(at);
    return pixel >= first(begin) && pixel < first(begin + length);
  };
  return is_within(area.x, area.width, x, width) && is_within(area.y, area.height, y, height);
}

/// Returns for each pixel, line by line, whether it is judged.
std::vector<bool> judged_by_definition(const Region &region, size_t width, size_t height) {
  std::vector<bool> judged;
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x) {
      bool is = has_centre(region.area.value_or(Area()), x, y, width, height);
      for (const Area &mask : region.masks) is = is && !has_centre(mask, x, y, width, height);
      judged.push_back(is);
    }
  return judged;
}

/// Returns for each pixel how often it is in the frame, minus how often it is in a hole.
std::vector<int> counts_of(const Cutout<size_t> &pixels, size_t width, size_t height) {
  std::vector<int> counts(width * height);
  const auto add = [&](const Box<size_t> &box, int count) {
    for (size_t y = box.top; y < box.bottom; ++y)
      for (size_t x = box.left; x < box.right; ++x) counts.at(y * width + x) += count;
  };
  add(pixels.frame, 1);
  for (const Box<size_t> &hole : pixels.holes) add(hole, -1);
  return counts;
}

TEST(Regions, CountEachJudgedPixelOnce) {
  std::mt19937 random(seed());
  for (int i = 0; i < 500; ++i) {
    const Region region = random_region(random);
    const Cutout<double> cutout = cutout_of(region);
    for (const auto &[width, height] :
         {std::pair<size_t, size_t>{1, 1}, {2, 3}, {7, 5}, {20, 20}, {64, 48}, {101, 67}}) {
      const Cutout<size_t> pixels = pixels_of(cutout, width, height);
      const std::vector<bool> expected = judged_by_definition(region, width, height);
      const std::vector<int> counts = counts_of(pixels, width, height);
      ASSERT_TRUE(std::equal(counts.begin(), counts.end(), expected.begin()))
          << text_of(region) << " of " << width << "x" << height;
      ASSERT_EQ(count_of(pixels),
                static_cast<size_t>(std::count(expected.begin(), expected.end(), true)));
      ASSERT_EQ(pixels.holes.size(), cutout.holes.size());
    }
  }
}

TEST(Regions, HaveNoLargerFrameThanTheJudgedArea) {
  const Cutout<double> right = cutout_of({{}, {{0, 0, 0.5, 1}}});
  EXPECT_EQ(right.frame, (Box<double>{0.5, 0, 1, 1}));
  EXPECT_TRUE(right.holes.empty());
  const Cutout<double> corner = cutout_of({Area{0.1, 0.1, 0.8, 0.8}, {{0, 0, 0.2, 0.2}}});
  EXPECT_EQ(corner.frame, (Box<double>{0.1, 0.1, 0.9, 0.9}));
  ASSERT_EQ(corner.holes.size(), 1u);
  EXPECT_EQ(corner.holes[0], (Box<double>{0.1, 0.1, 0.2, 0.2}));
}

TEST(Regions, HaveFewHolesForOverlappingMasks) {
  EXPECT_EQ(cutout_of({{}, {{0.1, 0.1, 0.2, 0.2}, {0.6, 0.15, 0.2, 0.5}}}).holes.size(), 2u);
  EXPECT_EQ(cutout_of({{}, {{0.1, 0.4, 0.8, 0.2}, {0.4, 0.1, 0.2, 0.8}}}).holes.size(), 3u);
  Region grid;
  for (int i = 0; i < 8; ++i) {
    grid.masks.push_back({0, 0.1 + i * 0.1, 1, 0.05});
    grid.masks.push_back({0.1 + i * 0.1, 0, 0.05, 1});
  }
  EXPECT_LE(cutout_of(grid).holes.size(), 80u);
}

TEST(Regions, HaveSharesThatAddUp) {
  // In floating point, 0.1 + 0.2 is not 0.3.
  const Cutout<double> cutout =
      cutout_of({{}, {{0, 0, 0.1, 1}, {0.1, 0, 0.2, 1}, {0.3, 0, 0.7, 1}}});
  EXPECT_TRUE(cutout.frame.is_empty());
  EXPECT_TRUE(cutout_of({Area{0.2, 0.2, 0.6, 0.6}, {{0.2, 0, 0.6, 1}}}).frame.is_empty());
}

TEST(Regions, HaveTheSamplesOfTheirPixels) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const Size from = {1 + random() % 90, 1 + random() % 90}, to = {40, 30};
    const Region region = random_region(random);
    const Cutout<size_t> pixels = pixels_of(cutout_of(region), from.width, from.height);
    const std::vector<int> expected = counts_of(pixels, from.width, from.height);
    const std::vector<int> counts = counts_of(samples_of(pixels, from, to), to.width, to.height);
    for (size_t y = 0; y < to.height; ++y)
      for (size_t x = 0; x < to.width; ++x)
        ASSERT_EQ(counts[y * to.width + x],
                  expected[y * from.height / to.height * from.width + x * from.width / to.width]);
  }
}

// The configuration.

Region read(const std::string &text) {
  Settings settings;
  Json config = {{"cameras", Json::array({Json::parse(text)})}};
  config["cameras"][0]["uri"] = "rtsp://a/";
  read_settings(config, ".", settings);
  return settings.cameras.at(0).region;
}

std::string error_of(const std::string &text) {
  try {
    read(text);
  } catch (const SettingsError &error) {
    return error.what();
  }
  return "no error";
}

TEST(RegionSettings, AreRead) {
  EXPECT_TRUE(read("{}").is_whole());
  const Region region = read(R"({"region": [0.1, 0, 0.9, 0.5], "masks": [[0, 0, 1, 0.25]]})");
  EXPECT_EQ(region.area, (Area{0.1, 0, 0.9, 0.5}));
  ASSERT_EQ(region.masks.size(), 1u);
  EXPECT_EQ(region.masks[0], (Area{0, 0, 1, 0.25}));
  EXPECT_TRUE(read(R"({"masks": []})").is_whole());
  EXPECT_EQ(read(R"({"region": [0, 0, 1, 1]})").area, Area());
}

TEST(RegionSettings, NameWrongValues) {
  const auto is_named = [](const std::string &text, const std::string &named) {
    EXPECT_EQ(error_of(text).find("cameras[0]." + named), 0u) << text << ": " << error_of(text);
  };
  for (const char *area : {"1", "\"all\"", "{}", "[]", "[0, 0, 1]", "[0, 0, 1, 1, 1]",
                           "[0, 0, 1, \"1\"]", "[0, 0, true, 1]", "[[0, 0, 1, 1]]", "null"}) {
    is_named(std::string(R"({"region": )") + area + "}", "region is not a list of four numbers");
    is_named(std::string(R"({"masks": [[0, 0, 0.1, 0.1], )") + area + "]}",
             "masks[1] is not a list of four numbers");
  }
  for (const char *area : {"[-0.1, 0, 0.5, 0.5]", "[0, -1e-9, 0.5, 0.5]", "[0.6, 0, 0.5, 1]",
                           "[0, 0.1, 1, 1]", "[10, 0, 80, 100]", "[0, 0, 1e300, 1]"}) {
    is_named(std::string(R"({"region": )") + area + "}", "region lies outside the picture");
    is_named(std::string(R"({"masks": [)") + area + "]}", "masks[0] lies outside the picture");
  }
  for (const char *area : {"[0, 0, 0, 1]", "[0.5, 0.5, 0.1, -0.1]", "[0, 0, 1, 1e-9]"})
    is_named(std::string(R"({"region": )") + area + "}", "region is empty");
  is_named(R"({"masks": {}})", "masks is not a list");
  is_named(R"({"masks": [[0, 0, 0.6, 1], [0.5, 0, 0.5, 1]]})", "masks cover all of the picture");
  is_named(R"({"region": [0, 0, 0.5, 1], "masks": [[0, 0, 0.5, 1]]})",
           "masks cover all of the region");
  std::string many = "[0, 0, 0.1, 0.1]";
  for (int i = 0; i < 16; ++i) many += ", [0, 0, 0.1, 0.1]";
  is_named(R"({"masks": [)" + many + "]}", "masks has more than 16");
  Json infinite = {{"uri", "rtsp://a/"}, {"region", {0, 0, std::nan(""), 1}}};
  Settings settings;
  EXPECT_THROW(read_settings({{"cameras", {infinite}}}, ".", settings), SettingsError);
}

TEST(RegionSettings, RestartTheCameraIfTheyDiffer) {
  const auto with = [](const std::string &text) {
    Settings settings;
    settings.cameras.emplace_back();
    settings.cameras[0].id = "a";
    settings.cameras[0].region = read(text);
    return settings;
  };
  const Settings before = with(R"({"masks": [[0, 0, 0.5, 0.5]]})");
  EXPECT_EQ(camera_changes(before, with(R"({"masks": [[0, 0, 0.5, 0.5]]})")).unchanged, 1u);
  for (const char *other :
       {"{}", R"({"masks": [[0, 0, 0.5, 0.6]]})", R"({"region": [0, 0, 0.5, 0.5]})",
        R"({"masks": [[0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5]]})"})
    EXPECT_EQ(camera_changes(before, with(other)).changed.size(), 1u) << other;
}

// The measurements.

Measurement measurement_of(const Picture &pixels, unsigned width) {
  Measurement count;
  count.frames = 1;
  count.pixels = pixels.size();
  size_t low = 0, high = 0;
  for (const uint8_t luma : pixels) ++count.bins[luma], low += luma <= 16, high += luma >= 235;
  count.clipped_low = static_cast<double>(low) / static_cast<double>(pixels.size());
  count.clipped_high = static_cast<double>(high) / static_cast<double>(pixels.size());
  count.has_roi = TRUE;
  count.roi_width = width;
  count.roi_height = static_cast<unsigned>(pixels.size()) / width;
  return count;
}

TEST(RegionCounts, ExcludeTheHoles) {
  std::mt19937 random(3);
  const auto pixels = [&](size_t count) {
    Picture picture(count);
    for (uint8_t &luma : picture) luma = static_cast<uint8_t>(random());
    return picture;
  };
  const Picture rest = pixels(1001), first = pixels(303), second = pixels(77);
  Picture all = rest;
  all.insert(all.end(), first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  const Measurement whole = measurement_of(all, 1);
  const Measurement left = without(
      whole,
      {measurement_of(first, 3), whole /* for a hole without pixels */, measurement_of(second, 7)});
  const Measurement expected = measurement_of(rest, 1);
  EXPECT_TRUE(std::equal(std::begin(left.bins), std::end(left.bins), expected.bins));
  EXPECT_EQ(left.pixels, rest.size());
  EXPECT_EQ(left.clipped_low, expected.clipped_low);
  EXPECT_EQ(left.clipped_high, expected.clipped_high);
  EXPECT_EQ(left.frames, 1u);
  const double sum = std::accumulate(rest.begin(), rest.end(), 0.);
  EXPECT_DOUBLE_EQ(left.mean, sum / static_cast<double>(rest.size()));
}

using Buffer = std::unique_ptr<GstBuffer, decltype(&gst_buffer_unref)>;

constexpr size_t kWidth = 640, kHeight = 360;

GstVideoInfo gray() {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_GRAY8, kWidth, kHeight);
  return info;
}

Buffer frame_of(const Picture &picture) {
  return {gst_buffer_new_memdup(picture.data(), picture.size()), gst_buffer_unref};
}

class RegionPictures : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { gst_init(nullptr, nullptr); }

  RegionPictures() {
    for (uint8_t &luma : picture_) luma = static_cast<uint8_t>(random_());
  }

  /// Returns the picture with its judged pixels, and random pixels elsewhere.
  Picture other(const Region &region) {
    Picture picture = picture_;
    const std::vector<bool> judged = judged_by_definition(region, kWidth, kHeight);
    for (size_t i = 0; i < picture.size(); ++i)
      if (!judged[i]) picture[i] = static_cast<uint8_t>(random_());
    return picture;
  }

  std::mt19937 random_{11};
  Picture picture_ = Picture(kWidth * kHeight);
  const GstVideoInfo info_ = gray();
};

const Region kRegions[] = {{Area{0.13, 0.21, 0.5, 0.7}, {}},
                           {{}, {{0.7, 0, 0.3, 0.12}}},
                           {Area{0.1, 0.1, 0.8, 0.8}, {{0, 0, 0.33, 0.33}, {0.3, 0.3, 0.2, 0.2}}}};

TEST_F(RegionPictures, HaveTheSameBlocksWhateverIsMasked) {
  for (const Region &region : kRegions) {
    const BlockSampler sampler(pixels_of(cutout_of(region), kWidth, kHeight));
    const auto a = sampler.blocks_of(frame_of(picture_).get(), info_);
    const auto b = sampler.blocks_of(frame_of(other(region)).get(), info_);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->means, b->means) << text_of(region);
    const auto masked = static_cast<size_t>(std::count(a->means.begin(), a->means.end(), 0));
    EXPECT_EQ(a->visible, Blocks::kCount - masked);
    EXPECT_EQ(masked > 0, !region.masks.empty());
  }
}

TEST_F(RegionPictures, HaveBlocksOnlyOfTheirRegion) {
  std::fill(picture_.begin(), picture_.end(), 0);
  for (size_t y = 180; y < kHeight; ++y)
    for (size_t x = 320; x < kWidth; ++x) picture_[y * kWidth + x] = 77;
  const BlockSampler sampler(pixels_of(cutout_of({Area{0.5, 0.5, 0.5, 0.5}, {}}), kWidth, kHeight));
  const auto blocks = sampler.blocks_of(frame_of(picture_).get(), info_);
  ASSERT_NE(blocks, nullptr);
  for (const uint16_t mean : blocks->means) EXPECT_EQ(mean, 77 * Blocks::kLuma);
}

TEST_F(RegionPictures, HaveBlocksAsLongAsPixelsAreLeft) {
  const Region column = {{}, {{0, 0, 0.499, 1}, {0.502, 0, 0.498, 1}}};
  const BlockSampler some(pixels_of(cutout_of(column), kWidth, kHeight));
  EXPECT_NE(some.blocks_of(frame_of(picture_).get(), info_), nullptr);
  const BlockSampler none(pixels_of(cutout_of(column), 1, 0));
  EXPECT_EQ(none.blocks_of(frame_of(picture_).get(), info_), nullptr);
}

TEST_F(RegionPictures, HaveTheSameThumbnailWhateverIsMasked) {
  for (const Region &region : kRegions) {
    const Cutout<size_t> pixels = pixels_of(cutout_of(region), kWidth, kHeight);
    const auto a = thumbnail_of(frame_of(picture_).get(), info_, pixels);
    const auto b = thumbnail_of(frame_of(other(region)).get(), info_, pixels);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->lumas, b->lumas) << text_of(region);
    EXPECT_EQ(a->masked, b->masked);
    EXPECT_EQ(a->masked.any(), !region.masks.empty());
    for (size_t i = 0; i < Thumbnail::kCells; ++i) {
      EXPECT_EQ(a->details[i].near, b->details[i].near);
      EXPECT_EQ(a->details[i].far, b->details[i].far);
      EXPECT_EQ(a->details[i].noise, b->details[i].noise);
    }
  }
}

/// The border of a mask does not count as an edge of the scene.
TEST(RegionEdges, ExcludeMaskBorders) {
  Plane plane;
  Thumbnail::Pixels masked;
  for (size_t i = 0; i < plane.size(); ++i) {
    const size_t x = i % Thumbnail::kWidth, y = i / Thumbnail::kWidth;
    masked.set(i, x > 20 && x < 50 && y > 10 && y < 31);
    plane[i] = masked.test(i) ? 0 : 150;
  }
  const Edges with = edges_of(plane, masked), without = edges_of(plane);
  for (const float energy : with.energy) EXPECT_EQ(energy, 0);
  EXPECT_GT(*std::max_element(without.energy.begin(), without.energy.end()), 100);
}

}  // namespace
}  // namespace luminance
