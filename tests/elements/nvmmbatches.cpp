// SPDX-License-Identifier: LGPL-2.1-or-later
// Batches of surfaces from nvstreammux become batches of slots.
#include <limits>

#include "muxrig.h"
#include "reference.h"
#include "regionmeta.h"
#include "surfaces.h"

namespace cudatensor {
namespace {

using nvmm::ColorFormat;

class NvmmBatch : public testing::Test {
 protected:
  /// Starts an element downstream of nvstreammux with this batch-size.
  void start(const std::string &properties, int batch_size) {
    batch_size_ = static_cast<size_t>(batch_size);
    rig_ = std::make_unique<Rig>("cudanormalize " + properties_of(small_params()) + properties);
    ASSERT_TRUE(rig_->caps(in_nvmm(video_caps(
        {PixelFormat::NV12, 40, 30},
        "framerate=25/1,batch-size=" + std::to_string(batch_size) + ",num-surfaces-per-frame=1"))));
  }
  BufferRef surfaces(const std::vector<Picture> &pictures) const {
    std::vector<Surface> made;
    for (const Picture &picture : pictures)
      made.push_back({picture, color_format_of(picture.desc().format)});
    return surface_buffer(made, batch_size_);
  }

  size_t batch_size_ = 0;
  std::unique_ptr<Rig> rig_;
};

const std::vector<PixelFormat> kMixed = {PixelFormat::NV12, PixelFormat::RGBA, PixelFormat::I420,
                                         PixelFormat::P010_10LE};

TEST_F(NvmmBatch, HasASlotForEachSurfaceOfAnySizeAndFormat) {
  start("", 6);
  const std::vector<Picture> pictures = mixed_pictures(4, kMixed);
  const BufferRef out = rig_->process(surfaces(pictures));
  std::vector<Bytes> slots;
  for (const Picture &picture : pictures) slots.push_back(slot_bytes(picture, small_params()));
  slots.insert(slots.end(), 2, pad_bytes(small_params()));
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), joined(slots)));
  EXPECT_EQ(rig_->output("dimensions"), "12:10:3:6");
  const auto told = slots_of(out.get());
  ASSERT_EQ(told.size(), 6u);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(told[i].valid, i < 4);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(told[i].src_width, pictures[i].desc().width);
    EXPECT_EQ(told[i].src_height, pictures[i].desc().height);
  }
}

TEST_F(NvmmBatch, HasABatchMetaEvenForOneSurface) {
  start("", 1);
  const BufferRef out = rig_->process(surfaces(mixed_pictures(1, kMixed)));
  EXPECT_EQ(slots_of(out.get()).size(), 1u);
}

TEST_F(NvmmBatch, MayHaveMoreSlotsThanALaunch) {
  start("", 70);
  const std::vector<Picture> pictures = mixed_pictures(70, kMixed);
  const BufferRef out = rig_->process(surfaces(pictures));
  std::vector<Bytes> slots;
  for (const Picture &picture : pictures) slots.push_back(slot_bytes(picture, small_params()));
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), joined(slots)));
}

const GstStructure *slot(GstBuffer *batch, guint i) {
  const GValue *all = gst_structure_get_value(batch_meta(batch), "slots");
  return gst_value_get_structure(gst_value_array_get_value(all, i));
}

/// The surface's regions are read before its samples are checked.
TEST_F(NvmmBatch, HasNoSlotsForASurfaceThatIsTooShort) {
  for (const char *regions : {"", " regions=tiles tile-rows=2"})
    for (const size_t bad : {0, 1, 2}) {
      start(regions, 3);
      std::vector<Surface> made;
      for (const Picture &picture : mixed_pictures(3, {PixelFormat::RGBA}))
        made.push_back({picture, color_format_of(PixelFormat::RGBA)});
      const BufferRef out =
          rig_->process(surface_buffer(made, 3, usual_memory(), [bad](nvmm::SurfaceBatch &batch) {
            batch.surfaces[bad].data_size = 3;
          }));
      const auto told = slots_of(out.get());
      const size_t each = told.size() / 3;
      const Bytes bytes = bytes_of(out.get());
      const Bytes pad = pad_bytes(small_params());
      for (size_t i = 0; i < told.size(); ++i) {
        EXPECT_EQ(told[i].valid, i / each != bad) << i;
        const auto begin = bytes.begin() + static_cast<ptrdiff_t>(i * pad.size());
        EXPECT_EQ(std::equal(pad.begin(), pad.end(), begin), i / each == bad) << i;
      }
      EXPECT_EQ(rig_->messages().warnings().size(), 1u);
    }
}

TEST_F(NvmmBatch, SaysWhereFramesComeFrom) {
  start("", 3);
  BufferRef in = surfaces(mixed_pictures(2, kMixed));
  attach_frames(in.get(), {{7, 1, 70, 5 * GST_SECOND, 1920, 1080, {}},
                           {3, 0, 30, 4 * GST_SECOND, 640, 480, {}},
                           {9, 12, 90, 0, 1, 1, {}}});
  GST_BUFFER_DURATION(in.get()) = GST_SECOND;  // the batch's duration
  const BufferRef out = rig_->process(std::move(in));
  const auto told = slots_of(out.get());
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].pad_index, 3);
  EXPECT_EQ(told[0].pts, 4 * GST_SECOND);
  EXPECT_EQ(told[0].running_time, 4 * GST_SECOND);
  EXPECT_EQ(told[1].pad_index, 7);
  EXPECT_EQ(told[1].pts, 5 * GST_SECOND);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(told[i].duration, GST_CLOCK_TIME_NONE);
  EXPECT_FALSE(told[2].valid);
  guint id = 0;
  gint width = 0, height = 0;
  ASSERT_TRUE(gst_structure_get(slot(out.get(), 1), "source-id", G_TYPE_UINT, &id, "source-width",
                                G_TYPE_INT, &width, "source-height", G_TYPE_INT, &height, nullptr));
  EXPECT_EQ(id, 70u);
  EXPECT_EQ(width, 1920);
  EXPECT_EQ(height, 1080);
}

TEST_F(NvmmBatch, HasTheRegionsOfEachSurface) {
  start(" regions=list region-list=<2,4,10,8,12,6,10,16>", 3);
  std::vector<Picture> pictures;
  for (int i = 0; i < 2; ++i)
    pictures.push_back(random_picture({PixelFormat::RGB, 30 + i, 26 + i}, i + 1));
  const BufferRef out = rig_->process(surfaces(pictures));
  std::vector<Bytes> slots;
  for (const Picture &picture : pictures) {
    slots.push_back(slot_bytes(cut_out(picture, 2, 4, 10, 8), small_params()));
    slots.push_back(slot_bytes(cut_out(picture, 12, 6, 10, 16), small_params()));
  }
  slots.insert(slots.end(), 2, pad_bytes(small_params()));
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), joined(slots)));
}

TEST_F(NvmmBatch, HasTheObjectsOfEachSurface) {
  start(" regions=meta max-batch=2 roi-type=person region-min-confidence=0.5", 2);
  const std::vector<Picture> pictures = {random_picture({PixelFormat::RGB, 40, 30}, 1),
                                         random_picture({PixelFormat::RGB, 30, 40}, 2)};
  BufferRef in = surfaces(pictures);
  attach_frames(
      in.get(),
      {{0,
        0,
        0,
        0,
        40,
        30,
        {{"person", 2, 4, 10, 8, 0.75f}, {"car", 1, 1, 9, 9, 0.9f}, {"person", 1, 1, 5, 5, 0.25f}}},
       {1,
        1,
        1,
        0,
        30,
        40,
        {{"person", 12, 6, 10, 16, -0.1f},
         {"person", 0, 0, 10, 10, 1.0f},
         {"person", 1, 0, 10, 10, 1.0f}}}});
  const BufferRef out = rig_->process(std::move(in));
  EXPECT_TRUE(same_bytes(bytes_of(out.get()),
                         joined({slot_bytes(cut_out(pictures[0], 2, 4, 10, 8), small_params()),
                                 pad_bytes(small_params()),
                                 slot_bytes(cut_out(pictures[1], 12, 6, 10, 16), small_params()),
                                 slot_bytes(cut_out(pictures[1], 0, 0, 10, 10), small_params())})));
  EXPECT_STREQ(gst_structure_get_string(slot(out.get(), 0), "detection-type"), "person");
  for (const guint i : {2u, 3u}) {
    guint id = 7;  // index of the object in its surface
    EXPECT_TRUE(gst_structure_get_uint(slot(out.get(), i), "detection-id", &id));
    EXPECT_EQ(id, i - 2) << i;
  }
  EXPECT_FALSE(slots_of(out.get())[1].valid);
  EXPECT_EQ(left_out_of(out.get()), 1u);
}

/// Boxes are floats of any value, which are rounded to whole pixels.
TEST_F(NvmmBatch, HasTheObjectsAtTheNearestPixels) {
  start(" regions=meta max-batch=4", 1);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<Picture> pictures = {random_picture({PixelFormat::RGB, 40, 30}, 1)};
  const std::string label(128, 'x');  // fills the label's field completely
  BufferRef in = surfaces(pictures);
  attach_frames(in.get(), {{0,
                            0,
                            0,
                            0,
                            40,
                            30,
                            {{label, 1.6f, 4.4f, 9.5f, 7.6f, 0.75f},
                             {"", -3.6f, -3.4f, 1e9f, 1e9f, 0.9f},
                             {"", kNan, 1, 5, 5, 0.9f},
                             {"", 1, 1, kInfinity, 5, 0.9f}}}});
  const BufferRef out = rig_->process(std::move(in));
  EXPECT_TRUE(same_bytes(bytes_of(out.get()),
                         joined({slot_bytes(cut_out(pictures[0], 2, 4, 10, 8), small_params()),
                                 slot_bytes(pictures[0], small_params()),
                                 slot_bytes(cut_out(pictures[0], 0, 1, 5, 5), small_params()),
                                 pad_bytes(small_params())})));
  EXPECT_EQ(gst_structure_get_string(slot(out.get(), 0), "detection-type"), label);
  EXPECT_FALSE(gst_structure_has_field(slot(out.get(), 1), "detection-type"));
}

/// The type may be one that no object has had yet.
TEST_F(NvmmBatch, HasNoSlotForAnUntypedObjectIfATypeIsAskedFor) {
  start(" regions=meta max-batch=1 roi-type=of-no-object-at-all", 1);
  BufferRef in = surfaces(mixed_pictures(1, kMixed));
  attach_frames(in.get(), {{0, 0, 0, 0, 40, 30, {{"", 2, 4, 10, 8, 0.75f}}}});
  EXPECT_FALSE(slots_of(rig_->process(std::move(in)).get()).at(0).valid);
}

/// DeepStream's objects have no points.
TEST_F(NvmmBatch, HasNoAlignedSlots) {
  start(" regions=meta max-batch=2 region-align=<1.0,1.0,9.0,1.0>", 1);
  BufferRef in = surfaces(mixed_pictures(1, kMixed));
  attach_frames(in.get(), {{0, 0, 0, 0, 40, 30, {{"", 2, 4, 10, 8, 0.75f}}}});
  const BufferRef out = rig_->process(std::move(in));
  EXPECT_FALSE(slots_of(out.get()).at(0).valid);
  EXPECT_EQ(left_out_of(out.get()), 1u);
}

/// The surfaces of a clip's frames lie behind each other; those of a shorter batch leave slots empty.
TEST_F(NvmmBatch, IsAFrameOfAClip) {
  start(" frames-per-tensor=2 clip-hop=1", 2);
  EXPECT_EQ(rig_->output("dimensions"), "12:10:3:4");
  std::vector<Bytes> slots;
  for (int i = 0; i < 4; ++i) {
    const std::vector<Picture> pictures = mixed_pictures(i == 2 ? 1 : 2, kMixed);
    for (const Picture &picture : pictures) slots.push_back(slot_bytes(picture, small_params()));
    if (pictures.size() == 1) slots.push_back(pad_bytes(small_params()));
    EXPECT_EQ(rig_->push(surfaces(pictures)), GST_FLOW_OK);
    const BufferRef out = rig_->pull();
    ASSERT_EQ(out != nullptr, i > 0);
    if (i == 0) continue;
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), joined({slots.end() - 4, slots.end()})));
    const auto told = slots_of(out.get());
    ASSERT_EQ(told.size(), 4u);
    for (size_t slot = 0; slot < 4; ++slot)
      EXPECT_EQ(told[slot].valid, (i != 2 || slot != 3) && (i != 3 || slot != 1)) << i << slot;
  }
}

TEST_F(NvmmBatch, HasNoClipChannelByChannel) {
  start(" layout=ncthw frames-per-tensor=2", 2);
  expect_error(*rig_, surfaces(mixed_pictures(2, kMixed)), "layout=ncthw");
}

TEST_F(NvmmBatch, IsAGapWithoutObjects) {
  start(" regions=meta", 2);
  const BufferRef out = rig_->process(surfaces(mixed_pictures(2, kMixed)));
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_GAP));
}

TEST_F(NvmmBatch, IsAGapWithoutFilledSurfaces) {
  start("", 2);
  const BufferRef out = rig_->process(surfaces({}));
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_GAP));
  EXPECT_TRUE(same_bytes(bytes_of(out.get()),
                         joined({pad_bytes(small_params()), pad_bytes(small_params())})));
}

TEST_F(NvmmBatch, LinksToDimensionsThatAreFixed) {
  for (const char *dimensions : {"12:10:3:4", "12:10:3:1"})
    make_element(std::string("cudanormalize width=12 height=10 ! "
                             "capsfilter caps=other/tensors,dimensions=(string)") +
                 dimensions);
  Rig rig(
      "cudanormalize width=12 height=10 ! "
      "capsfilter caps=other/tensors,dimensions=(string)12:10:3:4");
  ASSERT_TRUE(
      rig.caps(in_nvmm(video_caps({PixelFormat::NV12, 40, 30}, "framerate=25/1,batch-size=4"))));
}

/// The first camera's surfaces determine the memory of the batch.
TEST_F(NvmmBatch, HasNoSlotInTheMuxIfItsSizeIsWrong) {
  for (const size_t bad : {0, 1}) {
    MuxRig rig(properties_of(small_params()), 2);
    batch_size_ = 1;
    for (size_t i = 0; i < 2; ++i) {
      rig.camera(i).caps(
          in_nvmm(video_caps({PixelFormat::RGBA, 32, 32}, "framerate=25/1,batch-size=1")));
      const int side = i == bad ? 64 : 32;
      BufferRef frame = surfaces({random_picture({PixelFormat::RGBA, side, side})});
      GST_BUFFER_PTS(frame.get()) = 0;
      rig.camera(i).push(std::move(frame));
    }
    const auto slots = slots_of(rig.pull().get());
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(slots.at(i).valid, i != bad);
    const auto warnings = rig.messages().warnings();
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_TRUE(mentions(warnings[0], "sink_" + std::to_string(bad)));
    EXPECT_TRUE(mentions(warnings[0], "does not match the caps"));
  }
}

/// Bytes that do not describe surfaces have a layout that this element does not know.
TEST_F(NvmmBatch, IsRefusedByTheMuxWithoutADescription) {
  MuxRig rig(properties_of(small_params()), 1);
  rig.camera(0).caps(
      in_nvmm(video_caps({PixelFormat::RGBA, 32, 32}, "framerate=25/1,batch-size=1")));
  rig.camera(0).push(buffer_of(Bytes(8)));
  EXPECT_TRUE(mentions(rig.wait_for_error(), "a buffer with memory:NVMM has 8 bytes"));
}

TEST_F(NvmmBatch, IsDroppedWithMoreSurfacesThanItsCapsAnnounce) {
  start("", 2);
  batch_size_ = 3;
  expect_fault(*rig_, surfaces(mixed_pictures(3, kMixed)),
               "expected at most 2 surfaces in a buffer, as its caps announce, got 3");
}

TEST_F(NvmmBatch, IsRefusedIfItHasTooManySlots) {
  Rig rig("cudanormalize width=8 height=8 regions=tiles tile-columns=100 tile-rows=100");
  const std::string text = expect_refusal(
      rig, in_nvmm(video_caps({PixelFormat::NV12, 400, 400}, "framerate=25/1,batch-size=1000")),
      surface_buffer(random_picture({PixelFormat::NV12, 400, 400})));
  EXPECT_TRUE(mentions(text, "1000 surfaces with 1024 regions each"));
}

TEST_F(NvmmBatch, IsRefusedWithSeveralSurfacesPerFrame) {
  for (const std::string count : {"2", "4"}) {
    Rig rig("cudanormalize width=8 height=8");
    const std::string caps =
        video_caps({PixelFormat::NV12, 40, 30},
                   ("framerate=25/1,batch-size=4,num-surfaces-per-frame=" + count).c_str());
    const std::string text = expect_refusal(
        rig, in_nvmm(caps), surface_buffer(random_picture({PixelFormat::NV12, 40, 30})));
    EXPECT_TRUE(mentions(text, "num-surfaces-per-frame is " + count)) << text;
  }
}

}  // namespace
}  // namespace cudatensor
