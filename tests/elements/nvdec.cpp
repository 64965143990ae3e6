// SPDX-License-Identifier: LGPL-2.1-or-later
// Video that the GPU decodes and processes, compared with the CPU on the same frames.
#include <atomic>
#include <memory>

#include "gpu.h"
#include "pipeline.h"

namespace cudatensor {
namespace {

constexpr int kFrames = 20;  // or a few more that the decoder has already output

/// Skips tests without a decoder or a clip.
class NvdecTest : public GpuTest {
 protected:
  NvdecTest() : GpuTest(true) {}

  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    const gchar *clip = g_getenv("CUDATENSOR_TEST_CLIP");
    if (clip == nullptr || !g_file_test(clip, G_FILE_TEST_EXISTS))
      GTEST_SKIP() << "CUDATENSOR_TEST_CLIP is not set";
    clip_ = clip;
    for (const char *factory : {"nvh264dec", "qtdemux", "h264parse"}) {
      const ElementRef element(gst_element_factory_make(factory, nullptr));
      if (element == nullptr) GTEST_SKIP() << factory << " is not installed";
    }
  }

  /// Returns a pipeline of decoded frames in CUDAMemory, a chain and its sink.
  std::string decoded(const std::string &chain) const {
    return "filesrc location=" + clip_ +
           " ! qtdemux ! h264parse ! nvh264dec ! video/x-raw(memory:CUDAMemory) ! identity "
           "name=decoded eos-after=" +
           std::to_string(kFrames + 1) + " ! " + chain + " ! fakesink name=out sync=false";
  }

  std::map<GstClockTime, Bytes> outputs(const std::string &chain) const {
    Pipeline pipeline(decoded(chain));
    EXPECT_EQ(pipeline.run(), "") << chain;
    return pipeline.outputs();
  }

  /// Expects the CPU's output from the GPU, in both memories that the output may have.
  void expect_as_the_cpu(const std::string &element, const std::string &caps) const {
    SCOPED_TRACE(element);
    const std::string media = caps.substr(0, caps.find(','));
    const std::string rest = caps.substr(media.size());
    const auto cpu = outputs(element + " backend=cpu ! " + media + rest);
    ASSERT_GE(cpu.size(), static_cast<size_t>(kFrames));
    EXPECT_EQ(cpu, outputs(element + " backend=cuda ! " + media + "(memory:CUDAMemory)" + rest));
    EXPECT_EQ(cpu, outputs(element + " backend=cuda ! " + media + rest));
  }

 private:
  std::string clip_;
};

TEST_F(NvdecTest, TensorsAreTheCpus) {
  for (const char *settings :
       {"width=640 height=640 resize-mode=ultralytics mean=<0.485,0.456,0.406> "
        "std=<0.229,0.224,0.225>",
        "width=320 height=256 resize-mode=affine dtype=float16 layout=nhwc color=bgr",
        "width=301 height=173 dtype=uint8 color=gray", "width=224 height=224 color=yuv",
        "width=640 height=640 method=nearest resize-mode=top-left dtype=int8"})
    expect_as_the_cpu(std::string("cudanormalize ") + settings, "other/tensors");
}

TEST_F(NvdecTest, LetterboxesAreTheCpus) {
  for (const char *format : {"BGR", "RGBA", "RGBP", "GRAY8"})
    expect_as_the_cpu("cudaletterbox",
                      std::string("video/x-raw,width=416,height=416,format=") + format);
}

TEST_F(NvdecTest, Yuv444IsTheCpus) {
  expect_as_the_cpu("cudanv12toyuv444 resize-width=1000 resize-height=600 crop-x=31 crop-y=17",
                    "video/x-raw,width=641,height=481");
}

TEST_F(NvdecTest, HistogramsAreTheCpus) {
  const auto messages = [this](const std::string &backend) {
    Pipeline pipeline(decoded("cudahistogram name=h backend=" + backend));
    EXPECT_EQ(pipeline.run(), "") << backend;
    return pipeline.element_messages();
  };
  const auto cpu = messages("cpu"), cuda = messages("cuda");
  ASSERT_FALSE(cpu.empty());
  ASSERT_EQ(cpu.size(), cuda.size());
  for (size_t i = 0; i < cpu.size(); ++i)
    EXPECT_TRUE(gst_structure_is_equal(gst_message_get_structure(cpu[i].get()),
                                       gst_message_get_structure(cuda[i].get())))
        << "message " << i;
}

TEST_F(NvdecTest, AChainStaysOnTheGpu) {
  const std::string chain =
      "cudahistogram backend=%1 ! cudaletterbox backend=%1 resize-mode=ultralytics ! "
      "video/x-raw%2,format=RGB,width=640,height=640 ! cudanormalize backend=%1 ! "
      "other/tensors%2";
  const auto with = [&](const std::string &backend, const std::string &memory) {
    std::string text = chain;
    for (const auto &[mark, value] : {std::pair<std::string, std::string>("%1", backend),
                                      std::pair<std::string, std::string>("%2", memory)})
      for (size_t at; (at = text.find(mark)) != std::string::npos;)
        text.replace(at, mark.size(), value);
    return outputs(text);
  };
  const auto cpu = with("cpu", "");
  EXPECT_GE(cpu.size(), static_cast<size_t>(kFrames));
  EXPECT_EQ(with("cuda", "(memory:CUDAMemory)"), cpu);
}

using Cameras = std::vector<std::unique_ptr<Pipeline>>;

void expect_outputs(const Cameras &cameras, const std::map<GstClockTime, Bytes> &outputs) {
  for (const auto &camera : cameras) camera->start();
  for (const auto &camera : cameras) {
    EXPECT_EQ(camera->wait(), "");
    EXPECT_EQ(camera->outputs(), outputs);
  }
}

const std::string kCamera = "cudanormalize backend=cuda width=320 height=320 resize-mode=affine";

TEST_F(NvdecTest, FourCamerasAtOnceDoNotDisturbEachOther) {
  const auto alone = outputs(kCamera);
  Cameras cameras;
  for (int i = 0; i < 4; ++i) cameras.push_back(std::make_unique<Pipeline>(decoded(kCamera)));
  expect_outputs(cameras, alone);
}

/// Counts frames that are not in the shared context.
GstPadProbeReturn count_foreign(GstPad *, GstPadProbeInfo *info, gpointer foreign) {
  const gstcuda::Memory *memory = cuda_memory_of(GST_PAD_PROBE_INFO_BUFFER(info));
  const bool shared = memory != nullptr && memory->context == shared_context();
  if (!shared) ++*static_cast<std::atomic<int> *>(foreign);
  return GST_PAD_PROBE_OK;
}

TEST_F(NvdecTest, FourCamerasShareTheContextThatOurElementsHave) {
  const auto alone = outputs(kCamera);
  const BackendScope scope(TestBackend::cuda);
  std::atomic<int> foreign{0};
  Cameras cameras;
  for (int i = 0; i < 4; ++i) {
    cameras.push_back(std::make_unique<Pipeline>(decoded(kCamera)));
    const PadRef pad(gst_element_get_static_pad(cameras.back()->find("decoded").get(), "src"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, count_foreign, &foreign, nullptr);
  }
  expect_outputs(cameras, alone);
  EXPECT_EQ(foreign, 0);
}

}  // namespace
}  // namespace cudatensor
