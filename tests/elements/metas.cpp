// SPDX-License-Identifier: LGPL-2.1-or-later
// Data of a buffer besides its picture: geometry, regions, times, flags, and metas of others.
#include <algorithm>
#include <array>
#include <cmath>

#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

// -------------------------------------------------------------------------------- geometry meta

using Matrix = std::array<double, 6>;

struct GeometryMeta {
  Matrix matrix, inverse;
  int src_width, src_height, dst_width, dst_height;
  int pad_left, pad_top, content_width, content_height;
};

Matrix matrix_of(const GstStructure *s, const char *field) {
  Matrix matrix = {};
  const GValue *array = gst_structure_get_value(s, field);
  if (array == nullptr || !GST_VALUE_HOLDS_ARRAY(array) || gst_value_array_get_size(array) != 6) {
    ADD_FAILURE() << field << " is no array of six";
    return matrix;
  }
  for (guint i = 0; i < 6; ++i) {
    const GValue *item = gst_value_array_get_value(array, i);
    EXPECT_TRUE(G_VALUE_HOLDS_DOUBLE(item)) << field;
    matrix[i] = g_value_get_double(item);
  }
  return matrix;
}

int int_of(const GstStructure *s, const char *field) {
  EXPECT_EQ(gst_structure_get_field_type(s, field), G_TYPE_INT) << field;
  int value = 0;
  gst_structure_get_int(s, field, &value);
  return value;
}

/// Reads the geometry, and checks the type of every field.
GeometryMeta geometry_of(GstBuffer *buffer) {
  GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, "GstCudaTensorGeometryMeta");
  if (meta == nullptr) {
    ADD_FAILURE() << "no GstCudaTensorGeometryMeta";
    return {};
  }
  const GstStructure *s = gst_custom_meta_get_structure(meta);
  return {matrix_of(s, "matrix"),     matrix_of(s, "inverse"), int_of(s, "src-width"),
          int_of(s, "src-height"),    int_of(s, "dst-width"),  int_of(s, "dst-height"),
          int_of(s, "pad-left"),      int_of(s, "pad-top"),    int_of(s, "content-width"),
          int_of(s, "content-height")};
}

Matrix product(const Matrix &a, const Matrix &b) {
  return {a[0] * b[0] + a[1] * b[3], a[0] * b[1] + a[1] * b[4], a[0] * b[2] + a[1] * b[5] + a[2],
          a[3] * b[0] + a[4] * b[3], a[3] * b[1] + a[4] * b[4], a[3] * b[2] + a[4] * b[5] + a[5]};
}

void expect_near(const Matrix &actual, const Matrix &expected) {
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(actual[i], expected[i], 1e-9) << "element " << i;
}

void expect_geometry(const GeometryMeta &actual, const GeometryMeta &expected) {
  expect_near(actual.matrix, expected.matrix);
  expect_near(actual.inverse, expected.inverse);
  expect_near(product(actual.inverse, actual.matrix), {1, 0, 0, 0, 1, 0});
  EXPECT_EQ(actual.src_width, expected.src_width);
  EXPECT_EQ(actual.src_height, expected.src_height);
  EXPECT_EQ(actual.dst_width, expected.dst_width);
  EXPECT_EQ(actual.dst_height, expected.dst_height);
  EXPECT_EQ(actual.pad_left, expected.pad_left);
  EXPECT_EQ(actual.pad_top, expected.pad_top);
  EXPECT_EQ(actual.content_width, expected.content_width);
  EXPECT_EQ(actual.content_height, expected.content_height);
}

/// Returns the output of an element or chain for a frame, to which `prepare` attaches metas first.
template <class Prepare>
BufferRef processed(const std::string &description, const ImageDesc &in, const std::string &out,
                    const Prepare &prepare) {
  Rig rig(description);
  rig.downstream(out);
  EXPECT_TRUE(rig.caps(video_caps(in)));
  BufferRef buffer = buffer_of(Picture(in, 100));
  prepare(buffer.get());
  return rig.process(std::move(buffer));
}

BufferRef processed(const std::string &description, const ImageDesc &in, const std::string &out) {
  return processed(description, in, out, [](GstBuffer *) {});
}

std::string letterbox_caps(int width, int height) {
  return video_caps({PixelFormat::RGB, width, height});
}

constexpr ImageDesc kWide = {PixelFormat::NV12, 1280, 720};

struct LetterboxMode {
  const char *name;
  GeometryMeta expected;
};

// 1280x720 into 640x640.
const LetterboxMode kLetterboxModes[] = {
    {"affine",
     {{0.5, 0, 0, 0, 0.5, 140}, {2, 0, 0, 0, 2, -280}, 1280, 720, 640, 640, 0, 140, 640, 360}},
    {"ultralytics",
     {{0.5, 0, 0, 0, 0.5, 140}, {2, 0, 0, 0, 2, -280}, 1280, 720, 640, 640, 0, 140, 640, 360}},
    {"top-left", {{0.5, 0, 0, 0, 0.5, 0}, {2, 0, 0, 0, 2, 0}, 1280, 720, 640, 640, 0, 0, 640, 360}},
};

TEST(Geometry, DescribesLetterbox) {
  for (const LetterboxMode &mode : kLetterboxModes) {
    SCOPED_TRACE(mode.name);
    expect_geometry(geometry_of(processed(std::string("cudaletterbox resize-mode=") + mode.name,
                                          kWide, letterbox_caps(640, 640))
                                    .get()),
                    mode.expected);
  }
}

TEST(Geometry, DescribesNormalize) {
  for (const LetterboxMode &mode : kLetterboxModes) {
    SCOPED_TRACE(mode.name);
    expect_geometry(geometry_of(processed(std::string("cudanormalize resize-mode=") + mode.name,
                                          kWide, tensor_caps("float32", "640:640:3:1"))
                                    .get()),
                    mode.expected);
  }
}

// 1280x720, whose 720 rows become 256 and 1280 columns 455, in 224x224: 115.5 columns and 16 rows
// are cut off on each side.
constexpr double kCropX = 455.0 / 1280, kCropY = 256.0 / 720;

GeometryMeta geometry_of_crop(double left, double top) {
  return {{kCropX, 0, -left, 0, kCropY, -top},
          {1 / kCropX, 0, left / kCropX, 0, 1 / kCropY, top / kCropY},
          1280,
          720,
          224,
          224,
          0,
          0,
          224,
          224};
}

TEST(Geometry, DescribesCrops) {
  const std::pair<const char *, double> modes[] = {{"torchvision", 116}, {"transformers", 115}};
  for (const auto &[mode, left] : modes)
    for (const char *antialias : {"false", "true"}) {
      SCOPED_TRACE(mode);
      const std::string properties =
          std::string(" shortest-edge=256 resize-mode=") + mode + " antialias=" + antialias;
      const GeometryMeta expected = geometry_of_crop(left, 16);
      expect_geometry(
          geometry_of(
              processed("cudaletterbox" + properties, kWide, letterbox_caps(224, 224)).get()),
          expected);
      expect_geometry(geometry_of(processed("cudanormalize" + properties, kWide,
                                            tensor_caps("float32", "224:224:3:1"))
                                      .get()),
                      expected);
    }
}

TEST(Geometry, DescribesStretch) {
  expect_geometry(
      geometry_of(processed("cudanormalize", kWide, tensor_caps("float32", "640:144:3:1")).get()),
      {{0.5, 0, 0, 0, 0.2, 0}, {2, 0, 0, 0, 5, 0}, 1280, 720, 640, 144, 0, 0, 640, 144});
}

TEST(Geometry, HoldsTheRoundedIntegersOfUltralytics) {
  // 7 x 3 into 10 x 10: r = 10/7, 3 * r = 4.28 is 4 rows; (10 - 4)/2 - 0.1 = 2.9 is 3.
  expect_geometry(
      geometry_of(processed("cudaletterbox resize-mode=ultralytics", {PixelFormat::RGB, 7, 3},
                            letterbox_caps(10, 10))
                      .get()),
      {{10.0 / 7, 0, 0, 0, 4.0 / 3, 3}, {0.7, 0, 0, 0, 0.75, -2.25}, 7, 3, 10, 10, 0, 3, 10, 4});
}

TEST(Geometry, IsNotRoundedInAffineMode) {
  // 7 x 3 into 10 x 10: 3 * 10/7 = 4.2857 rows, the first at 2.857.
  const double s = 10.0 / 7, ty = (10 - 3 * s) / 2;
  expect_geometry(
      geometry_of(
          processed("cudaletterbox", {PixelFormat::RGB, 7, 3}, letterbox_caps(10, 10)).get()),
      {{s, 0, 0, 0, s, ty}, {1 / s, 0, 0, 0, 1 / s, -ty / s}, 7, 3, 10, 10, 0, 2, 10, 6});
}

TEST(Geometry, DescribesAPictureThatIsNotEnlarged) {
  for (const char *mode : {"affine", "ultralytics"})
    expect_geometry(
        geometry_of(processed(std::string("cudaletterbox scale-up=false resize-mode=") + mode,
                              {PixelFormat::RGB, 4, 2}, letterbox_caps(10, 10))
                        .get()),
        {{1, 0, 3, 0, 1, 4}, {1, 0, -3, 0, 1, -4}, 4, 2, 10, 10, 3, 4, 4, 2});
}

TEST(Geometry, FollowsALiveProperty) {
  Rig rig("cudaletterbox");
  rig.downstream(letterbox_caps(640, 640));
  ASSERT_TRUE(rig.caps(video_caps(kWide)));
  EXPECT_EQ(geometry_of(rig.process(buffer_of(Picture(kWide))).get()).pad_top, 140);
  rig.set("resize-mode", "top-left");
  EXPECT_EQ(geometry_of(rig.process(buffer_of(Picture(kWide))).get()).pad_top, 0);
}

/// Expects the chain's geometry to refer to the first picture.
void expect_composed(const std::string &chain, const std::string &out, double scale, double ty,
                     int size) {
  const GeometryMeta actual = geometry_of(processed(chain, kWide, out).get());
  expect_near(actual.matrix, {scale, 0, 0, 0, scale, ty});
  expect_near(actual.inverse, {1 / scale, 0, 0, 0, 1 / scale, -ty / scale});
  EXPECT_EQ(actual.src_width, 1280);
  EXPECT_EQ(actual.src_height, 720);
  EXPECT_EQ(actual.dst_width, size);
  EXPECT_EQ(actual.dst_height, size);
}

TEST(Geometry, IsComposedOverTwoElements) {
  const std::string letterbox = "cudaletterbox ! video/x-raw,format=RGB,width=640,height=640 ! ";
  expect_composed(letterbox + "cudanormalize", tensor_caps("float32", "640:640:3:1"), 0.5, 140,
                  640);
  expect_composed(letterbox + "cudanormalize", tensor_caps("float32", "320:320:3:1"), 0.25, 70,
                  320);
  expect_composed(letterbox + "cudaletterbox resize-mode=top-left", letterbox_caps(160, 160), 0.125,
                  35, 160);
  // A crop takes the middle of a picture with padding above and below.
  const std::string crop = "cudanormalize resize-mode=torchvision shortest-edge=320";
  const GeometryMeta cropped =
      geometry_of(processed(letterbox + crop, kWide, tensor_caps("float32", "200:160:3:1")).get());
  expect_near(cropped.matrix, {0.25, 0, -60, 0, 0.25, 70 - 80});
  expect_near(cropped.inverse, {4, 0, 240, 0, 4, 40});
  EXPECT_EQ(cropped.src_width, 1280);
  EXPECT_EQ(cropped.content_height, 160);
}

TEST(Geometry, GoesThroughACropAndAShuffle) {
  const GeometryMeta cropped =
      geometry_of(processed("cudanormalize color=yuv width=640 height=360 dtype=uint8 ! identity ! "
                            "cudapixelshuffle upscale-factor=1",
                            kWide, "other/tensors")
                      .get());
  expect_near(cropped.matrix, {0.5, 0, 0, 0, 0.5, 0});
  EXPECT_EQ(cropped.src_width, 1280);
  EXPECT_EQ(cropped.dst_width, 640);
}

TEST(Geometry, PassesTheHistogram) {
  expect_geometry(
      geometry_of(
          processed("cudaletterbox ! cudahistogram", kWide, letterbox_caps(640, 640)).get()),
      kLetterboxModes[0].expected);
}

// Tensors come from a pool, whose buffers may remember their last frame.

GstStructure *structure_of(GstBuffer *buffer) {
  return gst_custom_meta_get_structure(
      gst_buffer_get_custom_meta(buffer, "GstCudaTensorGeometryMeta"));
}

guint count_metas(GstBuffer *buffer) {
  guint count = 0;
  gpointer state = nullptr;
  while (gst_buffer_iterate_meta(buffer, &state) != nullptr) ++count;
  return count;
}

TEST(GeometryOfPooledBuffers, FollowsALiveProperty) {
  Rig rig("cudanormalize resize-mode=affine");
  rig.downstream(tensor_caps("float32", "640:640:3:1"));
  ASSERT_TRUE(rig.caps(video_caps(kWide)));
  for (const int expected : {140, 140, 0, 0, 140}) {
    rig.set("resize-mode", expected == 0 ? "top-left" : "affine");
    const BufferRef out = rig.process(buffer_of(Picture(kWide)));
    expect_geometry(geometry_of(out.get()), kLetterboxModes[expected == 0 ? 2 : 0].expected);
    EXPECT_EQ(count_metas(out.get()), 1u);
  }
}

TEST(GeometryOfPooledBuffers, IsRightWhateverDownstreamDidToIt) {
  Rig rig("cudanormalize resize-mode=affine");
  rig.downstream(tensor_caps("float32", "640:640:3:1"));
  ASSERT_TRUE(rig.caps(video_caps(kWide)));
  const std::vector<void (*)(GstStructure *)> changes = {
      [](GstStructure *s) { gst_structure_set(s, "pad-top", G_TYPE_INT, 1, nullptr); },
      [](GstStructure *s) { gst_structure_set(s, "more", G_TYPE_INT, 1, nullptr); },
      [](GstStructure *s) { gst_structure_set(s, "matrix", G_TYPE_STRING, "none", nullptr); },
      [](GstStructure *s) { gst_structure_remove_field(s, "inverse"); },
      [](GstStructure *s) { gst_structure_remove_all_fields(s); }};
  for (const auto change : changes) {
    change(structure_of(rig.process(buffer_of(Picture(kWide))).get()));
    const BufferRef out = rig.process(buffer_of(Picture(kWide)));
    expect_geometry(geometry_of(out.get()), kLetterboxModes[0].expected);
    EXPECT_EQ(gst_structure_n_fields(structure_of(out.get())), 10);
  }
}

TEST(GeometryOfPooledBuffers, IsCopiedByOthersDownstream) {
  Rig rig("cudanormalize resize-mode=affine");
  rig.downstream(tensor_caps("float32", "640:640:3:1"));
  ASSERT_TRUE(rig.caps(video_caps(kWide)));
  for (int i = 0; i < 3; ++i) {
    const BufferRef out = rig.process(buffer_of(Picture(kWide)));
    GstCustomMeta *meta = gst_buffer_get_custom_meta(out.get(), "GstCudaTensorGeometryMeta");
    // GstBaseTransform does not copy pooled metas.
    EXPECT_EQ(meta->meta.flags & GST_META_FLAG_POOLED, 0) << i;
  }
}

TEST(GeometryOfPooledBuffers, GoesWithTheFrameThatHadOne) {
  const std::string caps = tensor_caps("uint8", "640:360:3:1");
  Rig rig("cudapixelshuffle upscale-factor=1");
  rig.downstream("other/tensors");
  ASSERT_TRUE(rig.caps(caps));
  for (const bool has_geometry : {true, true, false, true, false, false}) {
    BufferRef in = processed("cudanormalize dtype=uint8", kWide, caps);
    GstCustomMeta *meta = gst_buffer_get_custom_meta(in.get(), "GstCudaTensorGeometryMeta");
    if (!has_geometry) gst_buffer_remove_meta(in.get(), &meta->meta);
    const BufferRef out = rig.process(std::move(in));
    EXPECT_EQ(count_metas(out.get()), has_geometry ? 1u : 0u);
    if (has_geometry) expect_near(geometry_of(out.get()).matrix, {0.5, 0, 0, 0, 0.5, 0});
  }
}

// -------------------------------------------------------------------------------------- regions

struct Region {
  guint x, y, w, h;
  bool operator==(const Region &o) const { return x == o.x && y == o.y && w == o.w && h == o.h; }
};

std::ostream &operator<<(std::ostream &os, const Region &r) {
  return os << r.w << "x" << r.h << " at " << r.x << "," << r.y;
}

std::vector<const GstVideoRegionOfInterestMeta *> interests_of(GstBuffer *buffer) {
  std::vector<const GstVideoRegionOfInterestMeta *> metas;
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
    metas.push_back(reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta));
  return metas;
}

/// Returns the mapped region; empty if it is dropped.
std::vector<Region> mapped(const std::string &description, const ImageDesc &in,
                           const std::string &out, const Region &region) {
  const BufferRef buffer = processed(description, in, out, [&](GstBuffer *frame) {
    gst_buffer_add_video_region_of_interest_meta(frame, "face", region.x, region.y, region.w,
                                                 region.h);
  });
  std::vector<Region> regions;
  for (const auto *meta : interests_of(buffer.get()))
    regions.push_back({meta->x, meta->y, meta->w, meta->h});
  return regions;
}

using Regions = std::vector<Region>;

TEST(Regions, AreMappedAndRoundedOutwards) {
  const auto letterbox = [](const Region &region) {
    return mapped("cudaletterbox", kWide, letterbox_caps(640, 640), region);
  };
  EXPECT_EQ(letterbox({100, 200, 300, 400}), (Regions{{50, 240, 150, 200}}));
  EXPECT_EQ(letterbox({101, 201, 2, 2}), (Regions{{50, 240, 2, 2}}));
  EXPECT_EQ(letterbox({101, 201, 1, 1}), (Regions{{50, 240, 1, 1}}));
  EXPECT_EQ(letterbox({0, 0, 1280, 720}), (Regions{{0, 140, 640, 360}}));
  EXPECT_EQ(letterbox({5, 5, 0, 1}), Regions{}) << "it was empty before";
}

TEST(Regions, AreClippedToTheOutputAndDroppedOutsideIt) {
  const auto crop = [](const Region &region) {
    return mapped("cudanv12toyuv444 resize-width=1280 resize-height=720 crop-x=100 crop-y=50",
                  kWide, "video/x-raw,width=200,height=100", region);
  };
  EXPECT_EQ(crop({110, 60, 20, 30}), (Regions{{10, 10, 20, 30}}));
  EXPECT_EQ(crop({90, 40, 20, 30}), (Regions{{0, 0, 10, 20}}));
  EXPECT_EQ(crop({290, 140, 500, 500}), (Regions{{190, 90, 10, 10}}));
  EXPECT_EQ(crop({0, 0, 1280, 720}), (Regions{{0, 0, 200, 100}}));
  EXPECT_EQ(crop({0, 0, 100, 50}), Regions{});
  EXPECT_EQ(crop({300, 0, 10, 720}), Regions{});
  EXPECT_EQ(crop({150, 70, 0, 5}), Regions{}) << "it was empty before";
}

TEST(Regions, AreClippedToTheCropOrDropped) {
  // The picture becomes 640x360, and 360x360 from column 140 are taken.
  const auto crop = [](const Region &region) {
    return mapped("cudaletterbox resize-mode=torchvision", kWide, letterbox_caps(360, 360), region);
  };
  EXPECT_EQ(crop({0, 0, 1280, 720}), (Regions{{0, 0, 360, 360}}));
  EXPECT_EQ(crop({300, 100, 100, 100}), (Regions{{10, 50, 50, 50}}));
  EXPECT_EQ(crop({270, 100, 31, 101}), (Regions{{0, 50, 11, 51}}));
  EXPECT_EQ(crop({990, 0, 100, 3}), (Regions{{355, 0, 5, 2}}));
  EXPECT_EQ(crop({0, 0, 280, 720}), Regions{});
  EXPECT_EQ(crop({1000, 0, 280, 720}), Regions{});
}

TEST(Regions, AreClippedToTheirPicture) {
  EXPECT_EQ(mapped("cudanormalize", kWide, tensor_caps("float32", "640:360:3:1"),
                   {1000, 600, G_MAXUINT, G_MAXUINT}),
            (Regions{{500, 300, 140, 60}}));
  EXPECT_EQ(
      mapped("cudanormalize", kWide, tensor_caps("float32", "640:360:3:1"), {G_MAXUINT, 0, 10, 10}),
      Regions{});
}

/// Maps one axis as the matrix in the meta says.
std::pair<double, double> edges(double scale, double offset, guint begin, guint length, int dst) {
  const double low = std::floor(scale * begin + offset);
  const double high = std::ceil(scale * (static_cast<double>(begin) + length) + offset);
  return {std::max(low, 0.0), std::min(high, static_cast<double>(dst))};
}

Regions mapped_by(const GeometryMeta &g, const Region &r) {
  const auto [left, right] = edges(g.matrix[0], g.matrix[2], r.x, r.w, g.dst_width);
  const auto [top, bottom] = edges(g.matrix[4], g.matrix[5], r.y, r.h, g.dst_height);
  if (left >= right || top >= bottom) return {};
  return {{static_cast<guint>(left), static_cast<guint>(top), static_cast<guint>(right - left),
           static_cast<guint>(bottom - top)}};
}

TEST(Regions, AgreeWithTheMatrix) {
  const ImageDesc in = {PixelFormat::GRAY8, 196, 98};
  const std::string out = tensor_caps("float32", "45:31:3:1");
  Noise noise(3);
  for (const char *mode : {"stretch", "affine", "ultralytics", "top-left", "torchvision",
                           "transformers shortest-edge=60 antialias=true"}) {
    const std::string element = std::string("cudanormalize resize-mode=") + mode;
    const GeometryMeta geometry = geometry_of(processed(element, in, out).get());
    for (int i = 0; i < 50; ++i) {
      const auto number = [&](int high) { return static_cast<guint>(noise.integer(1, high)); };
      const Region region = {number(250), number(150), number(100), number(100)};
      EXPECT_EQ(mapped(element, in, out, region), mapped_by(geometry, region))
          << mode << ", " << region;
    }
  }
}

TEST(Regions, GoThroughAShuffle) {
  Rig rig("cudapixelshuffle upscale-factor=3");
  ASSERT_TRUE(rig.caps(tensor_caps("uint8", "10:8:9:1")));
  BufferRef frame = buffer_of(Bytes(720));
  gst_buffer_add_video_region_of_interest_meta(frame.get(), "face", 1, 2, 3, 4);
  const BufferRef out = rig.process(std::move(frame));
  const auto metas = interests_of(out.get());
  ASSERT_EQ(metas.size(), 1u);
  EXPECT_EQ((Region{metas[0]->x, metas[0]->y, metas[0]->w, metas[0]->h}), (Region{3, 6, 9, 12}));
}

TEST(Regions, KeepTheirOtherFields) {
  const BufferRef out =
      processed("cudaletterbox", kWide, letterbox_caps(640, 640), [](GstBuffer *b) {
        auto *face = gst_buffer_add_video_region_of_interest_meta(b, "face", 0, 0, 100, 100);
        face->id = 7;
        auto *eye = gst_buffer_add_video_region_of_interest_meta(b, "eye", 10, 10, 20, 20);
        eye->id = 8;
        eye->parent_id = 7;
        gst_video_region_of_interest_meta_add_param(
            eye, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 0.75, nullptr));
        gst_video_region_of_interest_meta_add_param(eye, gst_structure_new_empty("second"));
      });
  const auto metas = interests_of(out.get());
  ASSERT_EQ(metas.size(), 2u);
  EXPECT_STREQ(g_quark_to_string(metas[0]->roi_type), "face");
  EXPECT_EQ(metas[0]->id, 7);
  EXPECT_STREQ(g_quark_to_string(metas[1]->roi_type), "eye");
  EXPECT_EQ(metas[1]->id, 8);
  EXPECT_EQ(metas[1]->parent_id, 7);
  EXPECT_EQ(g_list_length(metas[1]->params), 2u);
  auto *param = gst_video_region_of_interest_meta_get_param(
      const_cast<GstVideoRegionOfInterestMeta *>(metas[1]), "detection");
  ASSERT_NE(param, nullptr);
  double confidence = 0;
  EXPECT_TRUE(gst_structure_get_double(param, "confidence", &confidence));
  EXPECT_EQ(confidence, 0.75);
}

TEST(Regions, AreMappedAlsoInACropMeta) {
  const auto map_crop = [](const Region &region, const char *element = "cudaletterbox",
                           int size = 640) -> Regions {
    const BufferRef out = processed(element, kWide, letterbox_caps(size, size), [&](GstBuffer *b) {
      GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(b);
      crop->x = region.x;
      crop->y = region.y;
      crop->width = region.w;
      crop->height = region.h;
    });
    const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta(out.get());
    if (crop == nullptr) return {};
    return {{crop->x, crop->y, crop->width, crop->height}};
  };
  EXPECT_EQ(map_crop({101, 21, 801, 601}), (Regions{{50, 150, 401, 301}}));
  EXPECT_EQ(map_crop({5, 5, 0, 0}), Regions{});
  const char *const crops = "cudaletterbox resize-mode=transformers";
  EXPECT_EQ(map_crop({100, 20, 800, 600}, crops, 360), (Regions{{0, 10, 310, 300}}));
  EXPECT_EQ(map_crop({0, 0, 280, 720}, crops, 360), Regions{});
}

// ----------------------------------------------------------------------------------- other metas

const char *const kUntagged = "CudaTensorTestUntaggedMeta";
const char *const kSized = "CudaTensorTestSizeMeta";
const char *const kOfVideo = "CudaTensorTestVideoMeta";

void register_metas() {
  static const bool once = [] {
    static const gchar *none[] = {nullptr};
    static const gchar *size[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, nullptr};
    static const gchar *video[] = {GST_META_TAG_VIDEO_STR, nullptr};
    gst_meta_register_custom(kUntagged, none, nullptr, nullptr, nullptr);
    gst_meta_register_custom(kSized, size, nullptr, nullptr, nullptr);
    gst_meta_register_custom(kOfVideo, video, nullptr, nullptr, nullptr);
    return true;
  }();
  static_cast<void>(once);
}

void attach_others(GstBuffer *buffer) {
  register_metas();
  GstCustomMeta *untagged = gst_buffer_add_custom_meta(buffer, kUntagged);
  gst_structure_set(gst_custom_meta_get_structure(untagged), "answer", G_TYPE_INT, 42, nullptr);
  gst_buffer_add_custom_meta(buffer, kSized);
  gst_buffer_add_custom_meta(buffer, kOfVideo);
  const CapsRef reference(gst_caps_new_empty_simple("timestamp/x-test"));
  gst_buffer_add_reference_timestamp_meta(buffer, reference.get(), 12345, 678);
  const guint8 caption[] = {0x80, 0x80};
  gst_buffer_add_video_caption_meta(buffer, GST_VIDEO_CAPTION_TYPE_CEA608_RAW, caption, 2);
}

void expect_others(GstBuffer *buffer) {
  GstCustomMeta *untagged = gst_buffer_get_custom_meta(buffer, kUntagged);
  ASSERT_NE(untagged, nullptr);
  int answer = 0;
  gst_structure_get_int(gst_custom_meta_get_structure(untagged), "answer", &answer);
  EXPECT_EQ(answer, 42);
  EXPECT_NE(gst_buffer_get_custom_meta(buffer, kOfVideo), nullptr) << "of no size";
  const auto *reference = gst_buffer_get_reference_timestamp_meta(buffer, nullptr);
  ASSERT_NE(reference, nullptr);
  EXPECT_EQ(reference->timestamp, 12345u);
  EXPECT_EQ(reference->duration, 678u);
  const auto *caption = gst_buffer_get_video_caption_meta(buffer);
  ASSERT_NE(caption, nullptr);
  EXPECT_EQ(caption->size, 2u);
  EXPECT_EQ(caption->data[0], 0x80);
}

struct Chain {
  const char *description, *downstream;
};

class Filters : public testing::TestWithParam<Chain> {};

INSTANTIATE_TEST_SUITE_P(Metas, Filters,
                         testing::Values(Chain{"cudaletterbox", "video/x-raw,width=64,height=64"},
                                         Chain{"cudanormalize width=64 height=64", "ANY"},
                                         Chain{"cudanv12toyuv444 resize-width=64", "ANY"},
                                         Chain{"cudahistogram", "ANY"},
                                         Chain{"cudanormalize color=yuv dtype=uint8 ! "
                                               "cudapixelshuffle upscale-factor=1",
                                               "ANY"}),
                         [](const auto &info) { return "case" + std::to_string(info.index); });

TEST_P(Filters, KeepMetasOfOthers) {
  const BufferRef out =
      processed(GetParam().description, kWide, GetParam().downstream, attach_others);
  expect_others(out.get());
}

TEST_P(Filters, KeepTimesOffsetsAndFlags) {
  const guint flags = GST_BUFFER_FLAG_MARKER | GST_BUFFER_FLAG_CORRUPTED | GST_BUFFER_FLAG_HEADER |
                      GST_BUFFER_FLAG_DELTA_UNIT | GST_VIDEO_BUFFER_FLAG_TFF;
  const BufferRef out =
      processed(GetParam().description, kWide, GetParam().downstream, [&](GstBuffer *b) {
        GST_BUFFER_PTS(b) = 3 * GST_SECOND;
        GST_BUFFER_DTS(b) = 2 * GST_SECOND;
        GST_BUFFER_DURATION(b) = 40 * GST_MSECOND;
        GST_BUFFER_OFFSET(b) = 75;
        GST_BUFFER_OFFSET_END(b) = 76;
        GST_BUFFER_FLAG_SET(b, flags);
      });
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), 3 * GST_SECOND);
  EXPECT_EQ(GST_BUFFER_DTS(out.get()), 2 * GST_SECOND);
  EXPECT_EQ(GST_BUFFER_DURATION(out.get()), 40 * GST_MSECOND);
  EXPECT_EQ(GST_BUFFER_OFFSET(out.get()), 75u);
  EXPECT_EQ(GST_BUFFER_OFFSET_END(out.get()), 76u);
  EXPECT_EQ(GST_BUFFER_FLAGS(out.get()) & flags, flags);
}

TEST_P(Filters, KeepTimesThatAreNotKnown) {
  const BufferRef out = processed(GetParam().description, kWide, GetParam().downstream,
                                  [](GstBuffer *b) { GST_BUFFER_PTS(b) = GST_CLOCK_TIME_NONE; });
  EXPECT_FALSE(GST_BUFFER_PTS_IS_VALID(out.get()));
  EXPECT_FALSE(GST_BUFFER_DTS_IS_VALID(out.get()));
  EXPECT_FALSE(GST_BUFFER_DURATION_IS_VALID(out.get()));
}

TEST_P(Filters, KeepTheGapFlag) {
  const BufferRef out =
      processed(GetParam().description, kWide, GetParam().downstream,
                [](GstBuffer *b) { GST_BUFFER_FLAG_SET(b, GST_BUFFER_FLAG_GAP); });
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_GAP));
}

TEST_P(Filters, PassGapEvents) {
  Rig rig(GetParam().description);
  rig.downstream(GetParam().downstream);
  ASSERT_TRUE(rig.caps(video_caps(kWide)));
  while (EventRef event{gst_harness_try_pull_event(rig.harness())}) {
  }
  EXPECT_TRUE(rig.event(gst_event_new_gap(5, 7)));
  bool seen = false;
  while (EventRef event{gst_harness_try_pull_event(rig.harness())})
    seen |= GST_EVENT_TYPE(event.get()) == GST_EVENT_GAP;
  EXPECT_TRUE(seen);
}

TEST(Metas, AreDroppedIfTheyDescribeTheInputsSizeOrLayout) {
  const Picture picture(kWide);
  Rig rig("cudaletterbox");
  rig.downstream(letterbox_caps(64, 64));
  ASSERT_TRUE(rig.caps(video_caps(kWide)));
  BufferRef frame = padded_buffer_of(picture, {8, 8, 8, false});
  attach_others(frame.get());
  const BufferRef out = rig.process(std::move(frame));
  EXPECT_EQ(gst_buffer_get_custom_meta(out.get(), kSized), nullptr);
  const GstVideoMeta *meta = gst_buffer_get_video_meta(out.get());
  EXPECT_TRUE(meta == nullptr || meta->width == 64);
}

}  // namespace
}  // namespace cudatensor
