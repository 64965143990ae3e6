// SPDX-License-Identifier: LGPL-2.1-or-later
// Every call to CUDA fails once, in every relevant way. The result is one Error, which names the
// call and CUDA's error. Nothing leaks, and the next attempt works.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

#include "cudatest.h"
#include "kernels/fault.h"
#include "oracle.h"
#include "params.h"
#include "refusal.h"

namespace cudatensor {
namespace {

struct Fault {
  cudaError_t error;
  bool sticky;
  Error::Code code;
};

constexpr Fault kFaults[] = {
    {cudaErrorMemoryAllocation, false, Error::Code::out_of_memory},
    {cudaErrorIllegalAddress, false, Error::Code::device},
    {cudaErrorIllegalAddress, true, Error::Code::device},
    {cudaErrorNoDevice, false, Error::Code::not_found},
    {cudaErrorInsufficientDriver, false, Error::Code::not_found},
};

std::string text_of(const Fault &fault, int64_t number) {
  return "call " + std::to_string(number) + ": " + cudaGetErrorName(fault.error) +
         (fault.sticky ? ", and all that follow" : "");
}

/// Expects the text "call: name of the error (CUDA's text); advice".
void expect_error(const Error &error, const Fault &fault) {
  const std::string text = error.what();
  const size_t name = text.find(std::string(": ") + cudaGetErrorName(fault.error) + " (");
  EXPECT_EQ(error.code(), fault.code) << text;
  EXPECT_NE(text.find(cudaGetErrorString(fault.error)), std::string::npos) << text;
  EXPECT_NE(text.find("); "), std::string::npos) << text;
  ASSERT_NE(name, std::string::npos) << text;
  const std::string call = text.substr(0, name);
  EXPECT_TRUE(call.rfind("cu", 0) == 0 || call.find(" kernel") != std::string::npos) << text;
}

class CudaFaultTest : public CudaAndCpuTest {
 protected:
  using Use = std::function<void()>;

  void expect_failure(const Use &use, const Fault &fault, int64_t number) const {
    SCOPED_TRACE(text_of(fault, number));
    arm(number, fault.error, fault.sticky);
    try {
      use();
      ADD_FAILURE() << "nothing was reported";
    } catch (const Error &error) {
      expect_error(error, fault);
    }
    disarm();
    use();
  }

  /// Makes each call of `use` fail in turn. Without a fault, `use` throws nothing.
  void walk(const Use &use) const {
    use();  // loads the kernels' code
    const size_t before = free_device_memory();
    disarm();
    use();
    const int64_t calls = call_count();
    EXPECT_GT(calls, 0);
    for (const Fault &fault : kFaults)
      for (int64_t number = 1; number <= calls && !HasFailure(); ++number)
        expect_failure(use, fault, number);
    EXPECT_TRUE(is_free_again(before));
  }

  /// Tests everything from opening the backend to the result, with and without a stream.
  template <class Prepare, class In, class Out>
  void walk(const Prepare &prepare, const In &in, Out &out) const {
    expect_as_the_cpu(prepare, in, out);
    walk([&] {
      for (const auto streams : {Machine::Streams::none, Machine::Streams::own}) {
        const Machine machine("CUDA", open_cuda_backend(), streams);
        const auto operation = prepare(machine);
        out.reset();
        machine.run(*operation, in, out);
        EXPECT_TRUE(out.matches());
      }
    });
  }

  /// Expects the operation to remain usable, whether its work was queued or not.
  template <class Prepare, class In, class Out>
  void expect_lives_on(const Prepare &prepare, const In &in, Out &out) const {
    expect_as_the_cpu(prepare, in, out);
    const Machine machine("CUDA", open_cuda_backend(), Machine::Streams::none);
    const auto operation = prepare(machine);
    machine.run(*operation, in, out);  // allocates what all frames need
    disarm();
    machine.run(*operation, in, out);
    const int64_t calls = call_count();
    for (int64_t number = 1; number <= calls; ++number) {
      SCOPED_TRACE("call " + std::to_string(number));
      arm(number, cudaErrorIllegalAddress);
      EXPECT_THROW(machine.run(*operation, in, out), Error);
      disarm();
      out.reset();
      machine.run(*operation, in, out);
      EXPECT_TRUE(out.matches());
    }
  }
};

/// Wide, so that tables that leak show in the device's free memory.
constexpr int kWide = 30000;

TEST_F(CudaFaultTest, Letterbox) {
  Random random(0);
  const LetterboxParams p = {random_source(random, PixelFormat::NV12, {64, 48}),
                             {PixelFormat::RGB, kWide, 2},
                             random_resize(random)};
  const InputPicture in(random, p.source.image);
  OutputPicture out(random, p.out);
  const auto prepare = [&](const Machine &m) { return m->letterbox(p); };
  walk(prepare, in, out);
  expect_lives_on(prepare, in, out);
}

TEST_F(CudaFaultTest, Normalize) {
  Random random(0);
  for (const Color color : {Color::rgb, Color::yuv}) {
    NormalizeCase p = random_normalize(random, PixelFormat::I420, color, {64, 48}, {kWide, 2});
    p.resize = {};
    const InputPicture in(random, p.source.image);
    OutputTensor out(random, p.out);
    const auto prepare = [&](const Machine &m) { return normalize_picture(m, p); };
    walk(prepare, in, out);
    expect_lives_on(prepare, in, out);
  }
}

TEST_F(CudaFaultTest, Yuv444) {
  Random random(0);
  const Yuv444Params p = {
      {PixelFormat::NV12, 64, 48}, {PixelFormat::Y444, kWide, 2}, kWide, 2, 0, 0};
  const InputPicture in(random, p.in);
  OutputPicture out(random, p.out);
  const auto prepare = [&](const Machine &m) { return m->yuv444(p); };
  walk(prepare, in, out);
  expect_lives_on(prepare, in, out);
}

TEST_F(CudaFaultTest, PixelShuffle) {
  Random random(0);
  const PixelShuffleParams p = {{DType::float16, Layout::nchw, 1, 12, 20, 32}, 2};
  const InputTensor in(random, p.in);
  OutputTensor out(random, shuffled(p));
  const auto prepare = [&](const Machine &m) { return m->pixelshuffle(p); };
  walk(prepare, in, out);
  expect_lives_on(prepare, in, out);
}

TEST_F(CudaFaultTest, PixelShuffleToVideo) {
  Random random(0);
  const PixelShuffleToVideoParams p = {
      {DType::float32, Layout::nchw, 1, 12, 20, 32}, 2, {PixelFormat::RGB, 64, 40}, 0.0, 0.0};
  const InputTensor in(random, p.in);
  OutputPicture out(random, p.out);
  const auto prepare = [&](const Machine &m) { return m->pixelshuffle(p); };
  walk(prepare, in, out);
  expect_lives_on(prepare, in, out);
}

/// A histogram, and the picture that it counts.
struct Counted {
  HistogramParams params;
  InputPicture in;
  Bins expected = {};

  explicit Counted(Random &random)
      : params{{PixelFormat::NV12, 640, 48}, {1, 2, 600, 40}}, in(random, params.in) {
    oracle::histogram(params, in.view(), expected);
  }

  void expect_counted(const Machine &machine, HistogramOperation &operation) const {
    Bins bins = {};
    machine.count(operation, in, bins);
    EXPECT_EQ(bins, expected);
  }
};

TEST_F(CudaFaultTest, Histogram) {
  Random random(0);
  const Counted counted(random);
  walk([&] {
    for (const auto streams : {Machine::Streams::none, Machine::Streams::own}) {
      const Machine machine("CUDA", open_cuda_backend(), streams);
      counted.expect_counted(machine, *machine->histogram(counted.params));
    }
  });
}

/// Totals that were counted but never fetched must not appear in a later frame.
TEST_F(CudaFaultTest, AHistogramLivesOn) {
  Random random(0);
  const Counted counted(random);
  const Machine machine("CUDA", open_cuda_backend());
  const auto operation = machine->histogram(counted.params);
  disarm();
  counted.expect_counted(machine, *operation);
  const int64_t calls = call_count();
  for (int64_t number = 1; number <= calls; ++number) {
    SCOPED_TRACE("call " + std::to_string(number));
    arm(number, cudaErrorIllegalAddress);
    EXPECT_THROW(counted.expect_counted(machine, *operation), Error);
    disarm();
    counted.expect_counted(machine, *operation);
  }
}

/// Small blocks change the device's free memory only if there are many.
TEST_F(CudaFaultTest, AHistogramThatCannotBeMadeLeavesNothing) {
  const HistogramParams p = {{PixelFormat::GRAY8, 64, 48}, {0, 0, 64, 48}};
  disarm();
  cuda().histogram(p);
  const int64_t calls = call_count();
  const size_t before = free_device_memory();
  for (int round = 0; round < 2000; ++round)
    for (int64_t number = 1; number <= calls; ++number) {
      arm(number, cudaErrorMemoryAllocation);
      EXPECT_THROW(cuda().histogram(p), Error);
    }
  EXPECT_TRUE(is_free_again(before));
}

TEST_F(CudaFaultTest, MemoryStreamsAndEvents) {
  walk([&] {
    const auto memory = device().allocate(3 << 20), pinned = device().allocate_pinned(4096);
    const auto own = device().make_stream();
    const auto event = device().make_event();
    device().copy({memory->data(), 64}, {pinned->data(), 32}, 32, 8, own->get());
    event->record(own->get());
    event->hold(stream());
    device().copy({pinned->data(), 32}, {memory->data(), 64}, 32, 8, stream());
    event->wait();
    EXPECT_TRUE(event->passed());
    device().synchronize(stream());
  });
}

TEST_F(CudaFaultTest, Devices) {
  walk([] {
    EXPECT_GE(count_cuda_devices(), 1);
    check_cuda_device(0);
    check_cuda_device(-1);
    const PrimaryContextScope scope(0);
  });
}

// ---------------------------------------------------------------------------------- real faults

using CudaRealFaultTest = CudaTest;

TEST_F(CudaRealFaultTest, MoreMemoryThanAnyDeviceHas) {
  for (int i = 0; i < 3; ++i)
    expect_refusal(Error::Code::out_of_memory, "cudaErrorMemoryAllocation",
                   [&] { device().allocate(size_t{1} << 43); });
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "it must not pass for somebody else's";
  EXPECT_NE(device().allocate(4096), nullptr);
}

/// Fills a device up to the last gigabyte.
TEST_F(CudaRealFaultTest, ADeviceThatIsFull) {
  constexpr size_t kGigabyte = size_t{1} << 30;
  const size_t before = free_device_memory();
  std::vector<std::unique_ptr<Memory>> all;
  const auto take_all = [&] {
    for (;;) all.push_back(device().allocate(kGigabyte));
  };
  for (int i = 0; i < 2; ++i)
    expect_refusal(Error::Code::out_of_memory, "cudaErrorMemoryAllocation", take_all);
  EXPECT_GE(all.size() + 2, before / kGigabyte);
  all.clear();
  EXPECT_NO_THROW(device().allocate(kGigabyte));
  EXPECT_TRUE(is_free_again(before));
}

TEST_F(CudaRealFaultTest, ANonexistentDevice) {
  const int count = count_cuda_devices();
  for (const int device : {count, count + 1, 9999, 2147483647}) {
    expect_refusal(Error::Code::not_found, "cudaErrorInvalidDevice",
                   [&] { check_cuda_device(device); });
    expect_refusal(Error::Code::not_found, "cudaErrorInvalidDevice",
                   [&] { PrimaryContextScope scope(device); });
  }
  expect_refusal(Error::Code::not_found, "-2", [] { check_cuda_device(-2); });
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  for (int device = -1; device < count; ++device) EXPECT_NO_THROW(check_cuda_device(device));
}

TEST_F(CudaRealFaultTest, AnImpossibleCopy) {
  const auto memory = device().allocate(4096);
  expect_refusal(Error::Code::device, "cudaMemcpy2DAsync: cudaError", [&] {
    device().copy({memory->data(), 16}, {memory->data() + 2048, 64}, 64, 4, stream());
  });
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

// ------------------------------------------------------------------------------- lost contexts

/// A failed kernel makes the context unusable, so each of these tests has its own process.
class CudaAloneTest : public CudaTest {
 protected:
  static bool is_alone() { return std::getenv("CUDATENSOR_TEST_ALONE") != nullptr; }

  /// Runs only this test in a new process, and expects it to pass.
  static void expect_to_pass_alone() {
    const auto *const info = testing::UnitTest::GetInstance()->current_test_info();
    std::vector<std::string> arguments = own_arguments();
    arguments.push_back(std::string("--gtest_filter=") + info->test_suite_name() + "." +
                        info->name());
    arguments.push_back("--gtest_output=");
    std::vector<char *> pointers;
    for (std::string &argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    setenv("CUDATENSOR_TEST_ALONE", "yes", 1);
    pid_t child = 0;
    const int error =
        posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, pointers.data(), environ);
    unsetenv("CUDATENSOR_TEST_ALONE");
    ASSERT_EQ(error, 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }

 private:
  /// Returns the arguments of this process, including those of a loader that was called by name.
  static std::vector<std::string> own_arguments() {
    std::ifstream file("/proc/self/cmdline");
    std::vector<std::string> arguments;
    for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
    return arguments;
  }
};

TEST_F(CudaAloneTest, AWildAddressIsAnError) {
  if (!is_alone()) return expect_to_pass_alone();
  const ImageDesc gray = {PixelFormat::GRAY8, 64, 64};
  const auto operation = cuda().histogram({gray, {0, 0, 64, 64}});
  const auto bins = device().allocate_pinned(sizeof(Bins));
  const auto *const wild = reinterpret_cast<const uint8_t *>(uintptr_t{4096});
  const auto run = [&] {
    operation->run({gray, {{wild, 64}}}, *reinterpret_cast<Bins *>(bins->data()));
  };
  expect_refusal(Error::Code::device, "cudaStreamSynchronize: cudaErrorIllegalAddress", run);
  expect_refusal(Error::Code::device, "cudaErrorIllegalAddress", run);
}

/// If freeing the memory did not wait for the work, the work would fail or copy something else.
TEST_F(CudaAloneTest, PinnedMemoryMayBeInUse) {
  if (!is_alone()) return expect_to_pass_alone();
  const auto from = device().allocate(64), to = device().allocate(64);
  const auto result = device().allocate_pinned(64);
  auto between = device().allocate_pinned(64);
  const auto queue = [&](const Memory &target, const Memory &source) {
    device().copy({target.data(), 64}, {source.data(), 64}, 64, 1, stream());
  };
  std::fill_n(result->data(), 64, uint8_t{7});
  queue(*from, *result);
  device().synchronize(stream());
  Gate gate(stream());
  queue(*between, *from);
  queue(*to, *between);
  queue(*result, *to);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::fill_n(result->data(), 64, uint8_t{0});
    gate.open();
  });
  between.reset();
  opener.join();
  device().synchronize(stream());
  EXPECT_EQ(std::count(result->data(), result->data() + 64, 7), 64);
}

}  // namespace
}  // namespace cudatensor
