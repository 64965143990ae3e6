// SPDX-License-Identifier: LGPL-2.1-or-later
// Every element from and to CUDAMemory gives the CPU's bytes, and selects the right memory.
#include <algorithm>
#include <utility>

#include "gpu.h"
#include "pools.h"
#include "reference.h"
#include "rig.h"

namespace cudatensor {
namespace {

// ------------------------------------------------------------------------------------ templates

/// Returns the memories that a pad's template lists, in order, each followed by its media type.
std::vector<std::string> memories_of_template(const std::string &element, const char *pad) {
  const ElementRef owned = make_element(element);
  GstPadTemplate *pad_template =
      gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(owned.get()), pad);
  const CapsRef caps(gst_pad_template_get_caps(pad_template));
  std::vector<std::string> memories;
  for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i) {
    gchar *memory = gst_caps_features_to_string(gst_caps_get_features(caps.get(), i));
    memories.push_back(std::string(memory) + " " +
                       gst_structure_get_name(gst_caps_get_structure(caps.get(), i)));
    g_free(memory);
  }
  return memories;
}

class Templates : public testing::TestWithParam<const char *> {};

TEST_P(Templates, ListCudaMemoryBeforeSystemMemory) {
  for (const char *pad : {"sink", "src"}) {
    const std::vector<std::string> memories = memories_of_template(GetParam(), pad);
    const std::string media = memories.back().substr(memories.back().find(' '));
    std::vector<std::string> expected;
    std::string nvmm;  // if DeepStream is installed
    for (const std::string &memory : memories) {
      if (memory.rfind("memory:NVMM ", 0) == 0) nvmm = memory;
      if (memory.rfind("memory:SystemMemory ", 0) != 0) continue;
      if (cuda_is_built())
        expected.push_back("memory:CUDAMemory" + memory.substr(memory.find(' ')));
      if (!nvmm.empty()) expected.push_back(std::exchange(nvmm, ""));
      expected.push_back(memory);
    }
    EXPECT_EQ(memories, expected) << pad;
    EXPECT_FALSE(memories.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Memory, Templates,
                         testing::Values("cudanv12toyuv444", "cudaletterbox", "cudanormalize",
                                         "cudahistogram", "cudapixelshuffle"),
                         [](const auto &info) { return std::string(info.param); });

// --------------------------------------------------------------------------- every combination

/// Work for one element: a picture or a tensor in, a picture or a tensor out.
struct Job {
  std::string element;
  std::optional<ImageDesc> in_picture;
  TensorDesc in_tensor;
  std::optional<ImageDesc> out_picture;
  std::string out;  ///< caps, in system memory

  std::string in() const { return in_picture ? video_caps(*in_picture) : tensor_caps(in_tensor); }
};

std::string text_of(const Job &job) { return job.element + " from " + job.in() + " to " + job.out; }
void PrintTo(const Job &job, std::ostream *os) { *os << text_of(job); }

Job picture_job(const std::string &element, const ImageDesc &in, const ImageDesc &out) {
  return {element, in, {}, out, video_caps(out)};
}
Job normalize_job(const std::string &properties, const ImageDesc &in) {
  return {"cudanormalize width=21 height=5 " + properties, in, {}, {}, "other/tensors"};
}

/// Input sizes: odd and smaller than the output, larger, and the smallest.
const std::pair<int, int> kSizes[] = {{13, 7}, {64, 48}, {1, 1}};

std::vector<Job> jobs_for_format(PixelFormat format, int width, int height) {
  const ImageDesc in = {format, width, height};
  std::vector<Job> jobs = {
      normalize_job("resize-mode=affine", in),
      picture_job("cudaletterbox", in, {PixelFormat::RGB, 31, 9}),
  };
  if (std::count(kYuv420Formats.begin(), kYuv420Formats.end(), format) != 0)
    jobs.push_back(picture_job("cudanv12toyuv444", in, {PixelFormat::Y444, 31, 9}));
  return jobs;
}

std::vector<Job> shuffle_jobs() {
  std::vector<Job> jobs;
  for (const DType dtype : {DType::uint8, DType::float16, DType::float32}) {
    // Planes of 3 x 3 bytes are no multiple of four.
    const TensorDesc in = {dtype, Layout::nchw, 1, 12, 3, 3};
    jobs.push_back({"cudapixelshuffle", {}, in, {}, "other/tensors"});
    const TensorDesc gray = {dtype, Layout::nchw, 1, 4, 3, 5};
    const ImageDesc out = {PixelFormat::GRAY8, 10, 6};
    jobs.push_back({"cudapixelshuffle", {}, gray, out, video_caps(out)});
    for (const PixelFormat format : {PixelFormat::RGB, PixelFormat::BGR, PixelFormat::RGBP})
      jobs.push_back(
          {"cudapixelshuffle", {}, in, ImageDesc{format, 6, 6}, video_caps({format, 6, 6})});
  }
  return jobs;
}

std::vector<Job> all_jobs() {
  std::vector<Job> jobs = shuffle_jobs();
  for (const auto &[width, height] : kSizes)
    for (const PixelFormat format : kInputFormats)
      for (const Job &job : jobs_for_format(format, width, height)) jobs.push_back(job);
  const ImageDesc nv12 = {PixelFormat::NV12, 13, 7};
  for (const PixelFormat format : kLetterboxFormats)
    jobs.push_back(picture_job("cudaletterbox", nv12, {format, 31, 9}));
  for (const char *dtype : {"float32", "float16", "bfloat16", "uint8", "int8"})
    for (const char *layout : {"nchw", "nhwc"})
      for (const char *color : {"rgb", "gray", "yuv"})
        jobs.push_back(normalize_job(
            std::string("dtype=") + dtype + " layout=" + layout + " color=" + color, nv12));
  for (const char *edge : {"clip", "pad"})
    for (const char *color : {"bgr", "yuv"})
      jobs.push_back(normalize_job(std::string("regions=list region-list=<1.5,2,4,4,-3,1,9,40> "
                                               "max-batch=3 region-edge=") +
                                       edge + " color=" + color,
                                   nv12));
  return jobs;
}

enum class Input { system, row, pool };

BufferRef input_of(const Job &job, Input kind) {
  if (!job.in_picture) {
    BufferRef tensor = buffer_of(random_tensor(job.in_tensor, 1));
    return kind == Input::system ? std::move(tensor) : to_cuda(tensor);
  }
  const Picture picture = random_picture(*job.in_picture);
  if (kind == Input::system) return buffer_of(picture);
  return kind == Input::pool ? pooled(picture) : to_cuda(padded_buffer_of(picture, {3, 5, 7}));
}

/// Returns the output's samples, and checks that they lie in the memory that its caps name.
Bytes run(const Job &job, Input input, bool cuda_out) {
  Rig rig(job.element);
  rig.downstream(cuda_out ? in_cuda(job.out) : job.out);
  EXPECT_TRUE(rig.caps(input == Input::system ? job.in() : in_cuda(job.in())));
  Bytes first;
  // The second frame reuses what the first one has created.
  for (int i = 0; i < 2; ++i) {
    const BufferRef out = rig.process(input_of(job, input));
    EXPECT_EQ(cuda_memory_of(out.get()) != nullptr, cuda_out);
    Bytes bytes =
        job.out_picture ? picture_of(out.get(), *job.out_picture).bytes() : bytes_of(out.get());
    if (i == 0)
      first = std::move(bytes);
    else
      EXPECT_TRUE(same_bytes(bytes, first)) << "of the second frame";
  }
  return first;
}

Bytes run_on_the_cpu(const Job &job) {
  Job cpu = job;
  cpu.element += " backend=cpu";
  return run(cpu, Input::system, false);
}

class EveryMemory : public GpuTest, public testing::WithParamInterface<Job> {};

TEST_P(EveryMemory, GivesTheBytesOfTheCpu) {
  const Job &job = GetParam();
  const Bytes expected = run_on_the_cpu(job);
  for (const bool cuda_out : {false, true})
    for (const Input input : {Input::system, Input::row, Input::pool}) {
      if (input == Input::pool && (!job.in_picture || !has_pool(*job.in_picture))) continue;
      EXPECT_TRUE(same_bytes(run(job, input, cuda_out), expected))
          << (input == Input::system ? "system memory"
              : input == Input::row  ? "CUDAMemory"
                                     : "libgstcuda's pool")
          << " to " << (cuda_out ? "CUDAMemory" : "system memory");
    }
}

INSTANTIATE_TEST_SUITE_P(CudaMemory, EveryMemory, testing::ValuesIn(all_jobs()),
                         [](const auto &info) { return "job" + std::to_string(info.index); });

// ---------------------------------------------------------------------------- layouts of inputs

const Padding kPaddings[] = {{},
                             {0, 0, 1},
                             {5, 0, 0},
                             {64, 128, 64},
                             {3, 1, 19},
                             {0, 0, 0, false, true},
                             {3, 1, 19, false, true, 5, 3},
                             {64, 128, 64, false, false, 16, 8}};

class CudaInput : public GpuTest, public testing::WithParamInterface<PixelFormat> {};

TEST_P(CudaInput, MayLieAnywhereInItsMemory) {
  const Picture picture = random_picture({GetParam(), 17, 11});
  const Job job = normalize_job("resize-mode=affine", picture.desc());
  const Bytes expected = run_on_the_cpu(job);
  Rig rig(job.element);
  ASSERT_TRUE(rig.caps(in_cuda(job.in())));
  for (const Padding &padding : kPaddings)
    EXPECT_TRUE(same_bytes(bytes_of(rig.process(to_cuda(padded_buffer_of(picture, padding))).get()),
                           expected));
}

TEST_P(CudaInput, MayLieAnywhereInMemoryThatAHistogramCounts) {
  const Picture picture = random_picture({GetParam(), 17, 11});
  Rig cpu("cudahistogram interval=0 backend=cpu");
  ASSERT_TRUE(cpu.caps(video_caps(picture.desc())));
  cpu.process(buffer_of(picture));
  const auto expected = cpu.messages().elements("cudahistogram", 1);
  ASSERT_EQ(expected.size(), 1u);
  Rig rig("cudahistogram interval=0");
  ASSERT_TRUE(rig.caps(in_cuda(video_caps(picture.desc()))));
  for (const Padding &padding : kPaddings) {
    rig.process(to_cuda(padded_buffer_of(picture, padding)));
    const auto posted = rig.messages().elements("cudahistogram", 1);
    ASSERT_EQ(posted.size(), 1u);
    EXPECT_TRUE(gst_structure_is_equal(gst_message_get_structure(posted[0].get()),
                                       gst_message_get_structure(expected[0].get())));
  }
}

INSTANTIATE_TEST_SUITE_P(CudaMemory, CudaInput, testing::ValuesIn(kInputFormats),
                         [](const auto &info) { return std::string(name_of(info.param)); });

class CudaMemoryTest : public GpuTest {};

TEST_F(CudaMemoryTest, IsDroppedIfTooShort) {
  const ImageDesc nv12 = {PixelFormat::NV12, 16, 16};
  for (const char *element : {"cudanormalize", "cudaletterbox", "cudanv12toyuv444"}) {
    Rig rig(element);
    ASSERT_TRUE(rig.caps(in_cuda(video_caps(nv12))));
    expect_fault(rig, to_cuda(buffer_of(Bytes(100))), "buffer of");
    rig.process(to_cuda(buffer_of(random_picture(nv12))));
  }
}

// --------------------------------------------------------------------------------------- tensors

/// Sizes that are no multiples of blocks, and one with many rows.
class CudaTensors : public GpuTest, public testing::WithParamInterface<const char *> {};

INSTANTIATE_TEST_SUITE_P(CudaMemory, CudaTensors,
                         testing::Values("width=1 height=1 dtype=uint8 color=gray",
                                         "width=1 height=1 dtype=uint8",
                                         "width=5 height=3 dtype=int8",
                                         "width=7 height=7 dtype=float16 color=gray",
                                         "width=171 height=3 dtype=uint8", "width=640 height=640"),
                         [](const auto &info) { return "case" + std::to_string(info.index); });

size_t mapped_size(GstBuffer *buffer, int flags) {
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, static_cast<GstMapFlags>(flags))) return 0;
  gst_buffer_unmap(buffer, &map);
  return map.size;
}

TEST_P(CudaTensors, AreOneMemoryOfExactlyTheirBytes) {
  const ImageDesc in = {PixelFormat::NV12, 32, 32};
  const Bytes expected =
      output_bytes(std::string("cudanormalize backend=cpu ") + GetParam(), video_caps(in),
                   buffer_of(random_picture(in)), "other/tensors");
  Rig rig(std::string("cudanormalize ") + GetParam());
  rig.downstream("other/tensors(memory:CUDAMemory)");
  ASSERT_TRUE(rig.caps(video_caps(in)));
  // Holds several buffers at once, then reuses them.
  for (int round = 0; round < 2; ++round) {
    std::vector<BufferRef> held;
    for (int i = 0; i < 3; ++i) held.push_back(rig.process(buffer_of(random_picture(in))));
    for (const BufferRef &out : held) {
      ASSERT_NE(cuda_memory_of(out.get()), nullptr);
      EXPECT_EQ(gst_buffer_get_size(out.get()), expected.size());
      EXPECT_EQ(mapped_size(out.get(), GST_MAP_READ | gstcuda::kMapCuda), expected.size());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(device_address_of(out.get())) % 256, 0u);
      EXPECT_TRUE(same_bytes(device_bytes_of(out.get()), expected));
      EXPECT_EQ(mapped_size(out.get(), GST_MAP_READ), expected.size());
      EXPECT_TRUE(same_bytes(bytes_of(out.get()), expected));
    }
  }
}

// ----------------------------------------------------------------------------------- preferences

bool is_in_cuda(GstCaps *caps) {
  return gst_caps_features_contains(gst_caps_get_features(caps, 0), gstcuda::kMemoryFeature);
}

struct Preference {
  std::string downstream;
  bool cuda;
};

TEST_F(CudaMemoryTest, IsPreferredForPictures) {
  const ImageDesc in = {PixelFormat::RGB, 8, 8};
  for (const auto &[downstream, cuda] :
       {Preference{"ANY", true},
        {"video/x-raw(memory:CUDAMemory);video/x-raw", true},
        {"video/x-raw(memory:CUDAMemory)", true},
        {"video/x-raw", false},
        {"video/x-raw(memory:CUDAMemory),format=GRAY8;video/x-raw,format=RGB", true}}) {
    Rig rig("cudaletterbox");
    rig.downstream(downstream);
    ASSERT_TRUE(rig.caps(video_caps(in))) << downstream;
    const BufferRef out = rig.process(buffer_of(random_picture(in)));
    EXPECT_EQ(is_in_cuda(rig.output_caps().get()), cuda) << downstream;
    EXPECT_EQ(cuda_memory_of(out.get()) != nullptr, cuda) << downstream;
  }
}

TEST_F(CudaMemoryTest, IsPreferredForTensors) {
  const ImageDesc in = {PixelFormat::RGB, 8, 8};
  const std::string tensor = tensor_caps("float32", "8:8:3");
  for (const auto &[downstream, cuda] : {Preference{"ANY", true},
                                         {"other/tensors(memory:CUDAMemory);other/tensors", true},
                                         {in_cuda(tensor) + ";" + tensor, true},
                                         {tensor, false},
                                         {in_cuda(tensor), true}}) {
    Rig rig("cudanormalize");
    rig.downstream(downstream);
    ASSERT_TRUE(rig.caps(video_caps(in))) << downstream;
    const BufferRef out = rig.process(buffer_of(random_picture(in)));
    EXPECT_EQ(is_in_cuda(rig.output_caps().get()), cuda) << downstream;
    EXPECT_EQ(cuda_memory_of(out.get()) != nullptr, cuda) << downstream;
  }
}

TEST_F(CudaMemoryTest, IsOfferedToUpstreamFirst) {
  for (const char *element : {"cudaletterbox", "cudanormalize", "cudanv12toyuv444", "cudahistogram",
                              "cudapixelshuffle"}) {
    Rig rig(element);
    const CapsRef offered(gst_pad_peer_query_caps(rig.harness()->srcpad, nullptr));
    EXPECT_TRUE(is_in_cuda(offered.get())) << element;
    EXPECT_GE(gst_caps_get_size(offered.get()), 2u) << element;
  }
}

TEST_F(CudaMemoryTest, IsNotOfferedByTheCpuForItsOutput) {
  Rig rig("cudanormalize backend=cpu");
  rig.downstream("other/tensors(memory:CUDAMemory)");
  EXPECT_FALSE(rig.caps(video_caps({PixelFormat::RGB, 8, 8})));
}

TEST_F(CudaMemoryTest, IsReadByTheCpu) {
  const Picture picture = random_picture({PixelFormat::NV12, 13, 7});
  const std::string caps = video_caps(picture.desc());
  const Bytes expected = output_bytes("cudanormalize backend=cpu", caps, buffer_of(picture), "ANY");
  EXPECT_TRUE(same_bytes(
      output_bytes("cudanormalize backend=cpu", in_cuda(caps), pooled(picture), "ANY"), expected));
}

TEST_F(CudaMemoryTest, IsOfferedUpstreamAsAPool) {
  for (const PixelFormat format : kInputFormats) {
    const ImageDesc desc = {format, 13, 7};
    Rig rig("cudanormalize");
    ASSERT_TRUE(rig.caps(in_cuda(video_caps(desc))));
    const Ref<GstBufferPool> pool = offered_pool(rig);
    ASSERT_NE(pool, nullptr);
    BufferRef buffer = acquire(pool);
    ASSERT_NE(cuda_memory_of(buffer.get()), nullptr);
    write_picture(buffer.get(), random_picture(desc));
    EXPECT_TRUE(same_bytes(bytes_of(rig.process(std::move(buffer)).get()),
                           run_on_the_cpu({"cudanormalize", desc, {}, {}, "other/tensors"})));
    gst_buffer_pool_set_active(pool.get(), FALSE);
  }
}

// ---------------------------------------------------------------------------------------- chains

/// Expects every buffer that passes between two elements to be in CUDAMemory.
GstPadProbeReturn expect_cuda(GstPad *pad, GstPadProbeInfo *info, gpointer count) {
  EXPECT_NE(cuda_memory_of(GST_PAD_PROBE_INFO_BUFFER(info)), nullptr) << GST_PAD_NAME(pad);
  ++*static_cast<int *>(count);
  return GST_PAD_PROBE_OK;
}

TEST_F(CudaMemoryTest, StaysWithinChains) {
  const Picture picture = random_picture({PixelFormat::NV12, 30, 20});
  const std::string caps = video_caps(picture.desc());
  for (const std::string chain :
       {"cudaletterbox name=a%s ! cudanormalize%s width=8 height=8",
        "cudanv12toyuv444 name=a%s resize-width=11 ! cudanormalize%s color=yuv",
        "cudahistogram%s ! cudaletterbox name=a%s ! cudanormalize name=b%s ",
        "cudanormalize name=a%s dtype=uint8 ! cudapixelshuffle%s upscale-factor=1"}) {
    const auto with = [&](const char *properties) {
      std::string text = chain;
      for (size_t at; (at = text.find("%s")) != std::string::npos;) text.replace(at, 2, properties);
      return text;
    };
    const Bytes expected = output_bytes(with(" backend=cpu"), caps, buffer_of(picture), "ANY");
    Rig rig(with(""));
    ASSERT_TRUE(rig.caps(in_cuda(caps))) << chain;
    int passed = 0;
    const ElementRef a(gst_bin_get_by_name(GST_BIN(rig.element()), "a"));
    const PadRef between(gst_element_get_static_pad(a.get(), "src"));
    gst_pad_add_probe(between.get(), GST_PAD_PROBE_TYPE_BUFFER, expect_cuda, &passed, nullptr);
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(same_bytes(bytes_of(rig.process(pooled(picture)).get()), expected)) << chain;
    EXPECT_EQ(passed, 3) << chain;
  }
}

// ----------------------------------------------------------------------------------- passthrough

/// Waits until the GPU is done with the buffer, if need be.
bool becomes_writable(GstBuffer *buffer) {
  for (int i = 0; i < 1000 && !gst_buffer_is_writable(buffer); ++i) g_usleep(1000);
  return gst_buffer_is_writable(buffer);
}

TEST_F(CudaMemoryTest, PassesTheHistogramUntouched) {
  const Picture picture = random_picture({PixelFormat::NV12, 30, 20});
  Rig rig("cudahistogram interval=0");
  ASSERT_TRUE(rig.caps(in_cuda(video_caps(picture.desc()))));
  for (int i = 0; i < 3; ++i) {
    BufferRef buffer = pooled(picture);
    GstBuffer *const pushed = buffer.get();
    GstMemory *const memory = gst_buffer_peek_memory(pushed, 0);
    const BufferRef out = rig.process(std::move(buffer));
    EXPECT_EQ(out.get(), pushed);
    EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
    EXPECT_TRUE(is_in_cuda(rig.output_caps().get()));
    EXPECT_TRUE(becomes_writable(out.get()));
    EXPECT_TRUE(same_picture(picture_of(out.get(), picture.desc()), picture));
  }
  EXPECT_EQ(rig.histograms(3).size(), 3u);
}

/// The detector's picture is made from it and lies in system memory.
TEST_F(CudaMemoryTest, StaysWhereItIsThroughRestore) {
  const Picture picture = random_picture({PixelFormat::NV12, 64, 32});
  Rig rig(
      "cudaletterbox keep-input=true ! video/x-raw,format=RGB,width=32,height=32 ! identity ! "
      "cudarestore");
  rig.downstream("video/x-raw(ANY)");
  ASSERT_TRUE(rig.caps(in_cuda(video_caps(picture.desc()))));
  for (int i = 0; i < 3; ++i) {
    BufferRef buffer = pooled(picture);
    GstMemory *const memory = gst_buffer_peek_memory(buffer.get(), 0);
    const BufferRef out = rig.process(std::move(buffer));
    EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
    const Ref<GstPad> src(gst_element_get_static_pad(rig.element(), "src"));
    const CapsRef caps(gst_pad_get_current_caps(src.get()));
    EXPECT_TRUE(is_in_cuda(caps.get()));
    EXPECT_TRUE(same_picture(picture_of(out.get(), picture.desc()), picture));
  }
}

}  // namespace
}  // namespace cudatensor
