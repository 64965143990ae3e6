// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend equals the CPU backend byte for byte, at sizes that fill more than one block of
// threads and on paths that only large tensors take.
#include <algorithm>
#include <cstdint>

#include "cudatest.h"
#include "kernels/fault.h"
#include "params.h"

namespace cudatensor {
namespace {

/// Returns a size of up to several blocks of threads along both axes, often a whole number of
/// blocks.
Size medium_size(Random &random) {
  if (random.chance(30)) return random_size(random);
  const auto length = [&](int most) {
    const int n = random.integer(1, most);
    return random.chance(30) ? (n + 31) / 32 * 32 : n;
  };
  const int width = length(500), height = length(300);
  return {width, height};
}

class CudaEqualsCpuTest : public CudaAndCpuTest {};

TEST_F(CudaEqualsCpuTest, Normalize) {
  for_cases(2000, [&](Random &random) {
    const PixelFormat from = random.pick(kSourceFormats);
    const Color color = random.pick(kColors);
    const Size in_size = medium_size(random), size = medium_size(random);
    const NormalizeCase p = random_normalize(
        random, from, is_possible(from, color) ? color : Color::bgr, in_size, size);
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.source.image, random.pick(kAllContents));
    OutputTensor out(random, p.out);
    expect_same(
        random, [&](const Machine &m) { return normalize_picture(m, p); }, in, out);
  });
}

TEST_F(CudaEqualsCpuTest, Letterbox) {
  for_cases(2000, [&](Random &random) {
    const Size in_size = medium_size(random), size = medium_size(random);
    const LetterboxParams p = {random_source(random, random.pick(kSourceFormats), in_size),
                               {random.pick(kLetterboxFormats), size.width, size.height},
                               random_resize(random)};
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.source.image, random.pick(kAllContents));
    OutputPicture out(random, p.out);
    expect_same(
        random, [&](const Machine &m) { return m->letterbox(p); }, in, out);
  });
}

TEST_F(CudaEqualsCpuTest, Yuv444) {
  for_cases(2000, [&](Random &random) {
    const Size size = medium_size(random);
    const Size resized = random.chance(20) ? size : medium_size(random);
    const Rect crop = random_rect(random, resized.width, resized.height);
    const Yuv444Params p = {{random.pick(kYuvFormats), size.width, size.height},
                            {PixelFormat::Y444, crop.width, crop.height},
                            resized.width,
                            resized.height,
                            crop.x,
                            crop.y};
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.in, random.pick(kAllContents));
    OutputPicture out(random, p.out);
    expect_same(
        random, [&](const Machine &m) { return m->yuv444(p); }, in, out);
  });
}

TEST_F(CudaEqualsCpuTest, Histogram) {
  for_cases(2000, [&](Random &random) {
    const Size size = medium_size(random);
    const HistogramParams p = {{random.pick(kAllFormats), size.width, size.height},
                               random_rect(random, size.width, size.height)};
    SCOPED_TRACE(text_of(p));
    const InputPicture in(random, p.in, random.pick(kAllContents));
    const Machine &machine = any_cuda(random);
    Bins bins = {}, expected = {};
    cpu().count(*cpu()->histogram(p), in, expected);
    machine.count(*machine->histogram(p), in, bins);
    EXPECT_EQ(bins, expected) << machine.name();
  });
}

const std::vector<DType> kShuffledTypes = {DType::float32, DType::float16, DType::uint8};

/// Returns a shuffle with a factor up to 8, and about the same number of elements for every factor.
PixelShuffleParams random_shuffle(Random &random, int n, int c) {
  const int r = random.integer(1, 8);
  Size size = medium_size(random);
  if (random.chance(50)) size.width = (size.width + 15) / 16 * 16;
  const int64_t height = 1 + size.height / (r * r);
  return {{random.pick(kShuffledTypes), Layout::nchw, n, int64_t{c} * r * r, height, size.width},
          r};
}

TEST_F(CudaEqualsCpuTest, PixelShuffle) {
  for_cases(2000, [&](Random &random) {
    const PixelShuffleParams p = random_shuffle(random, random.integer(1, 2), random.integer(1, 2));
    SCOPED_TRACE(text_of(p));
    InputTensor in(random, p.in);
    in.fill_with_noise(random);
    OutputTensor out(random, shuffled(p));
    expect_same(
        random, [&](const Machine &m) { return m->pixelshuffle(p); }, in, out);
  });
}

TEST_F(CudaEqualsCpuTest, PixelShuffleToVideo) {
  const std::vector<PixelFormat> formats = {PixelFormat::RGB, PixelFormat::BGR, PixelFormat::RGBP,
                                            PixelFormat::GRAY8};
  for_cases(2000, [&](Random &random) {
    const PixelFormat format = random.pick(formats);
    const PixelShuffleParams tensor =
        random_shuffle(random, 1, format == PixelFormat::GRAY8 ? 1 : 3);
    const TensorDesc shape = shuffled(tensor);
    const PixelShuffleToVideoParams p = {
        tensor.in,
        tensor.factor,
        {format, static_cast<int>(shape.w), static_cast<int>(shape.h)},
        random.chance(50) ? 0.0 : random.real(-300.0, 300.0),
        random.chance(50) ? 0.0 : random.real(-200.0, 400.0)};
    SCOPED_TRACE(text_of(p));
    InputTensor in(random, p.in);
    if (random.chance(50)) in.sprinkle(random);
    OutputPicture out(random, p.out);
    expect_same(
        random, [&](const Machine &m) { return m->pixelshuffle(p); }, in, out);
  });
}

// --------------------------------------------------------------------------- every kernel once

/// Tests each kernel at the edges of blocks of threads, with memory that ends with the picture. The
/// cases are few enough for compute-sanitizer.
class CudaEdgesTest : public CudaAndCpuTest {
 protected:
  static Size odd_size(Random &random) {
    const int width = random.integer(1, 75), height = random.integer(1, 21);
    return {width, height};
  }

  void expect_normalized(uint64_t number, PixelFormat from, Color color, Method method,
                         DType type) const {
    Random random(number);
    const Size in_size = odd_size(random), size = odd_size(random);
    NormalizeCase p = random_normalize(random, from, color, in_size, size);
    p.resize.method = method;
    p.out.dtype = type;
    if (random.chance(50)) p.resize.mode = ResizeMode::stretch;
    SCOPED_TRACE(random.name() + " " + text_of(p));
    const InputPicture in(random, p.source.image);
    OutputTensor out(random, p.out);
    expect_same(
        random, [&](const Machine &m) { return normalize_picture(m, p); }, in, out);
  }

  void expect_boxed(uint64_t number, PixelFormat from, PixelFormat to, Method method) const {
    Random random(number);
    const Size in_size = odd_size(random), size = odd_size(random);
    LetterboxParams p = {
        random_source(random, from, in_size), {to, size.width, size.height}, random_resize(random)};
    p.resize.method = method;
    SCOPED_TRACE(random.name() + " " + text_of(p));
    const InputPicture in(random, p.source.image);
    OutputPicture out(random, p.out);
    expect_same(
        random, [&](const Machine &m) { return m->letterbox(p); }, in, out);
  }
};

TEST_F(CudaEdgesTest, Normalize) {
  uint64_t number = 0;
  for (const PixelFormat from : kSourceFormats)
    for (const Color color : kColors)
      for (const Method method : kMethods)
        for (const DType type : kTypes)
          if (is_possible(from, color)) expect_normalized(number++, from, color, method, type);
}

TEST_F(CudaEdgesTest, Letterbox) {
  uint64_t number = 0;
  for (const PixelFormat from : kSourceFormats)
    for (const PixelFormat to :
         {PixelFormat::RGB, PixelFormat::xBGR, PixelFormat::BGRP, PixelFormat::GRAY8})
      for (const Method method : kMethods) expect_boxed(number++, from, to, method);
}

TEST_F(CudaEdgesTest, Yuv444) {
  for (const PixelFormat from : kYuvFormats)
    for_cases(10, [&](Random &random) {
      const Size size = odd_size(random), resized = odd_size(random);
      const Yuv444Params p = {{from, size.width, size.height},
                              {PixelFormat::Y444, resized.width, resized.height},
                              resized.width,
                              resized.height,
                              0,
                              0};
      const InputPicture in(random, p.in);
      OutputPicture out(random, p.out);
      expect_same(
          random, [&](const Machine &m) { return m->yuv444(p); }, in, out);
    });
}

TEST_F(CudaEdgesTest, Histogram) {
  for (const PixelFormat format : kAllFormats)
    for_cases(10, [&](Random &random) {
      const Size size = odd_size(random);
      const HistogramParams p = {{format, size.width, size.height},
                                 random_rect(random, size.width, size.height)};
      const InputPicture in(random, p.in);
      const Machine &machine = any_cuda(random);
      const auto operation = machine->histogram(p);
      Bins expected = {};
      cpu().count(*cpu()->histogram(p), in, expected);
      for (int frame = 0; frame < 2; ++frame) {
        Bins bins = {};
        machine.count(*operation, in, bins);
        EXPECT_EQ(bins, expected) << text_of(p);
      }
    });
}

TEST_F(CudaEdgesTest, PixelShuffle) {
  uint64_t number = 0;
  for (const DType type : kShuffledTypes)
    for (int r = 1; r <= 5; ++r)
      for (const int w : {1, 7, 16, 48, 272})
        for (const size_t offset : {size_t{0}, size_t{4}}) {
          Random random(number++);
          const PixelShuffleParams p = {{type, Layout::nchw, 1, 2 * r * r, 3, w}, r};
          SCOPED_TRACE(random.name() + " " + text_of(p));
          InputTensor in(random, p.in, offset);
          in.fill_with_noise(random);
          OutputTensor out(random, shuffled(p), offset);
          expect_same(
              random, [&](const Machine &m) { return m->pixelshuffle(p); }, in, out);
        }
}

TEST_F(CudaEdgesTest, PixelShuffleToVideo) {
  uint64_t number = 0;
  for (const DType type : kShuffledTypes)
    for (const PixelFormat format :
         {PixelFormat::RGB, PixelFormat::BGR, PixelFormat::RGBP, PixelFormat::GRAY8})
      for (int r = 1; r <= 4; ++r) {
        Random random(number++);
        const int c = format == PixelFormat::GRAY8 ? 1 : 3;
        const PixelShuffleToVideoParams p = {
            {type, Layout::nchw, 1, c * r * r, 5, 17}, r, {format, 17 * r, 5 * r}, 0.0, 0.0};
        SCOPED_TRACE(random.name() + " " + text_of(p));
        InputTensor in(random, p.in);
        in.sprinkle(random);
        OutputPicture out(random, p.out);
        expect_same(
            random, [&](const Machine &m) { return m->pixelshuffle(p); }, in, out);
      }
}

// --------------------------------------------------------------------- more than a grid is long

class CudaGridTest : public CudaAndCpuTest {
 protected:
  void expect_shuffled(const PixelShuffleParams &p, size_t offset) const {
    Random random(offset);
    SCOPED_TRACE(text_of(p) + ", " + std::to_string(offset) + " bytes off");
    InputTensor in(random, p.in, offset);
    in.fill_with_noise(random);
    OutputTensor out(random, shuffled(p), offset);
    expect_same(
        random, [&](const Machine &m) { return m->pixelshuffle(p); }, in, out);
  }
};

/// A grid has at most 65535 blocks along y and z, and a block of threads has 1 to 8 lines here.
TEST_F(CudaGridTest, LinesOfAPixelShuffle) {
  for (const size_t offset : {size_t{0}, size_t{4}}) {
    expect_shuffled({{DType::float32, Layout::nchw, 1, 4, 33000, 260}, 2}, offset);
    expect_shuffled({{DType::uint8, Layout::nchw, 1, 16, 17000, 1024}, 4}, offset);
    expect_shuffled({{DType::float16, Layout::nchw, 1, 1, 600001, 8}, 1}, offset);
    expect_shuffled({{DType::uint8, Layout::nchw, 2, 25, 120001, 3}, 5}, offset);
  }
}

TEST_F(CudaGridTest, PlanesOfAPixelShuffle) {
  for (const size_t offset : {size_t{0}, size_t{4}}) {
    expect_shuffled({{DType::uint8, Layout::nchw, 70001, 4, 2, 16}, 2}, offset);
    expect_shuffled({{DType::float16, Layout::nchw, 1, 4 * 131075, 1, 4}, 2}, offset);
    expect_shuffled({{DType::float32, Layout::nchw, 300, 9 * 300, 2, 3}, 3}, offset);
    expect_shuffled({{DType::uint8, Layout::nchw, 65536, 1, 3, 5}, 1}, offset);
  }
}

TEST_F(CudaGridTest, ColumnsOfAPixelShuffle) {
  for (const size_t offset : {size_t{0}, size_t{4}}) {
    expect_shuffled({{DType::uint8, Layout::nchw, 1, 4, 1, 20000000}, 2}, offset);
    expect_shuffled({{DType::uint8, Layout::nchw, 1, 1, 1, 50000001}, 1}, offset);
  }
}

TEST_F(CudaGridTest, LargestPictures) {
  const std::pair<Size, Size> sizes[] = {{{61, 47}, {32767, 3}},
                                         {{61, 47}, {3, 32767}},
                                         {{32767, 5}, {333, 47}},
                                         {{5, 32767}, {333, 47}}};
  uint64_t number = 0;
  for (const auto &[from, to] : sizes)
    for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::BGRx, PixelFormat::GRAY8}) {
      Random random(number++);
      const NormalizeCase p = random_normalize(random, format, Color::rgb, from, to);
      SCOPED_TRACE(text_of(p));
      const InputPicture in(random, p.source.image);
      OutputTensor out(random, p.out);
      expect_same(
          random, [&](const Machine &m) { return normalize_picture(m, p); }, in, out);
    }
}

// ------------------------------------------------------------------------------ device's memory

class CudaMemoryTest : public CudaTest {
 protected:
  /// Returns the least free memory until `event` has passed.
  static size_t least_free_until(const Event &event) {
    size_t least = SIZE_MAX, free = 0, total = 0;
    do {
      EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
      least = std::min(least, free);
    } while (!event.passed());
    return least;
  }

  void upload(const Memory &to, const std::vector<uint8_t> &from) const {
    copy({to.data(), 0}, {from.data(), 0}, from.size());
  }
  std::vector<uint8_t> download(const Memory &from) const {
    std::vector<uint8_t> bytes(from.size());
    copy({bytes.data(), 0}, {from.data(), 0}, bytes.size());
    return bytes;
  }

 private:
  void copy(Rows<uint8_t> to, Rows<const uint8_t> from, size_t bytes) const {
    to.stride = from.stride = static_cast<ptrdiff_t>(bytes);
    device().copy(to, from, bytes, 1, stream());
    device().synchronize(stream());
  }
};

/// Runs a kernel once, because its first launch loads its code.
void run_once(Backend &backend, Stream stream, const PixelShuffleParams &p) {
  Device &device = *backend.device();
  const auto in = device.allocate(p.in.bytes()), out = device.allocate(p.in.bytes());
  EXPECT_EQ(cudaMemset(in->data(), 0, in->size()), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  backend.pixelshuffle(p)->run({p.in, in->data()}, {shuffled(p), out->data()}, stream);
  device.synchronize(stream);
}

TEST_F(CudaMemoryTest, APixelShuffleTakesNoneBesideItsTensors) {
  const PixelShuffleParams p = {{DType::float16, Layout::nchw, 1, 256, 1088, 1920}, 2};
  const TensorDesc shape = shuffled(p);
  run_once(cuda(), stream(), {{DType::float16, Layout::nchw, 1, 4, 8, 64}, 2});
  const auto event = device().make_event();
  const auto in = device().allocate(p.in.bytes()), out = device().allocate(p.in.bytes());
  std::vector<uint8_t> elements(p.in.bytes()), expected(p.in.bytes());
  fill_with_noise(elements.data(), elements.size());
  upload(*in, elements);
  ASSERT_EQ(cudaMemset(out->data(), 0xa5, out->size()), cudaSuccess);
  const size_t before = free_device_memory();

  disarm();  // restarts the count
  const auto operation = cuda().pixelshuffle(p);
  operation->run({p.in, in->data()}, {shape, out->data()}, stream());
  EXPECT_EQ(call_count(), 1);
  event->record(stream());
  EXPECT_TRUE(is_free_again(before, least_free_until(*event)));
  EXPECT_TRUE(is_free_again(before));

  const auto cpu = open_cpu_backend(0);
  cpu->pixelshuffle(p)->run({p.in, elements.data()}, {shape, expected.data()});
  EXPECT_TRUE(download(*out) == expected);
}

TEST_F(CudaMemoryTest, ReturnsWithTheOperations) {
  Random random(0);
  const LetterboxParams p = {
      random_source(random, PixelFormat::NV12, {640, 480}), {PixelFormat::RGB, 32767, 3}, {}};
  cuda().letterbox(p);
  const size_t before = free_device_memory();
  for (int i = 0; i < 500; ++i) cuda().letterbox(p);
  EXPECT_TRUE(is_free_again(before));
}

}  // namespace
}  // namespace cudatensor
