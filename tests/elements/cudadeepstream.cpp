// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares DeepStream's surfaces and decoder, if its libraries are installed, with CUDAMemory and
// NVIDIA's other decoder.
#include <gmodule.h>

#include <functional>

#include "gpu.h"
#include "growth.h"
#include "gst/nvmm/deepstream.h"
#include "gst/util/modulefunctions.h"
#include "pipeline.h"
#include "reference.h"
#include "surfaces.h"

namespace cudatensor {
namespace {

using nvmm::MemoryType;
using nvmm::SurfaceBatch;

const ImageDesc kNv12 = {PixelFormat::NV12, 320, 180};

// ------------------------------------------------------------- surfaces in the primary context

class Surfaces : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && !nvmm::is_installed()) GTEST_SKIP() << "no libnvbufsurface";
  }
};

TEST_F(Surfaces, AreReadInThePrimaryContext) {
  Rig rig("cudanormalize width=32 height=32");
  rig.downstream(in_cuda("other/tensors"));
  ASSERT_TRUE(rig.caps(in_nvmm(video_caps(kNv12))));
  const BufferRef out = rig.process(surface_buffer(random_picture(kNv12)));
  const gstcuda::Memory *memory = cuda_memory_of(out.get());
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(gstcuda::loaded().context_get_handle(memory->context), primary_context(0));
}

TEST_F(Surfaces, ShareTheirContextWithOtherElements) {
  Rig first("cudanormalize width=32 height=32"), second("cudaletterbox");
  first.downstream(in_cuda("other/tensors"));
  second.downstream(in_cuda("video/x-raw,format=RGB,width=32,height=32"));
  ASSERT_TRUE(first.caps(in_nvmm(video_caps(kNv12))));
  ASSERT_TRUE(second.caps(in_nvmm(video_caps(kNv12))));
  const BufferRef a = first.process(surface_buffer(random_picture(kNv12)));
  const BufferRef b = second.process(surface_buffer(random_picture(kNv12)));
  EXPECT_EQ(cuda_memory_of(a.get())->context, cuda_memory_of(b.get())->context);
}

TEST_F(Surfaces, TakeTurnsWithCudaMemory) {
  Rig rig("cudanormalize width=32 height=32");
  const Picture picture = random_picture(kNv12);
  const Bytes expected = output_bytes("cudanormalize width=32 height=32", video_caps(kNv12),
                                      buffer_of(picture), "ANY");
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(rig.caps(in_nvmm(video_caps(kNv12))));
    EXPECT_TRUE(same_bytes(bytes_of(rig.process(surface_buffer(picture)).get()), expected));
    ASSERT_TRUE(rig.caps(in_cuda(video_caps(kNv12))));
    EXPECT_TRUE(same_bytes(bytes_of(rig.process(to_cuda(buffer_of(picture))).get()), expected));
  }
}

/// The surface belongs to the buffer, so the element must keep the buffer.
TEST_F(Surfaces, AreKeptUntilTheyHaveBeenRead) {
  if (!gstcuda::loaded().has_streams()) GTEST_SKIP() << "memory has no streams before 1.24";
  Rig rig("cudanormalize width=32 height=32");
  rig.downstream(in_cuda("other/tensors"));
  ASSERT_TRUE(rig.caps(in_nvmm(video_caps(kNv12))));
  const Picture other = random_picture(kNv12, 2);
  // Stays alive, because freeing its memory would wait for the gate.
  const BufferRef frame = surface_buffer(random_picture(kNv12, 1));
  const auto again = [&] { return rig.process(BufferRef(gst_buffer_ref(frame.get()))); };
  const BufferRef first = again();
  // Leaves a buffer in the pool, so that nothing is allocated while the gate is closed.
  again();
  BufferRef in = surface_buffer(other);
  bool gone = false;
  gst_mini_object_weak_ref(
      GST_MINI_OBJECT_CAST(in.get()),
      [](gpointer data, GstMiniObject *) { *static_cast<bool *>(data) = true; }, &gone);
  const Entered entered(cuda_memory_of(first.get())->context);
  BufferRef second;
  {
    Gate gate(handle_of(stream_of(first.get())));
    second = rig.process(std::move(in));
    EXPECT_TRUE(gate.holds());
    EXPECT_FALSE(gone);
  }
  EXPECT_TRUE(
      same_bytes(bytes_of(second.get()), output_bytes("cudanormalize width=32 height=32",
                                                      video_caps(kNv12), buffer_of(other), "ANY")));
  again();
  EXPECT_TRUE(gone);
}

TEST_F(Surfaces, DoNotLeakInTenThousandFrames) {
  if (!kMemoryIsMeasured) GTEST_SKIP() << "memory is not measured under sanitizers";
  for (const char *element : {"cudanormalize width=32 height=32", "cudahistogram"}) {
    SCOPED_TRACE(element);
    Rig rig(element);
    ASSERT_TRUE(rig.caps(in_nvmm(video_caps(kNv12))));
    const BufferRef frame = surface_buffer(random_picture(kNv12));
    const auto push = [&](int frames) {
      for (int i = 0; i < frames; ++i) rig.process(BufferRef(gst_buffer_ref(frame.get())));
      rig.messages().elements("cudahistogram");
    };
    push(200);
    const size_t before = free_device_memory();
    expect_no_growth(resident_memory, 4u << 20, [&] { push(5000); });
    EXPECT_GE(free_device_memory() + (2u << 20), before);
  }
}

// ----------------------------------------------------------------- surfaces of libnvbufsurface

/// NvBufSurfaceCreateParams.
struct CreateParams {
  uint32_t gpu, width, height, size;
  bool contiguous;
  nvmm::ColorFormat color_format;
  nvmm::Layout layout;
  MemoryType memory_type;
  void *reserved[nvmm::kReserved];
};

struct NvBufSurface {
  int (*create)(SurfaceBatch **batch, uint32_t batch_size, CreateParams *params);
  int (*destroy)(SurfaceBatch *batch);
};

/// Returns null if a stand-in of the tests replaces the library.
const NvBufSurface *nvbufsurface() {
  static NvBufSurface library = {};
  static const bool found = [] {
    GModule *module = g_module_open("libnvbufsurface.so", G_MODULE_BIND_LAZY);
    return module != nullptr && find(module, "NvBufSurfaceCreate", library.create) &&
           find(module, "NvBufSurfaceDestroy", library.destroy);
  }();
  return found ? &library : nullptr;
}

using MemoryCase = std::pair<const char *, MemoryType>;

class CreatedSurfaces : public Surfaces, public testing::WithParamInterface<MemoryCase> {
 protected:
  void SetUp() override {
    Surfaces::SetUp();
    if (!IsSkipped() && nvbufsurface() == nullptr) GTEST_SKIP() << "DeepStream is not installed";
  }
};

INSTANTIATE_TEST_SUITE_P(DeepStream, CreatedSurfaces,
                         testing::Values(MemoryCase("Pinned", MemoryType::cuda_pinned),
                                         MemoryCase("Device", MemoryType::cuda_device),
                                         MemoryCase("Unified", MemoryType::cuda_unified)),
                         [](const auto &info) { return std::string(info.param.first); });

void fill(const nvmm::SurfaceParams &surface, const Picture &picture) {
  const PrimaryContextScope scope(0);
  const auto device = open_cuda_device();
  for (size_t p = 0; p < picture.planes().size(); ++p) {
    const Picture::Plane &plane = picture.planes()[p];
    device->copy({static_cast<uint8_t *>(surface.data_ptr) + surface.planes.offset[p],
                  static_cast<ptrdiff_t>(surface.planes.pitch[p])},
                 {plane.bytes.data(), static_cast<ptrdiff_t>(plane.row_bytes)}, plane.row_bytes,
                 static_cast<size_t>(plane.rows), {});
  }
  device->synchronize({});
}

/// Returns null if libnvbufsurface does not make surfaces of this kind.
BufferRef create(const std::vector<Picture> &pictures, nvmm::ColorFormat format, MemoryType type) {
  const ImageDesc &desc = pictures.front().desc();
  CreateParams params = {};
  params.width = static_cast<uint32_t>(desc.width);
  params.height = static_cast<uint32_t>(desc.height);
  params.color_format = format;
  params.memory_type = type;
  SurfaceBatch *batch = nullptr;
  if (nvbufsurface()->create(&batch, static_cast<uint32_t>(pictures.size()), &params) != 0)
    return nullptr;
  for (size_t i = 0; i < pictures.size(); ++i) fill(batch->surfaces[i], pictures[i]);
  batch->num_filled = static_cast<uint32_t>(pictures.size());
  return BufferRef(gst_buffer_new_wrapped_full(
      GST_MEMORY_FLAG_NO_SHARE, batch, sizeof *batch, 0, sizeof *batch, batch,
      [](gpointer made) { nvbufsurface()->destroy(static_cast<SurfaceBatch *>(made)); }));
}

TEST_P(CreatedSurfaces, EqualCudaMemory) {
  int compared = 0;
  for (const NamedColorFormat &each : kColorFormats)
    for (const auto &[width, height] : {std::pair(641, 363), std::pair(64, 48)}) {
      SCOPED_TRACE(each.name);
      const ImageDesc desc = {nvmm::format_of(each.format)->format, width, height};
      const Picture picture = random_picture(desc);
      const std::string element = "cudanormalize width=33 height=21 resize-mode=ultralytics";
      BufferRef surface = create({picture}, each.format, GetParam().second);
      if (surface == nullptr) continue;
      EXPECT_TRUE(
          same_bytes(output_bytes(element, in_nvmm(video_caps(desc)), std::move(surface), "ANY"),
                     output_bytes(element, in_cuda(system_caps_of(each.format, desc)),
                                  to_cuda(buffer_of(picture)), "ANY")));
      ++compared;
    }
  EXPECT_GE(compared, 40);
}

TEST_P(CreatedSurfaces, FillTheSlotsOfABatch) {
  const ImageDesc desc = {PixelFormat::NV12, 98, 54};
  std::vector<Picture> pictures;
  Bytes expected;
  const std::string element = "cudanormalize width=33 height=21";
  for (uint64_t i = 0; i < 3; ++i) {
    pictures.push_back(random_picture(desc, i));
    const Bytes slot = output_bytes(element, video_caps(desc), buffer_of(pictures.back()), "ANY");
    expected.insert(expected.end(), slot.begin(), slot.end());
  }
  BufferRef buffer = create(pictures, nvmm::ColorFormat::nv12, GetParam().second);
  attach_frames(buffer.get(), {{2, 0, 20, 0, 98, 54, {}}, {5, 2, 50, 0, 98, 54, {}}});
  EXPECT_TRUE(same_bytes(
      output_bytes(element, in_nvmm(video_caps(desc, "batch-size=3")), std::move(buffer), "ANY"),
      expected));
}

// ------------------------------------------------------------------------------ nvv4l2decoder

class Decoder : public Surfaces {
 protected:
  void SetUp() override {
    Surfaces::SetUp();
    if (IsSkipped()) return;
    const gchar *clip = g_getenv("CUDATENSOR_TEST_CLIP");
    if (clip == nullptr) GTEST_SKIP() << "CUDATENSOR_TEST_CLIP is not set";
    for (const char *factory : {"nvv4l2decoder", "nvvideoconvert", "nvh264dec", "qtdemux"}) {
      const ElementRef element(gst_element_factory_make(factory, nullptr));
      if (element == nullptr) GTEST_SKIP() << factory << " is not installed";
    }
    source_ = std::string("filesrc location=") + clip + " ! qtdemux ! h264parse ! ";
  }

  std::string of_deepstream(const std::string &chain) const {
    return source_ + "nvv4l2decoder name=decoder ! " + chain + " ! fakesink name=out sync=false";
  }
  std::string of_nvcodec(const std::string &chain) const {
    return source_ + "nvh264dec ! video/x-raw(memory:CUDAMemory) ! " + chain +
           " ! fakesink name=out sync=false";
  }
  std::map<GstClockTime, Bytes> outputs(const std::string &description) const {
    Pipeline pipeline(description);
    EXPECT_EQ(pipeline.run(), "") << description;
    return pipeline.outputs();
  }

 private:
  std::string source_;
};

TEST_F(Decoder, GivesTheFramesOfNvh264dec) {
  for (const char *chain :
       {"cudanormalize width=640 height=640 resize-mode=ultralytics",
        "cudanormalize width=640 height=640 ! other/tensors(memory:CUDAMemory)",
        "queue ! cudanormalize width=224 height=224 antialias=true dtype=float16",
        "cudaletterbox ! video/x-raw,format=RGB,width=416,height=416",
        "cudanv12toyuv444 ! video/x-raw,width=641,height=481"}) {
    const auto expected = outputs(of_nvcodec(chain));
    EXPECT_GE(expected.size(), 70u);
    EXPECT_EQ(outputs(of_deepstream(chain)), expected) << chain;
  }
}

TEST_F(Decoder, IsCountedAndPassedOn) {
  const std::string chain = "nvvideoconvert ! video/x-raw,format=NV12";
  Pipeline counted(of_deepstream("cudahistogram interval=0 ! " + chain));
  EXPECT_EQ(counted.run(), "");
  Pipeline plain(of_deepstream(chain + " ! cudahistogram interval=0 backend=cpu"));
  EXPECT_EQ(plain.run(), "");
  EXPECT_EQ(counted.outputs(), plain.outputs());
  const auto of = counted.element_messages(), expected = plain.element_messages();
  ASSERT_EQ(of.size(), expected.size());
  EXPECT_GE(of.size(), 70u);
  for (size_t i = 0; i < of.size(); ++i)
    EXPECT_TRUE(gst_structure_is_equal(gst_message_get_structure(of[i].get()),
                                       gst_message_get_structure(expected[i].get())));
}

TEST_F(Decoder, IsMuxed) {
  const std::string mux =
      "cudatensormux name=mux width=320 height=320 ! fakesink name=out "
      "sync=false ";
  const auto camera = [](const std::string &description) {
    return description.substr(0, description.rfind(" ! fakesink")) + " ! mux. ";
  };
  const std::string deepstream = camera(of_deepstream("queue")),
                    nvcodec = camera(of_nvcodec("queue"));
  EXPECT_EQ(outputs(mux + deepstream.substr(0, deepstream.find(" name=decoder")) +
                    deepstream.substr(deepstream.find(" ! queue")) + deepstream),
            outputs(mux + nvcodec + nvcodec));
}

struct Kept {
  BufferRef buffer;
};

GstPadProbeReturn keep_third(GstPad *, GstPadProbeInfo *info, gpointer data) {
  static int frames;
  if (++frames == 3)
    static_cast<Kept *>(data)->buffer.reset(gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info)));
  return GST_PAD_PROBE_OK;
}

Bytes tensor_of(const BufferRef &frame) {
  BufferRef copy(gst_buffer_ref(frame.get()));
  return output_bytes("cudanormalize width=64 height=64",
                      in_nvmm("video/x-raw,format=NV12,width=1920,height=1080,framerate=10/1"),
                      std::move(copy), "ANY");
}

/// This makes it safe to read a surface after its buffer has been pushed downstream.
TEST_F(Decoder, LeavesSurfacesToTheBuffersThatOthersHold) {
  Kept kept;
  Bytes before;
  {
    Pipeline pipeline(
        of_deepstream("identity name=seen ! nvvideoconvert ! video/x-raw,format=NV12"));
    const ElementRef seen = pipeline.find("seen");
    const PadRef pad(gst_element_get_static_pad(seen.get(), "src"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, keep_third, &kept, nullptr);
    EXPECT_EQ(pipeline.run(), "");
    ASSERT_NE(kept.buffer, nullptr);
    before = tensor_of(kept.buffer);
    pipeline.stop();
    EXPECT_TRUE(same_bytes(tensor_of(kept.buffer), before));
  }
  EXPECT_TRUE(same_bytes(tensor_of(kept.buffer), before));
}

}  // namespace
}  // namespace cudatensor
