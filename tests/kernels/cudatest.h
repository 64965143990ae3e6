// SPDX-License-Identifier: LGPL-2.1-or-later
// What the tests of the CUDA backend alone share.
#pragma once

#include <cuda_runtime_api.h>

#include <condition_variable>
#include <memory>
#include <mutex>

#include "backends.h"

namespace cudatensor {

/// Skipped where there is no GPU.
class CudaTest : public testing::Test {
 protected:
  void SetUp() override;
  /// No fault outlives its test.
  void TearDown() override { disarm(); }

  Backend &cuda() const { return *backend_; }
  Device &device() const { return *backend_->device(); }
  Stream stream() const { return stream_->get(); }

  /// The N-th guarded call from now on fails, with `sticky` all that follow it too.
  static void arm(int64_t number, cudaError_t code, bool sticky = false);
  static void disarm();

 private:
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<OwnedStream> stream_;
};

/// The CUDA backend beside the CPU's, on inputs that an oracle is too slow for.
class CudaAndCpuTest : public CudaTest {
 protected:
  void SetUp() override;

  const Machine &cpu() const { return *cpu_; }

  /// What the CPU makes of `in` is what `out` expects from now on.
  template <class Prepare, class In, class Out>
  void expect_as_the_cpu(const Prepare &prepare, const In &in, Out &out) const {
    cpu_->run(*prepare(*cpu_), in, out);
    out.adopt();
    out.reset();
  }

  /// Runs what `prepare` makes of a backend on both, in one of the ways to use CUDA.
  template <class Prepare, class In, class Out>
  void expect_same(Random &random, const Prepare &prepare, const In &in, Out &out) const {
    expect_as_the_cpu(prepare, in, out);
    const Machine &machine = any_cuda(random);
    SCOPED_TRACE(machine.name());
    machine.run(*prepare(machine), in, out);
    EXPECT_TRUE(out.matches());
  }

  const Machine &any_cuda(Random &random) const { return *cuda_[random.bits() % cuda_.size()]; }

 private:
  std::unique_ptr<Machine> cpu_;
  std::vector<std::unique_ptr<Machine>> cuda_;
};

/// Holds a stream up until it is opened. While it is closed, nothing may be called that waits for
/// all of the device: no allocation, and no kernel that was never launched before.
class Gate {
 public:
  explicit Gate(Stream stream);
  ~Gate() { open(); }
  Gate(const Gate &) = delete;
  Gate &operator=(const Gate &) = delete;

  void open();

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable opened;
    bool open = false;
  };
  static void pass(void *state);

  std::shared_ptr<State> state_;
};

/// Bytes of device memory that nobody holds, once all work is done.
size_t free_device_memory();
/// Whether as much is free as `before`, but for blocks that the driver keeps for small allocations.
testing::AssertionResult is_free_again(size_t before);
testing::AssertionResult is_free_again(size_t before, size_t now);

/// Quick noise for what is too large for Random.
void fill_with_noise(uint8_t *data, size_t size);

}  // namespace cudatensor
