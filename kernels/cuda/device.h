// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/device.h"

namespace cudatensor::cuda {

class CudaDevice final : public Device {
 public:
  std::unique_ptr<Memory> allocate(size_t bytes) override;
  std::unique_ptr<Memory> allocate_pinned(size_t bytes) override;
  std::unique_ptr<OwnedStream> make_stream() override;
  std::unique_ptr<Event> make_event() override;
  void copy(const Rows<uint8_t> &to, const Rows<const uint8_t> &from, size_t row, size_t rows,
            Stream stream) override;
  void synchronize(Stream stream) override;
};

inline cudaStream_t handle_of(Stream stream) { return static_cast<cudaStream_t>(stream.handle); }

/// The stream for the host's tables, which are complete when the function that uploads them
/// returns: no other stream waits for it.
inline cudaStream_t upload_stream() { return cudaStreamPerThread; }

/// A copy of a table of the host in device memory.
std::unique_ptr<Memory> upload(CudaDevice &device, const void *data, size_t bytes);

}  // namespace cudatensor::cuda
