// SPDX-License-Identifier: LGPL-2.1-or-later
// cudatensormux and frames of one camera that cannot be used: their slots are not valid, and other
// cameras are not affected.
#include <functional>

#include "muxtimes.h"
#include "regionmeta.h"

namespace cudatensor {
namespace {

constexpr std::nullopt_t kNone = std::nullopt;
const ImageDesc kNv12 = {PixelFormat::NV12, 16, 8};

struct Fault {
  const char *name, *cause;
  std::function<BufferRef()> frame;
};

BufferRef with_meta(guint width, guint height, const std::vector<gint> &strides,
                    const std::vector<gsize> &offsets) {
  BufferRef buffer = buffer_of(Picture(kNv12));
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12,
                                 width, height, 2, const_cast<gsize *>(offsets.data()),
                                 const_cast<gint *>(strides.data()));
  return buffer;
}

const std::vector<Fault> kFaults = {
    {"short", "a buffer of 10 bytes", [] { return buffer_of(Bytes(10)); }},
    {"empty", "a buffer of 0 bytes", [] { return BufferRef(gst_buffer_new()); }},
    {"smaller by its meta", "8x8",
     [] {
       return with_meta(8, 8, {16, 16}, {0, 128});
     }},
    {"rows that overlap", "rows of 4 bytes",
     [] {
       return with_meta(16, 8, {4, 4}, {0, 128});
     }},
    {"rows beyond the end", "rows of 99 bytes",
     [] {
       return with_meta(16, 8, {99, 16}, {0, 128});
     }},
    {"a plane beyond the end", "cannot be mapped",
     [] {
       return with_meta(16, 8, {16, 16}, {0, 100000});
     }},
};

class TensorMuxFaults : public testing::Test {
 protected:
  void begin(const std::string &properties, size_t cameras) {
    rig_ = std::make_unique<MuxRig>(properties_of(params_) + " " + properties, cameras);
    time_ = 0;
    for (size_t i = 0; i < cameras; ++i) rig_->camera(i).caps(video_caps(kNv12, kRate));
  }

  void push(size_t camera, BufferRef frame) {
    GST_BUFFER_PTS(frame.get()) = time_;
    GST_BUFFER_DURATION(frame.get()) = kFrame;
    rig_->camera(camera).push(std::move(frame));
  }
  /// Expects a batch of good frames.
  void expect_good(size_t cameras) {
    for (size_t i = 0; i < cameras; ++i) push(i, buffer_of(picture_));
    EXPECT_TRUE(same_bytes(bytes_of(rig_->pull().get()),
                           joined(std::vector<Bytes>(cameras, slot_bytes(picture_, params_)))));
    time_ += kFrame;
  }

  NormalizeCase params_ = small_params();
  const Picture picture_ = random_picture(kNv12);
  std::unique_ptr<MuxRig> rig_;
  GstClockTime time_ = 0;
};

TEST_F(TensorMuxFaults, LeaveTheSlotsOfTheirFrameEmpty) {
  for (const Fault &fault : kFaults)
    for (size_t bad = 0; bad < 3; ++bad) {
      SCOPED_TRACE(fault.name);
      begin("", 3);
      expect_good(3);
      std::vector<Bytes> expected;
      for (size_t i = 0; i < 3; ++i) {
        push(i, i == bad ? fault.frame() : buffer_of(picture_));
        expected.push_back(i == bad ? pad_bytes(params_) : slot_bytes(picture_, params_));
      }
      const BufferRef batch = rig_->pull();
      EXPECT_TRUE(same_bytes(bytes_of(batch.get()), joined(expected)));
      const auto slots = slots_of(batch.get());
      for (size_t i = 0; i < 3; ++i) EXPECT_EQ(slots[i].valid, i != bad);
      const auto warnings = rig_->messages().warnings();
      ASSERT_EQ(warnings.size(), 1u);
      EXPECT_TRUE(mentions(warnings[0], "sink_" + std::to_string(bad) + ": a frame is not used: "));
      EXPECT_TRUE(mentions(warnings[0], fault.cause));
      time_ += kFrame;
      expect_good(3);
    }
}

TEST_F(TensorMuxFaults, GiveNoBatchIfAllCamerasHaveThem) {
  for (const Fault &fault : kFaults) {
    SCOPED_TRACE(fault.name);
    begin("", 2);
    for (size_t i = 0; i < 2; ++i) push(i, fault.frame());
    time_ += kFrame;
    expect_good(2);
    EXPECT_EQ(rig_->pull_if_there(), nullptr);
    EXPECT_EQ(rig_->messages().warnings().size(), 2u);
  }
}

TEST_F(TensorMuxFaults, AreReportedOncePerCamera) {
  begin("", 2);
  for (int i = 0; i < 20; ++i) {
    push(0, buffer_of(picture_));
    push(1, buffer_of(Bytes(10)));
    EXPECT_FALSE(slots_of(rig_->pull().get())[1].valid);
    time_ += kFrame;
  }
  expect_good(2);
  EXPECT_EQ(rig_->messages().warnings().size(), 1u);
  push(0, buffer_of(Bytes(10)));
  push(1, buffer_of(picture_));
  EXPECT_FALSE(slots_of(rig_->pull().get())[0].valid);
  EXPECT_EQ(rig_->messages().warnings().size(), 1u);
  // New caps count as a new stream.
  rig_->camera(0).caps(video_caps(kNv12, "framerate=50/1"));
  time_ += kFrame;
  push(0, buffer_of(Bytes(10)));
  push(1, buffer_of(picture_));
  rig_->pull();
  EXPECT_EQ(rig_->messages().warnings().size(), 1u);
}

TEST_F(TensorMuxFaults, LeaveAllRegionsOfTheirFrameEmpty) {
  begin("regions=tiles", 2);
  push(0, buffer_of(picture_));
  push(1, buffer_of(Bytes(10)));
  const BufferRef batch = rig_->pull();
  const auto slots = slots_of(batch.get());
  ASSERT_EQ(slots.size(), 8u);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(slots[i].valid, i < 4) << i;
  const Bytes bytes = bytes_of(batch.get());
  EXPECT_TRUE(same_bytes(Bytes(bytes.begin() + bytes.size() / 2, bytes.end()),
                         joined(std::vector<Bytes>(4, pad_bytes(params_)))));
}

/// Regions of an unused frame are not counted, and their slots are not valid.
TEST_F(TensorMuxFaults, HaveNoRegions) {
  begin("regions=meta max-batch=1", 2);
  for (size_t bad = 0; bad < 2; ++bad) {
    for (size_t i = 0; i < 2; ++i) {
      BufferRef frame = i == bad ? buffer_of(Bytes(10)) : buffer_of(picture_);
      for (guint x = 0; i == bad && x < 3; ++x) add_interest(frame.get(), "face", x, 0, 4, 4);
      push(i, std::move(frame));
    }
    const BufferRef batch = rig_->pull();
    EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(batch.get(), GST_BUFFER_FLAG_GAP));
    EXPECT_EQ(left_out_of(batch.get()), 0u);
    for (const BatchSlotMeta &slot : slots_of(batch.get())) EXPECT_FALSE(slot.valid);
    time_ += kFrame;
  }
}

}  // namespace
}  // namespace cudatensor
