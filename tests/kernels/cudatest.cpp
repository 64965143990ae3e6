// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cudatest.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "kernels/fault.h"

namespace cudatensor {

void CudaTest::SetUp() {
  std::string reason;
  backend_ = cuda_if_there_is_one(reason);
  if (backend_ == nullptr) GTEST_SKIP() << reason;
  stream_ = device().make_stream();
}

void CudaTest::arm(int64_t number, cudaError_t code, bool sticky) {
  const std::string value =
      std::to_string(number) + (sticky ? "+:" : ":") + std::to_string(static_cast<int>(code));
  setenv("CUDATENSOR_FAULT", value.c_str(), 1);
  arm_faults();
}

void CudaTest::disarm() {
  unsetenv("CUDATENSOR_FAULT");
  arm_faults();
}

void CudaAndCpuTest::SetUp() {
  CudaTest::SetUp();
  if (IsSkipped()) return;
  cpu_ = std::make_unique<Machine>("CPU", open_cpu_backend(0));
  cuda_.push_back(std::make_unique<Machine>("CUDA", open_cuda_backend()));
  cuda_.push_back(
      std::make_unique<Machine>("CUDA on a stream", open_cuda_backend(), Machine::Streams::own));
}

Gate::Gate(Stream stream) : state_(std::make_shared<State>()) {
  auto shared = std::make_unique<std::shared_ptr<State>>(state_);
  const cudaError_t error =
      cudaLaunchHostFunc(static_cast<cudaStream_t>(stream.handle), pass, shared.get());
  EXPECT_EQ(error, cudaSuccess);
  if (error == cudaSuccess) shared.release();
}

void Gate::open() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->open = true;
  state_->opened.notify_all();
}

/// Gives up after a while, so that a test that waits for the stream by mistake fails instead of
/// hanging.
void Gate::pass(void *data) {
  const std::unique_ptr<std::shared_ptr<State>> shared(static_cast<std::shared_ptr<State> *>(data));
  State &state = **shared;
  std::unique_lock<std::mutex> lock(state.mutex);
  state.opened.wait_for(lock, std::chrono::seconds(20), [&] { return state.open; });
}

size_t free_device_memory() {
  size_t free = 0, total = 0;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return free;
}

testing::AssertionResult is_free_again(size_t before) {
  return is_free_again(before, free_device_memory());
}

testing::AssertionResult is_free_again(size_t before, size_t now) {
  constexpr size_t kKept = size_t{4} << 20;
  if (now + kKept >= before) return testing::AssertionSuccess();
  return testing::AssertionFailure() << before - now << " bytes are missing";
}

void fill_with_noise(uint8_t *data, size_t size) {
  Random random(size);
  uint64_t state = random.bits() | 1;
  for (size_t i = 0; i < size; i += sizeof(state)) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::memcpy(data + i, &state, std::min(sizeof(state), size - i));
  }
}

}  // namespace cudatensor
