// SPDX-License-Identifier: LGPL-2.1-or-later
// cudanormalize with regions: the pictures of the slots, and their description in the batch meta.
#include <array>

#include "gpu.h"
#include "muxrig.h"
#include "reference.h"
#include "regionmeta.h"
#include "rig.h"

namespace cudatensor {
namespace {

const ImageDesc kFrame = {PixelFormat::NV12, 40, 30};
constexpr const char *kList = "regions=list region-list=<2,4,10,8,12,6,20,16> ";

NormalizeCase params_of_mode(ResizeMode mode) {
  NormalizeCase params = small_params();
  params.resize.mode = mode;
  return params;
}

std::string element(const std::string &properties, const NormalizeCase &params = small_params()) {
  return "cudanormalize " + properties_of(params) + " " + properties;
}

/// Returns a rig whose element has received a frame's caps.
std::unique_ptr<Rig> make_rig(const std::string &description, const ImageDesc &frame = kFrame) {
  auto rig = std::make_unique<Rig>(description);
  rig->downstream("other/tensors");
  EXPECT_TRUE(rig->caps(video_caps(frame)));
  return rig;
}

BufferRef batch_of(const std::string &description, BufferRef frame,
                   const ImageDesc &desc = kFrame) {
  return make_rig(description, desc)->process(std::move(frame));
}

// ------------------------------------------------------------------------------------- the list

TEST(RegionList, FillsSlotsWithCrops) {
  const Picture picture = random_picture(kFrame);
  for (const ResizeMode mode :
       {ResizeMode::stretch, ResizeMode::affine, ResizeMode::ultralytics, ResizeMode::top_left,
        ResizeMode::torchvision, ResizeMode::transformers}) {
    const NormalizeCase params = params_of_mode(mode);
    const BufferRef batch = batch_of(element(kList, params), buffer_of(picture));
    EXPECT_TRUE(same_bytes(bytes_of(batch.get()),
                           joined({slot_bytes(cut_out(picture, 2, 4, 10, 8), params),
                                   slot_bytes(cut_out(picture, 12, 6, 20, 16), params)})))
        << nick(mode);
  }
}

TEST(RegionList, MayBeOfFractions) {
  const Picture picture = random_picture(kFrame);
  const BufferRef pixels = batch_of(element("regions=list region-list=<10,7.5,20,15>"),
                                    buffer_of(picture)),
                  fractions = batch_of(element("regions=list region-units=fractions "
                                               "region-list=<0.25,0.25,0.5,0.5>"),
                                       buffer_of(picture));
  EXPECT_TRUE(same_bytes(bytes_of(fractions.get()), bytes_of(pixels.get())));
  EXPECT_EQ(region_of(fractions.get(), 0), (std::array<double, 4>{10, 7.5, 20, 15}));
}

/// The fractions end on whole pixels, except for rounding.
TEST(RegionList, IsACropIfItsFractionsEndOnPixels) {
  const ImageDesc desc = {PixelFormat::GRAY8, 8, 720};
  const Picture picture = random_picture(desc);
  const BufferRef pixels = batch_of(element("regions=list region-list=<0,252,8,252,0,0,8,504>"),
                                    buffer_of(picture), desc),
                  fractions = batch_of(element("regions=list region-units=fractions "
                                               "region-list=<0,0.35,1,0.35,0,0,1,0.7>"),
                                       buffer_of(picture), desc);
  EXPECT_TRUE(same_bytes(bytes_of(fractions.get()), bytes_of(pixels.get())));
  EXPECT_EQ(region_of(fractions.get(), 0), (std::array<double, 4>{0, 252, 8, 252}));
}

TEST(RegionList, MayBeAnotherForEachFrame) {
  const auto rig = make_rig(element("regions=list region-list=<0,0,4,4>"));
  const Picture picture = random_picture(kFrame);
  rig->process(buffer_of(picture));
  GstPad *const pad = rig->harness()->sinkpad;
  guint queries = 0;
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      [](GstPad *, GstPadProbeInfo *info, gpointer count) {
        if (GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_ALLOCATION)
          ++*static_cast<guint *>(count);
        return GST_PAD_PROBE_OK;
      },
      &queries, nullptr);
  for (int x = 0; x < 20; x += 2) {
    rig->set("region-list", "<" + std::to_string(x) + ",4,10,8>");
    EXPECT_TRUE(same_bytes(bytes_of(rig->process(buffer_of(picture)).get()),
                           slot_bytes(cut_out(picture, x, 4, 10, 8), small_params())));
  }
  EXPECT_EQ(queries, 0u);
  rig->set("region-list", "<0,0,4,4,4,4,4,4>");
  rig->process(buffer_of(picture));
  EXPECT_GT(queries, 0u);
  EXPECT_EQ(rig->output("dimensions"), "12:10:3:2");
}

TEST(RegionList, MayLeaveSlotsEmpty) {
  const auto rig = make_rig(element(std::string(kList) + "max-batch=4"));
  EXPECT_EQ(rig->output("dimensions"), "12:10:3:4");
  const Picture picture = random_picture(kFrame);
  const BufferRef batch = rig->process(buffer_of(picture));
  const NormalizeCase params = small_params();
  EXPECT_TRUE(
      same_bytes(bytes_of(batch.get()), joined({slot_bytes(cut_out(picture, 2, 4, 10, 8), params),
                                                slot_bytes(cut_out(picture, 12, 6, 20, 16), params),
                                                pad_bytes(params), pad_bytes(params)})));
  const auto slots = slots_of(batch.get());
  ASSERT_EQ(slots.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(slots[i].valid, i < 2) << i;
}

TEST(RegionList, IsClippedToTheFrame) {
  const Picture picture = random_picture(kFrame);
  const BufferRef batch =
      batch_of(element("regions=list region-list=<-6,20,16,40>"), buffer_of(picture));
  EXPECT_EQ(region_of(batch.get(), 0), (std::array<double, 4>{0, 20, 10, 10}));
  EXPECT_TRUE(same_bytes(bytes_of(batch.get()),
                         slot_bytes(cut_out(picture, 0, 20, 10, 10), small_params())));
}

TEST(RegionList, IsPaddedBeyondTheFrameIfAsked) {
  const ImageDesc desc = {PixelFormat::RGB, 12, 10};
  // The region is the lower right quarter, and extends as far again beyond the corner.
  Picture expected(desc, 114), frame = random_picture(desc);
  for (size_t y = 0; y < 5; ++y)
    for (size_t x = 0; x < 18; ++x)
      expected.planes()[0].bytes[y * 36 + x] = frame.planes()[0].bytes[(y + 5) * 36 + x + 18];
  const BufferRef batch = batch_of(element("regions=list region-edge=pad region-list=<6,5,12,10>"),
                                   buffer_of(frame), desc);
  EXPECT_EQ(region_of(batch.get(), 0), (std::array<double, 4>{6, 5, 12, 10}));
  EXPECT_TRUE(same_bytes(bytes_of(batch.get()), slot_bytes(expected, small_params())));
}

TEST(RegionList, IsAllPadOutsideTheFrame) {
  for (const bool pads : {false, true}) {
    const auto rig = make_rig(element(std::string("regions=list region-list=<0,0,4,4,40,0,5,5>") +
                                      (pads ? " region-edge=pad" : "")));
    const BufferRef batch = rig->process(buffer_of(random_picture(kFrame)));
    const Bytes pad = pad_bytes(small_params()), all = bytes_of(batch.get());
    EXPECT_TRUE(same_bytes(Bytes(all.end() - static_cast<ptrdiff_t>(pad.size()), all.end()), pad));
    EXPECT_EQ(slots_of(batch.get())[1].valid, pads);
    EXPECT_EQ(rig->messages().warnings().size(), pads ? 0u : 1u);
  }
}

TEST(RegionList, GivesOneErrorIfInvalid) {
  const struct {
    const char *properties, *cause;
  } cases[] = {
      {"regions=list", "region-list has 0 values"},
      {"regions=list region-list=<1,2,3>", "region-list has 3 values"},
      {"regions=list region-list=<1,2,3,4,5>", "region-list has 5 values"},
      {"regions=list region-list=<1,2,0,4>", "width or height"},
      {"regions=list region-list=<1,2,3,-4>", "width or height"},
      {"regions=list region-list=<1,nan,3,4>", "nan"},
      {"regions=list region-list=<1,2,1e-9,4>", "is too small"},
      {"regions=list region-list=<1,2,3,1e-9>", "is too small"},
      {"regions=list region-list=<1,2,3,4,1,2,3,4> max-batch=1", "max-batch"},
      {"regions=list region-edge=pad region-list=<0,0,4,4,1,2,3,1e12>", "region 1"},
      {"regions=tiles tile-overlap=1", "tile-overlap"},
      {"regions=tiles tile-overlap=-0.1", "tile-overlap"},
      {"regions=tiles tile-overlap=nan", "tile-overlap"},
      {"regions=tiles tile-columns=3 tile-rows=3 max-batch=8", "max-batch"},
      {"regions=tiles tile-columns=33 tile-rows=32", "1024"},
      {"regions=tiles tile-columns=1024 tile-rows=1024", "1024"},
      {"regions=list region-list=<40,0,1e-16,5> color=yuv resize-mode=stretch", "region 0"},
      {"regions=list region-list=<0,1,1e-320,1e-320>", "region 0"},
      {"regions=list region-list=<0,0,8,10> resize-mode=torchvision shortest-edge=10",
       "shortest-edge must be larger"},
      {"regions=meta resize-mode=torchvision shortest-edge=9", "shortest-edge=9 is smaller"},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(c.properties);
    const auto rig = make_rig(element(c.properties));
    expect_error(*rig, buffer_of(random_picture(kFrame)), c.cause);
  }
}

// ---------------------------------------------------------------------------------------- tiles

TEST(Tiles, FillTheFrameAndOverlap) {
  const BufferRef batch = batch_of(element("regions=tiles tile-columns=3 tile-rows=2 "
                                           "tile-overlap=0.25"),
                                   buffer_of(random_picture(kFrame)));
  ASSERT_EQ(slots_of(batch.get()).size(), 6u);
  // Three tiles less two overlaps of a quarter are 40 wide, two less one are 30 high.
  const double width = 16.0, height = 30 / 1.75;
  for (guint i = 0; i < 6; ++i) {
    const auto region = region_of(batch.get(), i);
    EXPECT_DOUBLE_EQ(region[0], 12.0 * (i % 3));
    EXPECT_DOUBLE_EQ(region[1], 0.75 * height * (i / 3));
    EXPECT_DOUBLE_EQ(region[2], width);
    EXPECT_NEAR(region[3], height, 1e-12);
  }
}

TEST(Tiles, EndOnPixelsWhereTheyAreMeantTo) {
  const ImageDesc desc = {PixelFormat::GRAY8, 640, 8};
  const BufferRef batch =
      batch_of(element("regions=tiles tile-columns=10 tile-rows=1 tile-overlap=0.4"),
               buffer_of(random_picture(desc)), desc);
  for (guint i = 0; i < 10; ++i)
    EXPECT_EQ(region_of(batch.get(), i), (std::array<double, 4>{60.0 * i, 0, 100, 8})) << i;
}

TEST(Tiles, AreTheRegionsThatTheirMetaSays) {
  const Picture picture = random_picture(kFrame);
  const std::string grid = "regions=tiles tile-columns=4 tile-rows=3";
  const BufferRef tiles = batch_of(element(grid), buffer_of(picture));
  std::string list;
  for (guint i = 0; i < 12; ++i)
    for (const double number : region_of(tiles.get(), i)) {
      gchar text[G_ASCII_DTOSTR_BUF_SIZE];
      list += (list.empty() ? "" : ",") + std::string(g_ascii_dtostr(text, sizeof text, number));
    }
  const BufferRef listed =
      batch_of(element("regions=list region-list=<" + list + ">"), buffer_of(picture));
  EXPECT_TRUE(same_bytes(bytes_of(tiles.get()), bytes_of(listed.get())));
}

TEST(Tiles, AreTheWholeFrameIfThereIsOne) {
  const Picture picture = random_picture(kFrame);
  for (const char *more : {"", " color=yuv resize-mode=stretch", " region-edge=pad"})
    EXPECT_TRUE(
        same_bytes(bytes_of(batch_of(element("regions=tiles tile-columns=1 tile-rows=1") + more,
                                     buffer_of(picture))
                                .get()),
                   bytes_of(batch_of(element("") + more, buffer_of(picture)).get())))
        << more;
}

/// Properties of regions change nothing if there are no regions; the fixed-point path stays in use.
TEST(NoRegions, KeepTheirArithmetic) {
  const Picture picture = random_picture(kFrame);
  for (const char *color : {" color=yuv resize-mode=stretch", " color=rgb"}) {
    const std::string whole = element("") + color;
    EXPECT_TRUE(same_bytes(
        bytes_of(batch_of(whole + " region-edge=pad max-batch=3 tile-columns=5", buffer_of(picture))
                     .get()),
        bytes_of(batch_of(whole, buffer_of(picture)).get())))
        << color;
  }
}

// ---------------------------------------------------------------------------------------- metas

TEST(RegionMetas, HaveSlotsInTheirOrder) {
  const Picture picture = random_picture(kFrame);
  BufferRef frame = buffer_of(picture);
  add_interest(frame.get(), "face", 2, 4, 10, 8, 7);
  add_interest(frame.get(), "plate", 0, 0, 6, 6, 8);
  add_interest(frame.get(), "face", 38, 28, 10, 8, 9);
  add_interest(frame.get(), "face", 40, 0, 10, 8, 10);
  add_interest(frame.get(), "face", 1, 1, 0, 8, 11);
  add_interest(frame.get(), "face", 12, 6, 20, 16, 12);
  const BufferRef batch =
      batch_of(element("regions=meta roi-type=face max-batch=2"), std::move(frame));
  const NormalizeCase params = small_params();
  EXPECT_TRUE(same_bytes(bytes_of(batch.get()),
                         joined({slot_bytes(cut_out(picture, 2, 4, 10, 8), params),
                                 slot_bytes(cut_out(picture, 38, 28, 2, 2), params)})));
  EXPECT_EQ(left_out_of(batch.get()), 1u);
  for (const auto &[slot, id] : {std::pair<guint, gint>{0, 7}, {1, 9}}) {
    gint found = -1, parent = -2;
    EXPECT_STREQ(gst_structure_get_string(slot_of(batch.get(), slot), "roi-type"), "face");
    EXPECT_TRUE(gst_structure_get(slot_of(batch.get(), slot), "roi-id", G_TYPE_INT, &found,
                                  "parent-id", G_TYPE_INT, &parent, nullptr));
    EXPECT_EQ(found, id);
    EXPECT_EQ(parent, 0);
  }
}

/// Detectors that compute with signed numbers store regions that begin outside like this.
TEST(RegionMetas, MayHaveNegativeCoordinatesThatWrappedAround) {
  const Picture picture = random_picture(kFrame);
  for (const char *edge : {"clip", "pad"}) {
    BufferRef frame = buffer_of(picture);
    add_interest(frame.get(), "face", static_cast<guint>(-6), 2, 16, 8);
    add_interest(frame.get(), "face", 0, 0, static_cast<guint>(-5), 8);
    add_interest(frame.get(), "face", 0, 0, G_MAXINT, G_MAXINT);
    const BufferRef batch = batch_of(
        element("regions=meta max-batch=4 region-edge=" + std::string(edge)), std::move(frame));
    const bool clips = std::string(edge) == "clip";
    EXPECT_EQ(region_of(batch.get(), 0),
              (std::array<double, 4>{clips ? 0.0 : -6.0, 2, clips ? 10.0 : 16.0, 8}));
    const auto slots = slots_of(batch.get());
    EXPECT_EQ(slots[1].valid, clips);  // too large if padded
    EXPECT_FALSE(slots[2].valid);
  }
}

TEST(RegionMetas, KeepTheirNumberWithoutAType) {
  BufferRef frame = buffer_of(random_picture(kFrame));
  gst_buffer_add_video_region_of_interest_meta_id(frame.get(), 0, 2, 4, 10, 8)->id = 77;
  const BufferRef batch = batch_of(element("regions=meta"), std::move(frame));
  gint id = 0;
  EXPECT_TRUE(gst_structure_get_int(slot_of(batch.get(), 0), "roi-id", &id));
  EXPECT_EQ(id, 77);
  EXPECT_FALSE(gst_structure_has_field(slot_of(batch.get(), 0), "roi-type"));
}

/// The slot has 12x10 pixels. A region of 8x10 becomes 10 wide, one of 10x8 becomes 12x10.
TEST(RegionMetas, AreLeftOutIfTheirCropDoesNotCoverTheSlot) {
  const Picture picture = random_picture(kFrame);
  const auto rig =
      make_rig(element("regions=meta max-batch=1 resize-mode=torchvision shortest-edge=10"));
  for (const bool has_wide : {true, false}) {
    BufferRef frame = buffer_of(picture);
    add_interest(frame.get(), "face", 2, 4, 8, 10, 1);
    if (has_wide) add_interest(frame.get(), "face", 4, 6, 10, 8, 2);
    const BufferRef batch = rig->process(std::move(frame));
    EXPECT_EQ(left_out_of(batch.get()), 1u);
    EXPECT_EQ(slots_of(batch.get())[0].valid, has_wide);
    if (has_wide) EXPECT_EQ(region_of(batch.get(), 0), (std::array<double, 4>{4, 6, 10, 8}));
  }
  EXPECT_TRUE(rig->messages().errors().empty());
}

TEST(RegionMetas, FillSixteenSlotsByDefault) {
  BufferRef frame = buffer_of(random_picture(kFrame));
  for (guint i = 0; i < 20; ++i) add_interest(frame.get(), i % 2 ? "a" : "b", i, i, 3, 4);
  const auto rig = make_rig(element("regions=meta"));
  EXPECT_EQ(rig->output("dimensions"), "12:10:3:16");
  const BufferRef batch = rig->process(std::move(frame));
  EXPECT_EQ(left_out_of(batch.get()), 4u);
  for (guint i = 0; i < 16; ++i)
    EXPECT_EQ(region_of(batch.get(), i), (std::array<double, 4>{double(i), double(i), 3, 4}));
}

TEST(RegionMetas, MayBeAbsent) {
  const auto rig = make_rig(element("regions=meta max-batch=3"));
  const Picture picture = random_picture(kFrame);
  const Bytes pad = pad_bytes(small_params());
  for (const bool present : {false, true, false}) {
    BufferRef frame = buffer_of(picture);
    if (present) add_interest(frame.get(), "face", 2, 4, 10, 8);
    const BufferRef batch = rig->process(std::move(frame));
    EXPECT_EQ(GST_BUFFER_FLAG_IS_SET(batch.get(), GST_BUFFER_FLAG_GAP), !present);
    const Bytes first = present ? slot_bytes(cut_out(picture, 2, 4, 10, 8), small_params()) : pad;
    EXPECT_TRUE(same_bytes(bytes_of(batch.get()), joined({first, pad, pad})));
    const auto slots = slots_of(batch.get());
    for (size_t i = 0; i < slots.size(); ++i) EXPECT_EQ(slots[i].valid, present && i == 0) << i;
  }
}

// ----------------------------------------------------------------------------------- batch meta

TEST(RegionBatchMeta, SpeaksOfTheFrame) {
  const auto rig = make_rig(element(std::string(kList) + "resize-mode=top-left"));
  BufferRef frame = frame_at(random_picture(kFrame), 3 * GST_SECOND, GST_SECOND);
  const BufferRef batch = rig->process(std::move(frame));
  EXPECT_EQ(GST_BUFFER_PTS(batch.get()), 3 * GST_SECOND);
  EXPECT_EQ(left_out_of(batch.get()), 0u);
  EXPECT_EQ(gst_buffer_get_custom_meta(batch.get(), "GstCudaTensorGeometryMeta"), nullptr);
  for (const BatchSlotMeta &slot : slots_of(batch.get())) {
    EXPECT_TRUE(slot.valid);
    EXPECT_EQ(slot.pad_index, 0);
    EXPECT_EQ(slot.pts, 3 * GST_SECOND);
    EXPECT_EQ(slot.duration, GST_SECOND);
    EXPECT_EQ(slot.running_time, 3 * GST_SECOND);
    EXPECT_EQ(slot.src_width, 40);
    EXPECT_EQ(slot.src_height, 30);
  }
}

TEST(RegionBatchMeta, NamesTheStreamOfTheFrame) {
  const auto rig = make_rig(element(std::string(kList) + "max-batch=3"));
  rig->event(gst_event_new_stream_start("front door"));
  const BufferRef batch = rig->process(buffer_of(random_picture(kFrame)));
  const auto slots = slots_of(batch.get());
  ASSERT_EQ(slots.size(), 3u);
  for (const BatchSlotMeta &slot : slots) EXPECT_EQ(slot.stream_id, "front door");
}

TEST(RegionBatchMeta, TakesThePlaceOfOneThatTheFrameHas) {
  const auto rig = make_rig(element(kList));
  BufferRef frame = buffer_of(random_picture(kFrame));
  gst_buffer_add_custom_meta(frame.get(), "GstCudaTensorBatchMeta");
  const BufferRef batch = rig->process(std::move(frame));
  EXPECT_EQ(slots_of(batch.get()).size(), 2u);
  const GType api = gst_meta_get_info("GstCudaTensorBatchMeta")->api;
  EXPECT_EQ(gst_buffer_get_n_meta(batch.get(), api), 1u);
}

/// A region of 20x16 at 12,6 becomes 12x10 pixels at the top left.
TEST(RegionBatchMeta, MapsTheRegionToItsContent) {
  const BufferRef batch = batch_of(element(std::string(kList) + "resize-mode=top-left"),
                                   buffer_of(random_picture(kFrame)));
  const auto matrix = doubles_of<6>(slot_of(batch.get(), 1), "matrix");
  const auto inverse = doubles_of<6>(slot_of(batch.get(), 1), "inverse");
  EXPECT_NEAR(matrix[0] * 12 + matrix[2], 0, 1e-12);
  EXPECT_NEAR(matrix[4] * 6 + matrix[5], 0, 1e-12);
  EXPECT_NEAR(matrix[0] * 32 + matrix[2], 12, 1e-12);
  EXPECT_NEAR(matrix[4] * 22 + matrix[5], 10, 1e-12);
  EXPECT_NEAR(inverse[0] * 12 + inverse[2], 32, 1e-12);
  EXPECT_NEAR(inverse[4] * 10 + inverse[5], 22, 1e-12);
}

/// The 16 rows of a region of 20x16 at 12,6 become 12, and its middle 12x10 pixels are taken.
TEST(RegionBatchMeta, MapsTheRegionToItsCrop) {
  const BufferRef batch = batch_of(element(std::string(kList) + "resize-mode=torchvision"),
                                   buffer_of(random_picture(kFrame)));
  const auto matrix = doubles_of<6>(slot_of(batch.get(), 1), "matrix");
  EXPECT_NEAR(matrix[0], 0.75, 1e-12);
  EXPECT_NEAR(matrix[4], 0.75, 1e-12);
  // From 15x12, the crop removes two columns on the left (half of three, rounded to even) and one
  // row above.
  EXPECT_NEAR(matrix[0] * 12 + matrix[2], -2, 1e-12);
  EXPECT_NEAR(matrix[4] * 6 + matrix[5], -1, 1e-12);
  const BatchSlotMeta slot = slots_of(batch.get())[1];
  EXPECT_EQ(slot.pad_left, 0);
  EXPECT_EQ(slot.pad_top, 0);
  EXPECT_EQ(slot.content_width, 12);
  EXPECT_EQ(slot.content_height, 10);
}

TEST(RegionBatchMeta, ComposesWithAnEarlierGeometry) {
  const BufferRef batch =
      batch_of("cudaletterbox resize-mode=top-left ! video/x-raw,format=RGB,width=80,height=60 ! " +
                   element("regions=list region-list=<20,10,24,20>"),
               buffer_of(random_picture(kFrame)));
  const GstStructure *slot = slot_of(batch.get(), 0);
  const auto inverse = doubles_of<6>(slot, "inverse");
  // The slot's 0,0 is 20,10 in the letterboxed picture, which is twice as large as the first.
  EXPECT_NEAR(inverse[2], 10, 1e-12);
  EXPECT_NEAR(inverse[5], 5, 1e-12);
  EXPECT_EQ(region_of(batch.get(), 0), (std::array<double, 4>{20, 10, 24, 20}));
}

TEST(RegionBatchMeta, GoesWithTheRegions) {
  const auto rig = make_rig(element(""));
  const Picture picture = random_picture(kFrame);
  const Bytes whole = slot_bytes(picture, small_params());
  for (int round = 0; round < 3; ++round) {
    rig->set("regions", "none");
    BufferRef tensor = rig->process(buffer_of(picture));
    EXPECT_TRUE(same_bytes(bytes_of(tensor.get()), whole));
    EXPECT_EQ(batch_meta(tensor.get()), nullptr);
    EXPECT_NE(gst_buffer_get_custom_meta(tensor.get(), "GstCudaTensorGeometryMeta"), nullptr);
    tensor.reset();
    rig->set("tile-columns", round == 1 ? "1" : "2");
    rig->set("tile-rows", "1");
    rig->set("regions", "tiles");
    const BufferRef batch = rig->process(buffer_of(picture));
    EXPECT_EQ(slots_of(batch.get()).size(), round == 1 ? 1u : 2u);
    EXPECT_EQ(gst_buffer_get_custom_meta(batch.get(), "GstCudaTensorGeometryMeta"), nullptr);
  }
}

TEST(RegionCaps, FollowTheNumberOfSlots) {
  const auto rig = make_rig(element("regions=tiles"));
  const auto dimensions_with = [&](const char *property, const char *value) {
    rig->set(property, value);
    rig->process(buffer_of(random_picture(kFrame)));
    return rig->output("dimensions");
  };
  EXPECT_EQ(rig->output("dimensions"), "12:10:3:4");
  EXPECT_EQ(dimensions_with("tile-columns", "5"), "12:10:3:10");
  EXPECT_EQ(dimensions_with("max-batch", "32"), "12:10:3:32");
  EXPECT_EQ(dimensions_with("layout", "nhwc"), "3:12:10:32");
}

/// The GPU gives the same bytes as the CPU, with regions that change from frame to frame.
class CudaRegions : public GpuTest {};

/// Pushes frames with up to four faces, which move every other frame.
void compare_with_cpu(const std::string &properties) {
  const Picture picture = random_picture({PixelFormat::NV12, 200, 120});
  const std::string caps = video_caps(picture.desc());
  const auto frame = [&](int number) {
    BufferRef buffer = buffer_of(picture);
    Noise noise(static_cast<uint64_t>(number / 2));
    for (int i = 0; i < number % 5; ++i)
      add_interest(buffer.get(), "face", static_cast<guint>(noise.integer(0, 190)),
                   static_cast<guint>(noise.integer(0, 110)),
                   static_cast<guint>(noise.integer(1, 100)),
                   static_cast<guint>(noise.integer(1, 60)));
    return buffer;
  };
  const std::string description =
      "cudanormalize width=48 height=40 regions=meta max-batch=4 " + properties;
  const auto cpu = make_rig(description + " backend=cpu", picture.desc());
  Rig gpu(description);
  gpu.downstream(in_cuda("other/tensors"));
  ASSERT_TRUE(gpu.caps(in_cuda(caps)));
  for (int i = 0; i < 60; ++i) {
    BufferRef input = to_cuda(frame(i));
    const BufferRef plain = frame(i);
    gst_buffer_copy_into(input.get(), plain.get(), GST_BUFFER_COPY_META, 0, G_MAXSIZE);
    const BufferRef batch = gpu.process(std::move(input));
    ASSERT_TRUE(same_bytes(bytes_of(batch.get()), bytes_of(cpu->process(frame(i)).get()))) << i;
  }
}

TEST_F(CudaRegions, MayChangeFromFrameToFrame) {
  for (const char *edge : {"region-edge=clip", "region-edge=pad"})
    for (const char *resize :
         {"", " antialias=true method=bicubic resize-mode=torchvision shortest-edge=57",
          " antialias=true method=lanczos resize-mode=ultralytics pad-normalized=true",
          " antialias=true method=box", " resize-mode=transformers method=nearest"}) {
      SCOPED_TRACE(std::string(edge) + resize);
      compare_with_cpu(std::string(edge) + resize);
    }
}

}  // namespace
}  // namespace cudatensor
