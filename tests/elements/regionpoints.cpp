// SPDX-License-Identifier: LGPL-2.1-or-later
// region-align of cudanormalize and cudatensormux: slots that are aligned by the points of regions.
#include <limits>

#include "detectionrig.h"
#include "gst/util/values.h"
#include "kernels/slotmatrix.h"
#include "muxrig.h"
#include "reference.h"
#include "regionmeta.h"
#include "rig.h"

namespace cudatensor {
namespace {

const std::vector<Point> kTemplate = {{2, 3}, {9, 3}, {5.5, 7.25}};
constexpr const char *kAlign = " region-align=<2.0,3.0,9.0,3.0,5.5,7.25>";
constexpr const char *kSize = "width=12 height=10 regions=meta max-batch=3";

std::string element(const std::string &more = kAlign) {
  return std::string("cudanormalize ") + kSize + " " + more;
}

/// Adds the parameter `points`, with arrays of a type.
template <class Number>
void add_points(GstVideoRegionOfInterestMeta *roi, const std::vector<Number> &x,
                const std::vector<Number> &y, GType type, void (*set)(GValue *, Number)) {
  GstStructure *points = gst_structure_new_empty("points");
  set_array(points, "x", x, type, set);
  set_array(points, "y", y, type, set);
  gst_video_region_of_interest_meta_add_param(roi, points);
}

/// Adds a region of interest. Its box is not where its points are.
GstVideoRegionOfInterestMeta *add_face(GstBuffer *buffer, const std::vector<Point> &points,
                                       const char *type = "face") {
  auto *roi = gst_buffer_add_video_region_of_interest_meta(buffer, type, 10, 12, 5, 5);
  std::vector<double> x, y;
  for (const Point &p : points) {
    x.push_back(p.x);
    y.push_back(p.y);
  }
  add_points(roi, x, y, G_TYPE_DOUBLE, g_value_set_double);
  return roi;
}

std::vector<Point> turned_points(double dx = 0.0) {
  return {{20.5 + dx, 12.25}, {33 + dx, 20.5}, {22.75 + dx, 24}};
}

Matrix matrix_of(const std::vector<Point> &points, const ImageDesc &picture = kFrame,
                 Direction direction = Direction::identity) {
  return aligned(points, kTemplate, picture, direction, 12, 10).value();
}

Bytes slot_of(const Picture &picture, const Matrix &matrix, bool repeats = false) {
  NormalizeCase params =
      normalize_params(source_of(picture.desc()), Color::rgb, DType::float32, Layout::nchw, 12, 10);
  params.matrix = matrix;
  params.repeat_edge = repeats;
  return normalized(picture, params);
}

Bytes pad_slot() {
  return pad_bytes(
      normalize_params(source_of(kFrame), Color::rgb, DType::float32, Layout::nchw, 12, 10));
}

struct Batch {
  Batch(const std::string &launch, BufferRef frame, const std::string &caps) : rig(launch) {
    rig.downstream("other/tensors");
    EXPECT_TRUE(rig.caps(caps));
    buffer = rig.process(std::move(frame));
  }
  explicit Batch(BufferRef frame, const std::string &more = kAlign)
      : Batch(element(more), std::move(frame), video_caps(kFrame)) {}

  /// Returns the matrices of the valid slots.
  std::vector<Matrix> matrices() const {
    std::vector<Matrix> found;
    for (guint i = 0; i < 3; ++i) {
      gboolean valid = FALSE;
      gst_structure_get_boolean(cudatensor::slot_of(buffer.get(), i), "valid", &valid);
      if (valid) found.push_back(doubles_of<6>(cudatensor::slot_of(buffer.get(), i), "matrix"));
    }
    return found;
  }
  guint left_out() const { return left_out_of(buffer.get()); }

  Rig rig;
  BufferRef buffer;
};

using Matrices = std::vector<Matrix>;

TEST(RegionPoints, AreBroughtToTheTemplate) {
  BufferRef frame = buffer_of(random_picture(kFrame));
  std::vector<Point> points;
  for (const Point &p : kTemplate) points.push_back({2 * p.x + 16, 2 * p.y + 8});
  add_face(frame.get(), points);
  const Batch batch(std::move(frame));
  const Matrices found = batch.matrices();
  ASSERT_EQ(found.size(), 1U);
  const Matrix expected = {0.5, 0.0, -7.75, 0.0, 0.5, -3.75};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(found[0][i], expected[i], 1e-12) << i;
  const auto region = cudatensor::region_of(batch.buffer.get(), 0);
  const std::array<double, 4> box = {15.5, 7.5, 24.0, 20.0};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(region[i], box[i], 1e-9) << i;
  EXPECT_EQ(batch.left_out(), 0U);
  EXPECT_STREQ(gst_structure_get_string(cudatensor::slot_of(batch.buffer.get(), 0), "roi-type"),
               "face");
}

TEST(RegionPoints, MakeThePixelsOfTheirMatrix) {
  for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::RGB, PixelFormat::P010_10LE})
    for (const bool repeats : {false, true})
      for (const char *mode : {"stretch", "torchvision shortest-edge=1", "ultralytics"}) {
        const Picture picture = random_picture({format, 64, 32});
        BufferRef frame = buffer_of(picture);
        add_face(frame.get(), turned_points());
        add_face(frame.get(), turned_points(-18));  // beyond the left edge
        const std::string edge = repeats ? " region-edge=repeat" : "";
        const Batch batch(element(kAlign + edge + " resize-mode=" + mode), std::move(frame),
                          video_caps(picture.desc()));
        EXPECT_TRUE(same_bytes(
            bytes_of(batch.buffer.get()),
            joined({slot_of(picture, matrix_of(turned_points()), repeats),
                    slot_of(picture, matrix_of(turned_points(-18)), repeats), pad_slot()})))
            << name_of(format) << " " << mode;
      }
}

/// The points are those of the stored picture, and the slot shows them as they are seen.
TEST(RegionPoints, AreAlignedInTheSeenPicture) {
  constexpr std::pair<const char *, Direction> kNamed[] = {
      {"90r", Direction::clockwise},        {"180", Direction::half_turn},
      {"90l", Direction::counterclockwise}, {"horiz", Direction::horizontal},
      {"vert", Direction::vertical},        {"ul-lr", Direction::main_diagonal},
      {"ur-ll", Direction::anti_diagonal}};
  for (const auto &[nick, direction] : kNamed) {
    BufferRef frame = buffer_of(random_picture(kFrame));
    add_face(frame.get(), turned_points());
    const Batch batch(std::move(frame), kAlign + std::string(" video-direction=") + nick);
    EXPECT_EQ(batch.matrices(), (Matrices{matrix_of(turned_points(), kFrame, direction)})) << nick;
  }
}

TEST(RegionPoints, MayBeOfAnyTypeOfNumber) {
  BufferRef frame = buffer_of(random_picture(kFrame));
  GstBuffer *to = frame.get();
  const std::vector<Point> points = {{20, 12}, {33, 20}, {22, 24}};
  add_points<gint>(gst_buffer_add_video_region_of_interest_meta(to, "a", 1, 1, 5, 5), {20, 33, 22},
                   {12, 20, 24}, G_TYPE_INT, g_value_set_int);
  add_points<gfloat>(gst_buffer_add_video_region_of_interest_meta(to, "b", 1, 1, 5, 5),
                     {20, 33, 22}, {12, 20, 24}, G_TYPE_FLOAT, g_value_set_float);
  EXPECT_EQ(Batch(std::move(frame)).matrices(), (Matrices(2, matrix_of(points))));
}

/// Of several parameters, the first with the template's number of points counts.
TEST(RegionPoints, AreThoseOfTheTemplatesNumber) {
  BufferRef frame = buffer_of(random_picture(kFrame));
  auto *roi = add_face(frame.get(), {{1, 1}, {2, 2}});
  for (const double dx : {0.0, 3.0}) {
    std::vector<double> x, y;
    for (const Point &p : turned_points(dx)) {
      x.push_back(p.x);
      y.push_back(p.y);
    }
    add_points(roi, x, y, G_TYPE_DOUBLE, g_value_set_double);
  }
  const Batch batch(std::move(frame));
  EXPECT_EQ(batch.matrices(), Matrices{matrix_of(turned_points())});
  EXPECT_EQ(batch.left_out(), 0U);
}

TEST(RegionPoints, ThatGiveNoSlotAreLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  BufferRef frame = buffer_of(random_picture(kFrame));
  GstBuffer *to = frame.get();
  add_interest(to, "without", 4, 4, 8, 8);
  const std::vector<std::vector<Point>> none = {{},
                                                {{1, 1}, {9, 9}},
                                                {{1, 1}, {9, 9}, {3, 4}, {5, 6}},
                                                {{7.1, 8.3}, {7.1, 8.3}, {7.1, 8.3}},
                                                {{nan, 1}, {9, 9}, {3, 4}},
                                                {{infinity, 1}, {9, 9}, {3, 4}},
                                                {{1e300, 1}, {9, 9}, {3, 4}}};
  for (const auto &points : none) add_face(to, points);
  // Lists of two lengths, of strings, and no lists.
  add_points<double>(gst_buffer_add_video_region_of_interest_meta(to, "a", 1, 1, 5, 5), {1, 2, 3},
                     {1, 2}, G_TYPE_DOUBLE, g_value_set_double);
  add_points<const char *>(gst_buffer_add_video_region_of_interest_meta(to, "b", 1, 1, 5, 5),
                           {"1", "2", "3"}, {"1", "2", "4"}, G_TYPE_STRING, g_value_set_string);
  gst_video_region_of_interest_meta_add_param(
      gst_buffer_add_video_region_of_interest_meta(to, "c", 1, 1, 5, 5),
      gst_structure_new("points", "x", G_TYPE_DOUBLE, 1.0, "y", G_TYPE_DOUBLE, 1.0, nullptr));
  add_face(to, turned_points());
  const Batch batch(std::move(frame));
  EXPECT_EQ(batch.matrices(), Matrices{matrix_of(turned_points())});
  EXPECT_EQ(batch.left_out(), 11U);
}

/// Those without a slot and those for which there is no slot.
TEST(RegionPoints, OfMoreRegionsThanSlotsAreLeftOut) {
  BufferRef frame = buffer_of(random_picture(kFrame));
  for (int i = 0; i < 5; ++i) add_face(frame.get(), turned_points(i));
  add_face(frame.get(), {});
  const Batch batch(std::move(frame));
  EXPECT_EQ(batch.matrices().size(), 3U);
  EXPECT_EQ(batch.left_out(), 3U);
}

/// As boxes outside of the picture.
TEST(RegionPoints, OutsideOfThePictureAreNoRegion) {
  BufferRef frame = buffer_of(random_picture(kFrame));
  for (const double dx : {-60.0, 80.0}) add_face(frame.get(), turned_points(dx));
  const Batch batch(std::move(frame));
  EXPECT_TRUE(batch.matrices().empty());
  EXPECT_EQ(batch.left_out(), 0U);
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(batch.buffer.get(), GST_BUFFER_FLAG_GAP));
}

/// Types and confidences select; sizes and the enlargement are those of boxes.
TEST(RegionPoints, AreSelectedAsBoxesAre) {
  const auto make = [] {
    BufferRef frame = buffer_of(random_picture(kFrame));
    for (const double confidence : {0.25, 0.75}) {
      auto *roi = add_face(frame.get(), turned_points(8 * confidence));
      gst_video_region_of_interest_meta_add_param(
          roi, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, confidence, nullptr));
    }
    add_face(frame.get(), turned_points(), "other");
    return frame;
  };
  const std::string align = kAlign;
  const Matrix sure = matrix_of(turned_points(6));
  EXPECT_EQ(Batch(make(), align + " roi-type=other").matrices(),
            Matrices{matrix_of(turned_points())});
  EXPECT_EQ(Batch(make(), align + " roi-type=face region-min-confidence=0.5").matrices(),
            Matrices{sure});
  EXPECT_EQ(Batch(make(), align + " roi-type=face region-min-confidence=0.5 region-expand=0.5 "
                                  "region-square=true region-min-size=30 region-oriented=true")
                .matrices(),
            Matrices{sure});
}

TEST(RegionPoints, ChangeWithTheTemplate) {
  const Picture picture = random_picture(kFrame);
  Rig rig(element());
  rig.downstream("other/tensors");
  rig.caps(video_caps(kFrame));
  const auto process = [&] {
    BufferRef frame = buffer_of(picture);
    add_face(frame.get(), turned_points());
    return rig.process(std::move(frame));
  };
  const Bytes face = slot_of(picture, matrix_of(turned_points()));
  EXPECT_TRUE(same_bytes(bytes_of(process().get()), joined({face, pad_slot(), pad_slot()})));
  rig.set("region-align", "<2.0,3.0,9.0,3.0>");
  EXPECT_EQ(left_out_of(process().get()), 1U);
  rig.set("region-align", "<>");
  EXPECT_EQ(cudatensor::region_of(process().get(), 0), (std::array<double, 4>{10, 12, 5, 5}));
  rig.set("region-align", "<2.0,3.0,9.0,3.0,5.5,7.25>");
  EXPECT_TRUE(same_bytes(bytes_of(process().get()), joined({face, pad_slot(), pad_slot()})));
}

TEST(RegionPoints, ArePointsOfTheNewPictureAfterNewCaps) {
  Rig rig(element());
  rig.downstream("other/tensors");
  for (const ImageDesc &desc : {kFrame, ImageDesc{PixelFormat::RGB, 40, 70}, kFrame}) {
    const Picture picture = random_picture(desc);
    rig.caps(video_caps(desc));
    BufferRef frame = buffer_of(picture);
    add_face(frame.get(), turned_points());
    EXPECT_TRUE(same_bytes(
        bytes_of(rig.process(std::move(frame)).get()),
        joined({slot_of(picture, matrix_of(turned_points(), desc)), pad_slot(), pad_slot()})));
  }
}

TEST(RegionPoints, AddUpOverTheFramesOfATensor) {
  Rig rig("cudanormalize width=12 height=10 regions=meta max-batch=1 frames-per-tensor=2" +
          std::string(kAlign));
  rig.downstream("other/tensors");
  rig.caps(video_caps(kFrame));
  const Picture picture = random_picture(kFrame);
  for (const double dx : {0.0, 3.0}) {
    BufferRef frame = buffer_of(picture);
    add_face(frame.get(), {});
    add_face(frame.get(), turned_points(dx));
    EXPECT_EQ(rig.push(std::move(frame)), GST_FLOW_OK);
  }
  const BufferRef batch = rig.pull();
  EXPECT_TRUE(
      same_bytes(bytes_of(batch.get()), joined({slot_of(picture, matrix_of(turned_points())),
                                                slot_of(picture, matrix_of(turned_points(3)))})));
  EXPECT_EQ(left_out_of(batch.get()), 2U);
}

TEST(RegionPoints, NeedATemplateOfSeveralPoints) {
  for (const auto &[properties, cause] : {
           std::pair("region-align=<1.0,2.0,3.0>", "region-align has 3 values"),
           {"region-align=<1.0,2.0>", "region-align has 2 values"},
           {"region-align=<1.0,2.0,1.0,2.0>", "the points of region-align are all equal"},
           {"region-align=<1.0,2.0,3.0,nan>", "region-align holds a value that is not finite"},
           {"region-align=<1.0,2.0,3.0,1e308>", ""},
           {"region-align=<1.0,2.0,3.0,4.0> antialias=true", "region-align cannot"},
           {"region-align=<1.0,2.0,3.0,4.0> pad-normalized=true", "region-align cannot"},
       }) {
    Rig rig(element(properties));
    rig.downstream("other/tensors");
    rig.caps(video_caps(kFrame));
    BufferRef frame = buffer_of(random_picture(kFrame));
    if (*cause == '\0')
      EXPECT_NE(rig.process(std::move(frame)), nullptr) << properties;
    else
      expect_error(rig, std::move(frame), cause);
  }
  // Other regions need none.
  EXPECT_EQ(output_bytes("cudanormalize width=12 height=10 region-align=<1.0>", video_caps(kFrame),
                         buffer_of(random_picture(kFrame)), "ANY")
                .size(),
            12U * 10 * 3 * 4);
  EXPECT_FALSE(pad_slot() == Bytes(12U * 10 * 3 * 4));
}

TEST(RegionPoints, MayBePadInTheTensorIfTheEdgeRepeats) {
  const Picture picture = random_picture(kFrame);
  BufferRef frame = buffer_of(picture);
  add_face(frame.get(), turned_points());
  const Batch batch(std::move(frame),
                    kAlign + std::string(" region-edge=repeat pad-normalized=true"));
  const Bytes zeros(12U * 10 * 3 * 4);
  EXPECT_TRUE(
      same_bytes(bytes_of(batch.buffer.get()),
                 joined({slot_of(picture, matrix_of(turned_points()), true), zeros, zeros})));
}

TEST(RegionPoints, OfEachCameraOfTheMux) {
  MuxRig rig(std::string(kSize) + kAlign, 2);
  const Picture first = random_picture({PixelFormat::NV12, 64, 32}, 1);
  const Picture second = random_picture({PixelFormat::RGB, 53, 61}, 2);
  rig.camera(0).caps(video_caps(first.desc()));
  rig.camera(1).caps(video_caps(second.desc()));
  BufferRef frame = frame_at(first, 0, GST_SECOND / 30);
  add_face(frame.get(), turned_points());
  add_face(frame.get(), {});
  rig.camera(0).push(std::move(frame));
  frame = frame_at(second, 0, GST_SECOND / 30);
  add_face(frame.get(), turned_points(4));
  add_face(frame.get(), turned_points(9));
  rig.camera(1).push(std::move(frame));
  const BufferRef batch = rig.pull();
  EXPECT_TRUE(same_bytes(bytes_of(batch.get()),
                         joined({slot_of(first, matrix_of(turned_points())), pad_slot(), pad_slot(),
                                 slot_of(second, matrix_of(turned_points(4))),
                                 slot_of(second, matrix_of(turned_points(9))), pad_slot()})));
  EXPECT_EQ(left_out_of(batch.get()), 1U);
}

TEST(RegionPoints, OfTheMuxNeedATemplate) {
  MuxRig rig(std::string(kSize) + " region-align=<1.0,2.0,3.0>", 1);
  rig.camera(0).caps(video_caps(kFrame));
  rig.camera(0).push(frame_at(random_picture(kFrame), 0, GST_SECOND / 30));
  EXPECT_TRUE(mentions(rig.wait_for_error(), "region-align has 3 values"));
}

// --------------------------------------------------------------------------- on their way to a slot

/// Elements that scale the picture map the points. The geometries together map the frame.
TEST(RegionPoints, AreMappedWithTheirRegion) {
  BufferRef frame = buffer_of(random_picture(kFrame));
  add_face(frame.get(), turned_points());
  const Batch batch(
      "cudaletterbox resize-mode=top-left video-direction=90r ! "
      "video/x-raw,format=RGB,width=40,height=30 ! " +
          element(),
      std::move(frame), video_caps(kFrame));
  const Matrices found = batch.matrices();
  ASSERT_EQ(found.size(), 1U);
  const Matrix expected = matrix_of(turned_points(), kFrame, Direction::clockwise);
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(found[0][i], expected[i], 1e-9);
}

std::vector<Point> points_of_first(GstBuffer *buffer) {
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id(buffer, 0);
  EXPECT_NE(roi, nullptr);
  const GstStructure *points = gst_video_region_of_interest_meta_get_param(roi, "points");
  const auto x = doubles_of<3>(points, "x"), y = doubles_of<3>(points, "y");
  return {{x[0], y[0]}, {x[1], y[1]}, {x[2], y[2]}};
}

void expect_points(GstBuffer *buffer, const std::vector<Point> &expected) {
  const std::vector<Point> found = points_of_first(buffer);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(found[i].x, expected[i].x, 1e-9);
    EXPECT_NEAR(found[i].y, expected[i].y, 1e-9);
  }
}

const std::vector<Point> kInFrame = {{-0.5, -0.5}, {63.5, 31.5}, {0, 1}};
const std::vector<Point> kInPicture = {{-0.5, 7.5}, {31.5, 23.5}, {-0.25, 8.25}};

TEST(RegionPoints, AreMappedByTheSamplesCenters) {
  BufferRef frame = buffer_of(random_picture(kFrame));
  add_face(frame.get(), kInFrame);
  Rig rig("cudaletterbox");
  rig.downstream(video_caps(kPicture));
  rig.caps(video_caps(kFrame));
  expect_points(rig.process(std::move(frame)).get(), kInPicture);
}

/// A detector behind the letterbox has found the points.
TEST(RegionPoints, AreRestoredToTheFrame) {
  const auto detector = [](GstBuffer *picture) { add_face(picture, kInPicture); };
  expect_points(restored(buffer_of(random_picture(kFrame)), detector).get(), kInFrame);
}

}  // namespace
}  // namespace cudatensor
