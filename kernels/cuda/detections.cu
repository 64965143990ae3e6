// SPDX-License-Identifier: LGPL-2.1-or-later
// One launch for all slots. A block reads a part of a slot's rows, a row a thread, and writes the
// candidates to its own place in pinned memory, in the order of their rows, so that the host needs
// no copy and only one wait.
#include <climits>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/operations.h"
#include "kernels/detections.h"
#include "kernels/error.h"

namespace cudatensor::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 128;
constexpr unsigned kAllLanes = 0xffffffffu;

struct DetectionArgs {
  CandidatePlan plan;
  OutputData data;
  unsigned parts;    // of a slot
  unsigned *counts;  // of candidates, by slot and part
  Candidate *found;  // kThreads by slot and part
};

__global__ void __launch_bounds__(kThreads) gather(const __grid_constant__ DetectionArgs a) {
  __shared__ unsigned found_by[kThreads / kWarp];
  wait_for_previous_kernel();
  const unsigned part = blockIdx.x % a.parts, slot = blockIdx.x / a.parts;
  const int64_t row = static_cast<int64_t>(part) * kThreads + threadIdx.x;
  Candidate each;
  const bool found = row < a.plan.rows && read_candidate(a.plan, a.data, slot, row, each);

  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const unsigned lanes = __ballot_sync(kAllLanes, found);
  if (lane == 0) found_by[warp] = __popc(lanes);
  __syncthreads();
  unsigned before = __popc(lanes & ((1u << lane) - 1u));
  unsigned count = 0;
  for (unsigned w = 0; w < kThreads / kWarp; ++w) {
    if (w < warp) before += found_by[w];
    count += found_by[w];
  }
  if (threadIdx.x == 0) a.counts[blockIdx.x] = count;
  if (found) a.found[static_cast<int64_t>(blockIdx.x) * kThreads + before] = each;
}

class Detections final : public DetectionOperation {
 public:
  explicit Detections(CudaDevice &device) : device_(device) {}

  void take(int64_t slot, std::vector<Candidate> &found) const override {
    found.clear();
    for (int64_t i = slot * parts_; i < (slot + 1) * parts_; ++i) {
      const Candidate *const first = found_ + i * kThreads;
      found.insert(found.end(), first, first + counts_[i]);
    }
  }

 private:
  void execute(const CandidatePlan &plan, const OutputData &data, const std::vector<bool> &,
               Stream stream) override {
    parts_ = (plan.rows + kThreads - 1) / kThreads;
    int64_t blocks = 0;
    if (__builtin_mul_overflow(plan.slots, parts_, &blocks) || blocks > INT_MAX)
      throw Error(Error::Code::settings, "the outputs of the network are too large");
    if (blocks == 0) return;
    reserve(static_cast<size_t>(blocks));
    const DetectionArgs args = {plan, data, static_cast<unsigned>(parts_), counts_, found_};
    queue_on(device_, stream, [&](const Queue &queue) {
      launch("cudadetections", gather, {dim3(static_cast<unsigned>(blocks)), dim3(kThreads)}, queue,
             args);
    });
  }

  void reserve(size_t blocks) {
    const size_t counts = (blocks * sizeof(unsigned) + kAlignment - 1) / kAlignment * kAlignment;
    const size_t bytes = counts + blocks * kThreads * sizeof(Candidate);
    if (memory_ == nullptr || memory_->size() < bytes) {
      memory_.reset();
      memory_ = device_.allocate_pinned(bytes);
    }
    counts_ = reinterpret_cast<unsigned *>(memory_->data());
    found_ = reinterpret_cast<Candidate *>(memory_->data() + counts);
  }

  static constexpr size_t kAlignment = 256;

  CudaDevice &device_;
  std::unique_ptr<Memory> memory_;
  int64_t parts_ = 0;
  unsigned *counts_ = nullptr;
  Candidate *found_ = nullptr;
};

}  // namespace

std::unique_ptr<DetectionOperation> make_detections(CudaDevice &device) {
  return std::make_unique<Detections>(device);
}

}  // namespace cudatensor::cuda
