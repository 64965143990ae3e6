// SPDX-License-Identifier: LGPL-2.1-or-later
#include "backends.h"

#include <algorithm>

#include "kernels/error.h"

namespace cudatensor {
namespace {

constexpr size_t kGuard = 64;
constexpr uint8_t kPattern = 0xa5;

}  // namespace

// ------------------------------------------------------------------------------------- memory

OnDevice::OnDevice(Device &device, const std::vector<Span> &blocks, Stream stream)
    : device_(device) {
  for (const Span &block : blocks) {
    blocks_.push_back(device.allocate(block.size));
    const auto bytes = static_cast<ptrdiff_t>(block.size);
    device.copy({blocks_.back()->data(), bytes}, {block.data, bytes}, block.size, 1, stream);
  }
}

Bases OnDevice::bases() const {
  Bases bases = {};
  for (size_t i = 0; i < blocks_.size(); ++i) bases[i] = blocks_[i]->data();
  return bases;
}

void OnDevice::fetch(uint8_t *to, Stream stream) const {
  const auto bytes = static_cast<ptrdiff_t>(blocks_.front()->size());
  device_.copy({to, bytes}, {data(), bytes}, blocks_.front()->size(), 1, stream);
}

// ------------------------------------------------------------------------------------ machines

Machine::Machine(std::string name, std::unique_ptr<Backend> backend, Streams streams)
    : name_(std::move(name)), backend_(std::move(backend)), streams_(streams) {
  Device *const device = backend_->device();
  if (device == nullptr) return;
  copies_ = device->make_stream();
  pinned_ = device->allocate_pinned(sizeof(Bins) + 2 * kGuard);
  anchor_ = device->allocate(1);
}

void Machine::run_pictures(const PicturesWork &work, const Slots &in, OutputTensor &out) const {
  Device *const device = backend_->device();
  std::vector<OnDevice> inputs;
  std::vector<ConstImage> views;
  for (const InputPicture *const picture : in) {
    if (picture == nullptr) {
      views.push_back({});
    } else if (device == nullptr) {
      views.push_back(picture->view());
    } else {
      inputs.emplace_back(*device, picture->spans(), copies());
      views.push_back(picture->view(inputs.back().bases()));
    }
  }
  if (device == nullptr) return work(views, out.view(), Stream());
  const OnDevice target(*device, {out.span()}, copies());
  before_run();
  work(views, out.view(target.data()), stream());
  target.fetch(out.actual(), copies());
  device->synchronize(copies());
}

void Machine::take(HistogramOperation &operation, Bins &bins) const {
  Device *const device = backend_->device();
  if (device == nullptr) return operation.take(bins);
  guard(bins);
  operation.take(pinned_bins(), stream());
  if (streams_ == Streams::own) device->synchronize(copies());
  bins = pinned_bins();
  expect_guards();
}

void Machine::gather(DetectionOperation &operation, const CandidatePlan &plan,
                     const std::vector<Span> &outputs, const std::vector<bool> &wanted) const {
  OutputData data = {};
  Device *const device = backend_->device();
  if (device == nullptr) {
    for (size_t i = 0; i < outputs.size(); ++i) data.output[i] = outputs[i].data;
    return operation.run(plan, data, wanted);
  }
  std::vector<OnDevice> copied;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].size == 0) continue;
    copied.emplace_back(*device, std::vector<Span>{outputs[i]}, copies());
    data.output[i] = copied.back().data();
  }
  before_run();
  operation.run(plan, data, wanted, stream());
  if (streams_ == Streams::own) device->synchronize(copies());
}

void Machine::before_run() const {
  if (streams_ == Streams::none) backend_->device()->synchronize(copies());
}

Bins &Machine::pinned_bins() const { return *reinterpret_cast<Bins *>(pinned_->data() + kGuard); }

void Machine::guard(const Bins &bins) const {
  std::fill_n(pinned_->data(), pinned_->size(), kPattern);
  pinned_bins() = bins;
}

void Machine::expect_guards() const {
  const auto is_pattern = [](uint8_t byte) { return byte == kPattern; };
  const uint8_t *const before = pinned_->data(), *const behind = before + kGuard + sizeof(Bins);
  EXPECT_TRUE(std::all_of(before, before + kGuard, is_pattern)) << "before the bins";
  EXPECT_TRUE(std::all_of(behind, behind + kGuard, is_pattern)) << "behind the bins";
}

// ------------------------------------------------------------------------------------ fixtures

std::unique_ptr<Backend> cuda_if_there_is_one(std::string &reason) {
  try {
    return open_cuda_backend();
  } catch (const Error &error) {
    if (error.code() != Error::Code::not_found) throw;
    reason = error.what();
    return nullptr;
  }
}

void KernelTest::open_cpu() {
  for (const unsigned threads : {1u, 2u, 3u})
    machines_.push_back(
        std::make_unique<Machine>(std::to_string(threads) + " threads", open_cpu_backend(threads)));
}

void KernelTest::open_cuda() {
  std::string reason;
  auto backend = cuda_if_there_is_one(reason);
  if (backend == nullptr) GTEST_SKIP() << reason;
  machines_.push_back(std::make_unique<Machine>("CUDA", std::move(backend)));
  machines_.push_back(
      std::make_unique<Machine>("CUDA on a stream", open_cuda_backend(), Machine::Streams::own));
}

void KernelTest::SetUp() {
  if (GetParam() == "cpu")
    open_cpu();
  else
    open_cuda();
}

}  // namespace cudatensor
