// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory, copies, streams and events, and the guarantees of operations about them.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "cudatest.h"
#include "params.h"

namespace cudatensor {
namespace {

class CudaDeviceTest : public CudaAndCpuTest {
 protected:
  /// Returns pinned memory that holds one value.
  std::unique_ptr<Memory> pinned(size_t bytes, uint8_t value) const {
    auto memory = device().allocate_pinned(bytes);
    std::fill_n(memory->data(), bytes, value);
    return memory;
  }

  void SetUp() override {
    CudaAndCpuTest::SetUp();
    if (!IsSkipped()) hop_ = device().allocate(64);
  }

  /// Queues a copy of all of `from` through the device, because CUDA copies from host to host at
  /// once.
  void queue_copy(const Memory &to, const Memory &from, Stream on) const {
    const auto bytes = static_cast<ptrdiff_t>(from.size());
    device().copy({hop_->data(), bytes}, {from.data(), bytes}, from.size(), 1, on);
    device().copy({to.data(), bytes}, {hop_->data(), bytes}, from.size(), 1, on);
  }

 private:
  std::unique_ptr<Memory> hop_;
};

bool holds(const Memory &memory, uint8_t value) {
  return std::all_of(memory.data(), memory.data() + memory.size(),
                     [=](uint8_t byte) { return byte == value; });
}

// -------------------------------------------------------------------------------------- memory

TEST_F(CudaDeviceTest, MemoryIsAligned) {
  std::vector<std::unique_ptr<Memory>> all;
  for (const size_t bytes : {0, 1, 3, 255, 256, 257, 4097, 1 << 20}) {
    all.push_back(device().allocate(bytes));
    ASSERT_NE(all.back()->data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(all.back()->data()) % 256, 0u);
    EXPECT_EQ(all.back()->size(), bytes);
  }
}

TEST_F(CudaDeviceTest, PinnedMemoryHasOneAddress) {
  for (const size_t bytes : {0, 1, 4097}) {
    const auto memory = device().allocate_pinned(bytes);
    cudaPointerAttributes attributes = {};
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, memory->data()), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
    EXPECT_EQ(attributes.devicePointer, memory->data());
    EXPECT_EQ(memory->size(), bytes);
  }
}

/// Without a stream or a copy, the operation reads what the host has written, and the host sees the
/// result.
TEST_F(CudaDeviceTest, AnOperationWithoutAStreamIsCompleteWhenItReturns) {
  Random random(0);
  SCOPED_TRACE(random.name());
  const ImageDesc in = {PixelFormat::BGRx, 1920, 1080}, out = {PixelFormat::RGB, 1280, 720};
  const LetterboxParams p = {random_source(random, in.format, {in.width, in.height}), out, {}};
  const auto operation = cuda().letterbox(p);
  const auto source = device().allocate_pinned(4 * 1920 * 1080);
  const auto target = device().allocate_pinned(3 * 1280 * 720);
  std::vector<uint8_t> expected(target->size());
  const ConstImage from = {in, {{source->data(), 4 * 1920}}};
  for (int frame = 0; frame < 20; ++frame) {
    for (size_t i = 0; i < source->size(); i += 8) {
      const uint64_t bits = random.bits();
      std::memcpy(source->data() + i, &bits, 8);
    }
    cpu()->letterbox(p)->run(from, {out, {{expected.data(), 3 * 1280}}});
    std::fill_n(target->data(), target->size(), uint8_t{0xa5});
    operation->run(from, {out, {{target->data(), 3 * 1280}}});
    EXPECT_EQ(std::memcmp(target->data(), expected.data(), expected.size()), 0);
  }
}

// -------------------------------------------------------------------------------------- copies

enum class Place { pageable, pinned, device };

/// Noise in memory of any kind.
class Noise {
 public:
  Noise(Random &random, Device &device, Place place, size_t bytes) : content_(bytes) {
    for (uint8_t &byte : content_) byte = static_cast<uint8_t>(random.bits());
    host_ = content_;
    if (place == Place::pinned) memory_ = device.allocate_pinned(bytes);
    if (place == Place::device) memory_ = device.allocate(bytes);
    if (memory_ == nullptr) return;
    EXPECT_EQ(cudaMemcpy(memory_->data(), content_.data(), bytes, cudaMemcpyDefault), cudaSuccess);
    // A copy from memory that is not pinned may return before it is complete.
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  uint8_t *data() { return memory_ == nullptr ? host_.data() : memory_->data(); }
  /// Returns the content as it was written.
  const std::vector<uint8_t> &content() const { return content_; }
  /// Reads the current content.
  std::vector<uint8_t> read() {
    std::vector<uint8_t> bytes(content_.size());
    EXPECT_EQ(cudaMemcpy(bytes.data(), data(), bytes.size(), cudaMemcpyDefault), cudaSuccess);
    return bytes;
  }

 private:
  std::vector<uint8_t> content_, host_;
  std::unique_ptr<Memory> memory_;
};

struct Layout2D {
  size_t row, rows, offset;
  ptrdiff_t stride;

  size_t bytes() const { return offset + static_cast<size_t>(stride) * rows + 7; }
};

Layout2D random_layout(Random &random, size_t row, size_t rows) {
  const ptrdiff_t gap = random.chance(40) ? 0 : random.integer(1, 70);
  return {row, rows, static_cast<size_t>(random.integer(0, 40)), static_cast<ptrdiff_t>(row) + gap};
}

class CudaCopyTest : public CudaDeviceTest {
 protected:
  void expect_copied(Random &random, Place from, Place to, Stream on) const {
    const auto row = static_cast<size_t>(random.integer(1, 700));
    const auto rows = static_cast<size_t>(random.integer(1, 40));
    const Layout2D source = random_layout(random, row, rows);
    const Layout2D target = random_layout(random, row, rows);
    Noise in(random, device(), from, source.bytes()), out(random, device(), to, target.bytes());
    std::vector<uint8_t> expected = out.content();
    for (size_t y = 0; y < rows; ++y)
      std::memcpy(expected.data() + target.offset + static_cast<size_t>(target.stride) * y,
                  in.content().data() + source.offset + static_cast<size_t>(source.stride) * y,
                  row);
    device().copy({out.data() + target.offset, target.stride},
                  {in.data() + source.offset, source.stride}, row, rows, on);
    device().synchronize(on);
    EXPECT_TRUE(out.read() == expected)
        << row << "x" << rows << ", strides " << source.stride << " to " << target.stride;
    EXPECT_TRUE(in.read() == in.content());
  }
};

TEST_F(CudaCopyTest, EveryDirection) {
  const std::vector<Place> places = {Place::pageable, Place::pinned, Place::device};
  for (const Place from : places)
    for (const Place to : places) {
      SCOPED_TRACE("place " + std::to_string(static_cast<int>(from)) + " to " +
                   std::to_string(static_cast<int>(to)));
      for_cases(60, [&](Random &random) {
        expect_copied(random, from, to, random.chance(50) ? stream() : Stream{});
      });
    }
}

TEST_F(CudaCopyTest, StridesWiderThanAPicture) {
  const auto memory = device().allocate(70001 * 3);
  const auto rows = pinned(3 * 10, 7);
  ASSERT_EQ(cudaMemset(memory->data(), 0, memory->size()), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  device().copy({memory->data(), 70001}, {rows->data(), 10}, 10, 3, stream());
  device().synchronize(stream());
  std::vector<uint8_t> bytes(memory->size());
  ASSERT_EQ(cudaMemcpy(bytes.data(), memory->data(), bytes.size(), cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 7), 30);
  EXPECT_EQ(bytes[2 * 70001 + 9], 7);
}

// ---------------------------------------------------------------------------- streams and events

TEST_F(CudaDeviceTest, StreamsDoNotWaitForTheDefaultOne) {
  unsigned flags = 0;
  ASSERT_EQ(cudaStreamGetFlags(static_cast<cudaStream_t>(stream().handle), &flags), cudaSuccess);
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
}

TEST_F(CudaDeviceTest, AnEventThatWasNeverRecordedHasPassed) {
  const auto event = device().make_event();
  EXPECT_TRUE(event->passed());
  event->wait();
  event->hold(stream());
  device().synchronize(stream());
}

TEST_F(CudaDeviceTest, AnEventPassesWhenTheWorkBeforeItIsDone) {
  const auto event = device().make_event();
  cudaGetLastError();
  Gate gate(stream());
  event->record(stream());
  EXPECT_FALSE(event->passed());
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "not yet is no error";
  gate.open();
  event->wait();
  EXPECT_TRUE(event->passed());
}

TEST_F(CudaDeviceTest, AnEventIsRecordedAnew) {
  const auto event = device().make_event();
  for (int i = 0; i < 3; ++i) {
    Gate gate(stream());
    event->record(stream());
    EXPECT_FALSE(event->passed());
    gate.open();
    event->wait();
    EXPECT_TRUE(event->passed());
  }
}

TEST_F(CudaDeviceTest, AnEventIsAPointOfItsStream) {
  const auto event = device().make_event();
  event->record(stream());
  Gate gate(stream());  // later work does not count
  event->wait();
  EXPECT_TRUE(event->passed());
}

TEST_F(CudaDeviceTest, AnEventHoldsAnotherStream) {
  const auto other = device().make_stream();
  const auto event = device().make_event(), copied = device().make_event();
  const auto from = pinned(64, 7), to = pinned(64, 0);
  Gate gate(stream());
  event->record(stream());
  event->hold(other->get());
  queue_copy(*to, *from, other->get());
  copied->record(other->get());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(copied->passed());
  EXPECT_TRUE(holds(*to, 0));
  gate.open();
  copied->wait();
  EXPECT_TRUE(holds(*to, 7));
}

/// The producer may already be at the next frame.
TEST_F(CudaDeviceTest, AHoldIsForTheWorkThatWasRecordedThen) {
  const auto other = device().make_stream();
  const auto event = device().make_event();
  const auto from = pinned(64, 7), to = pinned(64, 0);
  event->record(stream());
  event->hold(other->get());
  Gate gate(stream());
  event->record(stream());
  queue_copy(*to, *from, other->get());
  device().synchronize(other->get());
  EXPECT_TRUE(holds(*to, 7));
  EXPECT_FALSE(event->passed());
}

class CudaDestructionTest : public CudaDeviceTest {
 protected:
  /// Destroys an object while the work that uses it is blocked, then expects that work's result.
  template <class Destroy>
  void expect_finished(const Memory &result, Gate &gate, const Destroy &destroy) const {
    std::thread opener([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      gate.open();
    });
    destroy();
    opener.join();
    device().synchronize(stream());
    EXPECT_TRUE(holds(result, 7));
  }
};

TEST_F(CudaDestructionTest, AStreamFinishesItsWorkFirst) {
  const auto from = pinned(64, 7), to = pinned(64, 0);
  auto own = device().make_stream();
  Gate gate(own->get());
  queue_copy(*to, *from, own->get());
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.open();
  });
  own.reset();
  EXPECT_TRUE(holds(*to, 7));
  opener.join();
}

TEST_F(CudaDestructionTest, MemoryMayBeInUse) {
  const auto from = pinned(64, 7), to = pinned(64, 0);
  auto between = device().allocate(64);
  Gate gate(stream());
  queue_copy(*between, *from, stream());
  queue_copy(*to, *between, stream());
  expect_finished(*to, gate, [&] { between.reset(); });
}

TEST_F(CudaDestructionTest, AnEventMayLieAhead) {
  const auto other = device().make_stream();
  const auto from = pinned(64, 7), to = pinned(64, 0);
  auto event = device().make_event();
  Gate gate(other->get());
  event->record(other->get());
  event->hold(stream());
  queue_copy(*to, *from, stream());
  expect_finished(*to, gate, [&] { event.reset(); });
}

TEST_F(CudaDestructionTest, AnOperationMayBeUnderWay) {
  const ImageDesc gray = {PixelFormat::GRAY8, 8, 8};
  const auto from = pinned(64, 7), to = pinned(64, 0);
  const ConstImage in = {gray, {{from->data(), 8}}};
  const Image out = {gray, {{to->data(), 8}}};
  auto operation = cuda().letterbox({{gray, {}}, gray, {}});
  operation->run(in, out, stream());  // loads the kernel's code
  device().synchronize(stream());
  std::fill_n(to->data(), 64, uint8_t{0});
  Gate gate(stream());
  operation->run(in, out, stream());
  expect_finished(*to, gate, [&] { operation.reset(); });
}

}  // namespace
}  // namespace cudatensor
