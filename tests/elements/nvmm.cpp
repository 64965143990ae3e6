// SPDX-License-Identifier: LGPL-2.1-or-later
// DeepStream's surfaces as input: every color format, and unreadable surfaces.
#include <cstring>

#include "backend.h"
#include "gst/nvmm/deepstream.h"
#include "muxrig.h"
#include "reference.h"
#include "surfaces.h"

namespace cudatensor {
namespace {

using nvmm::ColorFormat;
using nvmm::MemoryType;
using nvmm::SurfaceBatch;

// ---------------------------------------------------------------------------- every color format

class EveryFormat : public testing::TestWithParam<NamedColorFormat> {
 protected:
  ImageDesc desc(int width, int height) const {
    return {nvmm::format_of(GetParam().format)->format, width, height};
  }
  /// Expects the same output from surfaces, whose caps name no colorimetry, as from system memory.
  void expect_same(const std::string &element, const std::string &out, int width, int height) {
    SCOPED_TRACE(element + " " + std::to_string(width) + "x" + std::to_string(height));
    const Picture picture = random_picture(desc(width, height));
    const Bytes expected = output_bytes(element, system_caps_of(GetParam().format, picture.desc()),
                                        buffer_of(picture), out);
    const Bytes actual = output_bytes(element, in_nvmm(video_caps(picture.desc())),
                                      surface_buffer({{picture, GetParam().format}}, 1), out);
    EXPECT_TRUE(same_bytes(actual, expected));
  }
};

INSTANTIATE_TEST_SUITE_P(Nvmm, EveryFormat, testing::ValuesIn(kColorFormats),
                         [](const auto &info) { return std::string(info.param.name); });

constexpr std::pair<int, int> kSizes[] = {{64, 48}, {13, 7}, {1, 1}, {1030, 3}};

TEST_P(EveryFormat, BecomesATensor) {
  for (const auto &[width, height] : kSizes) {
    expect_same("cudanormalize width=21 height=9 resize-mode=ultralytics", "ANY", width, height);
    expect_same("cudanormalize width=8 height=8 antialias=true method=bicubic dtype=uint8", "ANY",
                width, height);
  }
  if (layout_of(desc(1, 1).format).model == ColorModel::yuv)
    expect_same("cudanormalize width=21 height=9 color=yuv", "ANY", 64, 48);
}

TEST_P(EveryFormat, BecomesAPicture) {
  for (const auto &[width, height] : kSizes)
    expect_same("cudaletterbox", "video/x-raw,format=RGB,width=32,height=9", width, height);
}

TEST_P(EveryFormat, BecomesYuv444IfItIs420) {
  const FormatLayout layout = layout_of(desc(1, 1).format);
  if (!layout.is_420() || layout.is_deep()) GTEST_SKIP() << "not 4:2:0 of eight bits";
  for (const auto &[width, height] : kSizes)
    expect_same("cudanv12toyuv444", "video/x-raw,format=Y444,width=32,height=9", width, height);
}

/// Returns the element message of one frame without its times.
std::string counted(const std::string &caps, BufferRef buffer) {
  Rig rig("cudahistogram interval=0");
  EXPECT_TRUE(rig.caps(caps));
  GST_BUFFER_PTS(buffer.get()) = 0;
  rig.process(std::move(buffer));
  const std::vector<MessageRef> messages = rig.histograms(1);
  if (messages.size() != 1) return "no message";
  const Ref<GstStructure> s(
      gst_structure_copy(gst_message_get_structure(messages.front().get())));
  gchar *text = gst_structure_to_string(s.get());
  const std::string result = text;
  g_free(text);
  return result;
}

TEST_P(EveryFormat, IsCounted) {
  for (const auto &[width, height] : kSizes) {
    const Picture picture = random_picture(desc(width, height));
    EXPECT_EQ(counted(in_nvmm(video_caps(picture.desc())),
                      surface_buffer({{picture, GetParam().format}}, 1)),
              counted(system_caps_of(GetParam().format, picture.desc()), buffer_of(picture)));
  }
}

// ------------------------------------------------------------------------------------- elements

const ImageDesc kNv12 = {PixelFormat::NV12, 40, 30};

TEST(Nvmm, IsOfferedBeforeSystemMemory) {
  ASSERT_TRUE(nvmm::is_installed());
  for (const char *element :
       {"cudanv12toyuv444", "cudaletterbox", "cudanormalize", "cudahistogram", "cudatensormux"}) {
    const ElementRef owned = make_element(element);
    const bool mux = std::strcmp(element, "cudatensormux") == 0;
    GstPadTemplate *pad = gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(owned.get()),
                                                             mux ? "sink_%u" : "sink");
    const CapsRef caps(gst_pad_template_get_caps(pad));
    gchar *text = gst_caps_to_string(caps.get());
    const std::string all = text;
    g_free(text);
    EXPECT_NE(all.find("video/x-raw(memory:NVMM)"), std::string::npos) << element;
    EXPECT_LT(all.find("video/x-raw(memory:NVMM)"), all.find("video/x-raw,")) << element;
  }
}

/// An upstream element with several memories would choose surfaces, which the CPU cannot read.
TEST(Nvmm, IsNotOfferedOnTheCpu) {
  const BackendScope scope(TestBackend::cpu);
  for (const char *element :
       {"cudanv12toyuv444", "cudaletterbox", "cudanormalize", "cudahistogram"}) {
    Rig rig(element);
    const CapsRef caps(gst_pad_peer_query_caps(rig.harness()->srcpad, nullptr));
    gchar *text = gst_caps_to_string(caps.get());
    EXPECT_EQ(std::string(text).find("NVMM"), std::string::npos) << element;
    g_free(text);
  }
}

TEST(Nvmm, IsNotAnOutput) {
  for (const char *element : {"cudanv12toyuv444", "cudaletterbox", "cudanormalize"}) {
    const ElementRef owned = make_element(element);
    const CapsRef caps(gst_pad_template_get_caps(
        gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(owned.get()), "src")));
    gchar *text = gst_caps_to_string(caps.get());
    EXPECT_EQ(std::string(text).find("NVMM"), std::string::npos) << element;
    g_free(text);
  }
}

TEST(Nvmm, GivesNoPoolToUpstream) {
  Rig rig("cudanormalize width=8 height=8");
  ASSERT_TRUE(rig.caps(in_nvmm(video_caps(kNv12))));
  const CapsRef caps(gst_caps_from_string(in_nvmm(video_caps(kNv12)).c_str()));
  GstQuery *query = gst_query_new_allocation(caps.get(), TRUE);
  EXPECT_TRUE(gst_pad_peer_query(rig.harness()->srcpad, query));
  EXPECT_EQ(gst_query_get_n_allocation_pools(query), 0u);
  gst_query_unref(query);
}

TEST(Nvmm, FieldsOfItsCapsDoNotReachPictures) {
  Rig rig("cudaletterbox");
  rig.downstream("video/x-raw,format=RGB,width=16,height=16");
  ASSERT_TRUE(rig.caps(in_nvmm(video_caps(kNv12)) +
                       ",nvbuf-memory-type=nvbuf-mem-cuda-device,gpu-id=0,block-linear=false,"
                       "batch-size=1,num-surfaces-per-frame=1"));
  rig.process(surface_buffer(random_picture(kNv12)));
  for (const char *field : {"nvbuf-memory-type", "gpu-id", "block-linear", "batch-size"})
    EXPECT_EQ(rig.output(field), "") << field;
}

TEST(Nvmm, IsPassedOnByHistogramWithoutAReference) {
  Rig rig("cudahistogram");
  ASSERT_TRUE(rig.caps(in_nvmm(video_caps(kNv12))));
  BufferRef buffer = surface_buffer(random_picture(kNv12));
  GstBuffer *const given = buffer.get();
  const BufferRef out = rig.process(std::move(buffer));
  EXPECT_EQ(out.get(), given);
  // DeepStream's elements modify buffers in place.
  EXPECT_TRUE(gst_buffer_is_writable(out.get()));
}

TEST(Nvmm, MatrixMayChangeFromFrameToFrame) {
  const Picture picture = random_picture(kNv12);
  const std::string out = "video/x-raw,format=RGB,width=16,height=16";
  Rig rig("cudaletterbox");
  rig.downstream(out);
  ASSERT_TRUE(rig.caps(in_nvmm(video_caps(kNv12))));
  for (const ColorFormat format :
       {ColorFormat::nv12, ColorFormat::nv12_709_er, ColorFormat::nv12}) {
    const BufferRef made = rig.process(surface_buffer({{picture, format}}, 1));
    EXPECT_TRUE(same_bytes(
        bytes_of(made.get()),
        output_bytes("cudaletterbox", system_caps_of(format, kNv12), buffer_of(picture), out)));
  }
}

TEST(Nvmm, IsMuxedWithSystemMemory) {
  const std::vector<Picture> pictures = mixed_pictures(3, {PixelFormat::NV12, PixelFormat::BGR});
  MuxRig rig(properties_of(small_params()), 3);
  std::vector<Bytes> slots;
  for (size_t i = 0; i < pictures.size(); ++i) {
    const std::string caps = video_caps(pictures[i].desc(), "framerate=25/1");
    rig.camera(i).caps(i == 1 ? caps : in_nvmm(caps));
    slots.push_back(slot_bytes(pictures[i], small_params()));
  }
  for (size_t i = 0; i < pictures.size(); ++i) {
    BufferRef frame = i == 1 ? buffer_of(pictures[i]) : surface_buffer(pictures[i]);
    GST_BUFFER_PTS(frame.get()) = 0;
    rig.camera(i).push(std::move(frame));
  }
  EXPECT_TRUE(same_bytes(bytes_of(rig.pull().get()), joined(slots)));
}

TEST(Nvmm, IsReleasedForADrainQuery) {
  Rig rig("cudanormalize width=8 height=8");
  ASSERT_TRUE(rig.caps(in_nvmm(video_caps(kNv12))));
  BufferRef buffer = surface_buffer(random_picture(kNv12));
  bool gone = false;
  gst_mini_object_weak_ref(
      GST_MINI_OBJECT_CAST(buffer.get()),
      [](gpointer data, GstMiniObject *) { *static_cast<bool *>(data) = true; }, &gone);
  const BufferRef out = rig.process(std::move(buffer));
  GstQuery *query = gst_query_new_drain();
  gst_pad_peer_query(rig.harness()->srcpad, query);
  gst_query_unref(query);
  EXPECT_TRUE(gone);
}

// --------------------------------------------------------------------------- what cannot be read

/// Calls `check` with each element and a frame of these surfaces.
template <class Check>
void for_elements(const Change &change, MemoryType type, const Check &check) {
  for (const char *element :
       {"cudanormalize width=8 height=8", "cudaletterbox", "cudahistogram", "cudanv12toyuv444"}) {
    SCOPED_TRACE(element);
    Rig rig(element);
    ASSERT_TRUE(rig.caps(in_nvmm(video_caps(kNv12))));
    check(rig, surface_buffer({{random_picture(kNv12), ColorFormat::nv12}}, 1, type, change));
  }
}

/// Expects a frame of these surfaces to end in one error that names the cause.
void expect_cause(const std::string &cause, const Change &change,
                  MemoryType type = usual_memory()) {
  for_elements(change, type,
               [&](Rig &rig, BufferRef frame) { expect_error(rig, std::move(frame), cause); });
}

/// Expects a frame of these surfaces to be dropped, and the next one to be used.
void expect_fault_of(const std::string &cause, const Change &change) {
  for_elements(change, usual_memory(), [&](Rig &rig, BufferRef frame) {
    expect_fault(rig, std::move(frame), cause);
    rig.process(surface_buffer(random_picture(kNv12)));
  });
}

TEST(NvmmRefuses, MemoryThatKernelsCannotRead) {
  const auto set = [](MemoryType type) {
    return [type](SurfaceBatch &batch) { batch.memory_type = type; };
  };
  const std::string put = "nvvideoconvert nvbuf-memory-type=nvbuf-mem-cuda-device bl-output=false";
  expect_cause("NVBUF_MEM_SURFACE_ARRAY cannot be read: put " + put,
               set(MemoryType::surface_array));
  expect_cause("NVBUF_MEM_HANDLE cannot be read: put " + put, set(MemoryType::handle));
  expect_cause("NVBUF_MEM_SYSTEM cannot be read: put " + put, set(MemoryType::system));
  expect_cause("NVBUF_MEM_CUDA_ARRAY cannot be read: put " + put, set(MemoryType::cuda_array));
  expect_cause("NVBUF_MEM_DEFAULT cannot be read: put " + put, set(MemoryType::standard));
  expect_cause("memory type 99 cannot be read", set(static_cast<MemoryType>(99)));
  expect_cause("block-linear layout cannot be read: put " + put,
               [](SurfaceBatch &batch) { batch.surfaces[0].layout = nvmm::Layout::block_linear; });
}

TEST(NvmmRefuses, DeviceMemoryOnTheCpu) {
  const BackendScope scope(TestBackend::cpu);
  expect_cause(
      "set backend=cuda", [](SurfaceBatch &batch) { batch.memory_type = MemoryType::cuda_device; },
      MemoryType::cuda_pinned);
}

TEST(NvmmRefuses, ImpossibleDescriptions) {
  expect_fault_of("at least 1 filled surface", [](SurfaceBatch &batch) { batch.num_filled = 0; });
  expect_fault_of("has 9 filled ones", [](SurfaceBatch &batch) { batch.num_filled = 9; });
  expect_fault_of("has 1 filled ones", [](SurfaceBatch &batch) { batch.surfaces = nullptr; });
  expect_cause("NvBufSurfaceColorFormat 107", [](SurfaceBatch &batch) {
    batch.surfaces[0].color_format = static_cast<ColorFormat>(107);
  });
  expect_fault_of("is too small for a NV12 picture of 40x30",
                  [](SurfaceBatch &batch) { --batch.surfaces[0].planes.pitch[1] /= 512; });
  expect_fault_of("is too small for a NV12 picture of 40x30",
                  [](SurfaceBatch &batch) { batch.surfaces[0].data_size = 512 * 44; });
  expect_fault_of("is too small for a NV12 picture of 40x30",
                  [](SurfaceBatch &batch) { batch.surfaces[0].planes.offset[1] = 0xffffff00u; });
  expect_fault_of("is too small for a NV12 picture of 40x30",
                  [](SurfaceBatch &batch) { batch.surfaces[0].data_ptr = nullptr; });
  expect_fault_of("0x30 pixels, but pictures are 1 to",
                  [](SurfaceBatch &batch) { batch.surfaces[0].width = 0; });
  expect_fault_of("40x4294967295 pixels, but pictures are 1 to",
                  [](SurfaceBatch &batch) { batch.surfaces[0].height = 0xffffffffu; });
}

/// Both the CPU and the GPU can read it.
TEST(Nvmm, MayBeUnifiedMemory) {
  const Picture picture = random_picture(kNv12);
  const auto in_unified = [](SurfaceBatch &batch) { batch.memory_type = MemoryType::cuda_unified; };
  Rig rig("cudaletterbox");
  ASSERT_TRUE(rig.caps(in_nvmm(video_caps(kNv12))));
  const Bytes expected = bytes_of(rig.process(surface_buffer(picture)).get());
  const BufferRef out = rig.process(surface_buffer({{picture, color_format_of(PixelFormat::NV12)}},
                                                   1, usual_memory(), in_unified));
  EXPECT_EQ(bytes_of(out.get()), expected);
}

/// The last row of a surface may end where its memory does.
TEST(Nvmm, MayEndWithItsLastSample) {
  const Picture picture = random_picture(kNv12);
  const auto tensor = [&](uint32_t less) {
    return [&, less](Rig &rig) {
      BufferRef buffer =
          surface_buffer({{picture, color_format_of(PixelFormat::NV12)}}, 1, usual_memory(),
                         [less](SurfaceBatch &batch) {
                           nvmm::SurfaceParams &s = batch.surfaces[0];
                           s.data_size = s.planes.offset[1] + 14 * s.planes.pitch[1] + 40 - less;
                         });
      return buffer;
    };
  };
  Rig rig("cudanormalize width=8 height=8");
  ASSERT_TRUE(rig.caps(in_nvmm(video_caps(kNv12))));
  const Bytes expected =
      output_bytes("cudanormalize width=8 height=8", in_nvmm(video_caps(kNv12)),
                   surface_buffer({{picture, color_format_of(PixelFormat::NV12)}}, 1), "ANY");
  EXPECT_TRUE(same_bytes(bytes_of(rig.process(tensor(0)(rig)).get()), expected));
  expect_fault(rig, tensor(1)(rig), "is too small for a NV12 picture of 40x30");
}

TEST(NvmmRefuses, SurfacesThatTheCapsDoNotAnnounce) {
  expect_fault_of(
      "a surface with a NV12 picture of 20x30 does not match the caps, which announce a "
      "NV12 picture of 40x30",
      [](SurfaceBatch &batch) { batch.surfaces[0].width = 20; });
  expect_fault_of("a surface with a NV21 picture of 40x30",
                  [](SurfaceBatch &batch) { batch.surfaces[0].color_format = ColorFormat::nv21; });
}

TEST(NvmmRefuses, BuffersWithoutADescription) {
  for (const size_t size : {size_t{0}, size_t{8}, sizeof(SurfaceBatch) - 8}) {
    Rig rig("cudanormalize width=8 height=8");
    ASSERT_TRUE(rig.caps(in_nvmm(video_caps(kNv12))));
    expect_error(rig, buffer_of(Bytes(size)), "bytes instead of the 72 of an NvBufSurface");
  }
}

TEST(NvmmRefuses, BatchesIfOnePictureIsExpected) {
  for (const char *element : {"cudaletterbox", "cudahistogram", "cudanv12toyuv444"}) {
    Rig rig(element);
    const std::string text =
        expect_refusal(rig, in_nvmm(video_caps(kNv12, "batch-size=2,framerate=25/1")),
                       surface_buffer(random_picture(kNv12)));
    EXPECT_TRUE(mentions(text, "nvstreamdemux")) << element;
  }
}

}  // namespace
}  // namespace cudatensor
