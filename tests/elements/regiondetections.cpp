// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions from metas: detections, the properties that select and enlarge regions, and the batch
// meta.
#include <cstring>
#include <limits>

#include "analytics.h"
#include "muxrig.h"
#include "reference.h"
#include "regionmeta.h"
#include "rig.h"

namespace cudatensor {
namespace {

const ImageDesc kFrame = {PixelFormat::NV12, 64, 48};

BufferRef frame() { return buffer_of(random_picture(kFrame)); }

/// Returns the batch of a frame with these properties.
BufferRef batch_of(const std::string &properties, BufferRef buffer) {
  Rig rig("cudanormalize width=8 height=8 regions=meta max-batch=4 " + properties);
  rig.downstream("other/tensors");
  EXPECT_TRUE(rig.caps(video_caps(kFrame)));
  return rig.process(std::move(buffer));
}

using Rectangle = std::array<double, 4>;

/// Returns the regions of the valid slots.
std::vector<Rectangle> regions_of(GstBuffer *batch) {
  std::vector<Rectangle> found;
  for (guint i = 0; i < 4; ++i) {
    gboolean valid = FALSE;
    gst_structure_get_boolean(slot_of(batch, i), "valid", &valid);
    if (valid) found.push_back(region_of(batch, i));
  }
  return found;
}

std::vector<Rectangle> regions_with(const std::string &properties, BufferRef buffer) {
  return regions_of(batch_of(properties, std::move(buffer)).get());
}

std::string text(GstBuffer *batch, guint i, const char *field) {
  const gchar *value = gst_structure_get_string(slot_of(batch, i), field);
  return value != nullptr ? value : "(none)";
}

double confidence(GstBuffer *batch, guint i) {
  double value = std::numeric_limits<double>::quiet_NaN();
  gst_structure_get_double(slot_of(batch, i), "confidence", &value);
  return value;
}

guint detection_id(GstBuffer *batch, guint i) {
  guint id = G_MAXUINT;
  gst_structure_get_uint(slot_of(batch, i), "detection-id", &id);
  return id;
}

// ------------------------------------------------------------- properties, with regions of interest

BufferRef frame_with_interests() {
  BufferRef buffer = frame();
  add_interest(buffer.get(), "small", 2, 4, 4, 6, 1);
  add_interest(buffer.get(), "wide", 20, 10, 20, 8, 2);
  add_interest(buffer.get(), "tall", 50, 8, 6, 30, 3);
  return buffer;
}

TEST(MetaRegions, AreSelectedBySize) {
  const Rectangle small = {2, 4, 4, 6}, wide = {20, 10, 20, 8}, tall = {50, 8, 6, 30};
  using All = std::vector<Rectangle>;
  EXPECT_EQ(regions_with("", frame_with_interests()), (All{small, wide, tall}));
  EXPECT_EQ(regions_with("region-min-size=6", frame_with_interests()), (All{wide, tall}));
  EXPECT_EQ(regions_with("region-min-size=7", frame_with_interests()), (All{wide}));
  EXPECT_EQ(regions_with("region-max-size=20", frame_with_interests()), (All{small, wide}));
  EXPECT_EQ(regions_with("region-max-size=19", frame_with_interests()), (All{small}));
  EXPECT_EQ(regions_with("region-min-size=31", frame_with_interests()), All{});
}

TEST(MetaRegions, AreEnlargedAboutTheirCenters) {
  using All = std::vector<Rectangle>;
  EXPECT_EQ(regions_with("roi-type=wide region-expand=0.5", frame_with_interests()),
            (All{{15, 8, 30, 12}}));
  EXPECT_EQ(regions_with("roi-type=wide region-square=true", frame_with_interests()),
            (All{{20, 4, 20, 20}}));
  EXPECT_EQ(
      regions_with("roi-type=wide region-square=true region-expand=0.2", frame_with_interests()),
      (All{{18, 2, 24, 24}}));
}

TEST(MetaRegions, AreClippedAfterTheyAreEnlarged) {
  using All = std::vector<Rectangle>;
  EXPECT_EQ(regions_with("roi-type=tall region-square=true", frame_with_interests()),
            (All{{38, 8, 26, 30}}));
  EXPECT_EQ(
      regions_with("roi-type=tall region-square=true region-edge=pad", frame_with_interests()),
      (All{{38, 8, 30, 30}}));
}

TEST(MetaRegions, HaveThePixelsOfTheEnlargedRegion) {
  const Picture picture = random_picture(kFrame);
  NormalizeCase params = small_params();
  BufferRef buffer = buffer_of(picture);
  add_interest(buffer.get(), "wide", 20, 10, 20, 8);
  Rig rig("cudanormalize " + properties_of(params) +
          " regions=meta max-batch=1 region-square=true");
  rig.downstream("other/tensors");
  ASSERT_TRUE(rig.caps(video_caps(kFrame)));
  const BufferRef batch = rig.process(std::move(buffer));
  EXPECT_TRUE(
      same_bytes(bytes_of(batch.get()), slot_bytes(cut_out(picture, 20, 4, 20, 20), params)));
}

/// DL Streamer's detectors set it. A region without a confidence is always selected.
TEST(MetaRegions, HaveTheConfidenceOfTheirParameters) {
  const auto make = [] {
    BufferRef buffer = frame();
    add_interest(buffer.get(), "drawn", 1, 1, 9, 9);
    for (const double each : {0.3, 0.8}) {
      auto *roi = gst_buffer_add_video_region_of_interest_meta(
          buffer.get(), "found", static_cast<guint>(20 * each), 8, 10, 10);
      gst_video_region_of_interest_meta_add_param(
          roi, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, each, nullptr));
    }
    return buffer;
  };
  using All = std::vector<Rectangle>;
  EXPECT_EQ(regions_with("region-min-confidence=0.5", make()),
            (All{{1, 1, 9, 9}, {16, 8, 10, 10}}));
}

// -------------------------------------------------------------------------------------- detections

TEST(DetectedRegions, FillSlotsAfterThoseOfInterest) {
  SKIP_WITHOUT_ANALYTICS();
  BufferRef buffer = frame();
  add_object(buffer.get(), {"person", 4, 6, 10, 20, 0.75F});
  add_object(buffer.get(), {"", 30, 6, 10, 20, 0.5F});
  add_interest(buffer.get(), "drawn", 1, 1, 9, 9, 5);
  const BufferRef batch = batch_of("", std::move(buffer));
  EXPECT_EQ(regions_of(batch.get()),
            (std::vector<Rectangle>{{1, 1, 9, 9}, {4, 6, 10, 20}, {30, 6, 10, 20}}));
  EXPECT_EQ(text(batch.get(), 0, "roi-type"), "drawn");
  EXPECT_EQ(detection_id(batch.get(), 0), G_MAXUINT);
  EXPECT_EQ(text(batch.get(), 1, "detection-type"), "person");
  EXPECT_EQ(text(batch.get(), 1, "roi-type"), "(none)");
  EXPECT_EQ(detection_id(batch.get(), 1), 0U);
  EXPECT_EQ(confidence(batch.get(), 1), 0.75);
  EXPECT_EQ(text(batch.get(), 2, "detection-type"), "(none)");
  EXPECT_EQ(detection_id(batch.get(), 2), 1U);
}

TEST(DetectedRegions, AreSelectedByTypeConfidenceAndSize) {
  SKIP_WITHOUT_ANALYTICS();
  const auto make = [] {
    BufferRef buffer = frame();
    add_object(buffer.get(), {"person", 0, 0, 10, 10, 0.9F});
    add_object(buffer.get(), {"person", 10, 0, 10, 10, 0.2F});
    add_object(buffer.get(), {"car", 20, 0, 10, 10, 0.9F});
    add_object(buffer.get(), {"person", 30, 0, 5, 10, 0.9F});
    return buffer;
  };
  using All = std::vector<Rectangle>;
  EXPECT_EQ(regions_with("roi-type=car", make()), (All{{20, 0, 10, 10}}));
  EXPECT_EQ(regions_with("region-min-confidence=0.9", make()).size(), 3U);
  EXPECT_EQ(regions_with("roi-type=person region-min-confidence=0.5 region-min-size=6", make()),
            (All{{0, 0, 10, 10}}));
}

TEST(DetectedRegions, AreNotSelectedByTypeIfTheyHaveNone) {
  SKIP_WITHOUT_ANALYTICS();
  BufferRef buffer = frame();
  add_object(buffer.get(), {"", 0, 0, 10, 10, 0.9F});
  EXPECT_TRUE(regions_with("roi-type=never-seen-anywhere", std::move(buffer)).empty());
}

/// Other results are, for example, classes; their data may look like a detection's.
TEST(DetectedRegions, AreNotThoseOfOtherResults) {
  SKIP_WITHOUT_ANALYTICS();
  static const gstanalytics::MtdImpl *const kind = [] {
    // At least as large as in any release.
    static struct {
      gstanalytics::MtdImpl impl;
      gpointer reserved[GST_PADDING_LARGE];
    } whole = {{"test-class", nullptr}, {}};
    return &whole.impl;
  }();
  const auto &l = *gstanalytics::library();
  BufferRef buffer = frame();
  add_object(buffer.get(), {"person", 4, 6, 10, 20});
  gstanalytics::Mtd object = {}, other = {};
  gstanalytics::RelationMeta *meta = relations_of(buffer.get());
  ASSERT_TRUE(l.relation_meta_get_mtd(meta, 0, l.od_mtd_get_mtd_type(), &object));
  const gsize size = l.mtd_get_size(&object);
  gpointer data = l.relation_meta_add_mtd(meta, kind, size, &other);
  std::memcpy(data, l.relation_meta_get_mtd_data(meta, 0), size);
  EXPECT_EQ(regions_with("", std::move(buffer)), (std::vector<Rectangle>{{4, 6, 10, 20}}));
}

TEST(DetectedRegions, AreTheBoundingBoxesOfOrientedObjects) {
  SKIP_WITHOUT_ANALYTICS();
  if (gstanalytics::library()->relation_meta_add_oriented_od_mtd == nullptr)
    GTEST_SKIP() << "GStreamer is older than 1.26";
  BufferRef buffer = frame();
  // The box is turned by 90 degrees around 30, 20.
  add_object(buffer.get(), {"ship", 20, 16, 20, 8, 1.0F, static_cast<float>(G_PI / 2)});
  const BufferRef batch = batch_of("", std::move(buffer));
  EXPECT_EQ(regions_of(batch.get()), (std::vector<Rectangle>{{26, 10, 8, 20}}));
}

TEST(DetectedRegions, MatchEachRegionOfInterestOnce) {
  SKIP_WITHOUT_ANALYTICS();
  BufferRef buffer = frame();
  add_interest(buffer.get(), "person", 4, 6, 10, 20, 7);
  for (int i = 0; i < 2; ++i) add_object(buffer.get(), {"person", 4, 6, 10, 20, 0.25F});
  const BufferRef batch = batch_of("", std::move(buffer));
  EXPECT_EQ(regions_of(batch.get()), (std::vector<Rectangle>(2, {4, 6, 10, 20})));
  EXPECT_EQ(detection_id(batch.get(), 0), 0U);
  EXPECT_EQ(detection_id(batch.get(), 1), 1U);
  EXPECT_EQ(text(batch.get(), 1, "roi-type"), "(none)");
}

/// DL Streamer attaches both metas for an object.
TEST(DetectedRegions, ShareTheSlotOfAnEqualRegionOfInterest) {
  SKIP_WITHOUT_ANALYTICS();
  BufferRef buffer = frame();
  add_interest(buffer.get(), "person", 4, 6, 10, 20, 7);
  add_object(buffer.get(), {"person", 4, 6, 10, 20, 0.25F});
  add_object(buffer.get(), {"person", 4, 6, 10, 21, 0.5F});
  const BufferRef batch = batch_of("", std::move(buffer));
  EXPECT_EQ(regions_of(batch.get()), (std::vector<Rectangle>{{4, 6, 10, 20}, {4, 6, 10, 21}}));
  EXPECT_EQ(text(batch.get(), 0, "roi-type"), "person");
  EXPECT_EQ(text(batch.get(), 0, "detection-type"), "person");
  EXPECT_EQ(confidence(batch.get(), 0), 0.25);
  EXPECT_EQ(detection_id(batch.get(), 1), 1U);
}

TEST(DetectedRegions, AreCountedIfTheyFindNoSlot) {
  SKIP_WITHOUT_ANALYTICS();
  BufferRef buffer = frame();
  for (int i = 0; i < 6; ++i) add_object(buffer.get(), {"person", 4 * i, 0, 4, 4});
  const BufferRef batch = batch_of("", std::move(buffer));
  EXPECT_EQ(left_out_of(batch.get()), 2U);
}

/// The regions are far outside, empty, inverted, and so large that sums overflow.
TEST(DetectedRegions, AreSkippedIfInvalid) {
  SKIP_WITHOUT_ANALYTICS();
  BufferRef buffer = frame();
  for (const Object &each :
       {Object{"a", 1000, 0, 4, 4}, Object{"a", 0, 0, 0, 4}, Object{"a", 10, 10, -4, -4},
        Object{"a", G_MININT, G_MININT, 4, 4}, Object{"a", G_MAXINT, G_MAXINT, G_MAXINT, G_MAXINT}})
    add_object(buffer.get(), each);
  add_object(buffer.get(), {"a", -4, -4, 8, 8});
  EXPECT_EQ(regions_with("region-expand=0.5", std::move(buffer)).size(), 1U);
}

TEST(DetectedRegions, StayWithTheirCamerasPicture) {
  SKIP_WITHOUT_ANALYTICS();
  MuxRig rig("width=8 height=8 regions=meta max-batch=2", 2);
  for (size_t i = 0; i < 2; ++i) {
    BufferRef buffer = frame_at(random_picture(kFrame), 0, 40 * GST_MSECOND);
    add_object(buffer.get(), {i == 0 ? "person" : "car", static_cast<int>(8 * i), 0, 8, 8});
    rig.camera(i).caps(video_caps(kFrame, "framerate=25/1"));
    rig.camera(i).push(std::move(buffer));
  }
  const BufferRef batch = rig.pull();
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(text(batch.get(), 0, "detection-type"), "person");
  EXPECT_EQ(region_of(batch.get(), 0), (Rectangle{0, 0, 8, 8}));
  EXPECT_EQ(text(batch.get(), 2, "detection-type"), "car");
  EXPECT_EQ(region_of(batch.get(), 2), (Rectangle{8, 0, 8, 8}));
}

}  // namespace
}  // namespace cudatensor
