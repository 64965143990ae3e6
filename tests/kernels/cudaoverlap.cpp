// SPDX-License-Identifier: LGPL-2.1-or-later
// A kernel may begin before the previous one on its stream has ended. Its inputs must be complete
// nevertheless, and it must not overwrite data that is still read.
#include <algorithm>
#include <cstring>

#include "cudatest.h"
#include "params.h"

namespace cudatensor {
namespace {

/// Consecutive blocks in one allocation.
class Places {
 public:
  size_t add(size_t bytes) {
    const size_t begin = bytes_;
    bytes_ = (begin + bytes + 255) / 256 * 256;
    return begin;
  }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

size_t pixels(const ImageDesc &desc) {
  return static_cast<size_t>(desc.width) * static_cast<size_t>(desc.height);
}

/// A chain of operations, each of which reads what the previous one wrote to scratch memory that
/// all rounds share. Each round has its own memory for results.
class Round {
 public:
  Round(Backend &backend, Size in, Size out) {
    in_ = {PixelFormat::NV12, in.width, in.height};
    boxed_ = {PixelFormat::BGRx, out.width, out.height};
    again_ = {PixelFormat::RGB, out.height, out.width};
    resized_ = {PixelFormat::Y444, out.width, out.height};
    letterbox_ = backend.letterbox({{in_, {}, true, false}, boxed_, {}});
    Resize nearest;
    nearest.method = Method::nearest;
    reshape_ = backend.letterbox({{boxed_, {}, false, false}, again_, nearest});
    NormalizeCase p = {};
    p.source.image = again_;
    tensor_ = {DType::float32, Layout::nchw, 1, 3, again_.height, again_.width};
    p.out = tensor_;
    normalize_ = normalize_picture(backend, p);
    show_ = backend.pixelshuffle(PixelShuffleToVideoParams{tensor_, 1, again_, 0.0, 0.0});
    yuv444_ = backend.yuv444({in_, resized_, out.width, out.height, 0, 0});
    frame_ = backend.histogram({again_, {0, 0, again_.width, again_.height}});
    several_ = backend.histogram({boxed_, {1, 1, boxed_.width - 2, boxed_.height - 3}});
    boxed_at_ = scratch_.add(4 * pixels(boxed_));
    again_at_ = scratch_.add(3 * pixels(again_));
    tensor_at_ = results_.add(tensor_.bytes());
    shown_at_ = results_.add(3 * pixels(again_));
    resized_at_ = results_.add(3 * pixels(resized_));
    bins_at_ = results_.add(2 * sizeof(Bins));
  }

  size_t input_bytes() const { return pixels(in_) * 3 / 2; }
  size_t scratch_bytes() const { return scratch_.bytes(); }
  size_t result_bytes() const { return results_.bytes(); }

  void run(int number, const uint8_t *in, uint8_t *scratch, uint8_t *results, Stream stream) {
    const ConstImage picture = {in_,
                                {{in, in_.width}, {in + pixels(in_), in_.width}, {nullptr, 0}}};
    const Image boxed = packed(boxed_, 4, scratch + boxed_at_),
                again = packed(again_, 3, scratch + again_at_),
                shown = packed(again_, 3, results + shown_at_);
    const Tensor tensor = {tensor_, results + tensor_at_};
    auto *const bins = reinterpret_cast<Bins *>(results + bins_at_);
    letterbox_->run(picture, boxed, stream);
    reshape_->run(constant(boxed), again, stream);
    normalize_->run(constant(again), tensor, stream);
    show_->run(constant(tensor), shown, stream);
    frame_->run(constant(shown), bins[0], stream);
    several_->add(constant(boxed), stream);
    if (number % 5 == 1) several_->run(constant(boxed), bins[1], stream);
    if (number % 5 == 4) several_->take(bins[1], stream);
    yuv444_->run(picture, planar(results + resized_at_), stream);
  }

 private:
  static Image packed(const ImageDesc &desc, int step, uint8_t *at) {
    return {desc, {{at, ptrdiff_t{desc.width} * step}, {nullptr, 0}, {nullptr, 0}}};
  }
  Image planar(uint8_t *at) const {
    const ptrdiff_t stride = resized_.width;
    const size_t plane = pixels(resized_);
    return {resized_, {{at, stride}, {at + plane, stride}, {at + 2 * plane, stride}}};
  }

  ImageDesc in_, boxed_, again_, resized_;
  TensorDesc tensor_;
  std::unique_ptr<ImageToImage> letterbox_, reshape_, yuv444_;
  std::unique_ptr<NormalizePicture> normalize_;
  std::unique_ptr<TensorToImage> show_;
  std::unique_ptr<HistogramOperation> frame_, several_;
  Places scratch_, results_;
  size_t boxed_at_, again_at_, tensor_at_, shown_at_, resized_at_, bins_at_;
};

/// tests/gpu.sh selects these tests for compute-sanitizer by the suite's name.
class CudaInFlightChainTest : public CudaAndCpuTest {
 protected:
  /// Number of rounds that are queued before the first one begins. A stream must accept their
  /// kernels without waiting.
  static constexpr int kQueued = 40;

  std::unique_ptr<Memory> zeros(size_t bytes) const {
    auto memory = device().allocate(bytes);
    EXPECT_EQ(cudaMemset(memory->data(), 0, bytes), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return memory;
  }
  std::unique_ptr<Memory> uploaded(const std::vector<uint8_t> &bytes) const {
    auto memory = zeros(bytes.size());
    const auto row = static_cast<ptrdiff_t>(bytes.size());
    device().copy({memory->data(), row}, {bytes.data(), row}, bytes.size(), 1, stream());
    device().synchronize(stream());
    return memory;
  }
  std::vector<uint8_t> downloaded(const Memory &memory) const {
    std::vector<uint8_t> bytes(memory.size());
    const auto row = static_cast<ptrdiff_t>(bytes.size());
    device().copy({bytes.data(), row}, {memory.data(), row}, bytes.size(), 1, stream());
    device().synchronize(stream());
    return bytes;
  }

  /// Calls `queue` with each number, on a stream that is blocked while some are queued.
  template <class Queue>
  void queue_all(int count, const Queue &queue) const {
    for (int i = 0; i < count;) {
      Gate gate(stream());
      for (int end = std::min(i + kQueued, count); i < end; ++i) queue(i);
    }
    device().synchronize(stream());
  }

  void expect_rounds(int count, Size in, Size out) const {
    Round on_cpu(*cpu().operator->(), in, out), on_gpu(cuda(), in, out), warm(cuda(), in, out);
    const size_t input = on_cpu.input_bytes(), result = on_cpu.result_bytes();
    std::vector<uint8_t> inputs(input * static_cast<size_t>(count)),
        scratch(on_cpu.scratch_bytes()), expected(result * static_cast<size_t>(count));
    fill_with_noise(inputs.data(), inputs.size());
    for (int i = 0; i < count; ++i)
      on_cpu.run(i, &inputs[input * static_cast<size_t>(i)], scratch.data(),
                 &expected[result * static_cast<size_t>(i)], {});
    const auto device_inputs = uploaded(inputs), device_scratch = zeros(scratch.size()),
               results = zeros(expected.size());
    // Loads the kernels' code.
    warm.run(1, device_inputs->data(), device_scratch->data(), results->data(), stream());
    device().synchronize(stream());
    EXPECT_EQ(cudaMemset(results->data(), 0, results->size()), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    queue_all(count, [&](int i) {
      on_gpu.run(i, device_inputs->data() + input * static_cast<size_t>(i), device_scratch->data(),
                 results->data() + result * static_cast<size_t>(i), stream());
    });
    const std::vector<uint8_t> actual = downloaded(*results);
    for (int i = 0; i < count; ++i) {
      const auto begin = static_cast<ptrdiff_t>(result) * i;
      EXPECT_TRUE(std::equal(actual.begin() + begin,
                             actual.begin() + begin + static_cast<ptrdiff_t>(result),
                             expected.begin() + begin))
          << "round " << i;
    }
  }
};

/// Kernels have one or a few blocks, so the next ones begin at once.
TEST_F(CudaInFlightChainTest, SmallPictures) { expect_rounds(200, {64, 48}, {40, 28}); }

/// There are more blocks than multiprocessors, so kernels begin while others end.
TEST_F(CudaInFlightChainTest, Pictures) { expect_rounds(60, {640, 360}, {320, 316}); }

/// Two or more launches of a batch read pictures that were computed just before, and the next
/// pictures overwrite them while they may still be read.
TEST_F(CudaInFlightChainTest, Batches) {
  constexpr size_t kSlots = 67, kPictures = 3;
  constexpr int kRounds = 60;
  const ImageDesc small = {PixelFormat::RGB, 48, 36}, large = {PixelFormat::RGBx, 96, 72};
  NormalizeCase p = {};
  p.out = {DType::uint8, Layout::nhwc, kSlots, 3, 20, 33};
  const LetterboxParams box = {{small, {}, false, false}, large, {}};
  const std::vector<Source> sources(kSlots, Source{large, {}, false, false});
  const size_t input = 3 * pixels(small), boxed = 4 * pixels(large);
  std::vector<uint8_t> inputs(input * kRounds * kPictures), scratch(boxed * kPictures),
      expected(p.out.bytes() * kRounds);
  fill_with_noise(inputs.data(), inputs.size());
  const auto round = [&](ImageToImage &letterbox, NormalizePictures &batch, int number,
                         const uint8_t *from, uint8_t *between, uint8_t *to, Stream stream) {
    std::vector<ConstImage> slots(kSlots);
    for (size_t i = 0; i < kPictures; ++i) {
      const uint8_t *const picture = from + (static_cast<size_t>(number) * kPictures + i) * input;
      letterbox.run({small, {{picture, 3 * small.width}, {nullptr, 0}, {nullptr, 0}}},
                    {large, {{between + i * boxed, 4 * large.width}, {nullptr, 0}, {nullptr, 0}}},
                    stream);
    }
    for (size_t i = 0; i < kSlots; ++i)
      slots[i] = {large,
                  {{between + i % kPictures * boxed, 4 * large.width}, {nullptr, 0}, {nullptr, 0}}};
    if (number % 2 != 0) slots[static_cast<size_t>(number)].planes[0].data = nullptr;
    batch.run(slots, {p.out, to + static_cast<size_t>(number) * p.out.bytes()}, stream);
  };
  const auto cpu_box = cpu()->letterbox(box);
  const auto cpu_batch = normalize_pictures(cpu(), sources, p);
  for (int i = 0; i < kRounds; ++i)
    round(*cpu_box, *cpu_batch, i, inputs.data(), scratch.data(), expected.data(), {});
  const auto device_inputs = uploaded(inputs), between = zeros(scratch.size()),
             results = zeros(expected.size());
  const auto letterbox = cuda().letterbox(box);
  const auto batch = normalize_pictures(cuda(), sources, p);
  const auto queue = [&](int i) {
    round(*letterbox, *batch, i, device_inputs->data(), between->data(), results->data(), stream());
  };
  queue(0);
  device().synchronize(stream());
  queue_all(kRounds, queue);
  EXPECT_TRUE(downloaded(*results) == expected);
}

/// Regions change while earlier frames are still computed, so their tables are uploaded after
/// kernels that read other tables, and more tables are in flight than there are blocks.
TEST_F(CudaInFlightChainTest, RegionsThatChange) {
  constexpr int kRounds = 80, kSlots = 66;
  NormalizeCase p = {};
  p.source.image = {PixelFormat::RGB, 48, 36};
  p.out = {DType::uint8, Layout::nhwc, kSlots, 3, 20, 33};
  const ImageDesc large = {PixelFormat::RGB, 1920, 1080};
  const LetterboxParams work = {{large, {}, false, false}, large, {}};
  const auto regions_of = [](int round) {
    Random random(static_cast<uint64_t>(round / 2));  // each twice
    std::vector<Region> regions;
    for (int i = 0, count = random.integer(0, kSlots); i < count; ++i)
      regions.push_back(
          {random.real(0, 40), random.real(0, 30), random.real(1, 7), random.real(1, 5)});
    return regions;
  };
  const size_t input = 3 * pixels(p.source.image);
  std::vector<uint8_t> picture(input), expected(p.out.bytes() * kRounds);
  fill_with_noise(picture.data(), picture.size());
  const auto round = [&](NormalizeRegions &operation, int number, const uint8_t *from, uint8_t *to,
                         Stream stream) {
    operation.run({p.source.image, {{from, 3 * 48}, {nullptr, 0}, {nullptr, 0}}},
                  regions_of(number), {p.out, to + static_cast<size_t>(number) * p.out.bytes()},
                  stream);
  };
  const auto on_cpu = normalize_regions(cpu(), p);
  for (int i = 0; i < kRounds; ++i) round(*on_cpu, i, picture.data(), expected.data(), {});
  const auto device_picture = uploaded(picture), results = zeros(expected.size()),
             from = zeros(3 * pixels(large)), to = zeros(3 * pixels(large));
  const auto on_gpu = normalize_regions(cuda(), p);
  const auto busy = cuda().letterbox(work);
  for (int i = 0; i < kRounds; ++i) {
    for (int k = 0; k < 100; ++k)
      busy->run({large, {{from->data(), 3 * 1920}, {nullptr, 0}, {nullptr, 0}}},
                {large, {{to->data(), 3 * 1920}, {nullptr, 0}, {nullptr, 0}}}, stream());
    round(*on_gpu, i, device_picture->data(), results->data(), stream());
  }
  device().synchronize(stream());
  EXPECT_TRUE(downloaded(*results) == expected);
}

/// All frames share one tensor, which is copied before the next frame is computed.
TEST_F(CudaInFlightChainTest, CopiesBetweenKernels) {
  constexpr int kFrames = 100;
  Random random(0);
  SCOPED_TRACE(random.name());
  NormalizeCase p = random_normalize(random, PixelFormat::GRAY8, Color::rgb, {80, 60}, {64, 64});
  const size_t input = pixels(p.source.image), bytes = p.out.bytes();
  std::vector<uint8_t> inputs(input * kFrames), expected(bytes * kFrames);
  fill_with_noise(inputs.data(), inputs.size());
  const auto view = [&](const uint8_t *data, int i) {
    return ConstImage{p.source.image,
                      {{data + input * static_cast<size_t>(i), p.source.image.width},
                       {nullptr, 0},
                       {nullptr, 0}}};
  };
  const auto on_cpu = normalize_picture(cpu(), p);
  for (int i = 0; i < kFrames; ++i)
    on_cpu->run(view(inputs.data(), i), {p.out, &expected[bytes * static_cast<size_t>(i)]});
  const auto device_inputs = uploaded(inputs), tensor = zeros(bytes),
             results = zeros(expected.size());
  const auto on_gpu = normalize_picture(cuda(), p);
  const auto row = static_cast<ptrdiff_t>(bytes);
  const auto queue = [&](int i) {
    // This result is overwritten at once and must not remain.
    on_gpu->run(view(device_inputs->data(), kFrames - 1 - i), {p.out, tensor->data()}, stream());
    on_gpu->run(view(device_inputs->data(), i), {p.out, tensor->data()}, stream());
    device().copy({results->data() + bytes * static_cast<size_t>(i), row}, {tensor->data(), row},
                  bytes, 1, stream());
  };
  queue(0);
  device().synchronize(stream());
  queue_all(kFrames, queue);
  EXPECT_TRUE(downloaded(*results) == expected);
}

/// A kernel that waits for another stream must not begin with the kernel before it.
TEST_F(CudaInFlightChainTest, EventsBetweenKernels) {
  constexpr int kFrames = 100;
  const ImageDesc small = {PixelFormat::GRAY8, 80, 60}, large = {PixelFormat::RGB, 160, 128};
  const LetterboxParams box = {{small, {}, false, false}, large, {}};
  NormalizeCase p = {};
  p.source.image = large;
  p.out = {DType::float32, Layout::nchw, 1, 3, 64, 80};
  const size_t input = pixels(small), boxed = 3 * pixels(large), bytes = p.out.bytes();
  std::vector<uint8_t> inputs(input * kFrames), between(boxed * kFrames), expected(bytes * kFrames);
  fill_with_noise(inputs.data(), inputs.size());
  const auto enlarge = [&](ImageToImage &operation, const uint8_t *from, uint8_t *to, int i,
                           Stream on) {
    const auto number = static_cast<size_t>(i);
    operation.run({small, {{from + input * number, small.width}, {nullptr, 0}, {nullptr, 0}}},
                  {large, {{to + boxed * number, 3 * large.width}, {nullptr, 0}, {nullptr, 0}}},
                  on);
  };
  const auto reduce = [&](NormalizePicture &operation, const uint8_t *from, uint8_t *to, int i,
                          Stream on) {
    const auto number = static_cast<size_t>(i);
    operation.run({large, {{from + boxed * number, 3 * large.width}, {nullptr, 0}, {nullptr, 0}}},
                  {p.out, to + bytes * number}, on);
  };
  const auto cpu_box = cpu()->letterbox(box);
  const auto cpu_normalize = normalize_picture(cpu(), p);
  for (int i = 0; i < kFrames; ++i) {
    enlarge(*cpu_box, inputs.data(), between.data(), i, {});
    reduce(*cpu_normalize, between.data(), expected.data(), i, {});
  }
  const auto device_inputs = uploaded(inputs), pictures = zeros(between.size()),
             aside = zeros(between.size()), results = zeros(expected.size());
  const auto first = cuda().letterbox(box), second = cuda().letterbox(box);
  const auto normalize = normalize_picture(cuda(), p);
  const auto other = device().make_stream();
  std::vector<std::unique_ptr<Event>> events;
  for (int i = 0; i < kFrames; ++i) events.push_back(device().make_event());
  // Loads the kernels' code.
  enlarge(*second, device_inputs->data(), aside->data(), 0, stream());
  reduce(*normalize, aside->data(), results->data(), 0, stream());
  device().synchronize(stream());
  {
    Gate gate(other->get());
    for (int i = 0; i < kFrames; ++i) {
      enlarge(*first, device_inputs->data(), pictures->data(), i, other->get());
      events[static_cast<size_t>(i)]->record(other->get());
      enlarge(*second, device_inputs->data(), aside->data(), i, stream());
      events[static_cast<size_t>(i)]->hold(stream());
      reduce(*normalize, pictures->data(), results->data(), i, stream());
    }
  }
  device().synchronize(stream());
  device().synchronize(other->get());
  EXPECT_TRUE(downloaded(*results) == expected);
}

/// Two operations alternate. The kernels that return their totals also clear them.
TEST_F(CudaInFlightChainTest, AddsAndRunsOfHistograms) {
  constexpr int kFrames = 200, kPictures = 7;
  const HistogramParams p = {{PixelFormat::GRAY8, 640, 97}, {1, 2, 601, 91}};
  const size_t input = pixels(p.in);
  std::vector<uint8_t> inputs(input * kPictures);
  fill_with_noise(inputs.data(), inputs.size());
  std::fill_n(inputs.data(), input, uint8_t{7});
  std::vector<Bins> expected(2 * kFrames);
  using Operations = std::unique_ptr<HistogramOperation>[2];
  const auto frame = [&](const Operations &operations, int number, const uint8_t *data, Bins *bins,
                         Stream stream) {
    for (int i = 0; i < 2; ++i) {
      const int step = (number * 5 + i * 3 + number / 7) % 4;
      const uint8_t *const picture = data + input * static_cast<size_t>((number + i) % kPictures);
      const ConstImage view = {p.in, {{picture, p.in.width}, {nullptr, 0}, {nullptr, 0}}};
      if (step < 2) operations[i]->add(view, stream);
      if (step == 2) operations[i]->run(view, bins[2 * number + i], stream);
      if (step == 3) operations[i]->take(bins[2 * number + i], stream);
    }
  };
  const Operations on_cpu = {cpu()->histogram(p), cpu()->histogram(p)},
                   on_gpu = {cuda().histogram(p), cuda().histogram(p)};
  for (int i = 0; i < kFrames; ++i) frame(on_cpu, i, inputs.data(), expected.data(), {});
  const auto device_inputs = uploaded(inputs), results = zeros(expected.size() * sizeof(Bins));
  auto *const bins = reinterpret_cast<Bins *>(results->data());
  const auto warm = cuda().histogram(p);
  warm->run({p.in, {{device_inputs->data(), p.in.width}, {nullptr, 0}, {nullptr, 0}}}, bins[0],
            stream());
  EXPECT_EQ(cudaMemsetAsync(results->data(), 0, results->size(),
                            static_cast<cudaStream_t>(stream().handle)),
            cudaSuccess);
  device().synchronize(stream());
  queue_all(kFrames, [&](int i) { frame(on_gpu, i, device_inputs->data(), bins, stream()); });
  const std::vector<uint8_t> bytes = downloaded(*results);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(std::memcmp(&bytes[i * sizeof(Bins)], &expected[i], sizeof(Bins)), 0)
        << "operation " << i % 2 << " in frame " << i / 2;
}

}  // namespace
}  // namespace cudatensor
