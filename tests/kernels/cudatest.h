// SPDX-License-Identifier: LGPL-2.1-or-later
// Common code of the tests of the CUDA backend.
#pragma once

#include <cuda_runtime_api.h>

#include <condition_variable>
#include <memory>
#include <mutex>

#include "backends.h"

namespace cudatensor {

/// Skips tests if there is no GPU.
class CudaTest : public testing::Test {
 protected:
  void SetUp() override;
  /// Ends the faults of the test.
  void TearDown() override { disarm(); }

  Backend &cuda() const { return *backend_; }
  Device &device() const { return *backend_->device(); }
  Stream stream() const { return stream_->get(); }

  /// Makes the N-th guarded call from now on fail, with `sticky` also all later ones.
  static void arm(int64_t number, cudaError_t code, bool sticky = false);
  static void disarm();

 private:
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<OwnedStream> stream_;
};

/// Compares the CUDA backend with the CPU backend, on inputs for which the oracle is too slow.
class CudaAndCpuTest : public CudaTest {
 protected:
  void SetUp() override;

  const Machine &cpu() const { return *cpu_; }

  /// Computes the expected content of `out` for `in` on the CPU.
  template <class Prepare, class In, class Out>
  void expect_as_the_cpu(const Prepare &prepare, const In &in, Out &out) const {
    cpu_->run(*prepare(*cpu_), in, out);
    out.adopt();
    out.reset();
  }

  /// Runs the operation that `prepare` returns on both backends, in one of the ways to use CUDA.
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

/// Blocks a stream until the gate is opened. While it is closed, nothing that waits for the whole
/// device may be called: no allocation, and no kernel for the first time.
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

/// Waits for all work and returns the free bytes of device memory.
size_t free_device_memory();
/// Checks that as much memory is free as `before`, except for blocks that the driver keeps for
/// small allocations.
testing::AssertionResult is_free_again(size_t before);
testing::AssertionResult is_free_again(size_t before, size_t now);

/// Fills large memory with noise, faster than Random.
void fill_with_noise(uint8_t *data, size_t size);

}  // namespace cudatensor
