// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends under test. No other file knows where their memory is.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pictures.h"
#include "tests/kernels/normalizecase.h"

namespace cudatensor {

/// Copies of blocks in the memory of a device. Each copy is an allocation of the block's size, so
/// that compute-sanitizer detects reads beyond its end. It begins at a multiple of 256 bytes, so
/// that an odd address in the block is odd in the copy.
class OnDevice {
 public:
  OnDevice(Device &device, const std::vector<Span> &blocks, Stream stream);

  Bases bases() const;
  /// Returns the copy of the first block.
  uint8_t *data() const { return blocks_.front()->data(); }
  /// Queues a copy of the first block.
  void fetch(uint8_t *to, Stream stream) const;

 private:
  Device &device_;
  std::vector<std::unique_ptr<Memory>> blocks_;
};

/// The pictures of a batch; null for a slot that stays empty.
using Slots = std::vector<const InputPicture *>;

/// A picture and its regions for the slots of a batch.
struct PictureRegions {
  const InputPicture *picture;
  std::vector<Region> regions;
};

/// A backend, with functions that copy pictures from the host's memory to it and back.
class Machine {
 public:
  /// The stream that operations run on. The CPU has no streams.
  enum class Streams { none, own };

  Machine(std::string name, std::unique_ptr<Backend> backend, Streams streams = Streams::none);

  const std::string &name() const { return name_; }
  Backend *operator->() const { return backend_.get(); }

  template <class Operation, class In, class Out>
  void run(Operation &operation, const In &in, Out &out) const {
    run_work(
        [&](const auto &from, const auto &to, Stream stream) { operation.run(from, to, stream); },
        in, out);
  }

  /// Runs a batch.
  void run(NormalizePictures &operation, const Slots &in, OutputTensor &out) const {
    run_pictures([&](const auto &views, const Tensor &to,
                     Stream stream) { operation.run(views, to, stream); },
                 in, out);
  }
  /// Calls `work` with views of the pictures, empty for none, and of the tensor.
  using PicturesWork = std::function<void(const std::vector<ConstImage> &, const Tensor &, Stream)>;
  void run_pictures(const PicturesWork &work, const Slots &in, OutputTensor &out) const;
  void run(NormalizeRegions &operation, const PictureRegions &in, OutputTensor &out) const {
    run_work([&](const ConstImage &from, const Tensor &to,
                 Stream stream) { operation.run(from, in.regions, to, stream); },
             *in.picture, out);
  }

  template <class In>
  void count(HistogramOperation &operation, const In &in, Bins &bins) const {
    Device *const device = backend_->device();
    if (device == nullptr) return operation.run(in.view(), bins);
    const OnDevice input(*device, in.spans(), copies());
    guard(bins);
    before_run();
    operation.run(in.view(input.bases()), pinned_bins(), stream());
    if (streams_ == Streams::own) device->synchronize(copies());
    bins = pinned_bins();
    expect_guards();
  }

  template <class In>
  void add(HistogramOperation &operation, const In &in) const {
    Device *const device = backend_->device();
    if (device == nullptr) return operation.add(in.view());
    const OnDevice input(*device, in.spans(), copies());
    before_run();
    operation.add(in.view(input.bases()), stream());
    device->synchronize(copies());
  }

  void take(HistogramOperation &operation, Bins &bins) const;

  /// Gathers candidates in blocks, which are the outputs of a network.
  void gather(DetectionOperation &operation, const CandidatePlan &plan,
              const std::vector<Span> &outputs, const std::vector<bool> &wanted = {}) const;

 private:
  /// Calls `work` with views of an input and an output.
  template <class Work, class In, class Out>
  void run_work(const Work &work, const In &in, Out &out) const {
    Device *const device = backend_->device();
    if (device == nullptr) return work(in.view(), out.view(), Stream());
    const OnDevice input(*device, in.spans(), copies());
    const OnDevice target(*device, {out.span()}, copies());
    before_run();
    work(in.view(input.bases()), out.view(target.data()), stream());
    target.fetch(out.actual(), copies());
    device->synchronize(copies());
  }

  /// Returns a stream that no other stream waits for. If an operation without a stream returns
  /// before it is complete, its copy is incomplete, too.
  Stream copies() const { return copies_->get(); }
  Stream stream() const { return streams_ == Streams::own ? copies() : Stream{}; }
  void before_run() const;

  /// Returns bins in pinned memory, surrounded by a pattern. Only one thread may use them at a
  /// time.
  Bins &pinned_bins() const;
  void guard(const Bins &bins) const;
  void expect_guards() const;

  std::string name_;
  std::unique_ptr<Backend> backend_;
  Streams streams_;
  std::unique_ptr<OwnedStream> copies_;
  std::unique_ptr<Memory> pinned_;
  /// Small allocations share a block of the driver, which stays while this one does. That makes
  /// further allocations cheap.
  std::unique_ptr<Memory> anchor_;
};

/// Returns the CUDA backend, or null and the reason why there is none.
std::unique_ptr<Backend> cuda_if_there_is_one(std::string &reason);

/// A test that runs once with the CPU backend and once with CUDA.
class KernelTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;

  /// Returns the parameter's backend with every way to spread the work. All must give the same
  /// bytes.
  const std::vector<std::unique_ptr<Machine>> &machines() const { return machines_; }
  const Machine &machine() const { return *machines_.front(); }
  const Machine &any(Random &random) const { return *machines_[random.bits() % machines_.size()]; }

  /// Runs the operation that `prepare` returns on every machine. It runs twice, first on another
  /// picture, whose data in scratch memory must not affect the result.
  template <class Prepare, class In, class Out>
  void expect_all(const Prepare &prepare, const In &other, const In &in, Out &out) const {
    for (const auto &machine : machines_) {
      SCOPED_TRACE(machine->name());
      const auto operation = prepare(*machine);
      machine->run(*operation, other, out);
      expect_one(*machine, *operation, in, out);
    }
  }

  template <class Operation, class In, class Out>
  static void expect_one(const Machine &machine, Operation &operation, const In &in, Out &out) {
    out.reset();
    machine.run(operation, in, out);
    EXPECT_TRUE(out.matches());
  }

 private:
  void open_cpu();
  void open_cuda();

  std::vector<std::unique_ptr<Machine>> machines_;
};

/// Registers a fixture's tests for every backend.
#define CUDATENSOR_FOR_EVERY_BACKEND(fixture)                         \
  INSTANTIATE_TEST_SUITE_P(, fixture, testing::Values("cpu", "cuda"), \
                           [](const auto &info) { return info.param; })

}  // namespace cudatensor
