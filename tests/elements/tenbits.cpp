// SPDX-License-Identifier: LGPL-2.1-or-later
// All ten bits of decoded video reach the tensor. media/ramp.sh makes the clip.
#include <algorithm>
#include <cstring>
#include <set>

#include "gpu.h"
#include "kernels/tensor.h"
#include "pipeline.h"

namespace cudatensor {
namespace {

constexpr int kWidth = 960, kHeight = 160;
constexpr size_t kFrames = 20;

/// Returns the luma of column x, scaled to eight bits.
float luma_at(int x) { return static_cast<float>(std::min(64 + x, 940)) / 4.0f; }

/// Returns Y, U and V of the clip as in the tensor.
Bytes ramp() {
  std::vector<Half> elements;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) elements.push_back(to_half(luma_at(x)));
  elements.resize(3 * elements.size(), to_half(128.0f));
  Bytes bytes(elements.size() * sizeof(Half));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

void expect_ramp(const std::string &decoder, const std::string &format, const std::string &backend,
                 const std::string &memory) {
  const gchar *clip = g_getenv("CUDATENSOR_TEST_RAMP");
  if (clip == nullptr) GTEST_SKIP() << "CUDATENSOR_TEST_RAMP is not set";
  for (const std::string &factory : {decoder, std::string("h265parse")}) {
    const ElementRef element(gst_element_factory_make(factory.c_str(), nullptr));
    if (element == nullptr) GTEST_SKIP() << factory << " is not installed";
  }
  Pipeline pipeline("filesrc location=" + std::string(clip) + " ! h265parse ! " + decoder +
                    " ! video/x-raw" + memory + ",format=" + format + " ! cudanormalize backend=" +
                    backend + " color=yuv dtype=float16 scale=1 ! other/tensors" + memory +
                    " ! fakesink name=out sync=false");
  EXPECT_EQ(pipeline.run(), "");
  const auto outputs = pipeline.outputs();
  EXPECT_EQ(outputs.size(), kFrames);
  const Bytes expected = ramp();
  for (const auto &[time, tensor] : outputs) EXPECT_TRUE(same_bytes(tensor, expected)) << time;
}

TEST(TenBits, ClipHasMoreLevelsThanEightBitsHold) {
  std::set<uint16_t> levels;
  for (int x = 0; x < kWidth; ++x) levels.insert(to_half(luma_at(x)).bits);
  EXPECT_EQ(levels.size(), 877u);
}

TEST(TenBits, ReachTheTensorFromLibavcodec) { expect_ramp("avdec_h265", "I420_10LE", "cpu", ""); }

class TenBitsOnTheGpu : public GpuTest {
 protected:
  TenBitsOnTheGpu() : GpuTest(true) {}
};

TEST_F(TenBitsOnTheGpu, ReachTheTensorFromNvdec) {
  expect_ramp("nvh265dec", "P010_10LE", "cuda", "(memory:CUDAMemory)");
}

TEST_F(TenBitsOnTheGpu, ReachTheTensorThroughTheHost) {
  expect_ramp("nvh265dec", "P010_10LE", "cuda", "");
}

}  // namespace
}  // namespace cudatensor
