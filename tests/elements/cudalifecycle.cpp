// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA over a long time: memory that does not grow, out of memory, large tensors, and restarts.
#include <algorithm>
#include <limits>

#include "gpu.h"
#include "growth.h"
#include "kernels/error.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

const ImageDesc kNv12 = {PixelFormat::NV12, 96, 54};

size_t used_device_memory() {
  return std::numeric_limits<size_t>::max() - free_device_memory(shared_context());
}

// cudaMalloc takes memory from the device in blocks of 2 MiB.
constexpr size_t kMostDeviceGrowth = size_t{3} << 20;
constexpr size_t kMostHostGrowth = size_t{1} << 20;

// ---------------------------------------------------------------------------------- many frames

struct Stream {
  const char *name, *element;
  bool cuda_in, cuda_out;
};

void PrintTo(const Stream &stream, std::ostream *os) { *os << stream.name; }

class ManyFrames : public GpuTest, public testing::WithParamInterface<Stream> {
 protected:
  std::unique_ptr<Rig> running() const {
    auto rig = std::make_unique<Rig>(GetParam().element);
    rig->downstream(GetParam().cuda_out
                        ? "video/x-raw(memory:CUDAMemory);other/tensors(memory:CUDAMemory)"
                        : "video/x-raw;other/tensors");
    const std::string caps = video_caps(kNv12);
    EXPECT_TRUE(rig->caps(GetParam().cuda_in ? in_cuda(caps) : caps));
    return rig;
  }
  BufferRef frame() const {
    const Picture picture = random_picture(kNv12);
    return GetParam().cuda_in ? pooled(picture) : buffer_of(picture);
  }
};

INSTANTIATE_TEST_SUITE_P(
    CudaLifecycle, ManyFrames,
    testing::Values(Stream{"TensorsFromCudaToCuda", "cudanormalize", true, true},
                    Stream{"TensorsFromSystemToSystem", "cudanormalize", false, false},
                    Stream{"TensorsFromSystemToCuda", "cudanormalize", false, true},
                    Stream{"PicturesFromCudaToSystem", "cudaletterbox", true, false},
                    Stream{"HistogramsOfCuda", "cudahistogram interval=0", true, true},
                    Stream{"HistogramsOfSystem", "cudahistogram interval=0", false, false}),
    [](const auto &info) { return info.param.name; });

TEST_P(ManyFrames, NeedNoMoreMemory) {
  const auto rig = running();
  const BufferRef input = frame();
  const bool posts = g_str_has_prefix(GetParam().element, "cudahistogram");
  const auto run = [&](int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(rig->push(BufferRef(gst_buffer_ref(input.get()))), GST_FLOW_OK);
      rig->pull();
      if (posts && i % 100 == 99) rig->messages().elements("cudahistogram", 100);
    }
  };
  run(1000);
  expect_no_growth(used_device_memory, kMostDeviceGrowth, [&] {
    expect_no_growth(resident_memory, kMostHostGrowth, [&] { run(10000); });
  });
}

TEST_P(ManyFrames, NeedNoMoreMemoryWhenTheyStartAnew) {
  const BufferRef input = frame();
  const auto run = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const auto rig = running();
      for (int j = 0; j < 3; ++j) rig->process(BufferRef(gst_buffer_ref(input.get())));
    }
  };
  run(10);
  expect_no_growth(used_device_memory, kMostDeviceGrowth, [&] { run(50); });
}

/// Each element finds its own context.
class OwnContexts : public GpuTest {
 protected:
  OwnContexts() : GpuTest(true) {}
};

TEST_F(OwnContexts, AreGivenBack) {
  const auto run = [](int count) {
    for (int i = 0; i < count; ++i) {
      Rig rig("cudanormalize");
      ASSERT_TRUE(rig.caps(video_caps(kNv12)));
      rig.process(buffer_of(random_picture(kNv12)));
    }
  };
  run(2);
  // A context takes tens of megabytes, and more with its kernels.
  expect_no_growth(used_device_memory, size_t{32} << 20, [&] { run(8); });
}

// --------------------------------------------------------------------------------- no memory left

/// Allocates all of the device's memory.
class FullDevice {
 public:
  FullDevice() {
    for (size_t size = free_device_memory(); size >= size_t{1} << 20;) try {
        blocks_.push_back(entered_.device().allocate(size));
      } catch (const Error &) {
        size /= 2;
      }
  }

 private:
  Entered entered_;
  std::vector<std::unique_ptr<Memory>> blocks_;
};

struct Greedy {
  const char *name, *element, *downstream;
  const char *property;  ///< makes the output as large as `downstream` allows; null if the caps do
};

void PrintTo(const Greedy &greedy, std::ostream *os) { *os << greedy.name; }

class NoMemory : public GpuTest, public testing::WithParamInterface<Greedy> {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    rig_ = std::make_unique<Rig>(GetParam().element);
    rig_->downstream("video/x-raw,width=[1,64];other/tensors");
    ASSERT_TRUE(rig_->caps(video_caps(kNv12)));
    rig_->process(buffer_of(random_picture(kNv12)));
  }

  /// Makes the output of the next frame hundreds of megabytes large.
  void grow() {
    rig_->downstream(GetParam().downstream);
    if (GetParam().property == nullptr) return;
    rig_->set("width", "8192");
    rig_->set("height", "8192");
  }

  std::unique_ptr<Rig> rig_;
};

INSTANTIATE_TEST_SUITE_P(
    CudaLifecycle, NoMemory,
    testing::Values(
        Greedy{"TensorsInCuda", "cudanormalize width=8 height=8",
               "other/tensors(memory:CUDAMemory)", "width"},
        Greedy{"TensorsInSystemMemory", "cudanormalize width=8 height=8", "other/tensors", "width"},
        Greedy{"PicturesOfLibgstcudasPool", "cudaletterbox",
               "video/x-raw(memory:CUDAMemory),format=RGBA,width=8192,height=8192", nullptr},
        Greedy{"GreyPictures", "cudaletterbox",
               "video/x-raw(memory:CUDAMemory),format=GRAY8,width=16384,height=16384", nullptr}),
    [](const auto &info) { return info.param.name; });

TEST_P(NoMemory, GivesOneErrorThatSaysSo) {
  {
    const FullDevice full;
    grow();
    const GstFlowReturn flow = rig_->push(buffer_of(random_picture(kNv12)));
    EXPECT_LT(flow, GST_FLOW_OK) << gst_flow_get_name(flow);
    EXPECT_EQ(rig_->pull(), nullptr);
    const std::vector<ElementError> errors = rig_->messages().errors();
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_TRUE(errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT));
    EXPECT_TRUE(mentions(errors[0].text, "cudaErrorMemoryAllocation"));
  }
  // With free memory, the same element continues and can restart.
  gst_element_set_state(rig_->element(), GST_STATE_NULL);
  gst_element_set_state(rig_->element(), GST_STATE_PLAYING);
  rig_->event(gst_event_new_stream_start("again"));
  ASSERT_TRUE(rig_->caps(video_caps(kNv12)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig_->event(gst_event_new_segment(&segment));
  rig_->process(buffer_of(random_picture(kNv12)));
}

TEST_F(OwnContexts, GiveOneErrorIfCreationFails) {
  for (const char *name : {"cudanormalize", "cudahistogram"}) {
    Messages messages;
    const ElementRef element = make_element(name);
    gst_element_set_bus(element.get(), messages.bus());
    {
      const FullDevice full;
      if (gst_element_set_state(element.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
        const std::vector<ElementError> errors = messages.errors();
        ASSERT_EQ(errors.size(), 1u);
        // If libgstcuda fails first, it does not report the CUDA error.
        EXPECT_TRUE(mentions(errors[0].text, "cudaErrorMemoryAllocation") ||
                    mentions(errors[0].text, "gst_cuda_ensure_element_context"));
      }
    }
    gst_element_set_state(element.get(), GST_STATE_NULL);
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state(element.get(), GST_STATE_NULL);
    gst_element_set_bus(element.get(), nullptr);
  }
}

// -------------------------------------------------------------------------------- large tensors

class LargeTensors : public GpuTest {};

TEST_F(LargeTensors, MayHaveAGigabyte) {
  // A flat picture needs no second tensor to compare with.
  const Picture flat({PixelFormat::GRAY8, 16, 16}, 77);
  Rig rig("cudanormalize width=18920 height=18920 dtype=uint8");
  rig.downstream("other/tensors(memory:CUDAMemory)");
  ASSERT_TRUE(rig.caps(video_caps(flat.desc())));
  const BufferRef out = rig.process(buffer_of(flat));
  ASSERT_EQ(gst_buffer_get_size(out.get()), size_t{3} * 18920 * 18920);
  GstMapInfo map;
  ASSERT_TRUE(gst_buffer_map(out.get(), &map, GST_MAP_READ));
  ASSERT_EQ(map.size, size_t{3} * 18920 * 18920);
  EXPECT_EQ(std::count(map.data, map.data + map.size, 77), static_cast<ptrdiff_t>(map.size));
  gst_buffer_unmap(out.get(), &map);
}

TEST_F(LargeTensors, AreRefusedBeyondOneMemoryOfLibgstcuda) {
  const ImageDesc gray = {PixelFormat::GRAY8, 16, 16};
  Rig rig("cudanormalize width=30000 height=30000 dtype=uint8");
  rig.downstream("other/tensors(memory:CUDAMemory)");
  expect_refusal(rig, video_caps(gray), buffer_of(Picture(gray)));
}

}  // namespace
}  // namespace cudatensor
