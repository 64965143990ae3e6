// SPDX-License-Identifier: LGPL-2.1-or-later
// cudatensormux with regions: each camera has as many slots as there are regions.
#include "gpu.h"
#include "muxrig.h"
#include "reference.h"
#include "regionmeta.h"

namespace cudatensor {
namespace {

constexpr GstClockTime kDuration = 40 * GST_MSECOND;
const ImageDesc kWide = {PixelFormat::NV12, 40, 30}, kNarrow = {PixelFormat::BGR, 24, 36};
constexpr const char *kList = " regions=list region-list=<2,4,10,8,12,6,10,16> ";

using Valid = std::vector<bool>;

Valid valid_of(GstBuffer *batch) {
  Valid valid;
  for (const BatchSlotMeta &slot : slots_of(batch)) valid.push_back(slot.valid);
  return valid;
}

class TensorMuxRegions : public testing::Test {
 protected:
  /// Starts a camera for each of the pictures.
  void start(const std::string &properties, const std::vector<ImageDesc> &cameras) {
    rig_ = std::make_unique<MuxRig>(properties_of(small_params()) + properties, cameras.size());
    for (size_t i = 0; i < cameras.size(); ++i) {
      rig_->camera(i).caps(video_caps(cameras[i], "framerate=25/1"));
      pictures_.push_back(random_picture(cameras[i], i));
    }
  }
  /// Pushes a frame of each camera and returns the batch.
  BufferRef batch(GstClockTime time = 0) {
    for (size_t i = 0; i < pictures_.size(); ++i)
      rig_->camera(i).push(frame_at(pictures_[i], time, kDuration));
    return rig_->pull();
  }
  Bytes part(size_t camera, int x, int y, int width, int height) const {
    return slot_bytes(cut_out(pictures_[camera], x, y, width, height), small_params());
  }

  std::unique_ptr<MuxRig> rig_;
  std::vector<Picture> pictures_;
};

TEST_F(TensorMuxRegions, AreGroupedByCamera) {
  start(kList, {kWide, kNarrow});
  const BufferRef out = batch();
  EXPECT_TRUE(
      same_bytes(bytes_of(out.get()), joined({part(0, 2, 4, 10, 8), part(0, 12, 6, 10, 16),
                                              part(1, 2, 4, 10, 8), part(1, 12, 6, 10, 16)})));
  EXPECT_EQ(rig_->output("dimensions"), "12:10:3:4");
  const auto slots = slots_of(out.get());
  ASSERT_EQ(slots.size(), 4u);
  for (guint i = 0; i < 4; ++i) {
    EXPECT_TRUE(slots[i].valid);
    EXPECT_EQ(slots[i].pad_index, static_cast<int>(i / 2));
    EXPECT_EQ(slots[i].src_width, pictures_[i / 2].desc().width);
    EXPECT_EQ(region_of(out.get(), i), (i % 2 == 0 ? std::array<double, 4>{2, 4, 10, 8}
                                                   : std::array<double, 4>{12, 6, 10, 16}));
  }
}

TEST_F(TensorMuxRegions, CoverEachCamerasPictureWithTiles) {
  start(" regions=tiles tile-columns=2 tile-rows=1", {kWide, kNarrow});
  const BufferRef out = batch();
  EXPECT_TRUE(
      same_bytes(bytes_of(out.get()), joined({part(0, 0, 0, 20, 30), part(0, 20, 0, 20, 30),
                                              part(1, 0, 0, 12, 36), part(1, 12, 0, 12, 36)})));
}

TEST_F(TensorMuxRegions, AreReadFromEachCamerasMetas) {
  start(" regions=meta max-batch=2", {kWide, kNarrow});
  for (guint round = 0; round < 3; ++round) {
    BufferRef wide = frame_at(pictures_[0], round * kDuration, kDuration),
              narrow = frame_at(pictures_[1], round * kDuration, kDuration);
    add_interest(narrow.get(), "face", 4 + 2 * round, 6, 8, 10, 7);
    for (guint i = 0; i < round; ++i) add_interest(wide.get(), "car", 2 * i, 2, 8, 8, 1);
    rig_->camera(0).push(std::move(wide));
    rig_->camera(1).push(std::move(narrow));
    const BufferRef out = rig_->pull();
    EXPECT_EQ(valid_of(out.get()), (Valid{round > 0, round > 1, true, false}));
    EXPECT_EQ(left_out_of(out.get()), 0u);
    const Bytes pad = pad_bytes(small_params());
    EXPECT_TRUE(same_bytes(
        bytes_of(out.get()),
        joined({round > 0 ? part(0, 0, 2, 8, 8) : pad, round > 1 ? part(0, 2, 2, 8, 8) : pad,
                part(1, 4 + 2 * static_cast<int>(round), 6, 8, 10), pad})));
    EXPECT_STREQ(gst_structure_get_string(slot_of(out.get(), 2), "roi-type"), "face");
    EXPECT_FALSE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_GAP));
  }
}

TEST_F(TensorMuxRegions, GiveAGapIfThereAreNone) {
  start(" regions=meta max-batch=2", {kWide, kNarrow});
  const BufferRef out = batch();
  EXPECT_EQ(valid_of(out.get()), (Valid{false, false, false, false}));
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_GAP));
}

TEST_F(TensorMuxRegions, AreCountedForAllCamerasIfTheyFindNoSlot) {
  start(" regions=meta max-batch=1", {kWide, kNarrow});
  for (size_t i = 0; i < 2; ++i) {
    BufferRef frame = frame_at(pictures_[i], 0, kDuration);
    for (guint k = 0; k < 3 + i; ++k) add_interest(frame.get(), "face", 2 * k, 2, 8, 8);
    rig_->camera(i).push(std::move(frame));
  }
  EXPECT_EQ(left_out_of(rig_->pull().get()), 5u);
}

TEST_F(TensorMuxRegions, AreNotCountedForACameraThatHasEnded) {
  start(" regions=meta max-batch=1", {kWide, kNarrow});
  for (const bool has_ended : {false, true}) {
    const GstClockTime time = has_ended ? kDuration : 0;
    if (has_ended) {
      rig_->camera(0).eos();
    } else {
      BufferRef frame = frame_at(pictures_[0], time, kDuration);
      for (guint k = 0; k < 3; ++k) add_interest(frame.get(), "face", 2 * k, 2, 8, 8);
      rig_->camera(0).push(std::move(frame));
    }
    rig_->camera(1).push(frame_at(pictures_[1], time, kDuration));
    EXPECT_EQ(left_out_of(rig_->pull().get()), has_ended ? 0u : 2u);
  }
}

TEST_F(TensorMuxRegions, ArePadForAMissingCamera) {
  start(std::string(kList) + "batch-size=3", {kWide, kNarrow});
  const BufferRef out = batch();
  EXPECT_EQ(valid_of(out.get()), (Valid{true, true, true, true, false, false}));
  EXPECT_EQ(rig_->output("dimensions"), "12:10:3:6");
  EXPECT_EQ(slots_of(out.get())[4].pad_index, -1);
}

TEST_F(TensorMuxRegions, MayChangeInNumberWhilePlaying) {
  start(" regions=list region-list=<0,0,8,8>", {kWide, kNarrow});
  batch();
  EXPECT_EQ(rig_->output("dimensions"), "12:10:3:2");
  rig_->set("region-list", "<0,0,8,8,2,2,8,8,4,4,8,8>");
  const BufferRef out = batch(kDuration);
  EXPECT_EQ(rig_->output("dimensions"), "12:10:3:6");
  EXPECT_TRUE(same_bytes(bytes_of(out.get()),
                         joined({part(0, 0, 0, 8, 8), part(0, 2, 2, 8, 8), part(0, 4, 4, 8, 8),
                                 part(1, 0, 0, 8, 8), part(1, 2, 2, 8, 8), part(1, 4, 4, 8, 8)})));
  rig_->set("regions", "none");
  EXPECT_EQ(slots_of(batch(2 * kDuration).get()).size(), 2u);
}

TEST_F(TensorMuxRegions, HaveNoValidSlotOutsideThePicture) {
  start(" regions=list region-list=<30,0,5,5>", {kWide, kNarrow});
  const BufferRef out = batch();
  EXPECT_EQ(valid_of(out.get()), (Valid{true, false}));
  EXPECT_TRUE(
      same_bytes(bytes_of(out.get()), joined({part(0, 30, 0, 5, 5), pad_bytes(small_params())})));
}

TEST_F(TensorMuxRegions, NameTheCameraWhosePictureIsSmallerThanItsCrop) {
  // 40x30 becomes 13x10, of which 12x10 are taken; 24x36 becomes 10x15.
  start(" resize-mode=torchvision shortest-edge=10", {kWide, kNarrow});
  for (size_t i = 0; i < 2; ++i) rig_->camera(i).push(frame_at(pictures_[i], 0, kDuration));
  EXPECT_TRUE(mentions(rig_->wait_for_error(), "sink_1: a resized picture of 10x15 pixels"));
}

TEST_F(TensorMuxRegions, GiveOneErrorIfABatchCannotHoldThem) {
  start(" regions=tiles tile-columns=32 tile-rows=32", {kWide, kNarrow});
  for (size_t i = 0; i < 2; ++i) rig_->camera(i).push(frame_at(pictures_[i], 0, kDuration));
  const std::string error = rig_->wait_for_error();
  EXPECT_NE(error.find("2 cameras with 1024 regions each"), std::string::npos) << error;
}

}  // namespace
}  // namespace cudatensor
