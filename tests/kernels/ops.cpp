// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/ops.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "backends.h"
#include "oracle.h"
#include "params.h"
#include "refusal.h"

namespace cudatensor {
namespace {

class OpsTest : public KernelTest {};

CUDATENSOR_FOR_EVERY_BACKEND(OpsTest);

template <class View, class Desc>
void expect_view_refused(const std::string &cause, const View &view, const Desc &expected,
                         Error::Code code = Error::Code::input) {
  expect_refusal(code, cause, [&] { check_view(view, expected); });
}

// --------------------------------------------------------------------------------------- views

TEST(CheckView, TakesEveryPictureThatIsRight) {
  for_cases(300, [](Random &random) {
    const Size size = random_size(random);
    const ImageDesc desc = {random.pick(kAllFormats), size.width, size.height};
    SCOPED_TRACE(text_of(desc));
    const InputPicture in(random, desc);
    OutputPicture out(random, desc);
    EXPECT_NO_THROW(check_view(in.view(), desc));
    EXPECT_NO_THROW(check_view(out.view(), desc));
  });
}

TEST(CheckView, RefusesAnotherPicture) {
  Random random(0);
  const ImageDesc desc = {PixelFormat::NV12, 64, 48};
  const InputPicture in(random, desc);
  OutputPicture out(random, desc);
  for (const ImageDesc &other : {ImageDesc{PixelFormat::NV21, 64, 48},
                                 {PixelFormat::NV12, 63, 48},
                                 {PixelFormat::NV12, 64, 49}}) {
    expect_view_refused(text_of(other), in.view(), other);
    expect_view_refused("NV12 64x48", in.view(), other);
    expect_view_refused(text_of(other), out.view(), other);
  }
}

TEST(CheckView, RefusesAPlaneWithoutMemory) {
  for (const PixelFormat format : kAllFormats) {
    Random random(0);
    const ImageDesc desc = {format, 17, 9};
    const InputPicture in(random, desc);
    for (size_t plane = 0; plane < oracle::format_of(format).planes.size(); ++plane) {
      ConstImage view = in.view();
      view.planes[plane].data = nullptr;
      expect_view_refused("no memory", view, desc);
    }
  }
}

TEST(CheckView, RefusesAStrideShorterThanARow) {
  for (const PixelFormat format : kAllFormats) {
    Random random(0);
    const ImageDesc desc = {format, 17, 9};
    SCOPED_TRACE(text_of(desc));
    const InputPicture in(random, desc);
    for (size_t plane = 0; plane < oracle::format_of(format).planes.size(); ++plane) {
      const auto row =
          static_cast<ptrdiff_t>(oracle::plane_size(desc, static_cast<int>(plane)).row_bytes);
      ConstImage view = in.view();
      for (const ptrdiff_t stride : {row, -row}) {
        view.planes[plane].stride = stride;
        EXPECT_NO_THROW(check_view(view, desc));
      }
      for (const ptrdiff_t stride : {row - 1, ptrdiff_t{0}, 1 - row}) {
        view.planes[plane].stride = stride;
        expect_view_refused("stride", view, desc);
      }
    }
  }
}

TEST(CheckView, RefusesAnotherTensor) {
  Random random(0);
  const TensorDesc desc = {DType::float16, Layout::nchw, 2, 3, 4, 5};
  const InputTensor in(random, desc);
  EXPECT_NO_THROW(check_view(in.view(), desc));
  const auto refused = [&](auto change) {
    TensorDesc other = desc;
    change(other);
    expect_view_refused("shape", in.view(), other);
  };
  refused([](auto &d) { d.dtype = DType::float32; });
  refused([](auto &d) { d.dtype = DType::uint8; });
  refused([](auto &d) { d.layout = Layout::nhwc; });
  refused([](auto &d) { d.n = 1; });
  refused([](auto &d) { d.c = 4; });
  refused([](auto &d) { d.h = 5; });
  refused([](auto &d) { d.w = 4; });
}

TEST(CheckView, RefusesATensorWithoutMemoryOrAlignment) {
  for (const DType type : kTypes) {
    const TensorDesc desc = {type, Layout::nchw, 1, 1, 2, 2};
    alignas(8) uint8_t memory[32] = {};
    expect_view_refused("no memory", Tensor{desc, nullptr}, desc);
    expect_view_refused("no memory", ConstTensor{desc, nullptr}, desc);
    EXPECT_NO_THROW(check_view(Tensor{desc, memory + size_of(type)}, desc));
    for (size_t offset = 1; offset < size_of(type); ++offset) {
      expect_view_refused("aligned", Tensor{desc, memory + offset}, desc);
      expect_view_refused("aligned", ConstTensor{desc, memory + offset}, desc, Error::Code::frame);
    }
  }
}

/// Expects a refused view to end a run before it begins.
template <class Operation, class In, class Out>
void expect_run_refused(const char *cause, Operation &operation, const In &in, const Out &out) {
  expect_refusal(Error::Code::input, cause, [&] { operation.run(in, out); });
}

TEST_P(OpsTest, RunChecksBothViewsFirst) {
  Random random(0);
  const ImageDesc in = {PixelFormat::NV12, 16, 16}, out = {PixelFormat::Y444, 16, 16};
  const InputPicture picture(random, in), wrong(random, {PixelFormat::NV12, 16, 15});
  OutputPicture target(random, out), wrong_target(random, {PixelFormat::RGB, 16, 16});
  const auto operation = machine()->yuv444({in, out, 16, 16, 0, 0});
  expect_run_refused("16x15", *operation, wrong.view(), target.view());
  expect_run_refused("RGB", *operation, picture.view(), wrong_target.view());
  ConstImage headless = picture.view();
  headless.planes[1].data = nullptr;
  expect_run_refused("no memory", *operation, headless, target.view());
  Image narrow = target.view();
  narrow.planes[2].stride = 15;
  expect_run_refused("stride", *operation, picture.view(), narrow);
  EXPECT_TRUE(target.matches());
  EXPECT_TRUE(wrong_target.matches());
}

TEST_P(OpsTest, EveryOperationChecksItsViews) {
  Random random(0);
  const ImageDesc rgb = {PixelFormat::RGB, 8, 8};
  const TensorDesc tensor = {DType::float32, Layout::nchw, 1, 3, 8, 8};
  const TensorDesc deep = {DType::float32, Layout::nchw, 1, 12, 4, 4};
  const InputPicture picture(random, rgb), wrong(random, {PixelFormat::BGR, 8, 8});
  const InputTensor shuffled(random, deep), wrong_tensor(random, tensor);
  OutputPicture target(random, rgb), wrong_target(random, {PixelFormat::RGB, 9, 8});
  OutputTensor elements(random, tensor), wrong_elements(random, deep);

  const auto letterbox = machine()->letterbox({{rgb, {}}, rgb, {}});
  expect_run_refused("BGR", *letterbox, wrong.view(), target.view());
  expect_run_refused("9x8", *letterbox, picture.view(), wrong_target.view());

  NormalizeCase params = {};
  params.source.image = rgb;
  params.out = tensor;
  const auto normalize = normalize_picture(machine(), params);
  expect_run_refused("BGR", *normalize, wrong.view(), elements.view());
  expect_run_refused("shape", *normalize, picture.view(), wrong_elements.view());

  const auto shuffle = machine()->pixelshuffle(PixelShuffleParams{deep, 2});
  expect_run_refused("shape", *shuffle, wrong_tensor.view(), elements.view());
  expect_run_refused("shape", *shuffle, shuffled.view(), wrong_elements.view());

  const auto video = machine()->pixelshuffle(PixelShuffleToVideoParams{deep, 2, rgb, 0.0, 0.0});
  expect_run_refused("shape", *video, wrong_tensor.view(), target.view());
  expect_run_refused("9x8", *video, shuffled.view(), wrong_target.view());

  Bins bins = {};
  const auto histogram = machine()->histogram({rgb, {0, 0, 8, 8}});
  expect_refusal(Error::Code::input, "BGR", [&] { histogram->run(wrong.view(), bins); });
  EXPECT_EQ(bins, Bins{});
  EXPECT_TRUE(target.matches());
  EXPECT_TRUE(wrong_target.matches());
  EXPECT_TRUE(elements.matches());
  EXPECT_TRUE(wrong_elements.matches());
}

// ------------------------------------------------------------------------------------ backends

TEST(Backends, TheCpuSpreadsOverAllCoresByItself) {
  Random random(0);
  const Machine machine("all cores", open_cpu_backend(0));
  const ImageDesc in = {PixelFormat::NV12, 640, 480}, out = {PixelFormat::Y444, 333, 777};
  const Yuv444Params params = {in, out, 333, 777, 0, 0};
  const InputPicture picture(random, in);
  OutputPicture target(random, out);
  oracle::yuv444(params, picture.view(), target.expected());
  machine.run(*machine->yuv444(params), picture, target);
  EXPECT_TRUE(target.matches());
}

TEST(Backends, CudaOpensOrSaysWhyNot) {
  try {
    EXPECT_NE(open_cuda_backend()->device(), nullptr);
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), Error::Code::not_found);
    EXPECT_GT(std::string(error.what()).size(), 10u);
  }
}

TEST(Backends, NoMachineHasDevice9999) {
  expect_refusal(Error::Code::not_found, "", [] { check_cuda_device(9999); });
  expect_refusal(Error::Code::not_found, "", [] { PrimaryContextScope scope(9999); });
}

TEST(Backends, TheCpuHasNoDevice) { EXPECT_EQ(open_cpu_backend(1)->device(), nullptr); }

/// Simulates two elements in one pipeline, each with its own operation.
TEST_P(OpsTest, OneBackendServesSeveralThreads) {
  const auto work = [&](const Machine &machine, uint64_t number) {
    for (int i = 0; i < 50; ++i) {
      Random random(number * 1000 + static_cast<uint64_t>(i));
      const ImageDesc in = {PixelFormat::NV12, 61, 47}, out = {PixelFormat::RGB, 53, 67};
      LetterboxParams params = {random_source(random, in.format, {61, 47}), out,
                                random_resize(random)};
      const InputPicture picture(random, in);
      OutputPicture target(random, out);
      oracle::letterbox(params, picture.view(), target.expected());
      const auto operation = machine->letterbox(params);
      for (int run = 0; run < 5; ++run) {
        target.reset();
        machine.run(*operation, picture, target);
        EXPECT_TRUE(target.matches()) << random.name() << " " << text_of(params);
      }
    }
  };
  for (const auto &machine : machines()) {
    std::thread second(work, std::cref(*machine), 1);
    work(*machine, 2);
    second.join();
  }
}

// --------------------------------------------------------------------------- the largest size

/// A picture that needs memory only for written pages; all other pages read as 0.
class SparsePicture {
 public:
  explicit SparsePicture(const ImageDesc &desc) : image_{desc, {}} {
    for (size_t plane = 0; plane < oracle::format_of(desc.format).planes.size(); ++plane) {
      const oracle::PlaneSize size = oracle::plane_size(desc, static_cast<int>(plane));
      const size_t bytes = size.row_bytes * static_cast<size_t>(size.rows);
      void *const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) return;
      mappings_.push_back({memory, bytes});
      image_.planes[plane] = {static_cast<uint8_t *>(memory),
                              static_cast<ptrdiff_t>(size.row_bytes)};
    }
    complete_ = true;
  }
  ~SparsePicture() {
    for (const auto &[memory, bytes] : mappings_) munmap(memory, bytes);
  }
  SparsePicture(const SparsePicture &) = delete;
  SparsePicture &operator=(const SparsePicture &) = delete;

  bool complete() const { return complete_; }
  ConstImage view() const { return constant(image_); }
  ConstImage view(const Bases &bases) const {
    ConstImage image = view();
    for (size_t plane = 0; plane < mappings_.size(); ++plane)
      image.planes[plane].data = bases[plane];
    return image;
  }
  std::vector<Span> spans() const {
    std::vector<Span> spans;
    for (const auto &[memory, bytes] : mappings_)
      spans.push_back({static_cast<const uint8_t *>(memory), bytes});
    return spans;
  }

  /// Fills row `y` of the picture and its chroma with noise.
  void fill_row(Random &random, int y) {
    for (size_t plane = 0; plane < mappings_.size(); ++plane) {
      const oracle::PlaneSize size = oracle::plane_size(image_.desc, static_cast<int>(plane));
      const int row = size.rows == image_.desc.height ? y : y / 2;
      uint8_t *const data = image_.planes[plane].data + image_.planes[plane].stride * row;
      for (size_t x = 0; x < size.row_bytes; ++x) data[x] = static_cast<uint8_t>(random.bits());
    }
  }

 private:
  struct Mapping {
    void *memory;
    size_t bytes;
  };
  Image image_;
  std::vector<Mapping> mappings_;
  bool complete_ = false;
};

constexpr int kLargest = 32767;

class LargestPictureTest : public OpsTest {
 protected:
  void SetUp() override {
    OpsTest::SetUp();
    if (GetParam() != "cpu" && !test_large())
      GTEST_SKIP() << "copies gigabytes: set CUDATENSOR_TEST_LARGE to run it";
  }

  /// Fills every row that a stretch to `height` rows may read with noise.
  static void fill_rows(Random &random, SparsePicture &picture, int height) {
    std::set<int> rows;
    for (int k = 0; k < height; ++k) {
      const double f = (k + 0.5) * kLargest / height - 0.5;
      const int64_t nearest = int64_t{k} * kLargest / height;
      for (const double y : {std::floor(f), std::floor(f) + 1.0, static_cast<double>(nearest)})
        rows.insert(std::clamp(static_cast<int>(y), 0, kLargest - 1));
    }
    for (const int y : rows) picture.fill_row(random, y);
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(LargestPictureTest);

TEST_P(LargestPictureTest, Letterbox) {
  for (const PixelFormat format : {PixelFormat::BGRx, PixelFormat::NV12})
    for (const Method method : kMethods) {
      Random random(0);
      SCOPED_TRACE(random.name());
      LetterboxParams params = {
          random_source(random, format, {kLargest, kLargest}), {PixelFormat::RGB, 7, 5}, {}};
      params.resize.method = method;
      SparsePicture picture(params.source.image);
      if (!picture.complete()) GTEST_SKIP() << "not enough address space";
      fill_rows(random, picture, 5);
      OutputPicture out(random, params.out);
      oracle::letterbox(params, picture.view(), out.expected());
      machine().run(*machine()->letterbox(params), picture, out);
      EXPECT_TRUE(out.matches()) << text_of(params);
    }
}

TEST_P(LargestPictureTest, Normalize) {
  Random random(0);
  SCOPED_TRACE(random.name());
  NormalizeCase params = {};
  params.source = random_source(random, PixelFormat::I420, {kLargest, kLargest});
  params.out = {DType::float32, Layout::nchw, 1, 3, 6, 9};
  SparsePicture picture(params.source.image);
  if (!picture.complete()) GTEST_SKIP() << "not enough address space";
  fill_rows(random, picture, 6);
  OutputTensor out(random, params.out);
  for (const Color color : {Color::rgb, Color::yuv}) {
    params.color = color;
    oracle::normalize(params, picture.view(), out.expected());
    out.reset();
    machine().run(*normalize_picture(machine(), params), picture, out);
    EXPECT_TRUE(out.matches()) << text_of(params);
  }
}

/// Samples more than 2 GiB after the first one.
TEST_P(LargestPictureTest, NormalizeByAMatrix) {
  Random random(0);
  SCOPED_TRACE(random.name());
  NormalizeCase params = {};
  params.source = random_source(random, PixelFormat::BGRx, {kLargest, kLargest});
  params.out = {DType::float32, Layout::nchw, 1, 3, 9, 20};
  const double x = 20000, y = 30000;  // at the origin of the slot
  params.matrix = Matrix{1.5, 0.3, -1.5 * x - 0.3 * y, -0.3, 1.5, 0.3 * x - 1.5 * y};
  SparsePicture picture(params.source.image);
  if (!picture.complete()) GTEST_SKIP() << "not enough address space";
  for (int row = -10; row < 20; ++row) picture.fill_row(random, static_cast<int>(y) + row);
  OutputTensor out(random, params.out);
  oracle::normalize(params, picture.view(), out.expected());
  machine().run(*normalize_picture(machine(), params), picture, out);
  EXPECT_TRUE(out.matches()) << text_of(params);
}

TEST_P(LargestPictureTest, Yuv444CropsTheLastCorner) {
  Random random(0);
  SCOPED_TRACE(random.name());
  const Yuv444Params params = {{PixelFormat::NV12, kLargest, kLargest},
                               {PixelFormat::Y444, 9, 5},
                               kLargest,
                               kLargest,
                               kLargest - 9,
                               kLargest - 5};
  SparsePicture picture(params.in);
  if (!picture.complete()) GTEST_SKIP() << "not enough address space";
  for (int y = kLargest - 5; y < kLargest; ++y) picture.fill_row(random, y);
  OutputPicture out(random, params.out);
  oracle::yuv444(params, picture.view(), out.expected());
  machine().run(*machine()->yuv444(params), picture, out);
  EXPECT_TRUE(out.matches());
}

TEST_P(LargestPictureTest, HistogramOfTheLastCorner) {
  Random random(0);
  SCOPED_TRACE(random.name());
  for (const PixelFormat format : {PixelFormat::ARGB, PixelFormat::P010_10LE}) {
    const HistogramParams params = {{format, kLargest, kLargest},
                                    {kLargest - 50, kLargest - 3, 50, 3}};
    SparsePicture picture(params.in);
    if (!picture.complete()) GTEST_SKIP() << "not enough address space";
    for (int y = kLargest - 3; y < kLargest; ++y) picture.fill_row(random, y);
    Bins bins = {}, expected = {};
    oracle::histogram(params, picture.view(), expected);
    machine().count(*machine()->histogram(params), picture, bins);
    EXPECT_EQ(bins, expected) << text_of(params);
  }
}

}  // namespace
}  // namespace cudatensor
