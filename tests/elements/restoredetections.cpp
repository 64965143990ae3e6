// SPDX-License-Identifier: LGPL-2.1-or-later
// GstAnalyticsRelationMeta through elements that scale pictures, and back through cudarestore.
#include <gmodule.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../kernels/random.h"
#include "analytics.h"
#include "detectionrig.h"
#include "regionmeta.h"

namespace cudatensor {
namespace {

using gstanalytics::Mtd;
using gstanalytics::MtdImpl;

// GstAnalyticsRelTypes
constexpr gstanalytics::Relation kIsPartOf = 1 << 1, kContain = 1 << 2, kRelateTo = 1 << 3;

const gstanalytics::Library &library() { return *gstanalytics::library(); }

void relate(GstBuffer *buffer, gstanalytics::Relation relation, guint first, guint second) {
  EXPECT_TRUE(library().relation_meta_set_relation(relations_of(buffer), relation, first, second));
}
gstanalytics::Relation relation(GstBuffer *buffer, guint first, guint second) {
  return library().relation_meta_get_relation(relations_of(buffer), first, second);
}
gsize results_of(GstBuffer *buffer) {
  return relations_of(buffer) != nullptr ? library().relation_get_length(relations_of(buffer)) : 0;
}

BufferRef frame() { return buffer_of(random_picture(kFrame)); }

BufferRef processed(const std::string &element, const std::string &out, BufferRef buffer) {
  Rig rig(element);
  rig.downstream(out);
  EXPECT_TRUE(rig.caps(video_caps(kFrame)));
  return rig.process(std::move(buffer));
}

using Objects = std::vector<Object>;

// ------------------------------------------------------------------------------------- one picture

/// 64×32 becomes half as large in 32×32, with eight rows of padding above.
TEST(Detections, AreMappedByEveryElement) {
  SKIP_WITHOUT_ANALYTICS();
  for (const auto &[element, out] : std::vector<std::pair<std::string, std::string>>{
           {"cudaletterbox", video_caps(kPicture)},
           {"cudanormalize width=32 height=32 resize-mode=affine", "other/tensors"}}) {
    BufferRef buffer = frame();
    add_object(buffer.get(), {"person", 8, 4, 12, 8, 0.75F});
    add_object(buffer.get(), {"partly", -8, 4, 12, 8});
    add_object(buffer.get(), {"outside", 64, 4, 12, 8});
    const BufferRef picture = processed(element, out, std::move(buffer));
    EXPECT_EQ(objects_of(picture.get()),
              (Objects{{"person", 4, 10, 6, 4, 0.75F}, {"partly", 0, 10, 2, 4}}))
        << element;
  }
}

TEST(Detections, AreMappedWithoutScaling) {
  SKIP_WITHOUT_ANALYTICS();
  BufferRef buffer = frame();
  add_object(buffer.get(), {"person", 8, 4, 12, 8, 0.75F});
  const BufferRef picture =
      processed("cudanv12toyuv444", "video/x-raw,format=Y444", std::move(buffer));
  EXPECT_EQ(objects_of(picture.get()), (Objects{{"person", 8, 4, 12, 8, 0.75F}}));
}

/// Each slot has its own picture, and names the object that it shows.
TEST(Detections, AreNotCarriedToBatches) {
  SKIP_WITHOUT_ANALYTICS();
  BufferRef buffer = frame();
  add_object(buffer.get(), {"person", 8, 4, 12, 8});
  const BufferRef batch = processed("cudanormalize width=8 height=8 regions=meta max-batch=2",
                                    "other/tensors", std::move(buffer));
  EXPECT_EQ(relations_of(batch.get()), nullptr);
}

TEST(Detections, PassCudahistogram) {
  SKIP_WITHOUT_ANALYTICS();
  BufferRef buffer = frame();
  add_object(buffer.get(), {"person", 8, 4, 12, 8});
  const BufferRef out = processed("cudahistogram", "video/x-raw", std::move(buffer));
  EXPECT_EQ(objects_of(out.get()), (Objects{{"person", 8, 4, 12, 8}}));
}

TEST(Detections, TurnWithUnequalScalesIfOriented) {
  SKIP_WITHOUT_ANALYTICS();
  if (library().relation_meta_add_oriented_od_mtd == nullptr)
    GTEST_SKIP() << "GStreamer is older than 1.26";
  BufferRef buffer = frame();
  // Boxes are turned by 90 and 45 degrees; the output has twice the height, and the same width.
  add_object(buffer.get(), {"a", 20, 12, 20, 8, 1.0F, static_cast<float>(G_PI / 2)});
  add_object(buffer.get(), {"b", 20, 12, 20, 8, 1.0F, static_cast<float>(G_PI / 4)});
  const BufferRef picture = processed("cudanormalize width=64 height=64 resize-mode=stretch",
                                      "other/tensors", std::move(buffer));
  const float turned = std::atan2(2.0F, 1.0F);
  // Lengths of the sides: hypot(cos, 2 sin) of each.
  EXPECT_EQ(objects_of(picture.get()),
            (Objects{{"a", 10, 28, 40, 8, 1.0F, static_cast<float>(G_PI / 2)},
                     {"b", 14, 26, 32, 13, 1.0F, turned}}));
}

// ---------------------------------------------------------------------------------------- and back

TEST(RestoredDetections, LieOnTheFrame) {
  SKIP_WITHOUT_ANALYTICS();
  const BufferRef out = restored(frame(), [](GstBuffer *picture) {
    add_object(picture, {"face", 4, 10, 6, 4, 0.5F});
    add_object(picture, {"padding", 4, 0, 4, 8});
    add_object(picture, {"partly", 28, 20, 10, 10});
  });
  EXPECT_EQ(objects_of(out.get()),
            (Objects{{"face", 8, 4, 12, 8, 0.5F}, {"partly", 56, 24, 8, 8}}));
}

/// The frame's own detections are not doubled, and keep their places.
TEST(RestoredDetections, JoinThoseOfTheFrame) {
  SKIP_WITHOUT_ANALYTICS();
  BufferRef in = frame();
  add_object(in.get(), {"outside", 100, 5, 7, 9, 0.1F});
  add_object(in.get(), {"person", 3, 5, 7, 9, 0.25F});
  const BufferRef out = restored(std::move(in), [](GstBuffer *picture) {
    ASSERT_EQ(objects_of(picture).size(), 1U);
    EXPECT_EQ(add_object(picture, {"face", 4, 10, 6, 4, 0.5F}), 1U);
    relate(picture, kIsPartOf, 1, 0);
    relate(picture, kContain, 0, 1);
  });
  EXPECT_EQ(objects_of(out.get()), (Objects{{"outside", 100, 5, 7, 9, 0.1F},
                                            {"person", 3, 5, 7, 9, 0.25F},
                                            {"face", 8, 4, 12, 8, 0.5F}}));
  EXPECT_EQ(relation(out.get(), 2, 1), kIsPartOf);
  EXPECT_EQ(relation(out.get(), 1, 2), kContain);
  EXPECT_EQ(relation(out.get(), 2, 0), 0U);
}

/// An element between them removes the meta and attaches another one.
TEST(RestoredDetections, AreNotMistakenForOthersWithTheirIds) {
  SKIP_WITHOUT_ANALYTICS();
  for (const auto &[type, confidence] :
       {std::pair("face", 0.5F), std::pair("face", 0.25F), std::pair("person", 0.5F)}) {
    BufferRef in = frame();
    add_object(in.get(), {"person", 3, 5, 7, 9, 0.25F});
    const Object other = {type, 4, 10, 6, 4, confidence};
    const BufferRef out = restored(std::move(in), [&](GstBuffer *picture) {
      GstMeta *meta = gst_buffer_get_meta(picture, gstanalytics::relation_meta_api());
      ASSERT_TRUE(gst_buffer_remove_meta(picture, meta));
      add_object(picture, other);
    });
    EXPECT_EQ(objects_of(out.get()),
              (Objects{{"person", 3, 5, 7, 9, 0.25F}, {type, 8, 4, 12, 8, confidence}}));
  }
}

/// The first object lies outside of the second letterbox's crop, so the ids of others change.
TEST(RestoredDetections, AreNewBehindTwoLetterboxes) {
  SKIP_WITHOUT_ANALYTICS();
  const Object outside = {"person", 0, 0, 4, 4, 0.25F}, inside = {"person", 40, 16, 8, 8, 0.25F};
  BufferRef in = frame();
  for (const Object &each : {outside, inside}) add_object(in.get(), each);
  const BufferRef out = restored(
      std::move(in),
      [](GstBuffer *picture) {
        EXPECT_EQ(objects_of(picture), (Objects{{"person", 24, 16, 8, 8, 0.25F}}));
        add_object(picture, {"person", 4, 4, 8, 8, 0.25F});
      },
      "cudaletterbox keep-input=false resize-mode=torchvision shortest-edge=64 antialias=true ! " +
          video_caps(kPicture) + " ! ");
  EXPECT_EQ(objects_of(out.get()), (Objects{outside, inside, {"person", 20, 4, 8, 8, 0.25F}}));
}

/// The frame's own relations stay, even if an element has changed them.
TEST(RestoredDetections, AddToTheRelationsOfTheFrame) {
  SKIP_WITHOUT_ANALYTICS();
  BufferRef in = frame();
  add_object(in.get(), {"person", 8, 4, 12, 8});
  add_object(in.get(), {"face", 8, 4, 6, 4});
  relate(in.get(), kContain, 0, 1);
  const BufferRef out = restored(std::move(in), [](GstBuffer *picture) {
    EXPECT_EQ(relation(picture, 0, 1), kContain);
    relate(picture, kRelateTo, 0, 1);
  });
  EXPECT_EQ(relation(out.get(), 0, 1), kContain | kRelateTo);
}

TEST(RestoredDetections, KeepTheirRelations) {
  SKIP_WITHOUT_ANALYTICS();
  const BufferRef out = restored(frame(), [](GstBuffer *picture) {
    add_object(picture, {"padding", 4, 0, 4, 8});
    add_object(picture, {"person", 4, 10, 20, 10});
    add_object(picture, {"face", 4, 10, 6, 4});
    relate(picture, kContain, 1, 2);
    relate(picture, kIsPartOf | kRelateTo, 2, 1);
    relate(picture, kRelateTo, 0, 1);
  });
  ASSERT_EQ(results_of(out.get()), 2U);
  EXPECT_EQ(relation(out.get(), 0, 1), kContain);
  EXPECT_EQ(relation(out.get(), 1, 0), kIsPartOf | kRelateTo);
  EXPECT_EQ(relation(out.get(), 0, 0), 0U);
}

/// The result stands for a class or a track: it has no position.
TEST(RestoredDetections, BringResultsOfOtherKinds) {
  SKIP_WITHOUT_ANALYTICS();
  static const MtdImpl *const kind = [] {
    // At least as large as in any release.
    static struct {
      MtdImpl impl;
      gpointer reserved[GST_PADDING_LARGE];
    } whole = {{"test-class", nullptr}, {}};
    return &whole.impl;
  }();
  const BufferRef out = restored(frame(), [](GstBuffer *picture) {
    add_object(picture, {"padding", 4, 0, 4, 8});
    add_object(picture, {"face", 4, 10, 6, 4});
    Mtd added = {};
    gpointer data = library().relation_meta_add_mtd(relations_of(picture), kind, 5, &added);
    std::memcpy(data, "happy", 5);
    relate(picture, kRelateTo, 1, added.id);
  });
  ASSERT_EQ(results_of(out.get()), 2U);
  Mtd found = {};
  ASSERT_TRUE(library().relation_meta_get_mtd(
      relations_of(out.get()), 1, reinterpret_cast<gstanalytics::MtdType>(kind), &found));
  EXPECT_EQ(
      std::memcmp(library().relation_meta_get_mtd_data(relations_of(out.get()), 1), "happy", 5), 0);
  EXPECT_EQ(relation(out.get(), 0, 1), kRelateTo);
}

TEST(RestoredDetections, FollowTheScalingOfOtherElements) {
  SKIP_WITHOUT_ANALYTICS();
  const BufferRef out = restored(
      frame(),
      [](GstBuffer *picture) {
        add_object(picture, {"face", 8, 20, 12, 8});
      },
      "videoscale add-borders=false ! video/x-raw,width=64,height=64 ! ");
  EXPECT_EQ(objects_of(out.get()), (Objects{{"face", 8, 4, 12, 8}}));
}

/// The second of two detectors in a row reads what the first one has found.
TEST(RestoredDetections, JoinThoseOfAnEarlierDetector) {
  SKIP_WITHOUT_ANALYTICS();
  const BufferRef first = restored(frame(), [](GstBuffer *picture) {
    add_object(picture, {"person", 4, 10, 6, 4, 0.5F});
  });
  DetectionRig rig("resize-mode=top-left", {PixelFormat::RGB, 16, 16});
  rig.detect([](GstBuffer *picture) {
    ASSERT_EQ(objects_of(picture), (Objects{{"person", 2, 1, 3, 2, 0.5F}}));
    add_object(picture, {"hat", 2, 1, 3, 1});
    relate(picture, kIsPartOf, 1, 0);
  });
  ASSERT_TRUE(rig.caps(kFrame));
  const BufferRef out = rig.process(BufferRef(gst_buffer_copy(first.get())));
  EXPECT_EQ(objects_of(out.get()), (Objects{{"person", 8, 4, 12, 8, 0.5F}, {"hat", 8, 4, 12, 4}}));
  EXPECT_EQ(relation(out.get(), 1, 0), kIsPartOf);
}

// ------------------------------------------------------------------------------------------- masks

BufferRef mask(int width, int height) {
  BufferRef buffer(gst_buffer_new_allocate(nullptr, static_cast<gsize>(width * height), nullptr));
  gst_buffer_add_video_meta(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8,
                            static_cast<guint>(width), static_cast<guint>(height));
  return buffer;
}

using AddMask = gboolean (*)(gstanalytics::RelationMeta *meta, GstBuffer *mask, int type,
                             gsize region_count, guint *regions, gint x, gint y, guint width,
                             guint height, Mtd *mtd);

AddMask add_mask_function() {
  GModule *module = g_module_open("libgstanalytics-1.0.so.0", G_MODULE_BIND_LAZY);
  gpointer function = nullptr;
  if (module == nullptr ||
      !g_module_symbol(module, "gst_analytics_relation_meta_add_segmentation_mtd", &function))
    return nullptr;
  return reinterpret_cast<AddMask>(function);
}

struct MaskPlace {
  GstBuffer *pixels;
  gint x, y;
  guint width, height;
};

MaskPlace place_of(GstBuffer *buffer, guint id) {
  Mtd found = {};
  EXPECT_TRUE(library().relation_meta_get_mtd(relations_of(buffer), id,
                                              library().segmentation_mtd_get_mtd_type(), &found));
  MaskPlace p = {};
  const BufferRef pixels(
      library().segmentation_mtd_get_mask(&found, &p.x, &p.y, &p.width, &p.height));
  p.pixels = pixels.get();
  return p;
}

/// A mask's pixels are shared, not scaled; only the rectangle that they cover is mapped. It may
/// extend beyond the frame.
TEST(RestoredDetections, BringMasks) {
  SKIP_WITHOUT_ANALYTICS();
  const AddMask add = add_mask_function();
  if (add == nullptr) GTEST_SKIP() << "GStreamer is older than 1.26";
  BufferRef pixels = mask(8, 8);
  GstBuffer *const address = pixels.get();
  const BufferRef out = restored(frame(), [&](GstBuffer *picture) {
    guint regions[] = {1, 2};
    add_object(picture, {"padding", 4, 0, 4, 8});
    ASSERT_TRUE(
        add(relations_of(picture), gst_buffer_ref(address), 0, 2, regions, -2, 5, 11, 20, nullptr));
  });
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(address), 2);
  const MaskPlace place = place_of(out.get(), 0);
  EXPECT_EQ(place.pixels, address);
  EXPECT_EQ(place.x, -4);
  EXPECT_EQ(place.y, -6);
  EXPECT_EQ(place.width, 22U);
  EXPECT_EQ(place.height, 40U);
}

/// A mask smaller than a pixel of the picture covers the nearest pixel.
TEST(Detections, KeepAPixelOfAMask) {
  SKIP_WITHOUT_ANALYTICS();
  const AddMask add = add_mask_function();
  if (add == nullptr) GTEST_SKIP() << "GStreamer is older than 1.26";
  BufferRef in = frame();
  guint regions[] = {1};
  add_object(in.get(), {"person", 8, 4, 12, 8});
  ASSERT_TRUE(
      add(relations_of(in.get()), mask(8, 8).release(), 0, 1, regions, 1, 1, 1, 1, nullptr));
  const BufferRef picture = processed("cudaletterbox", video_caps(kPicture), std::move(in));
  const MaskPlace place = place_of(picture.get(), 1);
  EXPECT_EQ(place.x, 1);
  EXPECT_EQ(place.y, 9);
  EXPECT_EQ(place.width, 1U);
  EXPECT_EQ(place.height, 1U);
}

// --------------------------------------------------------------------------------- drawn rectangles

/// Returns a black frame with a white rectangle.
BufferRef drawn(const ImageDesc &desc, const Object &o) {
  Picture picture(desc, 0);
  auto &plane = picture.planes()[0];
  for (int y = o.y; y < o.y + o.height; ++y)
    for (int x = o.x; x < o.x + o.width; ++x)
      plane.bytes[static_cast<size_t>(y) * plane.row_bytes + static_cast<size_t>(x)] = 255;
  return buffer_of(picture);
}

/// Returns the bounding box of pixels brighter than half.
Object seen_in(GstBuffer *picture, const ImageDesc &desc) {
  GstVideoInfo info = video_info_of(desc);
  GstVideoFrame mapped;
  EXPECT_TRUE(gst_video_frame_map(&mapped, &info, picture, GST_MAP_READ));
  int left = desc.width, right = -1, top = desc.height, bottom = -1;
  for (int y = 0; y < desc.height; ++y)
    for (int x = 0; x < desc.width; ++x) {
      const auto *row = static_cast<const uint8_t *>(GST_VIDEO_FRAME_PLANE_DATA(&mapped, 0)) +
                        static_cast<ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&mapped, 0);
      if (row[x] < 128) continue;
      left = std::min(left, x), right = std::max(right, x);
      top = std::min(top, y), bottom = std::max(bottom, y);
    }
  gst_video_frame_unmap(&mapped);
  return {"box", left, top, right + 1 - left, bottom + 1 - top};
}

void expect_near(const Object &found, const Object &drawn, int pixels) {
  EXPECT_NEAR(found.x, drawn.x, pixels);
  EXPECT_NEAR(found.y, drawn.y, pixels);
  EXPECT_NEAR(found.x + found.width, drawn.x + drawn.width, pixels);
  EXPECT_NEAR(found.y + found.height, drawn.y + drawn.height, pixels);
}

/// A detector's box is rounded to the picture's pixels, and the restored box to the frame's pixels,
/// by half a pixel each. Nothing is rounded if the frame's pixels are whole pixels of the picture.
TEST(RestoredDetections, LieWhereTheObjectWasDrawn) {
  SKIP_WITHOUT_ANALYTICS();
  for_cases(1000, [](Random &random) {
    const ImageDesc desc = {PixelFormat::GRAY8, random.integer(60, 120), random.integer(60, 120)};
    const bool is_whole = random.chance(50);
    const int times = random.integer(1, 3), more = 2 * random.integer(0, 20);
    const ImageDesc picture = {PixelFormat::GRAY8, desc.width * times + more,
                               desc.height * times + (is_whole ? 0 : random.integer(0, 30))};
    const std::string mode = random.pick<std::string>({"affine", "ultralytics", "top-left"});
    SCOPED_TRACE(text_of(desc) + " " + mode + " " + text_of(picture));
    Object object = {"box", random.integer(0, 29), random.integer(0, 29), 0, 0};
    object.width = random.integer(4, 30);
    object.height = random.integer(4, 30);
    DetectionRig rig("resize-mode=" + mode, picture);
    rig.detect([&](GstBuffer *buffer) { add_object(buffer, seen_in(buffer, picture)); });
    ASSERT_TRUE(rig.caps(desc));
    const BufferRef out = rig.process(drawn(desc, object));
    const Objects found = objects_of(out.get());
    ASSERT_EQ(found.size(), 1U);
    expect_near(found[0], object, is_whole ? 0 : 1);
  });
}

}  // namespace
}  // namespace cudatensor
