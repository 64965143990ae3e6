// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>
#include <vector>

#include "kernels/device.h"

namespace cudatensor::cuda {

class CudaDevice final : public Device {
 public:
  /// `overlaps`: whether a kernel may start before the previous kernel on its stream has finished.
  explicit CudaDevice(bool overlaps) : overlaps_(overlaps) {}

  std::unique_ptr<Memory> allocate(size_t bytes) override;
  std::unique_ptr<Memory> allocate_pinned(size_t bytes) override;
  std::unique_ptr<OwnedStream> make_stream() override;
  std::unique_ptr<Event> make_event() override;
  void copy(const Rows<uint8_t> &to, const Rows<const uint8_t> &from, size_t row, size_t rows,
            Stream stream) override;
  void synchronize(Stream stream) override;
  void synchronize_context() override;

  bool overlaps() const { return overlaps_; }

  /// Returns a copy of a host table in device memory. Identical tables in use are shared, because
  /// operations are often recreated with the same geometry and the slots of a batch are often
  /// identical.
  std::shared_ptr<const Memory> table(const void *data, size_t bytes);

 private:
  struct Table {
    std::vector<uint8_t> host;
    std::weak_ptr<const Memory> memory;
  };
  std::mutex mutex_;  // guards the cache, because threads may share a backend
  std::vector<Table> tables_;
  const bool overlaps_;
};

/// Return the number of multiprocessors of the current device, and the maximum bytes of shared
/// memory per block.
int multiprocessors();
int shared_memory_limit();

inline cudaStream_t handle_of(Stream stream) { return static_cast<cudaStream_t>(stream.handle); }

}  // namespace cudatensor::cuda
