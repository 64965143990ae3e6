// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/cuda/device.h"

#include <algorithm>

#include "kernels/cuda/call.h"
#include "kernels/cuda/context.h"
#include "kernels/error.h"

namespace cudatensor {
namespace cuda {
namespace {

// Destructors ignore results: an error there has occurred earlier, and cannot be reported.

class DeviceMemory final : public Memory {
 public:
  explicit DeviceMemory(size_t size) : Memory(size) {
    void *data = nullptr;
    const std::string what = "cudaMalloc of " + std::to_string(size) + " bytes";
    call(what.c_str(), [&] { return cudaMalloc(&data, std::max<size_t>(size, 1)); });
    set_data(data);
  }
  ~DeviceMemory() override {
    if (!is_context_lost()) cudaFree(data());
  }
};

class PinnedMemory final : public Memory {
 public:
  explicit PinnedMemory(size_t size) : Memory(size) {
    void *data = nullptr;
    const std::string what = "cudaHostAlloc of " + std::to_string(size) + " bytes";
    call(what.c_str(),
         [&] { return cudaHostAlloc(&data, std::max<size_t>(size, 1), cudaHostAllocPortable); });
    set_data(data);
  }
  ~PinnedMemory() override {
    if (!is_context_lost()) cudaFreeHost(data());
  }
};

class CudaStream final : public OwnedStream {
 public:
  CudaStream() {
    call("cudaStreamCreateWithFlags", cudaStreamCreateWithFlags, &stream_, cudaStreamNonBlocking);
  }
  ~CudaStream() override {
    if (is_context_lost()) return;
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  Stream get() const override { return {stream_}; }

 private:
  cudaStream_t stream_ = nullptr;
};

class CudaEvent final : public Event {
 public:
  CudaEvent() {
    call("cudaEventCreateWithFlags", cudaEventCreateWithFlags, &event_,
         cudaEventDisableTiming | cudaEventBlockingSync);
  }
  ~CudaEvent() override {
    if (!is_context_lost()) cudaEventDestroy(event_);
  }

  void record(Stream stream) override {
    call("cudaEventRecord", cudaEventRecord, event_, handle_of(stream));
  }
  bool record_context() override { return record_current_context(event_); }
  bool passed() const override {
    bool passed = true;
    call("cudaEventQuery", [&] {
      const cudaError_t error = cudaEventQuery(event_);
      passed = error != cudaErrorNotReady;
      if (!passed) cudaGetLastError();  // cudaEventQuery() stores this result as the last error
      return passed ? error : cudaSuccess;
    });
    return passed;
  }
  void wait() const override { call("cudaEventSynchronize", cudaEventSynchronize, event_); }
  void hold(Stream stream) const override {
    call("cudaStreamWaitEvent", cudaStreamWaitEvent, handle_of(stream), event_, 0u);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

std::unique_ptr<Memory> CudaDevice::allocate(size_t bytes) {
  return std::make_unique<DeviceMemory>(bytes);
}
std::unique_ptr<Memory> CudaDevice::allocate_pinned(size_t bytes) {
  return std::make_unique<PinnedMemory>(bytes);
}
std::unique_ptr<OwnedStream> CudaDevice::make_stream() { return std::make_unique<CudaStream>(); }
std::unique_ptr<Event> CudaDevice::make_event() { return std::make_unique<CudaEvent>(); }

void CudaDevice::copy(const Rows<uint8_t> &to, const Rows<const uint8_t> &from, size_t row,
                      size_t rows, Stream stream) {
  const bool dense = to.stride == from.stride && to.stride == static_cast<ptrdiff_t>(row);
  if (dense)
    call("cudaMemcpyAsync", cudaMemcpyAsync, to.data, from.data, row * rows, cudaMemcpyDefault,
         handle_of(stream));
  else
    call("cudaMemcpy2DAsync", cudaMemcpy2DAsync, to.data, to.stride, from.data, from.stride, row,
         rows, cudaMemcpyDefault, handle_of(stream));
}

void CudaDevice::synchronize(Stream stream) {
  call("cudaStreamSynchronize", cudaStreamSynchronize, handle_of(stream));
}

void CudaDevice::synchronize_context() {
  call("cudaDeviceSynchronize", [] { return cudaDeviceSynchronize(); });
}

namespace {

// Uploads have a stream of their own. Streams of frames do not wait for it, because upload()
// returns only when the table is complete.
const cudaStream_t kUploadStream = cudaStreamPerThread;

std::unique_ptr<Memory> upload(CudaDevice &device, const std::vector<uint8_t> &bytes) {
  auto memory = device.allocate(bytes.size());
  call("cudaMemcpyAsync", cudaMemcpyAsync, memory->data(), bytes.data(), bytes.size(),
       cudaMemcpyHostToDevice, kUploadStream);
  call("cudaStreamSynchronize", cudaStreamSynchronize, kUploadStream);
  return memory;
}

}  // namespace

namespace {

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  call("cudaGetDevice", cudaGetDevice, &device);
  call("cudaDeviceGetAttribute", cudaDeviceGetAttribute, &value, which, device);
  return value;
}

}  // namespace

int multiprocessors() { return attribute(cudaDevAttrMultiProcessorCount); }
int shared_memory_limit() { return attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin); }

std::shared_ptr<const Memory> CudaDevice::table(const void *data, size_t bytes) {
  const auto *begin = static_cast<const uint8_t *>(data);
  std::vector<uint8_t> host(begin, begin + bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  tables_.erase(std::remove_if(tables_.begin(), tables_.end(),
                               [](const Table &table) { return table.memory.expired(); }),
                tables_.end());
  for (const Table &table : tables_)
    if (auto memory = table.memory.lock(); memory && table.host == host) return memory;
  const std::shared_ptr<const Memory> memory = upload(*this, host);
  tables_.push_back({std::move(host), memory});
  return memory;
}

}  // namespace cuda

std::unique_ptr<Device> open_cuda_device() {
  count_cuda_devices();
  return std::make_unique<cuda::CudaDevice>(false);
}

bool cuda_is_built() { return true; }

int count_cuda_devices() {
  int count = 0;
  cuda::call("cudaGetDeviceCount", cudaGetDeviceCount, &count);
  if (count == 0) cuda::fail(cudaErrorNoDevice, "cudaGetDeviceCount");
  return count;
}

void check_cuda_device(int device) {
  const int count = count_cuda_devices();
  if (device >= -1 && device < count) return;
  throw Error(Error::Code::not_found,
              "CUDA device " + std::to_string(device) + ": cudaErrorInvalidDevice; there " +
                  (count == 1 ? "is 1 CUDA device, number 0"
                              : "are " + std::to_string(count) + " CUDA devices, from number 0"));
}

}  // namespace cudatensor
