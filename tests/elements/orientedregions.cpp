// SPDX-License-Identifier: LGPL-2.1-or-later
// region-oriented of cudanormalize and cudatensormux: slots that show oriented detections upright.
#include <cmath>
#include <limits>

#include "analytics.h"
#include "kernels/slotmatrix.h"
#include "muxrig.h"
#include "reference.h"
#include "regionmeta.h"
#include "rig.h"

namespace cudatensor {
namespace {

#define SKIP_WITHOUT_ORIENTED_OBJECTS()                                                  \
  SKIP_WITHOUT_ANALYTICS();                                                              \
  if (cudatensor::gstanalytics::library()->relation_meta_add_oriented_od_mtd == nullptr) \
  GTEST_SKIP() << "GStreamer is older than 1.26"

const ImageDesc kFrame = {PixelFormat::NV12, 64, 48};
constexpr const char *kElement =
    "cudanormalize width=12 height=10 regions=meta max-batch=3 region-oriented=true ";
constexpr float kTurn = 0.6F;
const Object kShip = {"ship", 20, 16, 20, 8, 1.0F, kTurn};

BufferRef frame() { return buffer_of(random_picture(kFrame)); }

Matrix matrix_of(const Object &o, const Fit &fit = {}, double width = 0.0, double height = 0.0) {
  const OrientedBox box = {o.x + o.width / 2.0, o.y + o.height / 2.0,
                           width != 0.0 ? width : o.width, height != 0.0 ? height : o.height,
                           o.radians};
  return upright(box, fit, 12, 10).value();
}

struct Batch {
  Batch(BufferRef frame, const std::string &more = "") : rig(kElement + more) {
    rig.downstream("other/tensors");
    EXPECT_TRUE(rig.caps(video_caps(kFrame)));
    buffer = rig.process(std::move(frame));
  }

  bool is_valid(guint i) const {
    gboolean valid = FALSE;
    gst_structure_get_boolean(slot_of(buffer.get(), i), "valid", &valid);
    return valid;
  }
  size_t count() const {
    size_t valid = 0;
    for (guint i = 0; i < 3; ++i) valid += is_valid(i) ? 1 : 0;
    return valid;
  }
  Matrix matrix(guint i = 0) const { return doubles_of<6>(slot_of(buffer.get(), i), "matrix"); }
  guint left_out() const { return left_out_of(buffer.get()); }

  Rig rig;
  BufferRef buffer;
};

Batch batch_with(const std::vector<Object> &objects, const std::string &more = "") {
  BufferRef buffer = frame();
  for (const Object &each : objects) add_object(buffer.get(), each);
  return {std::move(buffer), more};
}

/// A quarter turn is exact but for the angle's rounding.
TEST(OrientedRegions, AreUpright) {
  SKIP_WITHOUT_ORIENTED_OBJECTS();
  const Batch batch = batch_with({{"ship", 20, 16, 20, 8, 0.5F, static_cast<float>(G_PI / 2)}});
  ASSERT_EQ(batch.count(), 1U);
  // The box's own right side is the lower one of the picture.
  const Matrix expected = {0.0, 0.6, -6.0, -1.25, 0.0, 42.5};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(batch.matrix()[i], expected[i], 1e-5) << i;
  const auto region = region_of(batch.buffer.get(), 0);
  const std::array<double, 4> box = {26, 10, 8, 20};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(region[i], box[i], 1e-5) << i;
  EXPECT_STREQ(gst_structure_get_string(slot_of(batch.buffer.get(), 0), "detection-type"), "ship");
}

TEST(OrientedRegions, MakeThePixelsOfTheirMatrix) {
  SKIP_WITHOUT_ORIENTED_OBJECTS();
  for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::RGB})
    for (const bool repeats : {false, true}) {
      const Picture picture = random_picture({format, 64, 48});
      BufferRef buffer = buffer_of(picture);
      const Object other = {"ship", -9, 30, 16, 18, 1.0F, 4.0F};
      add_object(buffer.get(), kShip);
      add_object(buffer.get(), {"ship", 10, 20, 24, 20, 1.0F});
      add_object(buffer.get(), other);
      NormalizeCase params = normalize_params(source_of(picture.desc()), Color::rgb, DType::float32,
                                              Layout::nchw, 12, 10);
      params.repeat_edge = repeats;
      params.matrix = matrix_of(kShip);
      const Bytes first = normalized(picture, params);
      params.matrix = matrix_of(other);
      const Bytes last = normalized(picture, params);
      params.matrix.reset();
      EXPECT_TRUE(
          same_bytes(output_bytes(kElement + std::string(repeats ? "region-edge=repeat" : ""),
                                  video_caps(picture.desc()), std::move(buffer), "ANY"),
                     joined({first, slot_bytes(cut_out(picture, 10, 20, 24, 20), params), last})))
          << name_of(format);
    }
}

/// The box's axes are upright, whatever the direction of the picture is.
TEST(OrientedRegions, IgnoreTheDirection) {
  SKIP_WITHOUT_ORIENTED_OBJECTS();
  EXPECT_EQ(batch_with({kShip}, "video-direction=ur-ll").matrix(), matrix_of(kShip));
}

TEST(OrientedRegions, FollowTheResizeMode) {
  SKIP_WITHOUT_ORIENTED_OBJECTS();
  for (const ResizeMode mode :
       {ResizeMode::stretch, ResizeMode::affine, ResizeMode::ultralytics, ResizeMode::top_left})
    for (const bool scale_up : {false, true}) {
      const Object small = {"ship", 20, 16, 4, 3, 1.0F, kTurn};
      const Batch batch =
          batch_with({kShip, small},
                     "resize-mode=" + nick(mode) + " scale-up=" + (scale_up ? "true" : "false"));
      EXPECT_EQ(batch.matrix(0), matrix_of(kShip, {mode, scale_up})) << nick(mode);
      EXPECT_EQ(batch.matrix(1), matrix_of(small, {mode, scale_up})) << nick(mode);
    }
}

TEST(OrientedRegions, AreEnlargedAndSelectedByTheirOwnSides) {
  SKIP_WITHOUT_ORIENTED_OBJECTS();
  EXPECT_EQ(batch_with({kShip}, "region-expand=0.5").matrix(), matrix_of(kShip, {}, 30, 12));
  EXPECT_EQ(batch_with({kShip}, "region-square=true").matrix(), matrix_of(kShip, {}, 20, 20));
  EXPECT_EQ(batch_with({kShip}, "region-square=true region-expand=0.5").matrix(),
            matrix_of(kShip, {}, 30, 30));
  for (const auto &[properties, count] : {std::pair("region-min-size=8 region-max-size=20", 1U),
                                          {"region-min-size=9", 0U},
                                          {"region-max-size=19", 0U},
                                          {"roi-type=ship", 1U},
                                          {"roi-type=car", 0U},
                                          {"region-min-confidence=0.75", 1U},
                                          {"region-min-confidence=0.76", 0U}}) {
    Object ship = kShip;
    ship.confidence = 0.75F;
    const Batch batch = batch_with({ship}, properties);
    EXPECT_EQ(batch.count(), count) << properties;
    EXPECT_EQ(batch.left_out(), 0U) << properties;
  }
}

TEST(OrientedRegions, WithoutAreaAreLeftOut) {
  SKIP_WITHOUT_ORIENTED_OBJECTS();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<Object> none = {
      {"ship", 20, 16, 0, 8, 1.0F, kTurn},     {"ship", 20, 16, 20, 0, 1.0F, kTurn},
      {"ship", 20, 16, -4, 8, 1.0F, kTurn},    {"ship", 20, 16, 20, 8, 1.0F, nan},
      {"ship", 20, 16, 20, 8, 1.0F, infinity}, {"ship", G_MAXINT, 16, G_MAXINT, 8, 1.0F, kTurn}};
  std::vector<Object> objects = none;
  objects.push_back(kShip);
  const Batch batch = batch_with(objects);
  EXPECT_EQ(batch.count(), 1U);
  EXPECT_EQ(batch.matrix(), matrix_of(kShip));
  EXPECT_EQ(batch.left_out(), none.size());
}

TEST(OrientedRegions, OutsideOfThePictureAreNoRegion) {
  SKIP_WITHOUT_ORIENTED_OBJECTS();
  const Batch batch = batch_with({{"ship", 90, 16, 20, 8, 1.0F, kTurn},
                                  {"ship", 20, -70, 20, 8, 1.0F, kTurn},
                                  {"ship", 62, 44, 14, 4, 1.0F, static_cast<float>(3 * G_PI / 4)}});
  EXPECT_EQ(batch.count(), 0U);
  EXPECT_EQ(batch.left_out(), 0U);
}

/// DL Streamer attaches both metas for an object.
TEST(OrientedRegions, ShareTheSlotOfAnEqualRegionOfInterest) {
  SKIP_WITHOUT_ORIENTED_OBJECTS();
  BufferRef buffer = frame();
  add_object(buffer.get(), {"ship", 20, 16, 20, 8, 1.0F, static_cast<float>(G_PI / 2)});
  add_interest(buffer.get(), "ship", 26, 10, 8, 20, 7);
  const Batch batch(std::move(buffer));
  EXPECT_EQ(batch.count(), 1U);
  EXPECT_NEAR(batch.matrix()[1], 0.6, 1e-5);
}

/// Also without an oriented object, and on releases that have none.
TEST(OrientedRegions, CannotBeCropsOrFiltered) {
  for (const auto &[properties, cause] :
       {std::pair("resize-mode=torchvision", "resize-mode=torchvision"),
        {"resize-mode=transformers", "resize-mode=transformers"},
        {"antialias=true", "antialias"},
        {"pad-normalized=true", "pad-normalized"}}) {
    Rig rig(kElement + std::string(properties));
    rig.downstream("other/tensors");
    rig.caps(video_caps(kFrame));
    expect_error(rig, frame(),
                 std::string("region-oriented=true cannot be combined with ") + cause);
  }
  // Other regions are not turned.
  EXPECT_FALSE(output_bytes("cudanormalize width=8 height=8 region-oriented=true "
                            "resize-mode=torchvision",
                            video_caps(kFrame), frame(), "ANY")
                   .empty());
}

TEST(OrientedRegions, ChangeWithTheProperty) {
  SKIP_WITHOUT_ORIENTED_OBJECTS();
  Rig rig(kElement);
  rig.downstream("other/tensors");
  rig.caps(video_caps(kFrame));
  const auto matrix = [&] {
    BufferRef buffer = frame();
    add_object(buffer.get(), kShip);
    return doubles_of<6>(slot_of(rig.process(std::move(buffer)).get(), 0), "matrix");
  };
  EXPECT_EQ(matrix(), matrix_of(kShip));
  rig.set("region-oriented", "false");
  EXPECT_EQ(matrix()[1], 0.0);
  rig.set("region-oriented", "true");
  EXPECT_EQ(matrix(), matrix_of(kShip));
}

TEST(OrientedRegions, OfEachCameraOfTheMux) {
  SKIP_WITHOUT_ORIENTED_OBJECTS();
  MuxRig rig("width=12 height=10 regions=meta max-batch=1 region-oriented=true", 2);
  for (size_t i = 0; i < 2; ++i) {
    rig.camera(i).caps(video_caps(kFrame));
    BufferRef buffer = frame_at(random_picture(kFrame), 0, GST_SECOND / 30);
    Object ship = kShip;
    ship.radians += static_cast<float>(i);
    add_object(buffer.get(), ship);
    rig.camera(i).push(std::move(buffer));
  }
  const BufferRef batch = rig.pull();
  Object second = kShip;
  second.radians += 1.0F;
  EXPECT_EQ(doubles_of<6>(slot_of(batch.get(), 0), "matrix"), matrix_of(kShip));
  EXPECT_EQ(doubles_of<6>(slot_of(batch.get(), 1), "matrix"), matrix_of(second));
}

}  // namespace
}  // namespace cudatensor
