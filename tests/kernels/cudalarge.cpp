// SPDX-License-Identifier: LGPL-2.1-or-later
// Offsets beyond 31 and 32 bits.
#include "cudatest.h"
#include "oracle.h"
#include "params.h"

namespace cudatensor {
namespace {

constexpr int kLargest = 32767;

class CudaLargeTest : public CudaTest {
 protected:
  void SetUp() override {
    if (!test_large()) GTEST_SKIP() << "needs 20 GB: set CUDATENSOR_TEST_LARGE to run it";
    CudaTest::SetUp();
  }

  /// Copies and waits.
  void copy(uint8_t *to, const uint8_t *from, size_t bytes) const {
    const auto row = static_cast<ptrdiff_t>(bytes);
    device().copy({to, row}, {from, row}, bytes, 1, stream());
    device().synchronize(stream());
  }

  /// Returns memory with `offset` bytes before it, which misalign it.
  std::unique_ptr<Memory> poisoned(size_t bytes, size_t offset = 0) const {
    auto memory = device().allocate(bytes + offset);
    EXPECT_EQ(cudaMemset(memory->data(), 0xa5, memory->size()), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return memory;
  }
};

/// More than 2^31 elements and 2^32 bytes, as whole vectors and as single elements.
TEST_F(CudaLargeTest, PixelShuffle) {
  const PixelShuffleParams p = {{DType::float16, Layout::nchw, 1, 4, 16400, 32800}, 2};
  const size_t bytes = p.in.bytes();
  std::vector<uint8_t> in(bytes), expected(bytes), out(bytes);
  fill_with_noise(in.data(), bytes);
  open_cpu_backend(0)->pixelshuffle(p)->run({p.in, in.data()}, {shuffled(p), expected.data()});
  for (const size_t offset : {0, 2}) {
    const auto source = device().allocate(bytes + offset), target = poisoned(bytes, offset);
    copy(source->data() + offset, in.data(), bytes);
    cuda().pixelshuffle(p)->run({p.in, source->data() + offset},
                                {shuffled(p), target->data() + offset});
    copy(out.data(), target->data() + offset, bytes);
    EXPECT_TRUE(out == expected) << offset << " bytes off";
  }
}

class CudaLargePictureTest : public CudaLargeTest {
 protected:
  /// Creates a small picture in both memories, which operations enlarge.
  void SetUp() override {
    CudaLargeTest::SetUp();
    if (IsSkipped()) return;
    picture_.resize(kWidth * kHeight * 3 / 2);
    fill_with_noise(picture_.data(), picture_.size());
    copy_ = device().allocate(picture_.size());
    copy(copy_->data(), picture_.data(), picture_.size());
  }

  static Source source() { return {{PixelFormat::NV12, kWidth, kHeight}, {}, true, false}; }
  ConstImage on_host() const { return view(picture_.data()); }
  ConstImage on_device() const { return view(copy_->data()); }

 private:
  static constexpr int kWidth = 640, kHeight = 480;

  static ConstImage view(const uint8_t *data) {
    return {source().image, {{data, kWidth}, {data + kWidth * kHeight, kWidth}, {}}};
  }

  std::vector<uint8_t> picture_;
  std::unique_ptr<Memory> copy_;
};

TEST_F(CudaLargePictureTest, Letterbox) {
  const LetterboxParams p = {source(), {PixelFormat::BGRx, kLargest, kLargest}, {}};
  constexpr ptrdiff_t kStride = 4 * kLargest + 36;
  const size_t bytes = static_cast<size_t>(kStride) * kLargest;
  std::vector<uint8_t> expected(bytes, 0xa5), out(bytes);
  open_cpu_backend(0)->letterbox(p)->run(on_host(), {p.out, {{expected.data(), kStride}}});
  const auto target = poisoned(bytes);
  cuda().letterbox(p)->run(on_device(), {p.out, {{target->data(), kStride}}});
  copy(out.data(), target->data(), bytes);
  EXPECT_TRUE(out == expected);
}

TEST_F(CudaLargePictureTest, Normalize) {
  NormalizeCase p = {};
  p.source = source();
  p.resize.mode = ResizeMode::affine;
  for (const Layout layout : kLayouts) {
    p.out = {DType::uint8, layout, 1, 3, kLargest, kLargest};
    SCOPED_TRACE(text_of(p));
    std::vector<uint8_t> expected(p.out.bytes()), out(p.out.bytes());
    normalize_picture(open_cpu_backend(0), p)->run(on_host(), {p.out, expected.data()});
    const auto target = poisoned(out.size());
    normalize_picture(cuda(), p)->run(on_device(), {p.out, target->data()});
    copy(out.data(), target->data(), out.size());
    EXPECT_TRUE(out == expected);
  }
}

/// Counts all pixels of the largest pictures, in planes of more than 2^31 and 2^32 bytes.
TEST_F(CudaLargeTest, Histogram) {
  const auto memory = device().allocate_pinned(sizeof(Bins));
  auto &bins = *reinterpret_cast<Bins *>(memory->data());
  for (const PixelFormat format : {PixelFormat::GRAY8, PixelFormat::P010_10LE, PixelFormat::ARGB}) {
    const ImageDesc desc = {format, kLargest, kLargest};
    constexpr ptrdiff_t kStride = 4 * kLargest + 3;
    const auto plane = device().allocate(static_cast<size_t>(kStride) * kLargest);
    ASSERT_EQ(cudaMemset(plane->data(), 9, plane->size()), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const uint8_t *const data = plane->data();
    cuda()
        .histogram({desc, {0, 0, kLargest, kLargest}})
        ->run({desc, {{data, kStride}, {data, kStride}, {}}}, bins);
    Bins expected = {};
    expected[format == PixelFormat::ARGB ? oracle::luminance(9, 9, 9) : 9] =
        uint64_t{kLargest} * kLargest;
    EXPECT_EQ(bins, expected) << text_of(desc);
  }
}

}  // namespace
}  // namespace cudatensor
