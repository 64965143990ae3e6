// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/pixelshuffle.h"

#include <cmath>
#include <limits>

#include "backends.h"
#include "oracle.h"
#include "params.h"
#include "refusal.h"

namespace cudatensor {
namespace {

const std::vector<DType> kShuffledTypes = {DType::float32, DType::float16, DType::uint8};
const std::vector<PixelFormat> kColorFormats = {PixelFormat::RGB, PixelFormat::BGR,
                                                PixelFormat::RGBP};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class PixelShuffleTest : public KernelTest {
 protected:
  void expect_as_the_oracle(Random &random, const PixelShuffleParams &p) const {
    SCOPED_TRACE(text_of(p));
    InputTensor other(random, p.in), in(random, p.in);
    if (random.chance(50)) in.fill_with_noise(random);
    OutputTensor out(random, shape_of(p));
    oracle::pixelshuffle(p, in.view(), out.expected());
    expect_all([&](const Machine &machine) { return machine->pixelshuffle(p); }, other, in, out);
  }

  void expect_as_the_oracle(Random &random, const PixelShuffleToVideoParams &p) const {
    SCOPED_TRACE(text_of(p));
    InputTensor other(random, p.in), in(random, p.in);
    if (random.chance(50)) in.sprinkle(random);
    OutputPicture out(random, p.out);
    oracle::pixelshuffle(p, in.view(), out.expected());
    expect_all([&](const Machine &machine) { return machine->pixelshuffle(p); }, other, in, out);
  }

  static TensorDesc shape_of(const PixelShuffleParams &p) {
    const int64_t r = p.factor;
    return {p.in.dtype, Layout::nchw, p.in.n, p.in.c / (r * r), p.in.h * r, p.in.w * r};
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(PixelShuffleTest);

PixelShuffleParams tensor_params(DType type, int64_t n, int64_t c, int64_t h, int64_t w, int r) {
  return {{type, Layout::nchw, n, c * r * r, h, w}, r};
}

PixelShuffleToVideoParams video_params(DType type, PixelFormat format, int h, int w, int r) {
  const int c = format == PixelFormat::GRAY8 ? 1 : 3;
  return {{type, Layout::nchw, 1, c * r * r, h, w}, r, {format, w * r, h * r}, 0.0, 0.0};
}

/// Returns a factor, which is large for small tensors only.
int random_factor(Random &random, Size size) {
  return random.integer(1, size.width * size.height > 200 ? 2 : 6);
}

TEST_P(PixelShuffleTest, RandomTensors) {
  for_cases(1000, [&](Random &random) {
    const Size size = random_size(random);
    expect_as_the_oracle(random, tensor_params(random.pick(kShuffledTypes), random.integer(1, 3),
                                               random.integer(1, 4), size.height, size.width,
                                               random_factor(random, size)));
  });
}

TEST_P(PixelShuffleTest, EveryTypeAndFactor) {
  uint64_t number = 0;
  for (const DType type : kShuffledTypes)
    for (int r = 1; r <= 9; ++r)
      for (int w = 1; w <= 20; ++w) {
        Random random(number++);
        SCOPED_TRACE(random.name());
        expect_as_the_oracle(random, tensor_params(type, 1, 2, 3, w, r));
        if (HasFailure()) return;
      }
}

/// Rows begin on vectors or between them, and have all lengths.
TEST_P(PixelShuffleTest, EveryAlignment) {
  uint64_t number = 0;
  for (const DType type : kShuffledTypes)
    for (int r = 1; r <= 8; ++r)
      for (const int w : {1, 2, 4, 8, 12, 15, 16, 17, 24, 32, 48, 64, 160, 272})
        for (const auto &[in_offset, out_offset] :
             {std::pair<size_t, size_t>{0, 0}, {0, 4}, {4, 0}, {8, 8}, {16, 48}}) {
          Random random(number++);
          const PixelShuffleParams p = tensor_params(type, 1, 2, 2, w, r);
          SCOPED_TRACE(random.name() + " " + text_of(p));
          InputTensor in(random, p.in, in_offset);
          in.fill_with_noise(random);
          OutputTensor out(random, shape_of(p), out_offset);
          oracle::pixelshuffle(p, in.view(), out.expected());
          const Machine &machine = any(random);
          expect_one(machine, *machine->pixelshuffle(p), in, out);
          if (HasFailure()) return;
        }
}

TEST_P(PixelShuffleTest, ManyPlanesAndLines) {
  Random random(0);
  SCOPED_TRACE(random.name());
  expect_as_the_oracle(random, tensor_params(DType::uint8, 70001, 1, 1, 16, 2));
  expect_as_the_oracle(random, tensor_params(DType::float16, 1, 65537, 2, 3, 1));
  expect_as_the_oracle(random, tensor_params(DType::uint8, 1, 1, 300001, 4, 2));
  expect_as_the_oracle(random, tensor_params(DType::uint8, 1, 1, 70001, 33, 1));
}

TEST_P(PixelShuffleTest, FollowsTheDefinition) {
  // (1, 4, 1, 1) with r = 2: channels become the pixels of a 2 × 2 block, row by row.
  Random random(0);
  const PixelShuffleParams p = tensor_params(DType::float32, 1, 1, 1, 1, 2);
  const InputTensor in(random, p.in);
  OutputTensor out(random, shape_of(p));
  machine().run(*machine()->pixelshuffle(p), in, out);
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(oracle::element(constant(out.view()), i), oracle::element(in.view(), i));
}

TEST_P(PixelShuffleTest, RandomVideo) {
  for_cases(1000, [&](Random &random) {
    const Size size = random_size(random);
    const PixelFormat format = random.chance(30) ? PixelFormat::GRAY8 : random.pick(kColorFormats);
    PixelShuffleToVideoParams p = video_params(random.pick(kShuffledTypes), format, size.height,
                                               size.width, random_factor(random, size));
    if (random.chance(60)) {
      p.scale = random.real(-300.0, 300.0);
      p.offset = random.real(-200.0, 400.0);
    }
    expect_as_the_oracle(random, p);
  });
}

TEST_P(PixelShuffleTest, EveryTypeFormatAndFactorToVideo) {
  uint64_t number = 0;
  for (const DType type : kShuffledTypes)
    for (const PixelFormat format :
         {PixelFormat::RGB, PixelFormat::BGR, PixelFormat::RGBP, PixelFormat::GRAY8})
      for (int r = 1; r <= 5; ++r)
        for (int w = 1; w <= 12; ++w) {
          Random random(number++);
          SCOPED_TRACE(random.name());
          expect_as_the_oracle(random, video_params(type, format, 3, w, r));
          if (HasFailure()) return;
        }
}

TEST_P(PixelShuffleTest, VideoFrames) {
  Random random(0);
  SCOPED_TRACE(random.name());
  expect_as_the_oracle(random, video_params(DType::float16, PixelFormat::RGB, 540, 960, 2));
  for (const DType type : kShuffledTypes)
    expect_as_the_oracle(random, tensor_params(type, 1, 1, 540, 960, 2));
  expect_as_the_oracle(random, video_params(DType::float32, PixelFormat::BGR, 1, 32767, 1));
  expect_as_the_oracle(random, video_params(DType::float16, PixelFormat::RGBP, 16383, 1, 2));
}

/// Returns the sample for a tensor that holds one value.
uint8_t sample_of(Random &random, const Machine &machine, float value, double scale,
                  double offset) {
  PixelShuffleToVideoParams p = video_params(DType::float32, PixelFormat::GRAY8, 1, 1, 1);
  p.scale = scale;
  p.offset = offset;
  InputTensor in(random, p.in);
  in.set(value);
  OutputPicture out(random, p.out);
  machine.run(*machine->pixelshuffle(p), in, out);
  return *oracle::address(out.view(), 'Y', 0, 0);
}

TEST_P(PixelShuffleTest, ElementsBecomeSamples) {
  Random random(0);
  const auto sample = [&](float value, double scale = 0.0, double offset = 0.0) {
    return static_cast<int>(sample_of(random, machine(), value, scale, offset));
  };
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(sample(0.0f), 0);
  EXPECT_EQ(sample(1.0f), 255);
  EXPECT_EQ(sample(0.5f), 128);  // 127.5 rounds up
  EXPECT_EQ(sample(-0.1f), 0);
  EXPECT_EQ(sample(1.1f), 255);
  EXPECT_EQ(sample(infinity), 255);
  EXPECT_EQ(sample(-infinity), 0);
  EXPECT_EQ(sample(std::nanf("")), 0);
  EXPECT_EQ(sample(-std::nanf("")), 0);
  EXPECT_EQ(sample(std::nanf(""), 1.0, 200.0), 0);
  EXPECT_EQ(sample(100.0f, 1.0, 20.5), 121);
  EXPECT_EQ(sample(infinity, -1.0), 0);
  EXPECT_EQ(sample(infinity, 1e-60), 0);  // 0 · infinity in float32 is NaN
  EXPECT_EQ(sample(3e38f, 3e38), 255);
}

TEST_P(PixelShuffleTest, NothingButInputAndOutputForHugeTensors) {
  if (!test_large()) GTEST_SKIP() << "needs 3 GB or more: set CUDATENSOR_TEST_LARGE to run it";
  Random random(0);
  SCOPED_TRACE(random.name());
  expect_as_the_oracle(random,
                       PixelShuffleParams{{DType::float16, Layout::nchw, 1, 256, 1088, 1920}, 2});
  expect_as_the_oracle(random,
                       PixelShuffleParams{{DType::uint8, Layout::nchw, 1, 9, 16000, 16000}, 3});
}

// ------------------------------------------------------------------------------------ refusals

TEST_P(PixelShuffleTest, RefusesTensorsThatCannotBeShuffled) {
  const auto refused = [&](const char *cause, auto change) {
    PixelShuffleParams p = tensor_params(DType::float32, 2, 3, 4, 5, 2);
    change(p);
    SCOPED_TRACE(text_of(p));
    expect_refusal(Error::Code::settings, cause, [&] { machine()->pixelshuffle(p); });
  };
  refused("uint8", [](auto &p) { p.in.dtype = DType::int8; });
  refused("NCHW", [](auto &p) { p.in.layout = Layout::nhwc; });
  refused("channels", [](auto &p) { p.in.c = 11; });
  refused("channels", [](auto &p) { p.in.c = 3; });
  refused("channels", [](auto &p) { p.factor = 2147483647; });
  refused("upscale-factor", [](auto &p) { p.factor = 5; });
  refused("upscale-factor", [](auto &p) { p.factor = 0; });
  refused("upscale-factor", [](auto &p) { p.factor = -2; });
  refused("at least 1", [](auto &p) { p.in.n = 0; });
  refused("at least 1", [](auto &p) { p.in.c = 0; });
  refused("at least 1", [](auto &p) { p.in.h = 0; });
  refused("at least 1", [](auto &p) { p.in.w = -1; });
}

/// Each side fits, but there are more elements than can be counted.
TEST_P(PixelShuffleTest, RefusesTensorsBeyondAllMemory) {
  for (const TensorDesc in :
       {TensorDesc{DType::float32, Layout::nchw, 1, 4, int64_t{1} << 62, 1},
        TensorDesc{DType::float32, Layout::nchw, 1, 4, int64_t{1} << 32, int64_t{1} << 30},
        TensorDesc{DType::uint8, Layout::nchw, int64_t{1} << 31, 4, int64_t{1} << 31, 1},
        TensorDesc{DType::float32, Layout::nchw, int64_t{1} << 40, 4, int64_t{1} << 40, 1}}) {
    const PixelShuffleParams p = {in, 2};
    SCOPED_TRACE(text_of(p));
    EXPECT_THROW(machine()->pixelshuffle(p), Error);
  }
}

TEST_P(PixelShuffleTest, RefusesPicturesThatTheTensorIsNot) {
  const auto refused = [&](const char *cause, auto change) {
    PixelShuffleToVideoParams p = video_params(DType::float32, PixelFormat::RGB, 4, 5, 2);
    change(p);
    SCOPED_TRACE(text_of(p));
    expect_refusal(Error::Code::settings, cause, [&] { machine()->pixelshuffle(p); });
  };
  refused("picture", [](auto &p) { p.in.n = 2; });
  refused("picture", [](auto &p) { p.in.c = 4; });
  refused("picture", [](auto &p) { p.in.c = 16; });
  refused("10x9", [](auto &p) { p.out.height = 9; });
  refused("9x8", [](auto &p) { p.out.width = 9; });
  refused("0x8", [](auto &p) { p.out.width = 0; });
  refused("channels", [](auto &p) { p.in.c = 13; });
  refused("upscale-factor", [](auto &p) { p.factor = 0; });
  refused("scale", [](auto &p) { p.scale = std::nan(""); });
  refused("scale", [](auto &p) { p.scale = kInfinity; });
  refused("scale", [](auto &p) { p.scale = 1e39; });
  refused("offset", [](auto &p) { p.offset = std::nan(""); });
  refused("offset", [](auto &p) { p.offset = -1e39; });
  for (const PixelFormat format : kAllFormats) {
    const bool possible =
        format == PixelFormat::RGB || format == PixelFormat::BGR || format == PixelFormat::RGBP;
    if (!possible) refused(oracle::format_of(format).name, [&](auto &p) { p.out.format = format; });
  }
  refused("RGB", [](auto &p) { p.in.c = 4; });  // one channel is grey
}

TEST_P(PixelShuffleTest, RefusesPicturesBeyondTheLargestSize) {
  expect_refusal(Error::Code::settings, "32768x1", [&] {
    machine()->pixelshuffle(video_params(DType::uint8, PixelFormat::GRAY8, 1, 32768, 1));
  });
  // Only the lower half of the width would fit.
  PixelShuffleToVideoParams p = video_params(DType::uint8, PixelFormat::GRAY8, 1, 8, 1);
  p.in.w += int64_t{1} << 32;
  expect_refusal(Error::Code::settings, "4294967304", [&] { machine()->pixelshuffle(p); });
}

}  // namespace
}  // namespace cudatensor
