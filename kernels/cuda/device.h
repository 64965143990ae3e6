// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>
#include <vector>

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

  /// A copy of a table of the host in device memory. One that equals the last and is still in use is
  /// shared: operations are made anew more often than their geometry changes.
  std::shared_ptr<const Memory> table(const void *data, size_t bytes);

 private:
  struct Table {
    std::vector<uint8_t> host;
    std::weak_ptr<const Memory> memory;
  };
  std::mutex mutex_;  // threads may share a backend
  Table last_table_;
};

inline cudaStream_t handle_of(Stream stream) { return static_cast<cudaStream_t>(stream.handle); }

}  // namespace cudatensor::cuda
