// SPDX-License-Identifier: LGPL-2.1-or-later
// Operations on streams: concurrent work, waits, and the number of calls per frame.
#include <functional>
#include <thread>

#include "cudatest.h"
#include "kernels/fault.h"
#include "oracle.h"
#include "params.h"

namespace cudatensor {
namespace {

/// A frame with its copies on the device and the CPU's result.
template <class In, class Out>
class Frame {
 public:
  Frame(Device &device, In in, Out out, Stream stream)
      : device_(device),
        in_(std::move(in)),
        out_(std::move(out)),
        input_(device, in_.spans(), stream),
        target_(device, {out_.span()}, stream) {
    device.synchronize(stream);
  }

  template <class Operation>
  void queue(Operation &operation, Stream stream) {
    operation.run(in_.view(input_.bases()), out_.view(target_.data()), stream);
  }

  testing::AssertionResult is_right(Stream stream) {
    target_.fetch(out_.actual(), stream);
    device_.synchronize(stream);
    return out_.matches();
  }

 private:
  Device &device_;
  In in_;
  Out out_;
  OnDevice input_, target_;
};

using PictureFrame = Frame<InputPicture, OutputPicture>;
using PictureToTensorFrame = Frame<InputPicture, OutputTensor>;
using TensorFrame = Frame<InputTensor, OutputTensor>;
using TensorToPictureFrame = Frame<InputTensor, OutputPicture>;

LetterboxParams a_letterbox(Random &random) {
  return {random_source(random, PixelFormat::NV12, {333, 217}), {PixelFormat::RGB, 160, 192}, {}};
}

NormalizeCase a_normalize(Random &random) {
  return random_normalize(random, PixelFormat::I420, Color::rgb, {321, 123}, {192, 160});
}

/// Returns parameters that use the fixed-point path.
NormalizeCase a_yuv_normalize(Random &random) {
  NormalizeCase p = random_normalize(random, PixelFormat::NV12, Color::yuv, {321, 123}, {192, 160});
  p.resize = {};
  return p;
}

Yuv444Params a_yuv444() {
  return {{PixelFormat::NV12, 321, 123}, {PixelFormat::Y444, 200, 100}, 222, 111, 11, 5};
}

PixelShuffleParams a_shuffle() { return {{DType::float16, Layout::nchw, 1, 12, 60, 64}, 2}; }

PixelShuffleToVideoParams a_video() {
  return {{DType::float32, Layout::nchw, 1, 12, 60, 64}, 2, {PixelFormat::BGR, 128, 120}, 0.0, 0.0};
}

class CudaStreamTest : public CudaAndCpuTest {
 protected:
  template <class Prepare, class In, class Out>
  Frame<In, Out> frame(const Prepare &prepare, In in, Out out) const {
    expect_as_the_cpu(prepare, in, out);
    return {device(), std::move(in), std::move(out), stream()};
  }

  PictureFrame letterbox_frame(Random &random, const LetterboxParams &p) const {
    return frame([&](const Machine &m) { return m->letterbox(p); },
                 InputPicture(random, p.source.image), OutputPicture(random, p.out));
  }
  PictureFrame yuv444_frame(Random &random, const Yuv444Params &p) const {
    return frame([&](const Machine &m) { return m->yuv444(p); }, InputPicture(random, p.in),
                 OutputPicture(random, p.out));
  }
  PictureToTensorFrame normalize_frame(Random &random, const NormalizeCase &p) const {
    return frame([&](const Machine &m) { return normalize_picture(m, p); },
                 InputPicture(random, p.source.image), OutputTensor(random, p.out));
  }
  TensorFrame shuffle_frame(Random &random, const PixelShuffleParams &p) const {
    return frame([&](const Machine &m) { return m->pixelshuffle(p); }, InputTensor(random, p.in),
                 OutputTensor(random, shuffled(p)));
  }
  TensorToPictureFrame video_frame(Random &random, const PixelShuffleToVideoParams &p) const {
    return frame([&](const Machine &m) { return m->pixelshuffle(p); }, InputTensor(random, p.in),
                 OutputPicture(random, p.out));
  }
};

// ----------------------------------------------------------------------------- how many calls

class CudaCallsTest : public CudaStreamTest {
 protected:
  /// Expects one launch per frame and no other call: plans are on the device, and nothing is
  /// allocated.
  void expect_one_call_a_frame(const std::function<void(Stream)> &run) const {
    run(stream());
    disarm();  // restarts the count
    for (int i = 0; i < 100; ++i) run(stream());
    EXPECT_EQ(call_count(), 100);
    device().synchronize(stream());
    disarm();
    for (int i = 0; i < 100; ++i) run({});
    EXPECT_EQ(call_count(), 200) << "a launch and a wait";
  }

  template <class Operation, class Work>
  void expect_one_call_a_frame(const std::unique_ptr<Operation> &operation, Work frame) const {
    expect_one_call_a_frame([&](Stream on) { frame.queue(*operation, on); });
    EXPECT_TRUE(frame.is_right(stream()));
  }
};

TEST_F(CudaCallsTest, Letterbox) {
  Random random(0);
  const LetterboxParams p = a_letterbox(random);
  expect_one_call_a_frame(cuda().letterbox(p), letterbox_frame(random, p));
}

TEST_F(CudaCallsTest, Normalize) {
  Random random(0);
  const NormalizeCase p = a_normalize(random), fixed = a_yuv_normalize(random);
  expect_one_call_a_frame(normalize_picture(cuda(), p), normalize_frame(random, p));
  expect_one_call_a_frame(normalize_picture(cuda(), fixed), normalize_frame(random, fixed));
}

TEST_F(CudaCallsTest, Yuv444) {
  Random random(0);
  expect_one_call_a_frame(cuda().yuv444(a_yuv444()), yuv444_frame(random, a_yuv444()));
}

TEST_F(CudaCallsTest, PixelShuffle) {
  Random random(0);
  expect_one_call_a_frame(cuda().pixelshuffle(a_shuffle()), shuffle_frame(random, a_shuffle()));
  expect_one_call_a_frame(cuda().pixelshuffle(a_video()), video_frame(random, a_video()));
}

TEST_F(CudaCallsTest, Histogram) {
  Random random(0);
  const HistogramParams p = {{PixelFormat::NV12, 321, 123}, {3, 2, 300, 100}};
  const InputPicture in(random, p.in);
  const OnDevice input(device(), in.spans(), stream());
  const auto memory = device().allocate_pinned(sizeof(Bins));
  auto &bins = *reinterpret_cast<Bins *>(memory->data());
  const auto operation = cuda().histogram(p);
  expect_one_call_a_frame([&](Stream on) { operation->run(in.view(input.bases()), bins, on); });
  Bins expected = {};
  oracle::histogram(p, in.view(), expected);
  EXPECT_EQ(bins, expected);
}

/// Frames allocate nothing, so creating the operation makes all that it needs.
TEST_F(CudaCallsTest, APixelShuffleNeedsNoPlan) {
  disarm();
  const auto tensor = cuda().pixelshuffle(a_shuffle());
  const auto video = cuda().pixelshuffle(a_video());
  EXPECT_EQ(call_count(), 0);
}

/// A property that changes from frame to frame must not make the device wait.
TEST_F(CudaCallsTest, OtherFactorsNeedNoCall) {
  Random random(0);
  NormalizeCase p = a_normalize(random);
  const auto operation = normalize_picture(cuda(), p);
  PictureToTensorFrame before = normalize_frame(random, p);
  before.queue(*operation, stream());
  p.mean = {0.25, 0.5, 0.75};
  p.round = !p.round;
  PictureToTensorFrame frame = normalize_frame(random, p);
  disarm();
  operation->set_params(p);
  EXPECT_EQ(call_count(), 0);
  frame.queue(*operation, stream());
  EXPECT_EQ(call_count(), 1);
  EXPECT_TRUE(frame.is_right(stream()));
}

TEST_F(CudaCallsTest, OperationsOfOtherGeometriesShareNothing) {
  Random random(0);
  LetterboxParams narrow = a_letterbox(random), wide = narrow;
  wide.source.image.width = 640;
  const auto first = cuda().letterbox(narrow), second = cuda().letterbox(wide);
  PictureFrame frames[] = {letterbox_frame(random, narrow), letterbox_frame(random, wide)};
  for (int i = 0; i < 3; ++i) {
    frames[0].queue(*first, stream());
    frames[1].queue(*second, stream());
  }
  EXPECT_TRUE(frames[0].is_right(stream()));
  EXPECT_TRUE(frames[1].is_right(stream()));
}

// ------------------------------------------------------------------------------------ in flight

class CudaInFlightTest : public CudaStreamTest {
 protected:
  static constexpr int kFrames = 24;
};

/// Each operation stays on one stream. The two streams hold operations of every kind, which are all
/// queued before the first one begins.
TEST_F(CudaInFlightTest, ManyFramesOnTwoStreams) {
  Random random(0);
  SCOPED_TRACE(random.name());
  const auto other = device().make_stream();
  const LetterboxParams box = a_letterbox(random);
  const NormalizeCase normal = a_normalize(random);
  const auto letterbox = cuda().letterbox(box), second_letterbox = cuda().letterbox(box);
  const auto normalize = normalize_picture(cuda(), normal);
  const auto yuv444 = cuda().yuv444(a_yuv444());
  const auto shuffle = cuda().pixelshuffle(a_shuffle());
  const auto show = cuda().pixelshuffle(a_video());
  std::vector<PictureFrame> boxed, boxed_too, resized;
  std::vector<PictureToTensorFrame> normalized;
  std::vector<TensorFrame> shuffled;
  std::vector<TensorToPictureFrame> shown;
  for (int i = 0; i < kFrames; ++i) {
    boxed.push_back(letterbox_frame(random, box));
    boxed_too.push_back(letterbox_frame(random, box));
    resized.push_back(yuv444_frame(random, a_yuv444()));
    normalized.push_back(normalize_frame(random, normal));
    shuffled.push_back(shuffle_frame(random, a_shuffle()));
    shown.push_back(video_frame(random, a_video()));
  }
  const auto queue = [&](int i) {
    boxed[i].queue(*letterbox, stream());
    boxed_too[i].queue(*second_letterbox, other->get());
    normalized[i].queue(*normalize, stream());
    resized[i].queue(*yuv444, other->get());
    shuffled[i].queue(*shuffle, stream());
    shown[i].queue(*show, other->get());
  };
  queue(0);  // loads the kernels' code
  device().synchronize(stream());
  device().synchronize(other->get());
  {
    Gate first(stream()), second(other->get());
    for (int i = 0; i < kFrames; ++i) queue(i);
  }
  device().synchronize(stream());
  device().synchronize(other->get());
  for (int i = 0; i < kFrames; ++i) {
    SCOPED_TRACE("frame " + std::to_string(i));
    EXPECT_TRUE(boxed[i].is_right(stream()));
    EXPECT_TRUE(boxed_too[i].is_right(stream()));
    EXPECT_TRUE(resized[i].is_right(stream()));
    EXPECT_TRUE(normalized[i].is_right(stream()));
    EXPECT_TRUE(shuffled[i].is_right(stream()));
    EXPECT_TRUE(shown[i].is_right(stream()));
  }
}

/// The device clears the totals between frames, and the bins may be in its memory, too.
TEST_F(CudaInFlightTest, HistogramsOnTwoStreams) {
  Random random(0);
  SCOPED_TRACE(random.name());
  const auto other = device().make_stream();
  const HistogramParams p[] = {{{PixelFormat::NV12, 1283, 719}, {1, 1, 1281, 717}},
                               {{PixelFormat::BGR, 641, 479}, {0, 0, 641, 479}}};
  const Stream streams[] = {stream(), other->get()};
  const std::unique_ptr<HistogramOperation> operations[] = {cuda().histogram(p[0]),
                                                            cuda().histogram(p[1])};
  const std::unique_ptr<Memory> results[] = {device().allocate_pinned(kFrames * sizeof(Bins)),
                                             device().allocate(kFrames * sizeof(Bins))};
  std::vector<OnDevice> inputs;
  std::vector<ConstImage> views;
  std::vector<Bins> expected;
  for (int i = 0; i < kFrames; ++i) {
    const InputPicture in(random, p[i % 2].in, random.pick(kAllContents));
    inputs.emplace_back(device(), in.spans(), stream());
    views.push_back(in.view(inputs.back().bases()));
    expected.emplace_back();
    oracle::histogram(p[i % 2], in.view(), expected.back());
  }
  device().synchronize(stream());
  const auto queue = [&](int i) {
    auto *const bins = reinterpret_cast<Bins *>(results[i % 2]->data());
    operations[i % 2]->run(views[i], bins[i], streams[i % 2]);
  };
  queue(0);
  queue(1);
  for (const Stream each : streams) device().synchronize(each);
  {
    Gate first(streams[0]), second(streams[1]);
    for (int i = 0; i < kFrames; ++i) queue(i);
  }
  for (const Stream each : streams) device().synchronize(each);
  for (int i = 0; i < kFrames; ++i) {
    Bins bins = {};
    const auto *const result = reinterpret_cast<const Bins *>(results[i % 2]->data()) + i;
    ASSERT_EQ(cudaMemcpy(&bins, result, sizeof(bins), cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(bins, expected[static_cast<size_t>(i)]) << "frame " << i;
  }
}

// ------------------------------------------------------------------------------------- waiting

TEST_F(CudaStreamTest, AnOperationOnAStreamReturnsBeforeItIsDone) {
  Random random(0);
  const LetterboxParams p = a_letterbox(random);
  const auto operation = cuda().letterbox(p);
  const auto event = device().make_event();
  PictureFrame warm = letterbox_frame(random, p), frame = letterbox_frame(random, p);
  warm.queue(*operation, stream());
  device().synchronize(stream());
  Gate gate(stream());
  frame.queue(*operation, stream());
  event->record(stream());
  EXPECT_FALSE(event->passed());
  gate.open();
  EXPECT_TRUE(frame.is_right(stream()));
}

TEST_F(CudaStreamTest, AnOperationWithoutAStreamDoesNotWaitForOthers) {
  Random random(0);
  const LetterboxParams p = a_letterbox(random);
  const auto operation = cuda().letterbox(p);
  const auto event = device().make_event();
  const auto other = device().make_stream();
  PictureFrame warm = letterbox_frame(random, p), frame = letterbox_frame(random, p);
  warm.queue(*operation, {});
  Gate gate(other->get());
  event->record(other->get());
  frame.queue(*operation, {});
  EXPECT_FALSE(event->passed());
  gate.open();
  EXPECT_TRUE(frame.is_right(stream()));
}

/// Elements create operations in one thread and run them in another.
TEST_F(CudaStreamTest, AnOperationRunsInAnotherThread) {
  Random random(0);
  const LetterboxParams p = a_letterbox(random);
  const auto operation = cuda().letterbox(p);
  PictureFrame frame = letterbox_frame(random, p);
  std::thread([&] { frame.queue(*operation, {}); }).join();
  EXPECT_TRUE(frame.is_right(stream()));
}

// ------------------------------------------------------------------------------ several devices

/// Objects of one device.
struct OfDevice {
  std::unique_ptr<Machine> machine;
  std::unique_ptr<NormalizePicture> normalize;
  std::unique_ptr<Memory> memory;
};

TEST_F(CudaStreamTest, DevicesTakeTurns) {
  const int count = count_cuda_devices();
  if (count < 2) GTEST_SKIP() << "needs two GPUs";
  Random random(0);
  SCOPED_TRACE(random.name());
  const NormalizeCase p = a_normalize(random);
  std::vector<OfDevice> all(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const PrimaryContextScope scope(i);
    OfDevice &own = all[static_cast<size_t>(i)];
    own.machine = std::make_unique<Machine>("device " + std::to_string(i), open_cuda_backend(),
                                            Machine::Streams::own);
    own.normalize = normalize_picture(*own.machine, p);
    own.memory = (*own.machine)->device()->allocate(64);
    cudaPointerAttributes attributes = {};
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, own.memory->data()), cudaSuccess);
    EXPECT_EQ(attributes.device, i);
  }
  for (int i = 0; i < 10 * count; ++i) {
    const PrimaryContextScope scope(i % count);
    const OfDevice &own = all[static_cast<size_t>(i % count)];
    SCOPED_TRACE(own.machine->name());
    const InputPicture in(random, p.source.image);
    OutputTensor out(random, p.out);
    expect_as_the_cpu([&](const Machine &m) { return normalize_picture(m, p); }, in, out);
    own.machine->run(*own.normalize, in, out);
    EXPECT_TRUE(out.matches());
  }
  for (int i = 0; i < count; ++i) {
    const PrimaryContextScope scope(i);
    OfDevice &own = all[static_cast<size_t>(i)];
    own.memory.reset();
    own.normalize.reset();
    own.machine.reset();
  }
}

TEST_F(CudaStreamTest, AScopePutsTheDeviceBack) {
  const int count = count_cuda_devices();
  for (int outer = 0; outer < count; ++outer) {
    const PrimaryContextScope outside(outer);
    for (int inner = 0; inner < count; ++inner) {
      int device = -1;
      {
        const PrimaryContextScope inside(inner);
        EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
        EXPECT_EQ(device, inner);
      }
      EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
      EXPECT_EQ(device, outer);
    }
  }
}

}  // namespace
}  // namespace cudatensor
