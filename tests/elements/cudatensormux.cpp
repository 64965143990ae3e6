// SPDX-License-Identifier: LGPL-2.1-or-later
// cudatensormux on a GPU: cameras whose pictures are in GPU memory, each on its own stream.
#include <limits>

#include "gpu.h"
#include "growth.h"
#include "muxrig.h"

namespace cudatensor {
namespace {

constexpr GstClockTime kFrame = 40 * GST_MSECOND;
constexpr const char *kCudaTensors = "other/tensors(memory:CUDAMemory)";

class CudaTensorMux : public GpuTest {
 protected:
  /// Starts a rig with cameras for these pictures, in CUDAMemory if `in_memory` returns true.
  template <class InMemory>
  void start(const std::vector<Picture> &pictures, const InMemory &in_memory,
             const char *downstream = kCudaTensors) {
    rig_ = std::make_unique<MuxRig>(properties_of(params_), pictures.size());
    rig_->downstream(downstream);
    for (size_t i = 0; i < pictures.size(); ++i) {
      const std::string caps = video_caps(pictures[i].desc(), "framerate=25/1");
      rig_->camera(i).caps(in_memory(i) ? in_cuda(caps) : caps);
    }
  }

  Bytes expected(const std::vector<Picture> &pictures) const {
    std::vector<Bytes> slots;
    for (const Picture &picture : pictures) slots.push_back(slot_bytes(picture, params_));
    return joined(slots);
  }

  NormalizeCase params_ = small_params();
  std::unique_ptr<MuxRig> rig_;
};

TEST_F(CudaTensorMux, SixtyFourCamerasEqualSixtyFourSingleRuns) {
  const auto pictures = mixed_pictures(64, kInputFormats);
  for (const char *downstream : {kCudaTensors, "other/tensors"}) {
    start(
        pictures, [](size_t) { return true; }, downstream);
    for (int round = 0; round < 3; ++round) {
      for (size_t i = 0; i < pictures.size(); ++i)
        rig_->camera(i).push(to_cuda(frame_at(pictures[i], round * kFrame, kFrame)));
      EXPECT_TRUE(same_bytes(bytes_of(rig_->pull().get()), expected(pictures))) << downstream;
    }
  }
}

TEST_F(CudaTensorMux, BatchesMoreCamerasThanALaunchTakes) {
  const auto pictures = mixed_pictures(70, kInputFormats);
  start(pictures, [](size_t) { return true; });
  for (size_t i = 0; i < pictures.size(); ++i)
    rig_->camera(i).push(to_cuda(frame_at(pictures[i], 0, kFrame)));
  EXPECT_TRUE(same_bytes(bytes_of(rig_->pull().get()), expected(pictures)));
}

TEST_F(CudaTensorMux, TakesDifferentMemories) {
  const auto pictures = mixed_pictures(8, kInputFormats);
  const ContextRef other = new_context();
  start(pictures, [](size_t i) { return i % 2 == 0; });
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < pictures.size(); ++i) {
      BufferRef frame = frame_at(pictures[i], round * kFrame, kFrame);
      if (i % 2 == 0) frame = to_cuda(frame, {i == 4 ? other.get() : shared_context(), nullptr});
      rig_->camera(i).push(std::move(frame));
    }
    EXPECT_TRUE(same_bytes(bytes_of(rig_->pull().get()), expected(pictures))) << round;
  }
}

TEST_F(CudaTensorMux, LetsFramesChangeOnceTheirBatchIsThere) {
  const auto pictures = mixed_pictures(4, {PixelFormat::NV12});
  start(pictures, [](size_t) { return false; });
  for (int round = 0; round < 10; ++round) {
    std::vector<BufferRef> frames;
    for (size_t i = 0; i < pictures.size(); ++i) {
      frames.push_back(frame_at(pictures[i], round * kFrame, kFrame));
      rig_->camera(i).push(BufferRef(gst_buffer_ref(frames.back().get())));
    }
    const BufferRef batch = rig_->pull();
    for (const BufferRef &frame : frames) {
      GstMapInfo map;
      ASSERT_TRUE(gst_memory_map(gst_buffer_peek_memory(frame.get(), 0), &map, GST_MAP_WRITE));
      memset(map.data, 0, map.size);
      gst_memory_unmap(gst_buffer_peek_memory(frame.get(), 0), &map);
    }
    EXPECT_TRUE(same_bytes(bytes_of(batch.get()), expected(pictures))) << round;
  }
}

TEST_F(CudaTensorMux, WaitsForTheStreamsOfAllCamerasWithoutBlocking) {
  if (!has_streams()) GTEST_SKIP() << "needs the streams of GStreamer 1.24";
  // The pictures have one size, so that a right one can overwrite a wrong one.
  const std::vector<Picture> right = {random_picture({PixelFormat::RGB, 16, 16}, 1),
                                      random_picture({PixelFormat::RGB, 16, 16}, 2)};
  const Picture wrong({PixelFormat::RGB, 16, 16}, 9);
  const std::vector<StreamRef> streams = [] {
    std::vector<StreamRef> s;
    for (int i = 0; i < 2; ++i) s.push_back(new_stream());
    return s;
  }();
  start(right, [](size_t) { return true; });
  GstClockTime time = 0;
  const auto frame_of = [&](size_t i) {
    return to_cuda(frame_at(wrong, time, kFrame), {shared_context(), streams[i].get()});
  };
  // Allocates all that several batches at once need.
  std::vector<BufferRef> held;
  for (int round = 0; round < 3; ++round, time += kFrame) {
    for (size_t i = 0; i < 2; ++i) rig_->camera(i).push(frame_of(i));
    held.push_back(rig_->pull());
    bytes_of(held.back().get());
  }
  held.clear();
  for (size_t late = 0; late < 2; ++late, time += kFrame) {
    const std::vector<BufferRef> frames = [&] {
      std::vector<BufferRef> f;
      for (size_t i = 0; i < 2; ++i) f.push_back(frame_of(i));
      return f;
    }();
    const Bytes expected_bytes = expected(right);
    BufferRef batch;
    {
      const Entered entered;
      const PinnedBytes first(entered.device(), right[0].bytes()),
          second(entered.device(), right[1].bytes()), wrong_bytes(entered.device(), wrong.bytes());
      Gate gate(handle_of(streams[late].get()));
      first.write_to(frames[0].get(), handle_of(streams[0].get()));
      second.write_to(frames[1].get(), handle_of(streams[1].get()));
      for (size_t i = 0; i < 2; ++i)
        rig_->camera(i).push(BufferRef(gst_buffer_ref(frames[i].get())));
      batch = rig_->pull();
      EXPECT_TRUE(gate.holds()) << "the batch has waited";
      // The owners then overwrite the frames in the same streams.
      for (size_t i = 0; i < 2; ++i)
        wrong_bytes.write_to(frames[i].get(), handle_of(streams[i].get()));
      EXPECT_TRUE(gate.holds());
      gate.open();
      for (const StreamRef &stream : streams) entered.device().synchronize(handle_of(stream.get()));
    }
    EXPECT_TRUE(same_bytes(bytes_of(batch.get()), expected_bytes)) << "camera " << late;
  }
}

TEST_F(CudaTensorMux, CamerasThatChangeLeaveNothingBehind) {
  start(mixed_pictures(4, kInputFormats), [](size_t) { return true; });
  GstClockTime time = 0;
  const auto change = [&] {
    for (uint64_t round = 1; round < 20; ++round, time += kFrame) {
      std::vector<Picture> pictures;
      for (size_t i = 0; i < 4; ++i) {
        pictures.push_back(random_picture(
            {kInputFormats[(round + i) % kInputFormats.size()], static_cast<int>(10 + round), 20},
            round));
        rig_->camera(i).caps(in_cuda(video_caps(pictures[i].desc(), "framerate=25/1")));
        rig_->camera(i).push(to_cuda(frame_at(pictures[i], time, kFrame)));
      }
      ASSERT_TRUE(same_bytes(bytes_of(rig_->pull().get()), expected(pictures)));
    }
  };
  change();
  expect_no_growth([] { return std::numeric_limits<size_t>::max() - free_device_memory(); },
                   size_t{4} << 20, change);
}

}  // namespace
}  // namespace cudatensor
