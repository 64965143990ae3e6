// SPDX-License-Identifier: LGPL-2.1-or-later
// The view of a camera against its reference: when the reference is learned, and how pictures that
// are shifted, covered, blurred, dark or plain are judged. scenes.py does the same with video.
#include "watch/scenery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "capture/thumbnail.h"
#include "scenerig.h"
#include "seed.h"
#include "watch/verdicts.h"

namespace luminance::test {
namespace {

constexpr Time kApart = 2 * kSecond;
constexpr int kToLearn = 70;  // thumbnails

/// Plays a camera with noise that sees a scene.
class Play {
 public:
  Play() : scene_(scene_of(seed_)) {}

  Thumb thumbnail(const PictureChange &change) {
    return thumbnail_seen(scene_, change, random_, region);
  }

  /// Feeds `count` thumbnails, alternating two that differ by their noise. Returns the last view.
  std::optional<Scenery::View> see(int count, const PictureChange &change) {
    const Thumb thumbnails[] = {thumbnail(change), thumbnail(change)};
    std::optional<Scenery::View> view;
    for (int i = 0; i < count; ++i, now += kApart) view = scenery.add(now, thumbnails[i % 2]);
    return view;
  }

  Scenery scenery;
  Time now = kSecond;
  Region region;

 private:
  const unsigned seed_ = seed();
  std::mt19937 random_{seed_};
  const Picture scene_;
};

void expect_usual(const std::optional<Scenery::View> &view) {
  ASSERT_TRUE(view);
  EXPECT_LT(view->moved, 0.1);
  EXPECT_LT(view->covered.value(), 0.1);
  EXPECT_LT(view->blurred.value(), 0.2);
}

/// The masks hide two fifths of the picture, where everything is covered.
TEST(Scenery, IgnoresMaskedParts) {
  Play whole, masked;
  masked.region.masks = {{0, 0, 0.4, 1}};
  Play middle;
  // These masks are larger than the covered part and end in the middle of cells.
  middle.region.masks = {{0, 0, 0.21, 1}, {0.2, 0, 0.22, 0.53}, {0.2, 0.5, 0.22, 0.5}};
  Play within;
  within.region = {Area{0, 0, 0.9, 0.95}, {{0, 0.3, 0.41, 0.7}, {0, 0, 0.41, 0.35}}};
  for (Play *play : {&whole, &masked, &middle, &within}) play->see(kToLearn, usual);
  EXPECT_GT(whole.see(20, covered)->covered.value(), 0.25);
  for (Play *play : {&masked, &middle, &within}) expect_usual(play->see(20, covered));
  for (Play *play : {&masked, &middle, &within}) EXPECT_GT(play->see(20, shifted)->moved, 0.5);
}

/// A masked corner changes in each picture; the edges beside it are judged.
TEST(Scenery, IsLearnedBesideMovementBehindAMask) {
  Play play;
  play.region.masks = {{0.6, 0.5, 0.3, 0.37}};
  int phase = 0;
  const auto moves = [&](const Picture &scene, int x, int y) {
    const bool is_behind = x >= 768 && x < 1152 && y >= 360 && y < 626;
    return is_behind ? ((x / 30 + y / 20 + phase) % 2 != 0 ? 230. : 20.) : usual(scene, x, y);
  };
  std::vector<Thumb> thumbnails;
  for (; phase < 7; ++phase) thumbnails.push_back(play.thumbnail(moves));
  for (size_t i = 0; i < 2 * kToLearn; ++i, play.now += kApart) {
    const auto view = play.scenery.add(play.now, thumbnails[i % thumbnails.size()]);
    if (view) expect_usual(view);
  }
  ASSERT_TRUE(play.scenery.learned());
  expect_usual(play.see(10, usual));
}

TEST(Scenery, IsLearnedInTwoMinutes) {
  Play play;
  const Time begin = play.now;
  const Thumb thumbnail = play.thumbnail(usual);
  for (; !play.scenery.learned(); play.now += kApart) {
    ASSERT_LT(play.now - begin, SceneLearner::kTime + 20 * kSecond);
    EXPECT_FALSE(play.scenery.add(play.now, thumbnail));
  }
  EXPECT_GE(*play.scenery.learned() - begin, SceneLearner::kTime);
  expect_usual(play.see(5, usual));
}

TEST(Scenery, TellsOneFaultFromAnother) {
  Play play;
  play.see(kToLearn, usual);
  const std::optional<Scenery::View> moved = play.see(6, shifted);
  ASSERT_TRUE(moved);
  EXPECT_GT(moved->moved, 0.3);
  EXPECT_FALSE(moved->covered);
  EXPECT_FALSE(moved->blurred);
  expect_usual(play.see(6, usual));
  const std::optional<Scenery::View> partly = play.see(6, covered);
  ASSERT_TRUE(partly);
  EXPECT_NEAR(partly->covered.value(), 0.4, 0.1);
  EXPECT_LT(partly->moved, 0.1);
  expect_usual(play.see(6, usual));
  const std::optional<Scenery::View> soft = play.see(6, blurred);
  ASSERT_TRUE(soft);
  EXPECT_GT(soft->blurred.value(), 0.5);
  EXPECT_LT(soft->moved, 0.2);
  expect_usual(play.see(6, usual));
}

TEST(Scenery, IsNotLearnedFromAPlainPicture) {
  Play play;
  EXPECT_FALSE(play.see(2 * kToLearn, flat));
  EXPECT_FALSE(play.scenery.learned());
  play.see(kToLearn, usual);
  EXPECT_TRUE(play.scenery.learned());
}

TEST(Scenery, IsLearnedOnceTheCameraStandsStill) {
  Play play;
  play.see(40, shifted);
  const Time stands = play.now;
  play.see(kToLearn, usual);
  ASSERT_TRUE(play.scenery.learned());
  EXPECT_GE(*play.scenery.learned() - stands, SceneLearner::kTime - 10 * kSecond);
  expect_usual(play.see(6, usual));
}

TEST(Scenery, OutlastsDarkness) {
  Play play;
  play.see(kToLearn, usual);
  const std::optional<Time> learned = play.scenery.learned();
  const std::optional<Scenery::View> view = play.see(100, dark);
  if (view) expect_usual(view);
  EXPECT_EQ(play.scenery.learned(), learned);
  const std::optional<Scenery::View> moved = play.see(6, shifted);
  ASSERT_TRUE(moved);
  EXPECT_GT(moved->moved, 0.3);
}

TEST(Scenery, OutlastsAReconnection) {
  Play play;
  play.see(kToLearn, usual);
  play.scenery.restart();
  play.now += 3600 * kSecond;
  EXPECT_FALSE(play.see(4, shifted)) << "of the pictures since then, there are too few";
  const std::optional<Scenery::View> moved = play.see(6, shifted);
  ASSERT_TRUE(moved);
  EXPECT_GT(moved->moved, 0.3);
}

TEST(Scenery, IsRenewed) {
  Play play;
  play.see(kToLearn, usual);
  play.scenery.renew();
  EXPECT_FALSE(play.scenery.learned());
  play.see(kToLearn, shifted);
  EXPECT_TRUE(play.scenery.learned());
  expect_usual(play.see(6, shifted));
  EXPECT_GT(play.see(6, usual)->moved, 0.3);
}

/// Judges frames with this thumbnail, kApart apart. Returns the changes of verdicts on the scene.
std::vector<Change> judge(Judge &judge, Time &now, const Thumb &thumbnail, int count) {
  std::vector<Change> changes;
  for (int i = 0; i < count; ++i, now += kApart) {
    Measurement frame;
    frame.time = now;
    frame.frames = 1;
    frame.mean = 120, frame.p95 = frame.p99 = 200;
    frame.bins[120] = frame.pixels = 1000;
    frame.bins[121] = static_cast<uint64_t>(i);
    frame.pixels += static_cast<uint64_t>(i);
    frame.thumbnail = thumbnail;
    for (const Change &change : judge.judge(frame))
      if (change.verdict == Verdict::kMoved || change.verdict == Verdict::kCovered ||
          change.verdict == Verdict::kBlurred)
        changes.push_back(change);
  }
  return changes;
}

TEST(SceneVerdicts, AreClearedByARenewal) {
  Play play;
  Judge judge_of_all(default_rules(), 0);
  Time now = kApart;
  const Thumb before = play.thumbnail(usual), after = play.thumbnail(shifted);
  EXPECT_TRUE(judge(judge_of_all, now, before, kToLearn).empty());
  ASSERT_TRUE(judge_of_all.scenery().learned());
  const std::vector<Change> raised = judge(judge_of_all, now, after, 30);
  ASSERT_EQ(raised.size(), 1u) << (raised.size() > 1 ? name_of(raised[1].verdict) : "");
  EXPECT_EQ(raised[0].verdict, Verdict::kMoved);
  EXPECT_EQ(raised[0].cause, Cause::kValue);

  const std::vector<Change> cleared = judge_of_all.renew_scene(now);
  ASSERT_EQ(cleared.size(), 1u);
  EXPECT_EQ(cleared[0].verdict, Verdict::kMoved);
  EXPECT_FALSE(cleared[0].raised);
  EXPECT_EQ(cleared[0].cause, Cause::kReference);
  EXPECT_FALSE(cleared[0].threshold);
  EXPECT_FALSE(judge_of_all.scenery().learned());
  EXPECT_TRUE(judge(judge_of_all, now, after, kToLearn + 30).empty());
  EXPECT_TRUE(judge_of_all.scenery().learned());
}

TEST(SceneVerdicts, StartTheirHoldAgainAfterUnknownSharpness) {
  Play play;
  Judge judge_of_all(default_rules(), 0);
  Time now = kApart;
  const Thumb before = play.thumbnail(usual), after = play.thumbnail(shifted),
              soft = play.thumbnail(blurred);
  EXPECT_TRUE(judge(judge_of_all, now, before, kToLearn).empty());
  // Each blurred part is shorter than `hold`, both together are longer. The sharpness of a moved
  // picture is unknown.
  EXPECT_TRUE(judge(judge_of_all, now, soft, 10).empty());
  EXPECT_TRUE(judge(judge_of_all, now, after, 10).empty());
  EXPECT_TRUE(judge(judge_of_all, now, soft, 10).empty());
  const std::vector<Change> raised = judge(judge_of_all, now, soft, 20);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].verdict, Verdict::kBlurred);
}

uint8_t pattern(size_t x, size_t y) { return static_cast<uint8_t>(x * 7 + y * 13 + x * y / 5); }

/// Returns the formats that the plugin accepts.
std::vector<GstVideoFormat> formats() {
  g_autoptr(GstElement) histogram = gst_element_factory_make("cudahistogram", nullptr);
  if (histogram == nullptr) return {};
  gst_object_ref_sink(histogram);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(histogram, "sink");
  g_autoptr(GstCaps) caps = gst_pad_get_pad_template_caps(pad);
  const GValue *list = gst_structure_get_value(gst_caps_get_structure(caps, 0), "format");
  std::vector<GstVideoFormat> found;
  for (guint i = 0; i < gst_value_list_get_size(list); ++i)
    found.push_back(
        gst_video_format_from_string(g_value_get_string(gst_value_list_get_value(list, i))));
  return found;
}

TEST(Thumbnails, AreTheSameInAllFormats) {
  const std::vector<GstVideoFormat> all = formats();
  ASSERT_GT(all.size(), 40u);
  for (const auto &[width, height] : {std::pair(640, 360), {642, 358}, {322, 242}, {1280, 72}}) {
    const Thumb expected = thumbnail_in(GST_VIDEO_FORMAT_GRAY8, width, height, pattern);
    ASSERT_NE(expected, nullptr);
    EXPECT_GT(expected->details[0].near, 0);
    for (const GstVideoFormat format : all) {
      const Thumb made = thumbnail_in(format, width, height, pattern);
      ASSERT_NE(made, nullptr) << gst_video_format_to_string(format);
      EXPECT_EQ(made->lumas, expected->lumas) << gst_video_format_to_string(format);
      for (size_t cell = 0; cell < Thumbnail::kCells; ++cell)
        EXPECT_EQ(made->details[cell].near, expected->details[cell].near);
    }
  }
}

TEST(Thumbnails, AreMadeOfSmallPictures) {
  for (const auto &[width, height] : {std::pair(1, 1), {1, 720}, {127, 71}, {130, 2}, {2000, 1}}) {
    const Thumb made = thumbnail_in(GST_VIDEO_FORMAT_GRAY8, width, height,
                                    [](size_t, size_t) { return uint8_t{77}; });
    ASSERT_NE(made, nullptr);
    for (const uint16_t luma : made->lumas) ASSERT_EQ(luma, 77 * Thumbnail::kLuma);
    for (const Thumbnail::Detail &detail : made->details) EXPECT_EQ(detail.near + detail.far, 0);
  }
}

TEST(Thumbnails, AreNotMadeOfOtherFormats) {
  for (const GstVideoFormat format :
       {GST_VIDEO_FORMAT_GRAY16_BE, GST_VIDEO_FORMAT_I420_10BE, GST_VIDEO_FORMAT_v210,
        GST_VIDEO_FORMAT_NV12_64Z32, GST_VIDEO_FORMAT_RGB16, GST_VIDEO_FORMAT_ARGB64}) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, format, 64, 64);
    GstBuffer *buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
    EXPECT_EQ(thumbnail_of(buffer, info, pixels_of(cutout_of({}), 64, 64)), nullptr)
        << gst_video_format_to_string(format);
    gst_buffer_unref(buffer);
  }
}

}  // namespace
}  // namespace luminance::test

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
